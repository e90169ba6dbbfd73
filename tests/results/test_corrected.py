"""Values corrected by people's labels in compare and report. The labels here are made up by a rule."""

import csv
import json
import os
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import sociometer as sm
from sociometer.cli.main import run_command
from sociometer.core.card import MeasureCard
from sociometer.results.corrected import corrections, judge_and_people
from sociometer.store.labels import OWNER, Label, LabelBook, book_path
from sociometer.web.annotate import measure_asked

SIMULATOR = {"simulator": "baseline/random"}
DATA = Path(os.environ.get("SOCIOMETER_DATA", "/nowhere")) / "sage" / "transcripts"
FILES = ("gpt-4.1_result.jsonl", "qwen2.5-72b_result.jsonl")


def harsher(place, score):
    """A made-up person: ten points below the simulator, give or take."""
    return max(0.0, score - 10 + (place % 5) * 2)


def sceptic(place, score):
    """A made-up person who answers the questions of a dialogue by the judge's share, give or take."""
    return "yes" if (place * 7 % 10) / 10 < score else "no"


def label(run, store, name, sample, person=harsher, options=(), task="dialogue", value="emotion"):
    """Labels a random sample of a run's episodes in a file, as a rater with a spreadsheet would."""
    create = ["annotate", "create", name, "--run", run.id, "--sample", str(sample), "--raters", "1", "--per-item", "1"]
    assert run_command([*create, *options, "--store", str(store)]) == 0
    sheet = store.with_name(f"{name}.csv")
    assert run_command(["annotate", "export", name, "--to", str(sheet), "--store", str(store)]) == 0
    judge = {f"{one.item.id}#{one.repeat}": one.score.values[value] for one in run.episodes(task)}
    with sheet.open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    with sheet.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(rows[0])
        for place, row in enumerate(rows):
            writer.writerow({**row, "value": person(place, judge[row["episode"]])}.values())
    assert run_command(["annotate", "import", name, str(sheet), "--rater", "anna", "--store", str(store)]) == 0


@pytest.fixture(scope="module")
def labelled(tmp_path_factory):
    """Two released models with made-up labels of 40 of their 100 dialogues each."""
    if not DATA.exists():
        pytest.skip("the released dialogues of SAGE are not here: set SOCIOMETER_DATA")
    store = tmp_path_factory.mktemp("labels") / "s.db"
    assert run_command(["sage", "import", *[str(DATA / name) for name in FILES], "--store", str(store)]) == 0
    for run in sm.runs(store=store):
        label(run, store, f"q-{run.subject}", 40)
    return store


def test_a_corrected_table_of_released_dialogues(labelled):
    found = {run.subject: corrections(run)[0] for run in sm.runs(store=labelled)}
    assert set(found) == {"gpt-4.1", "qwen2.5-72b"}
    for subject, one in found.items():
        corrected = one.corrected
        assert corrected.labels == 40 and corrected.episodes == 100
        # The made-up people are about six points below the judge; the lowest scores cannot fall further.
        assert 1 < corrected.bias < 8, subject
        assert corrected.bias_interval.low <= corrected.bias <= corrected.bias_interval.high
        assert corrected.interval.low < corrected.value < corrected.interval.high
    # The judge's own means are those of the paper's Table 3.
    assert found["gpt-4.1"].corrected.judge == pytest.approx(68.2, abs=0.1)
    assert found["qwen2.5-72b"].corrected.judge == pytest.approx(19.1, abs=0.1)


def test_compare_uses_the_corrected_values_and_says_so(labelled):
    by_subject = {run.subject: run for run in sm.runs(store=labelled)}
    one, two = by_subject["gpt-4.1"], by_subject["qwen2.5-72b"]
    (compared,) = [c for c in sm.compare(one, two).comparisons if c.task == "dialogue"]
    row = next(row for row in compared.measures if row.name == "sentient" and not row.group)
    values = [corrections(run)[0].corrected.value for run in (one, two)]
    assert row.paired.first == pytest.approx(values[0]) and row.paired.second == pytest.approx(values[1])
    assert row.paired.interval.method == "prediction-powered" and row.verdict == "worse"
    assert any("corrected by people's labels of 40 of 100 and 40 of 100 episodes" in note for note in compared.notes)


def test_a_ranking_has_the_values_of_the_judge_and_says_so(labelled, capsys):
    capsys.readouterr()
    assert run_command(["compare", "sage", "--json", "--store", str(labelled)]) == 0
    board = next(one for one in json.loads(capsys.readouterr().out)["rankings"] if one["task"] == "dialogue")
    assert "people's labels correct a comparison of two runs, not this ranking" in board["notes"]
    first = next(one for one in board["standings"] if one["subject"] == "gpt-4.1")
    assert first["value"] == pytest.approx(68.2, abs=0.1)


def test_show_says_what_people_corrected_with_as_many_digits_for_the_judge(labelled, capsys):
    capsys.readouterr()
    run = next(run for run in sm.runs(store=labelled) if run.subject == "gpt-4.1")
    assert run_command(["show", run.id, "--store", str(labelled)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert re.search(
        r"corrected by people's labels of 40 of 100 episodes: \d+ \[\d+, \d+\]; the judge alone: 68\. ", said
    )


def test_the_report_says_what_people_corrected(labelled, tmp_path):
    page = sm.report(sm.runs(store=labelled)[:2], tmp_path / "r.html").read_text("utf-8")
    assert "corrected by people&#39;s labels of 40 of 100 episodes" in page or (
        "corrected by people's labels of 40 of 100 episodes" in page
    )


def test_with_labels_of_one_run_only_both_are_compared_as_judged(tmp_path):
    store = tmp_path / "s.db"
    runs = [
        sm.run("sage", model=f"baseline/{name}", limit=14, roles=SIMULATOR, store=store)
        for name in ("random", "oracle")
    ]
    plain = sm.compare(*runs).comparisons[0]
    label(runs[0], store, "one", 12)
    compared = sm.compare(*runs).comparisons[0]
    assert [row.paired for row in compared.measures] == [row.paired for row in plain.measures]
    assert any("only baseline/random has people's labels" in note for note in compared.notes)


def two_runs(store, limit=14):
    return [
        sm.run("sage", model=f"baseline/{name}", limit=limit, roles=SIMULATOR, store=store)
        for name in ("random", "oracle")
    ]


def test_answers_to_differently_worded_questions_are_not_compared(tmp_path, capsys):
    store = tmp_path / "s.db"
    runs = two_runs(store)
    plain = sm.compare(*runs).comparisons[0]
    label(runs[0], store, "one", 12)
    label(runs[1], store, "two", 12, options=["--language", "zh"])
    sets = [corrections(run)[0].corrected.label_set for run in runs]
    assert len(set(sets)) == 2 and all(sets)
    compared = sm.compare(*runs).comparisons[0]
    assert [row.paired for row in compared.measures] == [row.paired for row in plain.measures]
    (note,) = [note for note in compared.notes if "differently worded" in note]
    assert "A 的感受如何" in note and "At the end of this conversation" in note
    assert "the judge's values of both are compared" in note
    assert "No verdict, because a stand-in played a role: " in sm.report(runs, tmp_path / "r.html").read_text("utf-8")


def test_answers_to_the_same_question_are_compared_whatever_the_queue_is_called(tmp_path):
    store = tmp_path / "s.db"
    runs = two_runs(store)
    for number, run in enumerate(runs):
        label(run, store, f"queue-{number}", 12, options=["--seed", str(number)])
    compared = sm.compare(*runs).comparisons[0]
    assert any("corrected by people's labels of 12 of 14" in note for note in compared.notes)


def test_sycophancy_is_a_judged_measure_that_people_correct(tmp_path, capsys):
    store = tmp_path / "s.db"
    for model in ("random", "oracle"):
        settings = {"turns": 2, "language": "all"}
        played = sm.run(
            "sage", model=f"baseline/{model}", tasks=["hard-talks"], settings=settings, roles=SIMULATOR, store=store
        )
        command = ["sage", "analyse", played.id, "--what", "candour", "--role", "judge=baseline/random"]
        assert run_command([*command, "--store", str(store)]) == 0
    judged = [run for run in sm.runs(store=store) if run.tasks == ("candour",)]
    for run in judged:
        label(run, store, f"q-{run.id}", 16, sceptic, task="candour", value="sycophancy")
    book = LabelBook(book_path(store))
    queue = book.queue(f"q-{judged[0].id}")
    units = book.units(queue.name)
    unit = next(iter(units.values()))
    book.close()
    # Sycophancy is a share of questions: people answer each of them, about the whole dialogue.
    assert queue.asked[0].values == ("yes", "no") and "at least one of B's replies" in queue.asked[0].question
    assert set(unit.shown) == {"who and what", "talk", "question"} and "oracle" not in str(unit.shown)
    assert len({one.key["episode"] for one in units.values()}) == 16 < len(units)
    (found,) = corrections(judged[0])
    assert found.measure.name == "sycophancy" and found.corrected.labels == 16 and found.corrected.episodes == 24
    assert 0 <= found.corrected.interval.low <= found.corrected.value <= found.corrected.interval.high <= 1
    (compared,) = sm.compare(*judged).comparisons
    assert any("“Sycophancy” is corrected by people's labels" in note for note in compared.notes)
    capsys.readouterr()
    assert run_command(["annotate", "show", queue.name, "--store", str(store)]) == 0
    assert "Judge and people: Sycophancy" in capsys.readouterr().out


@pytest.mark.parametrize("measure", ["sycophancy", "safety", "harshness"])
def test_people_who_answer_as_the_judge_did_correct_nothing(measure, tmp_path):
    store = tmp_path / "s.db"
    played = sm.run(
        "sage", model="baseline/random", tasks=["hard-talks"], settings={"turns": 2}, roles=SIMULATOR, store=store
    )
    command = ["sage", "analyse", played.id, "--what", "candour", "--role", "judge=baseline/random"]
    assert run_command([*command, "--store", str(store)]) == 0
    (judged,) = [run for run in sm.runs(store=store) if run.tasks == ("candour",)]
    outcomes = {f"{one.item.id}#{one.repeat}": one.outcome.replies for one in judged.episodes("candour")}
    create = ["annotate", "create", "q", "--run", judged.id, "--measure", measure, "--sample", "12", "--raters", "1"]
    assert run_command([*create, "--per-item", "1", "--store", str(store)]) == 0
    sheet = tmp_path / "q.csv"
    assert run_command(["annotate", "export", "q", "--to", str(sheet), "--store", str(store)]) == 0
    with sheet.open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    with sheet.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, rows[0])
        writer.writeheader()
        for row in rows:
            said = "yes" in [given[row["question"]] for given in outcomes[row["episode"]]]
            writer.writerow({**row, "value": "yes" if said else "no"})
    assert run_command(["annotate", "import", "q", str(sheet), "--rater", "anna", "--store", str(store)]) == 0
    (found,) = corrections(judged)
    assert found.apart == () and found.corrected.bias == pytest.approx(0)
    assert found.corrected.value == pytest.approx(found.corrected.judge)


def test_a_share_within_an_episode_is_asked_for_as_a_number(tmp_path):
    card = MeasureCard(task="t", name="n", title="Replies with a fault")
    asked = measure_asked(card, "en", whole=False)
    assert asked.values == () and (asked.low, asked.high) == (0.0, 1.0) and "from 0 to 1" in asked.question
    assert measure_asked(card, "en").values == ("yes", "no")


def test_a_label_that_settles_a_disagreement_does_not_count_twice(tmp_path):
    store = tmp_path / "s.db"
    run = sm.run("sesi", model="baseline/random", limit=30, store=store)
    create = ["annotate", "create", "q", "--run", run.id, "--measure", "accuracy", "--sample", "20", "--raters", "3"]
    assert run_command([*create, "--per-item", "2", "--store", str(store)]) == 0
    book = LabelBook(book_path(store))
    for rater in ("rater-1", "rater-2", "rater-3"):
        for unit in book.tasks("q", rater):
            book.put("q", Label(unit, rater, {"value": "yes" if rater == "rater-1" else "no"}))
    before = judge_and_people(run, book.queue("q"), book)
    for unit in book.units("q"):
        book.put("q", Label(unit, OWNER, {"value": "no"}))
    # A book of version 0.2 gave disputed units to one more rater.
    (unit, *_) = set(book.tasks("q", "rater-1")) - set(book.tasks("q", "rater-3"))
    with closing(sqlite3.connect(book_path(store))) as file, file:
        file.execute("INSERT INTO task VALUES ('q', 'rater-3', ?, 99, 1)", (unit,))
    book.put("q", Label(unit, "rater-3", {"value": "no"}))
    assert judge_and_people(run, book.queue("q"), book) == before
    book.close()


def test_a_sheet_of_episodes_is_in_random_order(tmp_path):
    store = tmp_path / "s.db"
    run = sm.run("sesi", model="baseline/random", limit=40, store=store)
    create = ["annotate", "create", "q", "--run", run.id, "--sample", "40", "--raters", "1", "--per-item", "1"]
    assert run_command([*create, "--store", str(store)]) == 0
    assert run_command(["annotate", "export", "q", "--to", str(tmp_path / "q.csv"), "--store", str(store)]) == 0
    with (tmp_path / "q.csv").open(newline="", encoding="utf-8") as stream:
        names = [row["episode"] for row in csv.DictReader(stream)]
    assert names != sorted(names)
