"""Raters over HTTP: every kind of sheet, blindness, isolation, settling, skipping, files, and the judge."""

import csv
import json
import random
import re
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
from open_study import OpenStudy
from person import Form, plain
from rating import OpenQueue, first, label_all, second
from serving import Client, Served

import sociometer as sm
from sociometer.cli.main import run_command
from sociometer.core.measure import Interval
from sociometer.instruments import cards, load
from sociometer.results.corrected import corrections
from sociometer.store.labels import LabelBook, LabelQuestion, Queue
from sociometer.store.labels import book_path as label_path
from sociometer.web.annotate import assigned, guide_of, kind_of, rater_words, turns_of
from sociometer.web.browsing import ViewedStore
from sociometer.web.guard import ROLES, TOKENS, csrf_token, roles_of
from sociometer.web.view import view_application

SIMULATOR = {"simulator": "baseline/random"}
MODEL = "lab/secret-model-7"


def write(path, columns, rows):
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([columns, *rows])
    return path


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


KINDS = {f"{name}/{sheet.name}": sheet for name, card in cards().items() for sheet in card.sheet}


def made_sheet(folder, kind, rows=4, filled=None):
    """A sheet of a kind: the key names the model, and columns that raters must not see hold a verdict."""
    sheet = KINDS[kind]
    labels = [one.column for one in sheet.label]
    columns = [*sheet.key, *sheet.shown, "flags", *labels]
    made = []
    for number in range(rows):
        key = [f"{MODEL}: {column} {number}" for column in sheet.key]
        shown = [f"{column} text {number}" for column in sheet.shown]
        made.append([*key, *shown, "automatic verdict: wrong", *[filled[number] if filled else "" for _ in labels]])
    return write(folder / f"{kind.replace('/', '-')}{'-gold' if filled else ''}.csv", columns, made)


def test_every_sheet_of_an_instrument_is_declared_and_recognised(tmp_path):
    assert set(KINDS) == {
        "sesi/causes", "sesi/review", "egosocial/beliefs", "egosocial/conversions", "sage/feelings", "sage/reasoning",
        "socialeval/trees", "socialeval/translations",
    }  # fmt: skip
    for kind in KINDS:
        assert kind_of(made_sheet(tmp_path, kind), cards())[0] == kind


@pytest.mark.parametrize("kind", ["sesi/causes", "egosocial/beliefs", "sesi/review"])
def test_the_labels_of_two_raters_fill_the_sheet(kind, tmp_path, capsys):
    sheet = made_sheet(tmp_path, kind)
    with OpenQueue(tmp_path / "s.db", capsys, "--sheet", str(sheet), "--raters", "3", "--per-item", "2") as queue:
        for name in queue.codes:
            label_all(queue.rater(name), first)
        assert len(queue.book.labels("spring")) == 8
        assert "not settled 0" in plain(queue.owner().get("/owner").text)
        out = tmp_path / "settled.csv"
        assert run_command(["annotate", "export", "spring", "--to", str(out), "--store", str(queue.path)]) == 0
        rows = rows_of(out)
        original = rows_of(sheet)
        labels = [one.column for one in KINDS[kind].label]
        keys = KINDS[kind].key
        assert sorted(row[keys[0]] for row in rows) == sorted(row[keys[0]] for row in original)
        assert all(row[column] for row in rows for column in labels)
        assert list(rows[0]) == list(original[0])


def test_the_owner_decides_what_three_raters_see_in_three_ways(tmp_path, capsys):
    sheet = made_sheet(tmp_path, "sesi/causes", rows=1)
    with OpenQueue(tmp_path / "s.db", capsys, "--sheet", str(sheet), "--raters", "3", "--per-item", "3") as queue:
        for number in (1, 2, 3):

            def choose(shown, form, number=number):
                return {name: values[number] for name, values in form.radios.items() if name != "action"}

            label_all(queue.rater(f"rater-{number}"), choose)
        owner, (unit,) = queue.owner(), queue.book.units("spring")
        board, path = owner.get("/owner").text, f"/owner/unit?unit={unit}"
        assert "not settled 1" in plain(board) and f'href="{path}"' in board
        before = re.search(r"Agreement.*?Not settled", plain(board)).group(0)
        text = owner.get(path).text
        form = Form(text, "/owner/unit")
        (name, values), *_ = (one for one in form.radios.items() if one[0] != "action")
        assert len(re.findall(r'<dl class="facts">', text)) == 3 and 'action="/rate"' not in text
        assert owner.post("/owner/unit", {**form.hidden, "action": "label"}).status == 400
        assert queue.rater("rater-1").get(path).status == 403
        got = owner.post("/owner/unit", {**form.hidden, **dict.fromkeys(form.radios, values[1]), "action": "label"})
        assert got.headers["Location"] == "/owner#open"
        board = plain(owner.get("/owner").text)
        # The decision settles it, and changes nothing about how far the raters agree.
        assert "not settled 0" in board and before.removesuffix("Not settled").strip() in board
        out = tmp_path / "settled.csv"
        assert run_command(["annotate", "export", "spring", "--to", str(out), "--store", str(queue.path)]) == 0
        assert rows_of(out)[0][name.removeprefix("answer-")] == values[1]


@pytest.mark.parametrize("kind", KINDS)
def test_a_chinese_page_is_chinese_and_its_labels_are_the_same_values(kind, tmp_path, capsys):
    sheet = KINDS[kind]
    options = ["--sheet", str(made_sheet(tmp_path, kind, rows=1)), "--language", "zh"]
    with OpenQueue(tmp_path / "s.db", capsys, *options) as queue:
        rater = queue.rater("rater-1")
        page = rater.get("/rate").text
        body = plain(page)
        instrument, _, name = kind.partition("/")
        words = rater_words(load(instrument), "zh", name)
        said = [sheet.title, *(text for label in sheet.label for text in (label.question, *label.values)), *sheet.shown]
        assert [text for text in said if words.get(text, text) not in body] == []
        assert [text for text in said if text not in words] == ([*"ABCDABCD"] if name == "review" else [])
        assert sheet.title not in body
        label_all(rater, second)
        (label,) = queue.book.labels("spring")
        assert label.answers == {one.column: one.values[1] for one in sheet.label}


def test_raters_see_neither_the_model_nor_the_verdict_nor_others(tmp_path, capsys):
    sheet = made_sheet(tmp_path, "sesi/causes")
    with OpenQueue(tmp_path / "s.db", capsys, "--sheet", str(sheet), "--raters", "3", "--per-item", "3") as queue:
        one, two = queue.rater("rater-1"), queue.rater("rater-2")
        seen = label_all(one, second)
        text = ""
        for unit in seen:
            text += two.get(f"/rate?unit={unit}").text
        text += two.get("/rate").text + two.get("/own").text
        assert MODEL not in text and "automatic verdict" not in text and "checked" not in text
        assert "rater-1" not in text
        orders = [queue.book.tasks("spring", rater) for rater in queue.codes]
        assert len({tuple(order) for order in orders}) == 3


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_raters_read_what_is_meant_with_an_example(kind, language):
    instrument, _, sheet = kind.partition("/")
    guide = guide_of(load(instrument), sheet, language)
    assert ("Example: " if language == "en" else "例：") in guide


def test_the_question_is_above_a_dialogue_with_the_reply_in_question_marked(tmp_path, capsys):
    sheet = made_sheet(tmp_path, "sage/feelings", rows=1)
    with OpenQueue(tmp_path / "s.db", capsys, "--sheet", str(sheet)) as queue:
        text = queue.rater("rater-1").get("/rate").text
        question = KINDS["sage/feelings"].label[0].question.partition("'")[0]
        assert text.index(question) < text.index('<dl class="unit">') < text.index("of-subject marked")
        assert "What to look for" in text


def test_a_dialogue_is_split_at_its_two_speakers_only():
    text = "A: I said: no\nway\n\nB: Note: this\nPS: more\nA: ok"
    assert turns_of(text) == [("A", "I said: no\nway"), ("B", "Note: this\nPS: more"), ("A", "ok")]
    assert turns_of("no speaker here") == [("", "no speaker here")]


def test_only_the_owner_sees_what_others_said_and_every_rater_their_own_labels(tmp_path, capsys):
    sheet = made_sheet(tmp_path, "sesi/causes", rows=1)
    with OpenQueue(tmp_path / "s.db", capsys, "--sheet", str(sheet), "--raters", "3", "--per-item", "2") as queue:
        given = [name for name in queue.codes if queue.book.tasks("spring", name)]
        (third,) = set(queue.codes) - set(given)
        for name, choose in zip(given, (first, second), strict=True):
            rater = queue.rater(name)
            assert "What others said" not in rater.get("/rate").text
            label_all(rater, choose)
            assert plain(rater.get("/own").text).count("Change") == 1
        assert label_all(queue.rater(third), first) == []
        (unit,) = queue.book.units("spring")
        said = plain(queue.owner().get(f"/owner/unit?unit={unit}").text)
        values = KINDS["sesi/causes"].label[0].values
        assert "What others said " + " ".join(sorted(values[:2])) in said
        assert not any(name in said for name in given)


def test_a_rater_reaches_only_their_own_units_and_pages(tmp_path, capsys):
    sheet = made_sheet(tmp_path, "sesi/causes", rows=8)
    with OpenQueue(tmp_path / "s.db", capsys, "--sheet", str(sheet), "--raters", "2", "--per-item", "1") as queue:
        one, two = queue.rater("rater-1"), queue.rater("rater-2")
        theirs = queue.book.tasks("spring", "rater-2")
        csrf = Form(one.get("/rate").text, "/rate").hidden["csrf"]
        for unit in (*theirs, "u-xxxxxx", "", "../x"):
            if unit:
                assert one.get(f"/rate?unit={unit}").status == 403
            for action in ({"action": "skip", "reason": "x"}, {"action": "label", "answer-cause": "other"}):
                assert one.post("/rate", {"csrf": csrf, "unit": unit, **action}).status == 403
        assert queue.book.labels("spring") == []
        fields = {**Form(two.get("/rate").text, "/rate").hidden, "action": "label", "answer-cause": "other"}
        assert Client(one.url, one.cookie).post("/rate", fields).status == 403
        for headers in ({"Origin": "https://evil.example"}, {"Origin": None}, {"Sec_Fetch_Site": "cross-site"}):
            assert two.post("/rate", fields, **headers).status == 403
        assert two.post("/rate", {**fields, "csrf": "x"}).status == 403
        assert queue.book.labels("spring") == []


def test_every_page_of_a_queue_opens_only_to_its_role(tmp_path, capsys):
    sheet = made_sheet(tmp_path, "sesi/causes")
    with OpenQueue(tmp_path / "s.db", capsys, "--sheet", str(sheet)) as queue:
        clients = {"rater": queue.rater("rater-1"), "owner": queue.owner(), "stranger": Client(queue.served.url)}
        open_to_all = {"/enter", "/static/{name}", "/join/{secret}"}
        tried = 0
        for route in queue.served.app.router.routes():
            path = route.resource.canonical
            if path in open_to_all or route.method not in ("GET", "POST"):
                continue
            assert roles_of(route.handler) <= set(ROLES)
            for role, client in clients.items():
                if role in roles_of(route.handler):
                    continue
                fields = {"csrf": csrf_token(client.cookie.partition("=")[2])}
                got = client.get(path) if route.method == "GET" else client.post(path, fields)
                assert got.status == 403, (role, route.method, path)
                tried += 1
        assert tried >= 9
        assert Client(queue.served.url).get("/join/x").status == 404


def test_codes_are_slow_to_guess_and_are_not_in_the_file(tmp_path, capsys):
    sheet = made_sheet(tmp_path, "sesi/causes")
    with OpenQueue(tmp_path / "s.db", capsys, "--sheet", str(sheet)) as queue:
        rater = queue.rater("rater-1")
        guesser = Client(queue.served.url)
        assert [guesser.post(queue.link, {"code": "aaaa"}).status for _ in range(11)] == [403] * 10 + [429]
        body = b"".join(path.read_bytes() for path in tmp_path.glob("s.db.labels*"))
        assert queue.codes["rater-1"].replace("-", "").encode() not in body
        assert rater.cookie.partition("=")[2].encode() not in body


def test_a_code_opens_only_the_queue_it_belongs_to(tmp_path, capsys):
    sheet = made_sheet(tmp_path, "sesi/causes")
    with OpenQueue(tmp_path / "s.db", capsys, "--sheet", str(sheet)) as queue:
        assert queue.book.with_code("autumn", queue.codes["rater-1"]) is None
        cookie = queue.rater("rater-1").cookie.partition("=")[2]
        assert queue.book.session("spring", cookie) == "rater-1"
        assert queue.book.session("autumn", cookie) is None


def test_a_rater_skips_with_a_reason_and_comes_back(tmp_path, capsys):
    sheet = made_sheet(tmp_path, "sage/feelings", rows=3)
    with OpenQueue(tmp_path / "s.db", capsys, "--sheet", str(sheet), "--language", "zh") as queue:
        rater = queue.rater("rater-1")
        page = rater.get("/rate").text
        assert "最后这条回复让这个人的情绪发生了什么变化" in page
        form = Form(page, "/rate")
        assert rater.post("/rate", {**form.hidden, "action": "skip", "reason": " "}).status == 400
        assert rater.post("/rate", {**form.hidden, "action": "skip", "reason": "看不懂"}).status == 303
        label_all(rater, first)
        assert "看不懂" in rater.get("/own").text
        back = Form(rater.get(f"/rate?unit={form.hidden['unit']}").text, "/rate")
        assert rater.post("/rate", {**back.hidden, "answer-direction": "same", "action": "label"}).status == 303
        assert "谢谢您" in rater.get("/rate").text
        assert sum(bool(label.skipped) for label in queue.book.labels("spring")) == 0


@pytest.mark.parametrize("answer", ["", "sideways", "UP"])
def test_an_answer_that_is_not_allowed_is_asked_for_again(tmp_path, capsys, answer):
    sheet = made_sheet(tmp_path, "sage/feelings", rows=2)
    with OpenQueue(tmp_path / "s.db", capsys, "--sheet", str(sheet)) as queue:
        rater = queue.rater("rater-1")
        form = Form(rater.get("/rate").text, "/rate")
        got = rater.post("/rate", {**form.hidden, "answer-direction": answer, "action": "label"})
        assert got.status == 400 and 'role="alert"' in got.text
        assert queue.book.labels("spring") == []


def test_labels_of_files_count_once_for_each_rater(tmp_path, capsys):
    sheet = made_sheet(tmp_path, "sage/reasoning", rows=12)
    with OpenQueue(tmp_path / "s.db", capsys, "--sheet", str(sheet)) as queue:
        store = ["--store", str(queue.path), "--json"]
        rows = rows_of(sheet)
        for number, row in enumerate(rows):
            row["reasonable"] = "yes" if number % 3 else "no"
        one = write(tmp_path / "one.csv", list(rows[0]), [list(row.values()) for row in rows])
        rows[0]["reasonable"] = "yes"
        two = write(tmp_path / "two.csv", list(rows[0]), [list(row.values()) for row in rows])
        told = []
        for file, rater in ((one, "anna"), (one, "anna"), (two, "anna"), (two, "ben")):
            capsys.readouterr()
            assert run_command(["annotate", "import", "spring", str(file), "--rater", rater, *store]) == 0
            told.append(json.loads(capsys.readouterr().out))
        assert [(one["new"], one["same"], one["changed"]) for one in told] == [
            (12, 0, 0), (0, 12, 0), (0, 11, 1), (12, 0, 0),
        ]  # fmt: skip
        assert len(queue.book.labels("spring")) == 24
        page = plain(queue.owner().get("/owner").text)
        assert "Krippendorff's alpha (nominal) 1" in page
        stranger = write(tmp_path / "x.csv", list(rows[0]), [["nobody", *list(rows[0].values())[1:]]])
        assert run_command(["annotate", "import", "spring", str(stranger), "--rater", "anna", *store]) != 0
        assert "is not in queue" in capsys.readouterr().err


def test_a_sheet_can_be_sampled_and_the_share_of_each_answer_has_an_interval(tmp_path, capsys):
    sheet, at = made_sheet(tmp_path, "sage/reasoning", rows=60), ["--store", str(tmp_path / "s.db"), "--json"]

    def call(*words):
        assert run_command(["annotate", *words, *at]) == 0
        return json.loads(capsys.readouterr().out)

    def drawn(queue):
        call("export", queue, "--to", str(tmp_path / f"{queue}.csv"))
        return rows_of(tmp_path / f"{queue}.csv")

    assert call("create", "all", "--sheet", str(sheet))["units"] == 60
    assert run_command(["annotate", "create", "more", "--sheet", str(sheet), "--sample", "999", *at[:2]]) == 0
    assert "Queue more: 60 units (there are only 60)" in capsys.readouterr().out
    for queue, seed in (("one", "7"), ("same", "7"), ("other", "8")):
        assert call("create", queue, "--sheet", str(sheet), "--sample", "40", "--seed", seed)["units"] == 40
    rows = drawn("one")
    assert rows == drawn("same") != drawn("other")
    for rater, wrong in (("anna", 2), ("ben", 5)):
        for number, row in enumerate(rows):
            row["reasonable"] = "no" if number < wrong else "yes"
        write(tmp_path / "filled.csv", list(rows[0]), [list(row.values()) for row in rows])
        call("import", "one", str(tmp_path / "filled.csv"), "--rater", rater)
    found = [row[1:] for row in call("show", "one")["board"]["answers"]["rows"]]
    assert found == [
        ["yes", 40, 35 / 40, "74 to 95 %"],
        ["no", 40, 2 / 40, "1 to 17 %"],
        ["all raters agree", 40, 37 / 40, "80 to 97 %"],
    ]
    assert run_command(["annotate", "show", "one", *at[:2]]) == 0
    assert "87.5 %" in capsys.readouterr().out


def test_units_of_one_tree_are_one_cluster_of_the_interval(tmp_path, capsys):
    shown = list(KINDS["socialeval/translations"].shown)
    rows = [[f"tree-{tree}", str(part), "a", "b", "yes" if tree else "no"] for tree in range(12) for part in range(5)]
    sheet = write(tmp_path / "sheet.csv", ["tree", "part", *shown, "accepted"], rows)
    at = ["--store", str(tmp_path / "s.db")]
    assert run_command(["annotate", "create", "q", "--sheet", str(sheet), *at]) == 0
    assert run_command(["annotate", "import", "q", str(sheet), "--rater", "anna", *at]) == 0
    capsys.readouterr()
    assert run_command(["annotate", "show", "q", "--json", *at]) == 0
    answers = json.loads(capsys.readouterr().out)["board"]["answers"]["rows"]
    # 11 of 12 trees, not 55 of 60 units, whose interval would be 82 % to 96 %
    assert [row[1:] for row in answers] == [["yes", 60, 55 / 60, "59 to 99 %"], ["no", 60, 5 / 60, "1 to 41 %"]]


def test_a_queue_and_a_rater_have_names(tmp_path, capsys):
    at = ["--store", str(tmp_path / "s.db")]
    sheet = ["--sheet", str(made_sheet(tmp_path, "sesi/causes"))]
    assert run_command(["annotate", "create", "a/ b", *sheet, *at]) == 2
    assert run_command(["annotate", "create", "spring", *sheet, *at]) == 0
    assert run_command(["annotate", "import", "spring", sheet[1], "--rater", " ", *at]) == 2
    assert "--rater" in capsys.readouterr().err


def test_another_wording_is_another_label_set():
    asked = LabelQuestion("cause", "What is the cause?", ("a", "b"))
    queue = Queue("q", "t", (asked,), "sesi/causes")
    other = Queue("q2", "t", (LabelQuestion("cause", "What is the main cause?", ("a", "b")),), "sesi/causes")
    fewer = Queue("q3", "t", (LabelQuestion("cause", "What is the cause?", ("a",)),), "sesi/causes")
    assert len({queue.label_set, other.label_set, fewer.label_set}) == 3
    assert Queue("q4", "other title", (asked,), "sesi/causes").label_set == queue.label_set


def test_units_are_shared_out_evenly():
    from sociometer.store.labels import Unit

    units = [Unit(f"u{n}", {}, {}) for n in range(30)]
    tasks = assigned(units, ["a", "b", "c"], 2, random.Random(1))
    counts = [sum(rater == name for rater, _, _ in tasks) for name in "abc"]
    assert sum(counts) == 30 * 2 and max(counts) - min(counts) <= 1
    per_unit = [sum(unit == f"u{n}" for _, unit, _ in tasks) for n in range(30)]
    assert per_unit == [2] * 30


def test_a_sheet_written_by_a_command_comes_back_to_it(tmp_path, capsys):
    store = tmp_path / "s.db"
    run = sm.run("sesi", model="baseline/random", limit=30, store=store).id
    sheet = tmp_path / "causes.csv"
    assert run_command(["sesi", "sheet", run, "--to", str(sheet), "--store", str(store)]) == 0
    with OpenQueue(store, capsys, "--sheet", str(sheet), "--raters", "2", "--per-item", "2") as queue:
        for rater in queue.codes:
            label_all(queue.rater(rater), first)
        out = tmp_path / "labels.csv"
        assert (
            run_command(["annotate", "export", "spring", "--rater", "rater-1", "--to", str(out), "--store", str(store)])
            == 0
        )
    from sociometer.instruments.sesi.errors import read_labels

    labels = read_labels(out)
    assert labels and set(labels.values()) == {"superficially friendly"}


# Judge and people


def labelled_run(tmp_path, capsys, *options):
    store = tmp_path / "s.db"
    run = sm.run("sage", model="baseline/random", limit=20, roles=SIMULATOR, store=store)
    return store, run, OpenQueue(store, capsys, "--run", run.id, "--raters", "1", "--per-item", "1", *options)


def test_people_correct_the_judge_of_a_run(tmp_path, capsys):
    store, run, opened = labelled_run(tmp_path, capsys, "--sample", "12")
    judge = {f"{one.item.id}#0": one.score.values["emotion"] for one in run.episodes()}
    with opened as queue:
        units = queue.book.units("spring")
        assert len(units) == 12
        client = queue.rater("rater-1")

        def lower(shown, form):
            assert "baseline" not in shown and str(run.id) not in shown
            score = judge[units[form.hidden["unit"]].key["episode"]]
            return {"answer-value": str(max(0, score - 10))}

        label_all(client, lower)
        (found,) = corrections(run)
        mean = sum(judge.values()) / len(judge)
        assert found.labels == 12 and found.corrected.judge == pytest.approx(mean)
        assert found.corrected.value < mean and isinstance(found.corrected.interval, Interval)
        page = plain(queue.owner().get("/owner").text)
        assert "bias of the judge" in page and "corrected by people" in page
        capsys.readouterr()
        assert run_command(["annotate", "show", "spring", "--store", str(store)]) == 0
        assert "Judge and people" in capsys.readouterr().out
        with Served(view_application(ViewedStore(store, load, cards()))) as served:
            owner = Client(served.url)
            owner.post("/enter", {"token": served.app[TOKENS].make()})
            assert "corrected by people's labels of 12 of 20" in plain(owner.get(f"/run/{run.id}/").text)


def test_people_judge_what_a_judge_judged(tmp_path, capsys):
    store = tmp_path / "s.db"
    talk = sm.run("sage", model="baseline/random", limit=12, roles=SIMULATOR, store=store)
    command = [
        "sage",
        "analyse",
        talk.id,
        "--what",
        "coordinate",
        "--role",
        "judge=baseline/random",
        "--store",
        str(store),
    ]
    assert run_command(command) == 0, capsys.readouterr().err
    judged = next(run for run in sm.runs(store=store) if "coordinate" in run.tasks)
    options = ["--run", judged.id, "--sample", "12", "--raters", "1", "--per-item", "1"]
    with OpenQueue(store, capsys, *options) as queue:
        replies = [turn.reply for one in judged.episodes() for turn in one.item.dialogue.turns]
        seen = []
        label_all(queue.rater("rater-1"), lambda shown, form: seen.append(shown) or dict.fromkeys(form.numbers, "0"))
        assert any(" ".join(reply.split()) in shown for reply in replies for shown in seen)
        assert not any("baseline" in shown for shown in seen)
        assert corrections(judged)[0].labels == 12


def test_the_wording_is_the_measures_own(tmp_path, capsys):
    store, _, opened = labelled_run(tmp_path, capsys, "--sample", "3", "--language", "zh")
    with opened as queue:
        assert "A 的感受如何" in queue.rater("rater-1").get("/rate").text
        assert run_command(["annotate", "create", "other", "--run", "last", "--store", str(store)]) == 0
        assert queue.book.queue("other").asked[0].question.startswith("At the end of this conversation")
        assert queue.book.queue("other").label_set != queue.queue.label_set


def test_without_enough_labels_nothing_is_corrected(tmp_path, capsys):
    _, run, opened = labelled_run(tmp_path, capsys, "--sample", "5")
    with opened as queue:
        label_all(queue.rater("rater-1"), first)
        assert corrections(run) == []
        assert queue.owner().get("/owner").status == 200


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "either --sheet FILE or --run"),
        (["--run", "last", "--measure", "nothing"], "unknown measure of this run"),
        (["--sheet", "SHEET", "--raters", "2", "--per-item", "3"], "--per-item must be between"),
    ],
)
def test_what_cannot_be_made_is_said(tmp_path, capsys, options, said):
    store = tmp_path / "s.db"
    sm.run("sage", model="baseline/random", limit=1, roles=SIMULATOR, store=store)
    sheet = str(made_sheet(tmp_path, "sesi/causes"))
    command = ["annotate", "create", "q", *[sheet if one == "SHEET" else one for one in options], "--store", str(store)]
    assert run_command(command) == 2
    assert said in capsys.readouterr().err


# When the second of two steps fails


def refuse(path, table, when=""):
    """The database refuses rows of a table until the trigger is dropped."""
    with closing(sqlite3.connect(path)) as file:
        file.execute(f"CREATE TRIGGER refuse BEFORE INSERT ON {table} {when} BEGIN SELECT RAISE(ABORT, 'no'); END")


def allow(path):
    with closing(sqlite3.connect(path)) as file:
        file.execute("DROP TRIGGER refuse")


def test_a_label_that_cannot_be_stored_is_sent_again(tmp_path, capsys, caplog):
    sheet = made_sheet(tmp_path, "sage/reasoning", rows=1)
    with OpenQueue(tmp_path / "s.db", capsys, "--sheet", str(sheet)) as queue:
        rater = queue.rater("rater-1")
        form = Form(rater.get("/rate").text, "/rate")
        fields = {**form.hidden, **second("", form), "action": "label"}
        refuse(label_path(queue.path), "label")
        got = rater.post("/rate", fields)
        assert got.status == 500 and "s.db" not in got.text and "s.db.labels" in caplog.text
        assert queue.book.labels("spring") == []
        allow(label_path(queue.path))
        assert rater.post("/rate", fields).status == 303
        assert len(queue.book.labels("spring")) == 1


def test_labels_of_a_file_are_read_all_or_none(tmp_path, capsys):
    sheet = made_sheet(tmp_path, "sage/reasoning", rows=4, filled=["yes", "no", "yes", "no"])
    command = ["annotate", "import", "spring", str(sheet), "--rater", "anna", "--store", str(tmp_path / "s.db")]
    with OpenQueue(tmp_path / "s.db", capsys, "--sheet", str(sheet)) as queue:
        refuse(label_path(queue.path), "label", "WHEN (SELECT count(*) FROM label) = 2")
        assert run_command(command) == 5
        assert queue.book.labels("spring") == [] and "anna" not in queue.book.raters("spring")
        allow(label_path(queue.path))
        assert run_command(command) == 0
        assert len(queue.book.labels("spring")) == 4


def test_nobody_rates_what_its_person_withdrew_meanwhile(tmp_path, monkeypatch):
    """The episodes are read; before the queue is stored, the person withdraws."""
    path, said = tmp_path / "s.db", "Zwiebelturm im Regen, sagte sie."
    with OpenStudy(path, "sage", "--limit", "1", "--role", "simulator=baseline/random") as opened:
        person = opened.person(words=said).join()
        person.answer_all()
        command = ["annotate", "create", "q", "--run", opened.run_of(person), "--store", str(path)]
        connect, read, gone = sqlite3.connect, threading.Event(), threading.Event()

        def watched(place, *given, **named):
            if threading.current_thread().name == "command_0" and str(place).endswith(".labels"):
                read.set()
                assert gone.wait(60)
            return connect(place, *given, **named)

        monkeypatch.setattr(sqlite3, "connect", watched)
        with ThreadPoolExecutor(1, "command") as pool:
            asked = pool.submit(run_command, command)
            assert read.wait(60)
            assert person.withdraw().status == 200
            gone.set()
            assert asked.result() == 2
    with closing(LabelBook(label_path(path))) as book:
        assert book.queues() == []
    assert said.encode() not in b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
