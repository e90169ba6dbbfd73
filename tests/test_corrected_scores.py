"""Values corrected by people's labels in compare, leaderboard and report. The labels here are made up by a rule."""

import csv
import json
import os
from pathlib import Path

import pytest

import sociometer as sm
from sociometer.cli.main import run_command
from sociometer.corrected_scores import corrections
from sociometer.label_book import LabelBook, book_path

DATA = Path(os.environ.get("SOCIOMETER_DATA", "/nowhere")) / "sage" / "transcripts"
FILES = ("gpt-4.1_result.jsonl", "claude3.7_result.jsonl", "qwen2.5-72b_result.jsonl")


def harsher(place, score):
    """A made-up person: ten points below the simulator, give or take."""
    return max(0.0, score - 10 + (place % 5) * 2)


def label(run, store, name, sample, person=harsher, options=()):
    """Labels a random sample of a run's episodes in a file, as a rater with a spreadsheet would."""
    create = ["annotate", "create", name, "--run", run.id, "--sample", str(sample), "--raters", "1", "--per-item", "1"]
    assert run_command([*create, *options, "--store", str(store)]) == 0
    sheet = store.with_name(f"{name}.csv")
    assert run_command(["annotate", "export", name, "--to", str(sheet), "--store", str(store)]) == 0
    judge = {f"{one.item.id}#{one.repeat}": one.score.values["emotion"] for one in run.episodes("dialogue")}
    with sheet.open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    with sheet.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["episode", "value"])
        writer.writerows([row["episode"], person(place, judge[row["episode"]])] for place, row in enumerate(rows))
    assert run_command(["annotate", "import", name, str(sheet), "--rater", "anna", "--store", str(store)]) == 0


@pytest.fixture(scope="module")
def labelled(tmp_path_factory):
    """Three released models with made-up labels of 40 of their 100 dialogues each."""
    if not DATA.exists():
        pytest.skip("the released dialogues of SAGE are not here: set SOCIOMETER_DATA")
    store = tmp_path_factory.mktemp("labels") / "s.db"
    assert run_command(["import", "sage", *[str(DATA / name) for name in FILES], "--store", str(store)]) == 0
    for run in sm.runs(store=store):
        label(run, store, f"q-{run.subject}", 40)
    return store


def test_a_corrected_table_of_released_dialogues(labelled):
    found = {run.subject: corrections(run)[0] for run in sm.runs(store=labelled)}
    assert set(found) == {"gpt-4.1", "claude3.7", "qwen2.5-72b"}
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


def test_the_leaderboard_ranks_corrected_values_and_says_so(labelled, capsys):
    capsys.readouterr()
    assert run_command(["leaderboard", "sage", "--store", str(labelled)]) == 0
    said = capsys.readouterr().out
    assert "corrected by people's labels" in said
    assert run_command(["leaderboard", "sage", "--json", "--store", str(labelled)]) == 0
    board = next(one for one in json.loads(capsys.readouterr().out) if one["task"] == "dialogue")
    values = {run.subject: corrections(run)[0].corrected.value for run in sm.runs(store=labelled)}
    assert [one["subject"] for one in board["standings"]] == sorted(values, key=values.get, reverse=True)
    for one in board["standings"]:
        assert one["value"] == pytest.approx(values[one["subject"]])
    assert [one["rank"] for one in board["standings"]] == [1, 2, 3]


def test_the_report_says_what_people_corrected_and_how_many_labels_more_it_needs(labelled, tmp_path):
    page = sm.report(sm.runs(store=labelled)[:2], tmp_path / "r.html").read_text("utf-8")
    assert "corrected by people&#39;s labels of 40 of 100 episodes" in page or (
        "corrected by people's labels of 40 of 100 episodes" in page
    )
    assert "halve the interval" in page


def test_with_labels_of_one_run_only_both_are_compared_as_judged(tmp_path):
    store = tmp_path / "s.db"
    runs = [sm.run("sage", model=f"baseline/{name}", limit=14, store=store) for name in ("random", "oracle")]
    plain = sm.compare(*runs).comparisons[0]
    label(runs[0], store, "one", 12)
    compared = sm.compare(*runs).comparisons[0]
    assert [row.paired for row in compared.measures] == [row.paired for row in plain.measures]
    assert any("only baseline/random has labels of people" in note for note in compared.notes)


def test_strata_are_drawn_from_evenly_and_used(tmp_path):
    store = tmp_path / "s.db"
    run = sm.run("sage", model="baseline/random", limit=20, store=store)
    label(run, store, "strata", 12, options=["--strata", "2"])
    book = LabelBook(book_path(store))
    chosen = {unit.key["episode"] for unit in book.units("strata").values()}
    book.close()
    judge = sorted((one.score.values["emotion"], f"{one.item.id}#0") for one in run.episodes())
    values = [score for score, name in judge if name in chosen]
    middle = judge[9][0]
    assert sum(value <= middle for value in values) >= 6 <= sum(value >= judge[10][0] for value in values)
    assert corrections(run)[0].corrected.labels == 12
