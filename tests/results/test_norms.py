"""A study becomes a norm: what the file holds, that a run can use it, and that nobody can be recognised in it."""

import json
import re
import zlib
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from msgspec import structs

import sociometer as sm
from sociometer.cli.main import run_command
from sociometer.core.config import RunConfig
from sociometer.core.measure import Measure
from sociometer.core.words import plain_number
from sociometer.instruments import load
from sociometer.results.norms import norm_tables, study_norm, use_of_scores
from sociometer.results.reliability import task_reliability
from sociometer.statistics.people import share_worse
from sociometer.statistics.reliability import error_of_measurement
from sociometer.store.store import Store
from sociometer.store.studies import Study, StudyBook, book_path

PEOPLE, ITEMS = 30, 12
POINTS = ("4 3 2 1", "1 2 3 4", "5 5 0 0", "2 2 3 3", "7 1 1 1", "0 4 3 3")


def make_study(path, instrument, replies, people=PEOPLE, **more):
    """A store with a study of people whose replies depend on the person and the question."""
    book = StudyBook(book_path(path))
    study = Study("spring", RunConfig(instrument=instrument, subject="human", **more), asks=("age", "sex", "id"))
    book.create(study)
    for number in range(people):

        def answer(messages, number=number):
            return replies[zlib.crc32(f"{number} {messages}".encode()) % len(replies)]

        run = sm.run(instrument, model=answer, fresh=True, store=path, **more)
        about = {"age": str(18 + number), "sex": "fm"[number % 2], "id": f"panel-{number}"}
        book.set_run(book.join(study, about)[0], run.id)
    book.close()
    return path


@pytest.fixture(scope="module")
def sesi(tmp_path_factory):
    return make_study(tmp_path_factory.mktemp("norm") / "s.db", "sesi", "ABCD", limit=ITEMS)


@pytest.fixture(scope="module")
def sesi_norm(sesi):
    path = sesi.parent / "norm.json"
    assert run_command(["study", "norms", "spring", "--to", str(path), "--store", str(sesi)]) == 0
    return path


def measures(run):
    return {(one.name, tuple(one.group.values())): one for one in run.summary().measures}


def test_the_file_has_what_a_norm_needs_and_no_person(sesi, sesi_norm):
    text = sesi_norm.read_text()
    made = json.loads(text)
    norm = made["tasks"]["questions"]
    assert (made["instrument"], made["language"], norm["people"], len(norm["items"])) == ("sesi", "en", PEOPLE, ITEMS)
    assert [one["group"] for one in norm["strata"]] == ["female", "male", "30 to 49", "under 30"]
    item = next(iter(norm["items"].values()))
    assert item["people"] == PEOPLE and len(item["content"]) == 32
    assert sum(item["options"].values()) == pytest.approx(1, abs=0.001)
    with closing(StudyBook(book_path(sesi))) as book:
        for one in book.participants("spring"):
            assert one.id not in text and one.run not in text and one.about["id"] not in text
    assert "panel" not in text


def test_a_norm_made_in_python_is_the_same_file_and_its_percentiles_are_shown(sesi, sesi_norm, tmp_path):
    shown = sm.study("spring", store=sesi).norm(tmp_path / "norm.json")
    assert (tmp_path / "norm.json").read_bytes() == sesi_norm.read_bytes()
    assert shown.columns[0] == "people with a worse score (%)"
    assert "Cronbach's alpha" in str(sm.reliability("spring", store=sesi))
    assert "Cronbach's alpha 0." in str(shown) and "Standard error of measurement" in str(shown)
    norm = json.loads(sesi_norm.read_text())["tasks"]["questions"]
    assert (shown.people, shown.alpha.value) == (PEOPLE, norm["alpha"])
    assert shown.alpha.interval.low == norm["alpha_interval"]["low"]
    error, around = norm["deviation"] * (1 - shown.alpha.value) ** 0.5, shown.sem.interval
    assert shown.sem.value == pytest.approx(error) and around.low < error < around.high
    assert around.high == pytest.approx(norm["deviation"] * (1 - shown.alpha.interval.low) ** 0.5)
    low, high = (plain_number(100 * end, 1) for end in (around.low, around.high))
    said = f"Standard error of measurement {plain_number(100 * error, 1)} points [{low}, {high}]: one person's score"
    assert said in shown.note, shown.note
    with pytest.raises(sm.SociometerError, match=r"study spring has no part 'spring\.x'"):
        sm.study("spring", store=sesi).norm(part="spring.x")


def test_a_norm_says_how_reliable_its_scores_are_and_what_that_means_for_one_person(sesi, sesi_norm, tmp_path, capsys):
    norm = json.loads(sesi_norm.read_text())["tasks"]["questions"]
    alpha = task_reliability([sm.get_run("spring", store=sesi).view()]).alpha
    assert norm["alpha"] == pytest.approx(alpha.value), "twins are one part of the test, as in a comparison"
    assert norm["alpha_interval"]["low"] == pytest.approx(alpha.interval.low) and alpha.value < 0.7
    capsys.readouterr()
    assert run_command(["study", "norms", "spring", "--to", str(tmp_path / "n.json"), "--store", str(sesi)]) == 0
    said = capsys.readouterr().out
    of_python, items = sm.study("spring", store=sesi).norm(), len(norm["items"])
    for one in (of_python.alpha, of_python.sem):
        assert one.items == items > 0 and str(one).endswith(f", {items} items")
    again = ["study", "norms", "spring", "--to", str(tmp_path / "m.json"), "--store", str(sesi), "--json"]
    assert run_command(again) == 0
    sem = json.loads(capsys.readouterr().out)["sem"]["questions"]
    assert 0 < sem["interval"]["low"] < sem["value"] < sem["interval"]["high"]
    assert "too low to say anything about a single person; more items raise it. Standard error of measurement" in said


@pytest.mark.parametrize("alpha", [-0.4, 0.0])
def test_without_reliability_there_is_no_error_of_measurement(alpha):
    said = use_of_scores(alpha, error_of_measurement(0.5, Measure("alpha", alpha)), "number")
    assert "no basis to say anything about a single person" in said and "no standard error of measurement" in said
    assert "±" not in said


def test_the_curve_is_that_of_the_people(sesi, sesi_norm):
    norm = json.loads(sesi_norm.read_text())["tasks"]["questions"]
    with closing(StudyBook(book_path(sesi))) as book:
        runs = [one.run for one in book.participants("spring")]
    scores = np.array([sm.get_run(run, store=sesi).summary().measure("accuracy").value for run in runs])
    assert norm["mean"] == pytest.approx(scores.mean()) and norm["deviation"] == pytest.approx(scores.std(ddof=1))
    for score, share, error in norm["curve"]:
        below, ties = np.mean(scores < score - 1e-6), np.mean(abs(scores - score) < 1e-6)
        assert share == pytest.approx(below + ties / 2, abs=1e-5)
        assert error == pytest.approx(np.sqrt(share * (1 - share) / PEOPLE), abs=1e-5)


def test_the_table_of_a_norm_has_each_score_once_at_its_own_percentile(sesi, sesi_norm):
    norm, people, _ = study_norm(Store(sesi), "spring", load)
    curve = norm.tasks["questions"].curve
    shown = [[round(100 * share, 1), score, round(100 * error, 1)] for score, share, error in curve]
    assert [list(row) for row in sm.study("spring", store=sesi).norm().rows] == [pytest.approx(row) for row in shown]
    floor = ((0.0, 0.3, 0.08), *((at / 100, 0.6 + at / 250, 0.05) for at in range(1, 50)))
    rows = norm_tables(structs.replace(norm.tasks["questions"], curve=floor), "questions", people)[0].rows
    assert [row[0] for row in rows] == [50, 75], "nobody knows the score below which are 5 % of the people"
    assert rows[1][1] == pytest.approx(0.375)


def test_a_run_shows_the_share_of_people_with_a_worse_score(sesi, sesi_norm, tmp_path, capsys):
    at = ["--store", str(sesi)]
    words = ["run", "sesi", "--model", "baseline/random", "--norm", str(sesi_norm), "--limit", str(ITEMS), *at]
    assert run_command(words) == 0
    shown = capsys.readouterr().out
    assert "Share of people with a worse score" in shown
    run = sm.runs(store=sesi)[-1]
    found = measures(run)
    norm = json.loads(sesi_norm.read_text())["tasks"]["questions"]
    accuracy = found["accuracy", ()].value
    share = np.interp(accuracy, *np.array(norm["curve"]).T[:2])
    assert found["percentile", ()].value == pytest.approx(share, abs=1e-6)
    assert found["percentile", ()].interval.low < share < found["percentile", ()].interval.high
    assert {("percentile", ("female",)), ("percentile", ("under 30",))} <= set(found)
    assert "surprises" in {table.name for table in run.summary().tables}
    assert any(
        "Norm: spring, 30 people, 0 flagged, 0 excluded; sex female (15)" in note for note in run.summary().notes
    )
    assert run_command(["show", run.id, *at]) == 0
    assert "Share of people with a worse score" in capsys.readouterr().out
    assert run_command(["report", run.id, "--to", str(tmp_path / "r.html"), *at]) == 0
    assert "Share of people with a worse score" in (tmp_path / "r.html").read_text()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--limit", "20"), "norm 'spring' has 12 items; 8 of the 20 chosen ones, such as "),
        (("--limit", "12", "--language", "zh"), "its people took language 'en', this run has 'zh'"),
        (("--limit", "12", "--condition", "second-person"), "its people took condition 'control'"),
    ],
)
def test_other_items_are_refused_before_anything_is_played(sesi, sesi_norm, words, said, capsys):
    before = len(sm.runs(store=sesi))
    words = ["run", "sesi", "--model", "baseline/random", "--norm", str(sesi_norm), *words, "--store", str(sesi)]
    assert run_command(words) == 2
    assert said in capsys.readouterr().err and len(sm.runs(store=sesi)) == before


def test_a_run_without_a_norm_is_the_run_that_it_was(sesi):
    one = sm.run("sesi", model="baseline/random", limit=3, store=sesi)
    assert sm.run("sesi", model="baseline/random", limit=3, settings={"norm": None}, store=sesi).id == one.id
    assert "percentile" not in {measure.name for measure in one.summary().measures}


def test_a_run_on_a_norm_can_be_compared_with_people_and_with_runs_without_it(sesi, sesi_norm, capsys):
    at = ["--store", str(sesi)]
    placed = sm.run("sesi", model="baseline/oracle", limit=ITEMS, settings={"norm": str(sesi_norm)}, store=sesi)
    plain = sm.run("sesi", model="baseline/random", limit=ITEMS, store=sesi)
    assert "norm" not in plain.manifest.config.settings, "as in runs of versions without it"
    for other in ("spring", plain.id):
        assert run_command(["compare", other, placed.id, *at]) == 0
        assert "baseline/oracle is better than" in capsys.readouterr().out


def test_the_command_that_is_printed_is_not_refused(tmp_path, capsys):
    """A study of twelve stories made a norm that the printed command could not use."""
    path = make_study(tmp_path / "s.db", "seceu", POINTS, people=14, limit=12, settings={"shuffle": True})
    norm = tmp_path / "norm.json"
    capsys.readouterr()
    assert run_command(["study", "norms", "spring", "--to", str(norm), "--store", str(path)]) == 0
    said = capsys.readouterr().out
    assert said.count("ere the key is the mean answer of the other people") == 1
    assert "Distance to the key (SECEU score); the key is the mean answer of the other people" in said
    printed = said.partition("Use it with: sociometer ")[2].split()
    words = [word.replace("MODEL", "baseline/even") for word in printed]
    assert run_command([*words, "--store", str(path), "--json"]) == 0
    (played,) = json.loads(capsys.readouterr().out)
    found = {one["name"]: one for one in played["summaries"]["feelings"]["measures"] if not one.get("group")}
    assert "surprises" in [table["name"] for table in played["summaries"]["feelings"]["tables"]]
    assert run_command(["compare", "spring", "baseline/even", "--store", str(path)]) == 2
    refused = capsys.readouterr().err.splitlines()
    assert "play the model without --norm" in refused[0]
    assert run_command(refused[1].split()[1:]) == 0, "the printed command plays the same items"
    capsys.readouterr()
    assert run_command(["compare", "spring", sm.runs(store=path)[-1].id, "--store", str(path)]) == 0
    assert "baseline/even is" in capsys.readouterr().out
    curve = json.loads(norm.read_text())["tasks"]["feelings"]["curve"]
    assert found["percentile"]["value"] == pytest.approx(share_worse(curve, found["distance"]["value"]), abs=1e-6)
    assert found["eq"]["value"] and found["percentile"]["interval"]["method"].endswith("Wilson over people")
    assert run_command(["run", "seceu", "--model", "baseline/even", "--norm", str(norm), "--store", str(path)]) == 2
    assert "norm 'spring' has 12 items; 28 of the 40 chosen ones" in capsys.readouterr().err
    create = [
        "study",
        "create",
        "seceu",
        "--name",
        "next",
        "--limit",
        "12",
        "--set",
        f"norm={norm}",
        "--shows",
        "place",
    ]
    assert run_command([*create, "--store", str(path)]) == 0 and "--shows place" not in capsys.readouterr().out


def test_people_with_items_of_their_own_are_compared_on_those(tmp_path, capsys):
    path = tmp_path / "s.db"
    names = [one.item.id for one in sm.run("sesi", model="baseline/random", limit=12, store=path).episodes()]
    book = StudyBook(book_path(path))
    study = Study("spring", RunConfig(instrument="sesi", subject="human", items=tuple(names)), sample=6)
    book.create(study)
    for number in range(16):
        some = [names[(number + at) % len(names)] for at in range(6)]
        model = "baseline/oracle" if number % 2 else "baseline/random"
        run = sm.run("sesi", model=model, items=some, seed=number, fresh=True, store=path)
        book.set_run(book.join(study, {})[0], run.id)
    book.close()
    words = ["study", "norms", "spring", "--to", str(tmp_path / "norm.json"), "--store", str(path)]
    assert run_command(words) == 0
    norm = json.loads((tmp_path / "norm.json").read_text())["tasks"]["questions"]
    assert norm["answered"] == 6 and sum(one["people"] for one in norm["items"].values()) == 16 * 6
    assert norm["mean"] == pytest.approx(np.mean([one["mean"] for one in norm["items"].values()]), abs=0.05)
    assert capsys.readouterr().out.count(" --item ") == len(names)


def test_the_commands_of_the_page_about_people_work_one_after_another(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOCIOMETER_STORE", str(path := tmp_path / "s.db"))
    page = (Path(__file__).parents[2] / "docs/how-to/people.md").read_text(encoding="utf-8")
    shown = re.findall("^sociometer (.*?)(?: +#.*)?$", page.partition("## People as judges")[0], re.MULTILINE)
    assert len(shown) == 9 and shown[0].startswith("study create seceu ")
    for line in shown:
        if line == "study open spring":  # people take it, instead of a server that waits for them
            with closing(StudyBook(book_path(path))) as book:
                for number in range(12):
                    person, _ = book.join(book.study("spring"), {})

                    def answer(messages, number=number):
                        return POINTS[zlib.crc32(f"{number} {messages}".encode()) % len(POINTS)]

                    named = {"name": f"spring.{person.id}", "fresh": True}
                    book.set_run(person, sm.run("seceu", model=answer, store=path, **named).id)
            continue
        words = line.replace("openai/gpt-4o-mini", "baseline/even").replace("spring.PARTICIPANT", name_of(line, path))
        assert run_command(words.split()) == 0, line
        assert "cannot be compared" not in capsys.readouterr().out, line


def name_of(line, path):
    """The name of a participant's run, once there is one."""
    if "PARTICIPANT" not in line:
        return ""
    with closing(StudyBook(book_path(path))) as book:
        return f"spring.{book.participants('spring')[0].id}"


def test_a_norm_says_how_many_of_its_people_are_flagged(tmp_path, capsys):
    path = make_study(tmp_path / "s.db", "sesi", "ABCD", people=12, limit=3)
    with closing(StudyBook(book_path(path))) as book:
        book.change(structs.replace(book.study("spring"), attention=1, excludes_flagged=False))
    norm, at = tmp_path / "norm.json", ["--store", str(path)]
    assert run_command(["study", "norms", "spring", "--to", str(norm), *at]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert f"wrote {norm}: 12 people, 12 flagged" in said
    assert "12 of 12 people may not have read the questions" in said
    assert "Leave them out with: sociometer study change spring --exclude-flagged" in said
    words = ["run", "sesi", "--model", "baseline/random", "--norm", str(norm), "--limit", "3", *at]
    assert run_command(words) == 0
    assert "Norm: spring, 12 people, 12 flagged" in capsys.readouterr().out


def test_a_norm_of_seceu_says_whom_it_leaves_out_although_the_study_counts_them(tmp_path, capsys):
    path = make_study(tmp_path / "s.db", "seceu", POINTS, people=12, limit=6)
    always = sm.run("seceu", model=lambda messages: "4 3 2 1", fresh=True, store=path, limit=6)
    with closing(StudyBook(book_path(path))) as book:
        for one in book.participants("spring"):
            book.add_check(one.id, 0, True)
        book.set_run(book.join(book.study("spring"), {"age": "40", "sex": "f", "id": "last"})[0], always.id)
        book.change(structs.replace(book.study("spring"), attention=1, excludes_flagged=False))
    norm = sm.study("spring", store=path).norm(tmp_path / "norm.json")
    assert norm.people == 12
    assert run_command(["study", "norms", "spring", "--to", str(tmp_path / "n.json"), "--store", str(path)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "12 people, 0 flagged, 0 excluded" in said and "may not have read" not in said
    assert "1 of 13 people may not have read" in " ".join(sm.get_run("spring", store=path).summary().notes)
    assert "1 person left out for the same four numbers in at least 95 % of the stories" in said


def test_too_few_people_make_no_norm(tmp_path, capsys):
    path = make_study(tmp_path / "s.db", "sesi", "ABCD", people=9, limit=3)
    assert run_command(["study", "norms", "spring", "--to", str(tmp_path / "n.json"), "--store", str(path)]) == 2
    assert "9 people count in study spring; a norm needs at least 10" in capsys.readouterr().err
    assert not (tmp_path / "n.json").exists()


def test_each_instrument_of_a_battery_has_its_own_norm(tmp_path, capsys):
    path = tmp_path / "s.db"
    configs = [RunConfig(instrument=name, subject="human", limit=3) for name in ("sesi", "seceu")]
    with closing(StudyBook(book_path(path))) as book:
        study = Study("spring", configs[0], further=(configs[1],), asks=("age",))
        book.create(study)
        for number in range(12):
            joined, _ = book.join(study, {"age": str(20 + number)})
            for name in ("sesi", "seceu"):

                def answer(messages, name=name, number=number):
                    known = POINTS if name == "seceu" else "ABCD"
                    return known[zlib.crc32(f"{number} {messages}".encode()) % len(known)]

                run = sm.run(name, model=answer, fresh=True, store=path, limit=3)
                book.set_run(joined, run.id)
                joined = book.participant(joined.id)
    at = ["--to", str(tmp_path / "norm.json"), "--store", str(path)]
    assert run_command(["study", "norms", "spring", *at]) == 2
    assert "name the people of one: spring.sesi, spring.seceu" in capsys.readouterr().err
    assert run_command(["study", "norms", "spring.seceu", *at]) == 0
    made = json.loads((tmp_path / "norm.json").read_text())
    assert made["instrument"] == "seceu" and made["tasks"]["feelings"]["people"] == 12
    named = [sm.study("spring", store=path).norm(part=part) for part in ("seceu", "spring.seceu")]
    assert named == [sm.study("spring.seceu", store=path).norm()] * 2
    assert sm.get_run("spring", instrument="seceu", store=path).id == "spring.seceu"
    for word in ("spring", "spring.seceu", "seceu"):
        assert run_command(["export", word, "--to", str(tmp_path / "x.csv"), "--store", str(path)]) == 2
        assert "to write it: sociometer study export spring --to FOLDER" in capsys.readouterr().err
    for words in (["show"], ["export", "--to", str(tmp_path / "data")], ["change", "--quota", "30"],
                  ["withdraw", f"spring.seceu.{joined.id}", "--yes"]):  # fmt: skip
        assert run_command(["study", words[0], "spring.seceu", *words[1:], "--store", str(path)]) == 0, words
        assert "spring.seceu" not in capsys.readouterr().out, "the whole study"
        assert run_command(["study", words[0], "spring.sage", *words[1:], "--store", str(path)]) == 2
        assert "has no part 'spring.sage'; give: spring.sesi or spring.seceu." in capsys.readouterr().err
    assert run_command(["study", "norms", "spring.sage", *at]) == 2


def test_results_on_another_norm_are_not_ranked_with_those_of_the_others(tmp_path):
    path, norms = tmp_path / "s.db", {"": {}}
    for name, replies in (("spring", POINTS), ("autumn", POINTS[:3])):
        make_study(tmp_path / f"{name}.db", "seceu", replies, people=12, limit=4)
        sm.study("spring", store=tmp_path / f"{name}.db").norm(tmp_path / f"{name}.json")
        norms[name] = {"norm": str(tmp_path / f"{name}.json")}
    played = [("random", "spring"), ("first", "spring"), ("even", "spring"), ("even", "autumn"), ("first", "")]
    runs = [sm.run("seceu", f"baseline/{model}", store=path, limit=4, settings=norms[norm]) for model, norm in played]
    compared = sm.compare("all", store=path)
    assert {run.id for run in compared.chosen} == {run.id for run in runs}
    (board,) = compared.ranking().boards
    ranked = {"baseline/random", "baseline/first (norm spring.json)", "baseline/even (norm spring.json)"}
    assert {one.subject for one in board.standings} == ranked
    others = [line.partition(": they were scored on different norms")[0] for line in board.left_out]
    assert others == ["baseline/even (norm autumn.json)", "baseline/first"]
