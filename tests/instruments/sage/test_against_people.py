"""The simulator against people: forty scripted people with a known law, and files of talks from elsewhere."""

import csv
import json
import random
import re
import sqlite3
from contextlib import closing

import pytest

from servers.openai import OpenAIServer
from sociometer.cli.main import run_command
from sociometer.core.errors import DataError
from sociometer.core.task import Episode, RunView, Score
from sociometer.instruments.sage.passport.against_people import (
    CARE_PEOPLE,
    FEWEST_PEOPLE,
    people_probes,
    right_order,
    verdict,
)
from sociometer.instruments.sage.passport.files import read_people
from sociometer.instruments.sage.passport.page import kept_at, kept_passport
from sociometer.instruments.sage.passport.probes import Felt
from sociometer.instruments.sage.passport.verdict import examine
from sociometer.store.store import Store
from sociometer.store.studies import StudyBook, book_path
from sociometer.store.texts import open_text

from .people import emotion_json, reply_json

COLUMNS = ["person", "talk", "model", "matter", "turn", "role", "text", "feeling", "other_reply", "preferred"]
MODELS = {"kind-1": 1.0, "plain-1": 0.0, "curt-1": -1.0}
QUALITY = 2.0
"""The spread of what a reply is worth, which the person and a simulator both see."""
NOISE = 1.0
"""The spread of what only the person, or only the simulator, feels."""
WORTH = QUALITY**2 + 2 / 3
"""Its variance, with that of three models a point apart."""
LAW = WORTH / (WORTH + NOISE**2 + 1 / 12)
"""The partial correlation given the state of a simulator that feels the reply as people do, with noise of its own.

Changes are whole numbers, which adds a twelfth."""


def drift(before):
    """What the feeling before alone does: it goes back to 50."""
    return (50 - before) / 15


def scripted_people(seed=0, people=40, turns=5):
    """Rows of forty people who follow the law, and what each reply is worth beyond the state."""
    lots, rows, worth = random.Random(seed), [], {}
    for number in range(people):
        model = list(MODELS)[number % 3]
        feeling = lots.randint(20, 60)
        who = {"person": f"person {number}", "talk": f"talk {number}", "model": model, "matter": f"Matter {number}."}
        for turn in range(1, turns + 1):
            words = f"This is what I, person {number}, have to say at turn {turn} about it."
            first = {"feeling": feeling} if turn == 1 else {}
            rows.append({**who, "turn": turn, "role": "person", "text": words, **first})
            reply = f"Reply {number}.{turn}" + " x" * lots.randint(0, 40)
            worth[reply] = lots.gauss(MODELS[model], QUALITY)
            change = max(-10, min(10, round(drift(feeling) + worth[reply] + lots.gauss(0, NOISE))))
            row = {**who, "turn": turn, "role": "model", "text": reply}
            if turn == 2:
                other = f"Other {number}.{turn}"
                worth[other] = lots.gauss(0, QUALITY)
                better = worth[reply] + lots.gauss(0, NOISE) > worth[other] + lots.gauss(0, NOISE)
                row |= {"other_reply": other, "preferred": "reply" if better else "other"}
            feeling = max(0, min(100, feeling + change))
            rows.append({**row, "feeling": feeling})
    return rows, worth


def write(path, rows):
    if path.suffix == ".csv":
        with path.open("w", newline="", encoding="utf-8") as file:
            made = csv.DictWriter(file, COLUMNS)
            made.writeheader()
            made.writerows(rows)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_both_kinds_of_file_are_read_as_the_same_talks(tmp_path, suffix):
    rows, _ = scripted_people()
    found = read_people(write(tmp_path / f"people{suffix}", rows)).talks
    assert len(found) == 40 and {one.model for one in found} == set(MODELS)
    talk = found[0].talk
    assert (talk.matter, talk.start, len(talk.turns)) == ("Matter 0.", rows[0]["feeling"], 5)
    assert [turn.reported for turn in talk.turns] == [row["feeling"] for row in rows[1:10:2]]
    assert talk.turns[1].preferred in ("reply", "other") and talk.turns[1].other == "Other 0.2"
    assert talk.said(1)[-1] == ("person", "This is what I, person 0, have to say at turn 2 about it.")


@pytest.mark.parametrize(
    ("change", "line", "why"),
    [
        ({2: {"feeling": 50}}, 3, "a feeling belongs to the first row"),
        ({0: {"feeling": None}}, 1, "begins without a feeling"),
        ({1: {"feeling": 101}}, 2, "<= 100"),
        ({1: {"role": "person"}}, 2, "expected turn 1 of the model"),
        ({3: {"turn": 3}}, 4, "expected turn 2 of the model"),
        ({1: {"model": "another"}}, 2, "a talk has one of each"),
        ({3: {"preferred": ""}}, 4, "belong together"),
        ({1: {"text": " "}}, 2, "text is empty"),
        ({1: {"mood": "good"}}, 2, "unknown field"),
    ],
)  # fmt: skip
def test_a_bad_row_is_refused_with_its_line(tmp_path, change, line, why):
    rows = scripted_people(people=1)[0]
    for place, more in change.items():
        rows[place] = {**rows[place], **more}
    with pytest.raises(DataError, match=re.escape(why)) as caught:
        read_people(write(tmp_path / "people.jsonl", rows))
    assert f"people.jsonl:{line}" in str(caught.value)


def against(folder, rows, judge):
    """The agreement of a judge of (reply, feeling before, change reported) with the people of these rows."""
    views = [
        RunView(
            lambda one=one: iter([Episode(None, 0, one.talk, Score(values={}), None)]),
            {},
            run=one.person,
            name=one.model,
        )
        for one in read_people(write(folder / "law.jsonl", rows)).talks
    ]
    probes = people_probes("law", {view.run: view.run for view in views}, views)
    judged = [(probe, judge(probe.talk[-1][1], probe.before, probe.change)) for probe in probes]
    return examine([(probe, Felt((change,) * probe.times)) for probe, change in judged], "x").people


def test_the_figures_are_those_of_the_law(tmp_path):
    """Over twenty draws: the mean partial correlation is the law's, and its interval covers it as often as it says."""
    found = []
    for seed in range(20):
        rows, worth = scripted_people(seed)
        lots = random.Random(f"simulator {seed}")
        felt = {reply: value + lots.gauss(0, NOISE) for reply, value in worth.items()}
        found.append(against(tmp_path, rows, lambda reply, was, _, felt=felt: round(1 + drift(was) + felt[reply])))
    mean = sum(one.beyond.r for one in found) / 20
    assert mean == pytest.approx(LAW, abs=0.02)
    assert sum(one.beyond.interval.low <= LAW <= one.beyond.interval.high for one in found) >= 17
    assert sum(one.changes.bias for one in found) / 20 == pytest.approx(1, abs=0.1)
    assert sum(one.changes.order == 1 for one in found) >= 14, "the models are a point apart"
    assert all(verdict(one) == ([], []) and one.pairs == 40 and one.order > 0.6 for one in found)


def test_a_simulator_that_judges_by_the_state_alone_fails_against_people(tmp_path):
    for seed in range(5):
        lots = random.Random(seed)
        rows, _ = scripted_people(seed)
        found = against(tmp_path, rows, lambda _, was, __, lots=lots: round(drift(was) + lots.gauss(0, 0.5)))
        assert abs(found.beyond.r) < 0.2 and found.beyond.interval.low <= 0
        assert verdict(found)[0] == ["its changes follow people's own no better than a judge who ignores the reply"]


def test_one_that_repeats_peoples_own_reports_passes(tmp_path):
    rows, worth = scripted_people()
    found = against(
        tmp_path, rows, lambda reply, _, change: change if reply.startswith("Reply") else round(worth[reply])
    )
    assert found.beyond.r == pytest.approx(1) and found.changes.bias == 0 and found.changes.order == 1
    assert verdict(found) == ([], []) and found.line.startswith("agrees with people 1")
    assert (right_order(3, 1), right_order(1, 1), right_order(1, 3)) == (1, 0.5, 0)


def test_too_few_people_decide_nothing(tmp_path):
    rows, _ = scripted_people(people=FEWEST_PEOPLE - 1)
    found = against(tmp_path, rows, lambda _, __, change: change)
    assert verdict(found) == ([], ["compared with too few people (19; 95 turns)"])
    assert CARE_PEOPLE == 0.3, "fixed before anybody was examined"


@pytest.fixture
def imported(tmp_path, monkeypatch):
    """The forty people as a study of a store, and a server that plays a simulator by a function of the prompt."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    rows, worth = scripted_people()
    write(tmp_path / "forty.csv", rows)
    with OpenAIServer() as server:
        yield rows, worth, server


def reported(rows):
    """The change that a person reported after each reply, and before which feeling."""
    before, found = {}, {}
    for row in rows:
        if "feeling" in row:
            found[row["text"]] = row["feeling"] - before.get(row["talk"], 0)
            before[row["talk"]] = row["feeling"]
    return found


def simulator(server, felt):
    """Answers both hops; `felt` gets the last reply and the feeling before."""

    def say(body):
        prompt = body["messages"][-1]["content"]
        if '"words"' in prompt or "attitude" in prompt:
            return reply_json("And then she left, without a word.")
        quoted = re.findall(r"^\|\s?(.*)$", prompt, re.MULTILINE)
        stood = re.search(r"stood at (\d+)", prompt)
        return emotion_json(felt(quoted[-1], int(stood[1]) if stood else 40))

    server.say = say
    return f"vllm/simulator@{server.url}#1"


def test_the_passport_says_how_a_simulator_agrees_with_people_and_run_says_it_too(imported, tmp_path, capsys):
    rows, worth, server = imported
    known = reported(rows)
    name = simulator(server, lambda reply, before: round(known.get(reply, worth.get(reply, 0))))
    words = ["sage", "passport", "--people", "forty", "--turns", "0", "--role", f"simulator={name}", "--store", "s.db"]
    assert run_command(["sage", "import", "--people", "forty.csv", "--store", "s.db"]) == 0
    assert "none but models on this machine" in " ".join(capsys.readouterr().out.split())
    assert run_command(words) != 0
    assert "were not told that 127.0.0.1" in " ".join(capsys.readouterr().err.split()) and not server.received
    again = ["sage", "import", "--people", "forty.csv", "--simulator", name, "--store", "s.db"]
    assert run_command(again) == 0 and run_command(words) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "agrees with people 1" in shown and "(40 talks)" in shown
    kept = json.loads(kept_at("vllm/simulator#1").read_text("utf-8"))
    assert kept["people"]["people"] == 40 and kept["people"]["changes"]["turns"] == 200
    assert (
        kept["people"]["changes"]["bias"] == 0 and kept["people"]["pairs"] == 40 and 0.6 < kept["people"]["order"] < 1
    )
    assert not any("people's own" in reason for reason in kept["reasons"])
    assert "Agreement with the people of study forty" in (tmp_path / "passport.md").read_text("utf-8")
    run = ["run", "sage", "--model", "baseline/random", "--limit", "1", "--turns", "1", "--store", "r.db"]
    assert run_command([*run, "--role", f"simulator={name}"]) == 0
    assert "agrees with people 1" in " ".join(capsys.readouterr().err.split())
    assert run_command(["sage", "passport", *words[4:]]) == 0
    assert "agrees with people 1" in " ".join(capsys.readouterr().out.split()), "an earlier agreement stays"


def test_a_simulator_that_judges_by_the_state_is_not_a_person(imported, capsys):
    _, _, server = imported
    name = simulator(server, lambda reply, before: round(drift(before)))
    assert run_command(["sage", "import", "--people", "forty.csv", "--simulator", name, "--store", "s.db"]) == 0
    words = ["sage", "passport", "--people", "forty", "--turns", "0", "--role", f"simulator={name}", "--store", "s.db"]
    assert run_command(words) == 0
    assert "no better than a judge who ignores the reply" in " ".join(capsys.readouterr().out.split())
    found = kept_passport("vllm/simulator#1")
    assert found.verdict == "not a person" and found.people.beyond.interval.low <= 0


def test_a_simulator_without_a_passport_is_not_checked_against_people(imported, capsys):
    run = ["run", "sage", "--model", "baseline/random", "--limit", "1", "--turns", "1", "--store", "r.db"]
    assert run_command([*run, "--role", "simulator=baseline/random"]) == 0
    assert "is not checked against people" in " ".join(capsys.readouterr().err.split())


def texts_in(path):
    """All texts of a store, and all bytes of the files next to it."""
    with closing(sqlite3.connect(path)) as store:
        texts = [open_text(*row) for row in store.execute("SELECT hash, body FROM text")]
    return b"".join([*texts, *(one.read_bytes() for one in path.parent.glob(f"{path.name}*") if one.is_file())])


def test_an_imported_person_who_withdraws_leaves_nothing_and_does_not_come_back(imported, tmp_path, capsys):
    _, _, server = imported
    write(tmp_path / "forty.csv", scripted_people(people=10)[0])
    name = simulator(server, lambda reply, before: 1)
    bring = ["sage", "import", "--people", "forty.csv", "--simulator", name, "--store", "s.db"]
    assert run_command(bring) == 0
    words = ["sage", "passport", "--people", "forty", "--turns", "0", "--role", f"simulator={name}", "--store", "s.db"]
    assert run_command(words) == 0
    path = tmp_path / "s.db"
    with Store(path) as store:
        before = len(list(store.runs.all()))
    book = StudyBook(book_path(path))
    one = next(each for each in book.participants("forty") if each.about["person"] == "person 7")
    book.close()
    assert b"person 7," in texts_in(path)
    assert run_command(["study", "withdraw", "forty", one.id, "--yes", "--store", "s.db"]) == 0
    with Store(path) as store:
        assert len(list(store.runs.all())) == before - 2, "the person's run, and the passport's run of people's turns"
    assert b"person 7," not in texts_in(path) and b"Matter 7." not in texts_in(path)
    assert run_command(bring) == 0
    assert b"person 7," not in texts_in(path)
    capsys.readouterr()
    assert run_command(["study", "show", "forty", "--store", "s.db"]) == 0
    shown = capsys.readouterr().out
    assert "person 8" in shown and "person 7" not in shown


def test_models_are_compared_within_the_people_who_talked_with_both(imported, tmp_path, capsys):
    rows, _ = scripted_people(people=12)
    both = [{**row, "model": model, "talk": f"{row['talk']} {model}"} for model in ("a/1", "b/2") for row in rows]
    for row in both:
        if row["model"] == "b/2" and row["role"] == "model":
            row["feeling"] = min(100, row["feeling"] + 8 + int(row["person"].split()[1]) % 3)
    write(tmp_path / "both.jsonl", both)
    assert run_command(["sage", "import", "--people", "both.jsonl", "--store", "s.db"]) == 0
    capsys.readouterr()
    assert run_command(["compare", "both.a-1", "both.b-2", "--store", "s.db"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "b/2 with people (both.b-2, n = 12)" in shown and "is better than a/1" in shown
    assert run_command(["report", "both.a-1", "both.b-2", "--to", "r.html", "--store", "s.db"]) == 0
    page = (tmp_path / "r.html").read_text("utf-8")
    assert "Feeling at the end" in page and "have to say" not in page, "no words of people on a page to share"
    assert run_command(["study", "export", "both", "--to", "out", "--store", "s.db"]) == 0
    with (tmp_path / "out" / "sage_talk.csv").open(encoding="utf-8-sig", newline="") as file:
        found = list(csv.DictReader(file))
    assert len({row["person"] for row in found}) == 12
    assert any("have to say at turn 5" in row["answer"] for row in found)
