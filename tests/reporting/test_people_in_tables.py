"""People's grades fill a paper's tables before a judge's, from official items only, and an empty cell says why."""

import csv
import shutil
from pathlib import Path

import pytest

import sociometer as sm
from raters import fill
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


def table(command, instrument, name, *words):
    shutil.rmtree("pack", ignore_errors=True)
    command("paper", "tables", instrument, *words, "--to", "pack")
    with Path(f"pack/{name}.csv").open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


@pytest.fixture
def blackjack(command):
    """A run of ten official hands with a judge that calls every belief right, and one of bundled hands."""
    words = ("run", "egosocial", "--task", "blackjack", "--model", "python/talker:reply")
    command(*words, "--limit", "4")  # so few that a subject without an answer is not stopped
    words = (*words, "--limit", "10")
    command(*words, "--official", "--role", "judge=scripted/judge.txt")
    run = next(run for run in sm.runs(store="s.db") if run.official)
    command("sheet", "write", run.id, "--of", "beliefs", "--to", "sheet.csv")
    return run


@pytest.fixture(autouse=True)
def judge(tmp_path):
    (tmp_path / "judge.txt").write_text('{"grade": 90}\n' * 200, encoding="utf-8")


def test_people_come_before_the_judge_and_ties_are_no_grades(command, blackjack):
    (row,) = table(command, "egosocial", "table-3")
    assert row["Blackjack"] == "100.0" and "graded by a judge" in row["remarks"]
    fill("sheet.csv", "ann.csv", self_right="y", external_right=lambda number, row: "y" if number < 4 else "n")
    command("sheet", "read", "ann.csv")
    (row,) = table(command, "egosocial", "table-3")
    assert row["Blackjack"] == "40.0" and "10 hands graded by 1 person; 0 have no majority" in row["remarks"]
    fill("sheet.csv", "bob.csv", self_right=lambda number, row: "n" if number < 2 else "y", external_right="n")
    command("sheet", "read", "ann.csv", "bob.csv")
    shown = command("egosocial", "grade", blackjack.id)
    assert "2 people graded" in shown and "people and judge" in shown
    (row,) = table(command, "egosocial", "table-3")  # six hands on which both say no, four ties
    assert row["Blackjack"] == "0.0" and "6 hands graded by 2 people; 4 have no majority" in row["remarks"]


def test_bundled_hands_have_a_row_of_their_own_and_empty_cells_say_why(command):
    words = ("run", "egosocial", "--task", "blackjack", "--model", "python/talker:reply", "--limit", "3")
    command(*words, "--name", "talker", "--official")
    command(*words, "--name", "talker")
    official, bundled = table(command, "egosocial", "table-3", "all")
    assert official["Methods"] == "talker" and official["Blackjack"] == ""
    assert "not played: New World, Counterfact, ToMBench" in official["remarks"]
    assert "Blackjack: neither people nor a judge graded the beliefs" in official["remarks"]
    assert bundled["Methods"] == "talker (bundled items)" and bundled["Blackjack"] == "0.0"


def test_annotations_of_released_dialogues_fill_table_1_of_sage(command, official_data):
    command("sage", "import", sorted((official_data / "sage" / "transcripts").glob("*_result.jsonl"))[0])
    (run,) = sm.runs(store="s.db")
    command("sheet", "write", run.id, "--of", "feelings", "--sample", "12", "--to", "feelings.csv")
    command("sheet", "write", run.id, "--of", "reasoning", "--sample", "12", "--to", "reasoning.csv")
    for who in ("ann", "bob"):
        fill("feelings.csv", f"{who}.csv", direction=lambda number, row: "up" if number % 3 else "down")
    command("sheet", "read", "ann.csv", "bob.csv")
    fill("reasoning.csv", "ann.csv", reasonable=lambda number, row: "no" if number < 3 else "yes")
    command("sheet", "read", "ann.csv")
    assert "12 contexts, 12 of them rated by two or more of 2 annotators" in command("sage", "annotations", run.id)
    rows = {row["Metric"]: row for row in table(command, "sage", "table-1")}
    assert rows["inter-annotator agreement"]["%"] == "100.0" and rows["inter-annotator agreement"]["Answers"] == "12"
    assert rows["reasonableness"]["%"] == "75.0"
    both = rows["inter-annotator agreement in reasonableness"]
    assert both["%"] == "" and "too few people answered it" in both["remarks"]


def test_causes_that_people_name_come_before_those_of_the_judge(command):
    command("run", "sesi", "--official", "--model", "baseline/random", "--limit", "40")
    (run,) = sm.runs(store="s.db")
    command("sheet", "write", run.id, "--of", "causes", "--sample", "8", "--to", "sheet.csv")
    for who, cause in (("ann", "other"), ("bob", "other"), ("cat", "sidestepping")):
        fill("sheet.csv", f"{who}.csv", cause=cause)
        command("sheet", "read", f"{who}.csv")
    command("sesi", "analyse", run.id, "--role", "judge=baseline/random")
    command("paper", "tables", "sesi", "--to", "pack")
    said = Path("pack/extended-data-fig-1.svg").read_text(encoding="utf-8")
    assert "part: other; place: 3; group: baseline/random (people); value: 1" in said
    assert "group: baseline/random;" not in said
