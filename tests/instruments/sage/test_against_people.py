"""The simulator against people: forty scripted people with a known law, and files of talks from elsewhere."""

import csv
import json
import random
import re
import sqlite3
from contextlib import closing

import numpy as np
import pytest
from msgspec.structs import replace

from servers.faults import TOO_LONG
from servers.openai import OpenAIServer
from sociometer.cli.main import run_command
from sociometer.core.errors import DataError
from sociometer.instruments.sage.passport.against_people import JudgedEnd, examine_people, less_relief, verdict
from sociometer.instruments.sage.passport.criterion import CARE_PEOPLE, FEWEST_PEOPLE
from sociometer.instruments.sage.passport.files import read_people
from sociometer.instruments.sage.passport.page import kept_passport
from sociometer.store.store import Store
from sociometer.store.studies import StudyBook, book_path
from sociometer.store.texts import open_text

from .people import emotion_json, reply_json
from .people_law import FAULTS, NOT_PERSONS, examined, judged_turns

COLUMNS = ["person", "talk", "model", "matter", "turn", "role", "text", "feeling", "other_reply", "preferred"]
MODELS = {"kind-1": 1.0, "plain-1": 0.0, "curt-1": -1.0}
QUALITY = 2.0
"""The spread of what a reply is worth, which the person and a simulator both see."""
NOISE = 1.0
"""The spread of what only the person feels."""


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


def test_the_simulator_is_not_told_what_the_person_reported(imported, capsys):
    """Only the feeling before the talk is known to it, and only the talk up to the reply."""
    _, _, server = imported
    name = simulator(server, lambda reply: 50)
    assert examine_forty(name) == 0
    asked = [each.body["messages"] for each in server.received if "How do you feel now" in str(each.body)]
    assert len(asked) == 400, "200 turns, each with its reply and with another one"
    about = asked[0][0]["content"]
    assert "from 0 to 100: " in about and "Matter" in about
    later = [messages for messages in asked if ".5" in messages[1]["content"]]
    assert len(later) >= 40
    for messages in later:
        (start,) = re.findall(r"from 0 to 100: (\d+)", messages[0]["content"])
        numbers = re.findall(r"\b\d+\b(?!\.)", re.sub(r"Reply \S+|Other \S+|person \d+|turn \d+", "", str(messages[1])))
        assert set(numbers) <= {"0", "100"} | {start}, numbers


@pytest.mark.parametrize("name", FAULTS)
def test_each_faulty_judge_is_told_apart_for_the_right_reason(name):
    for seed in range(4):
        found = examined(name, seed)
        not_a_person, care = verdict(found)
        assert not_a_person or care, "it would pass"
        assert any(FAULTS[name] in reason for reason in (*not_a_person, *care)), (not_a_person, care)
        assert not_a_person or name not in NOT_PERSONS


def test_one_who_feels_as_people_do_may_be_used():
    """In one draw of twenty each, chance alone gives it a slope over the turns."""
    for seed in range(3):
        found = examined("feels as people do", seed)
        assert verdict(found) == ([], []) and found.added.value > 0.3


@pytest.mark.slow
@pytest.mark.parametrize("name", [*FAULTS, "feels as people do"])
def test_at_most_five_percent_pass_falsely_and_nine_of_ten_pass_rightly(name):
    """100 draws of 60 people; `people_law.py` prints the table of 500."""
    passed = notes = 0
    for seed in range(100):
        not_a_person, care = verdict(examined(name, seed))
        passed += not not_a_person and not care
        notes += any(FAULTS.get(name, "") in reason for reason in (*not_a_person, *care))
    if name in FAULTS:
        assert passed <= 5 and notes >= 95
    else:
        assert passed >= 90


def test_too_few_people_decide_nothing():
    found = examined("gives a constant", 0, people=FEWEST_PEOPLE - 1)
    not_a_person, care = verdict(found)
    assert not not_a_person and care == [f"compared with too few people (29; {found.turns} turns)"]
    assert (FEWEST_PEOPLE, CARE_PEOPLE) == (30, 0.3), "fixed before anybody was examined"


def test_an_answer_that_cannot_be_read_stays_in_and_adds_nothing():
    turns = judged_turns("feels as people do", 1)
    whole = examine_people("law", "satisfaction", turns)
    half = [replace(turn, judged=None, other=None) if place % 2 else turn for place, turn in enumerate(turns)]
    found = examine_people("law", "satisfaction", half)
    assert found.turns == whole.turns and found.unreadable == pytest.approx(0.5, abs=0.01)
    assert 0 < found.added.value < whole.added.value
    low, high = found.kindness_bounds
    assert low < found.kindness.value < high
    assert "50 % of its answers about people are unreadable" in verdict(found)[0]


def test_relief_is_compared_and_a_failed_talk_noticed_or_not():
    lots = random.Random(0)
    ends = [JudgedEnd(str(number), number % 3 == 0, float(lots.choice([0, 1, 2])), None) for number in range(60)]
    noticing = [replace(end, judged=(0.0 if end.failed else 2.0) + lots.choice([0, 1])) for end in ends]
    blind = [replace(end, judged=float(lots.choice([0, 1, 2]))) for end in ends]
    turns = judged_turns("feels as people do", 1)
    found = examine_people("law", "stars", turns, noticing).relief
    assert (found.failed, found.succeeded) == (20, 40) and found.noticed.low > 0.8
    assert verdict(examine_people("law", "stars", turns, noticing)) == ([], [])
    said = verdict(examine_people("law", "stars", turns, blind))
    assert said == ([], ["it does not notice that a talk failed"])
    assert less_relief(np.array([0.0, 1.0]), np.array([1.0, 2.0])) == (1 + 1 + 0.5 + 1) / 4


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
    """What each person reported before and after each reply."""
    before, found = {}, {}
    for row in rows:
        if "feeling" in row:
            found[row["text"]] = (before.get(row["talk"]), row["feeling"])
            before[row["talk"]] = row["feeling"]
    return found


def simulator(server, felt, alike=emotion_json):
    """Reports in the person's place by a function of the last reply; other questions get the same answers."""

    def say(body):
        prompt = body["messages"][-1]["content"]
        quoted = re.findall(r"^\|\s?(.*)$", prompt, re.MULTILINE)
        if "key report" in prompt:
            return json.dumps({"report": felt(quoted[-1])})
        if "key words" in prompt:
            return json.dumps({"words": "And then she left, without a word."})
        if "attitude" in prompt:
            return reply_json("And then she left, without a word.")
        return alike(1)

    server.say = say
    return f"vllm/simulator@{server.url}#1"


def examine_forty(name, *more):
    """Imports the forty people for this simulator and examines it against them; the exit code."""
    bring = ["sage", "import", "--people", "forty.csv", "--simulator", name, "--store", "s.db"]
    if run_command(bring):
        return 1
    words = ["sage", "passport", "--people", "forty", "--only-people", "--role", f"simulator={name}", "--store", "s.db"]
    return run_command([*words, *more])


def shown_of(capsys):
    return " ".join(capsys.readouterr().out.split())


def test_the_passport_says_how_a_simulator_agrees_with_people_and_run_says_it_too(imported, tmp_path, capsys):
    rows, worth, server = imported
    known = reported(rows)
    lots = random.Random(1)

    def felt(reply):
        if reply in known:
            return known[reply][1]
        return max(0, min(100, round(50 + worth.get(reply, 0) + lots.gauss(0, 1))))

    name = simulator(server, felt)
    words = ["sage", "passport", "--people", "forty", "--only-people", "--role", f"simulator={name}", "--store", "s.db"]
    assert run_command(["sage", "import", "--people", "forty.csv", "--store", "s.db"]) == 0
    assert "none but models on this machine" in shown_of(capsys)
    assert run_command(words) != 0
    assert "were not told that 127.0.0.1" in " ".join(capsys.readouterr().err.split()) and not server.received
    assert examine_forty(name) == 0
    shown = shown_of(capsys)
    assert "use with care" in shown and "adds 1" in shown and "(40 people)" in shown
    assert "not asked about our own replies" in shown and "Simple rules on the same turns" in shown
    kept = kept_passport("vllm/simulator#1")
    (against,) = kept.against
    assert (against.people, against.turns, against.report, against.pairs) == (40, 200, "feeling", 40)
    assert against.kindness.value == 0 and against.added.value == pytest.approx(1)
    assert "Against the people of study forty" in (tmp_path / "passport.md").read_text("utf-8")
    run = ["run", "sage", "--model", "baseline/random", "--limit", "1", "--turns", "1", "--store", "r.db"]
    assert run_command([*run, "--role", f"simulator={name}"]) == 0
    assert "adds 1" in " ".join(capsys.readouterr().err.split())
    whole = [word for word in words if word not in ("--people", "forty", "--only-people")]
    assert run_command([*whole, "--turns", "0"]) == 0
    assert "adds 1" in shown_of(capsys), "what was found against people stays"
    assert kept_passport("vllm/simulator#1").requests > 0


def test_a_simulator_that_repeats_the_state_is_not_a_person(imported, capsys):
    rows, _, server = imported
    before = {reply: found[0] for reply, found in reported(rows).items()}
    assert examine_forty(simulator(server, lambda reply: before.get(reply) or 50)) == 0
    assert "it adds nothing to what predicts people's reports without the reply" in shown_of(capsys)
    assert kept_passport("vllm/simulator#1").verdict == "not a person"


def test_a_simulator_that_cannot_be_read_is_asked_no_more_than_the_first_turns(imported, capsys):
    _, _, server = imported
    name = simulator(server, lambda reply: "good")
    assert examine_forty(name, "--rereads", "0") == 0
    assert len(server.received) == 6
    shown = shown_of(capsys)
    assert "None of the first 6 answers about people can be read" in shown
    assert "100 % of its answers about people are unreadable" in shown and "not a person" in shown


def test_requests_that_fail_stay_in_the_denominator(imported, capsys):
    """Every tenth talk is too long for the simulator's server."""
    rows, _, server = imported
    known = reported(rows)
    name = simulator(server, lambda reply: known[reply][1] if reply in known else 50)
    server.fault_of = lambda number: TOO_LONG if number > 20 and number % 10 == 0 else None
    examine_forty(name, "-o", "retries=0")
    shown_of(capsys)
    (against,) = kept_passport("vllm/simulator#1").against
    assert against.turns == 200 and against.people == 40
    assert 0.05 < against.unreadable < 0.15
    low, high = against.kindness_bounds
    assert low < against.kindness.value < high


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
    name = simulator(server, lambda reply: 50)
    bring = ["sage", "import", "--people", "forty.csv", "--simulator", name, "--store", "s.db"]
    assert run_command(bring) == 0
    words = ["sage", "passport", "--people", "forty", "--only-people", "--role", f"simulator={name}", "--store", "s.db"]
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
