"""People's grades fill a paper's tables before a judge's, from official items only, and an empty cell says why."""

import csv
import shutil
from pathlib import Path

import pytest

import sociometer as sm
from sociometer.cli.main import run_command

SAID = '"Self-Belief: my hand is weak. External-Belief: the dealer may bust."'


@pytest.fixture
def command(official_data, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "talker.py").write_text(f"def reply(messages):\n    return {SAID}\n", encoding="utf-8")

    def call(*words):
        code = run_command([*map(str, words), "--store", "s.db"])
        shown = capsys.readouterr()
        assert code == 0, shown.err
        return shown.out

    return call


def fill(source, target, **answers):
    """A copy of a sheet with answers in it: a text, or a function of the number of the row."""
    with Path(source).open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    for number, row in enumerate(rows):
        row.update({column: said(number) if callable(said) else said for column, said in answers.items()})
    with Path(target).open("w", encoding="utf-8", newline="") as lines:
        writer = csv.DictWriter(lines, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def table(command, instrument, name, *words):
    shutil.rmtree("pack", ignore_errors=True)
    command("paper", "tables", instrument, *words, "--to", "pack")
    with Path(f"pack/{name}.csv").open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


@pytest.fixture
def blackjack(command):
    """A run of ten official hands with a judge that calls every belief right, and one of bundled hands."""
    words = ("run", "egosocial", "--task", "blackjack", "--model", "python/talker:reply", "--limit", "10")
    command(*words)
    command(*words, "--official", "--role", "judge=scripted/judge.txt")
    run = next(run for run in sm.runs(store="s.db") if run.official)
    command("egosocial", "grade", run.id, "--to", "sheet.csv")
    return run


@pytest.fixture(autouse=True)
def judge(tmp_path):
    (tmp_path / "judge.txt").write_text('{"grade": 90}\n' * 200, encoding="utf-8")


def test_people_come_before_the_judge_and_ties_are_no_grades(command, blackjack):
    (row,) = table(command, "egosocial", "table-3")
    assert row["Blackjack"] == "100.0" and "graded by a judge" in row["remarks"]
    fill("sheet.csv", "ann.csv", self_right="y", external_right=lambda number: "y" if number < 4 else "n")
    command("egosocial", "grade", blackjack.id, "--sheet", "ann.csv")
    (row,) = table(command, "egosocial", "table-3")
    assert row["Blackjack"] == "40.0" and "10 hands graded by 1 person; 0 have no majority" in row["remarks"]
    fill("sheet.csv", "bob.csv", self_right=lambda number: "n" if number < 2 else "y", external_right="n")
    shown = command("egosocial", "grade", blackjack.id, "--sheet", "bob.csv")
    assert "which 2 people graded" in shown and "people and judge" in shown
    (row,) = table(command, "egosocial", "table-3")  # six hands on which both say no, four ties
    assert row["Blackjack"] == "0.0" and "6 hands graded by 2 people; 4 have no majority" in row["remarks"]


def test_grades_of_a_queue_count_like_those_of_a_sheet_and_the_same_person_once(command, blackjack):
    command("annotate", "create", "hands", "--sheet", "sheet.csv", "--raters", "1", "--per-item", "1")
    fill("sheet.csv", "ann.csv", self_right="y", external_right="y")
    fill("sheet.csv", "bob.csv", self_right="n", external_right="n")
    command("annotate", "import", "hands", "ann.csv", "--rater", "ann")
    command("egosocial", "grade", blackjack.id, "--sheet", "ann.csv")
    command("egosocial", "grade", blackjack.id, "--sheet", "bob.csv")
    (row,) = table(command, "egosocial", "table-3")
    assert "0 hands" not in row["remarks"] and row["Blackjack"] == "100.0"  # two people disagree: the judge is left
    command("annotate", "import", "hands", "bob.csv", "--rater", "cat")
    (row,) = table(command, "egosocial", "table-3")
    assert row["Blackjack"] == "0.0" and "graded by 3 people" in row["remarks"]


def test_bundled_hands_have_a_row_of_their_own_and_empty_cells_say_why(command):
    command("run", "egosocial", "--task", "blackjack", "--model", "python/talker:reply", "--limit", "3", "--official")
    command("run", "egosocial", "--task", "blackjack", "--model", "python/talker:reply", "--limit", "3")
    official, bundled = table(command, "egosocial", "table-3", "all")
    assert official["Methods"] == "python/talker:reply" and official["Blackjack"] == ""
    assert "not played: New World, Counterfact, ToMBench" in official["remarks"]
    assert "Blackjack: neither people nor a judge graded the beliefs" in official["remarks"]
    assert bundled["Methods"] == "python/talker:reply (bundled items)" and bundled["Blackjack"] == "0.0"


def test_annotations_of_released_dialogues_fill_table_1_of_sage(command, official_data):
    command("sage", "import", sorted((official_data / "sage" / "transcripts").glob("*_result.jsonl"))[0])
    (run,) = sm.runs(store="s.db")
    command("sage", "sheet", run.id, "--contexts", "12", "--to", "ann.csv")
    shutil.copy("ann.csv", "bob.csv")
    for who in ("ann", "bob"):
        fill(f"{who}.csv", f"{who}.csv", direction=lambda number: "up" if number % 3 else "down")
    fill("ann-reasoning.csv", "ann-reasoning.csv", reasonable=lambda number: "no" if number < 3 else "yes")
    command("sage", "annotations", "ann.csv", "bob.csv", "ann-reasoning.csv", "--run", run.id)
    rows = {row["Metric"]: row for row in table(command, "sage", "table-1")}
    assert rows["inter-annotator agreement"]["%"] == "100.0" and rows["inter-annotator agreement"]["Answers"] == "12"
    assert rows["reasonableness"]["%"] == "75.0"
    both = rows["inter-annotator agreement in reasonableness"]
    assert both["%"] == "" and "too few people answered it" in both["remarks"]


def test_causes_that_people_name_come_before_those_of_the_judge(command):
    command("run", "sesi", "--official", "--model", "baseline/random", "--limit", "40")
    (run,) = sm.runs(store="s.db")
    command("sesi", "sheet", run.id, "--sample", "8", "--to", "sheet.csv")
    for who, cause in (("ann", "other"), ("bob", "other"), ("cat", "sidestepping")):
        fill("sheet.csv", f"{who}.csv", cause=cause)
        command("sesi", "analyse", run.id, "--role", "judge=baseline/random", "--sheet", f"{who}.csv")
    command("paper", "tables", "sesi", "--to", "pack")
    said = Path("pack/extended-data-fig-1.svg").read_text(encoding="utf-8")
    assert "part: other; place: 3; group: baseline/random (people); value: 1" in said
    assert "group: baseline/random;" not in said
