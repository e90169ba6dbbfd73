"""Values corrected by people's labels in compare and report. The labels here are made up by a rule."""

import json
import os
import re
from contextlib import closing
from pathlib import Path

import pytest

import sociometer as sm
from raters import fill, units_of
from sociometer.cli.main import run_command
from sociometer.results.corrected import corrections, judge_and_people
from sociometer.store.labels import Label, LabelBook, book_path

SIMULATOR = {"simulator": "baseline/random"}
DATA = Path(os.environ.get("SOCIOMETER_DATA", "/nowhere")) / "sage" / "transcripts"
FILES = ("gpt-4.1_result.jsonl", "qwen2.5-72b_result.jsonl")


def harsher(place, score):
    """A made-up person: ten points below the simulator, give or take."""
    return max(0.0, score - 10 + (place % 5) * 2)


def label(run, store, name, sample, person=harsher, options=(), task="dialogue", value="emotion"):
    """Labels a random sample of a run's episodes in a file, as a rater with a spreadsheet would."""
    sheet = store.with_name(f"{name}.csv")
    write = ["sheet", "write", run.id, "--sample", str(sample), "--to", str(sheet), "--store", str(store)]
    assert run_command([*write, *options]) == 0
    judge = {f"{one.item.id}#{one.repeat}": one.score.values[value] for one in run.episodes(task)}
    units = units_of(store, sheet)
    filled = store.with_name(f"{name}-anna.csv")
    fill(sheet, filled, value=lambda number, row: str(person(number, judge[units[row["unit"]].key["episode"]])))
    assert run_command(["sheet", "read", str(filled), "--rater", "anna", "--store", str(store)]) == 0


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


def test_answers_to_the_same_question_are_compared_whatever_the_draw(tmp_path):
    store = tmp_path / "s.db"
    runs = two_runs(store)
    for number, run in enumerate(runs):
        label(run, store, f"sheet-{number}", 12, options=["--seed", str(number)])
    compared = sm.compare(*runs).comparisons[0]
    assert any("corrected by people's labels of 12 of 14" in note for note in compared.notes)


def test_people_who_answer_as_the_judge_did_correct_nothing(tmp_path, capsys):
    store = tmp_path / "s.db"
    run = two_runs(store)[0]
    label(run, store, "q", 12, lambda place, score: score)
    (found,) = corrections(run)
    assert found.apart == () and found.corrected.bias == pytest.approx(0)
    assert found.corrected.value == pytest.approx(found.corrected.judge)
    assert "Judge and people: " in capsys.readouterr().out


def test_a_label_that_settled_a_disagreement_in_version_0_3_does_not_count_twice(tmp_path):
    store = tmp_path / "s.db"
    run = sm.run("sesi", model="baseline/random", limit=30, store=store)
    sheet = tmp_path / "q.csv"
    write = ["sheet", "write", run.id, "--of", "accuracy", "--sample", "20", "--to", str(sheet), "--store", str(store)]
    assert run_command(write) == 0
    with closing(LabelBook(book_path(store))) as book:
        (drawn,) = book.sheets()
        for rater, said in (("ann", "yes"), ("bob", "no")):
            for unit in book.units(drawn.name):
                book.put(drawn.name, Label(unit, rater, {"value": said}))
        before = judge_and_people(run, drawn, book)
        for unit in book.units(drawn.name):
            book.put(drawn.name, Label(unit, "the owner", {"value": "no"}, settles=True))
        assert judge_and_people(run, drawn, book) == before and before.labels == 20
