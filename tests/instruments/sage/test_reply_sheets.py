"""Sheets about single replies: candour and strategies, filled in by scripted people, and what comes of them."""

import csv
import json

import pytest

import sociometer as sm
from sociometer.cli.main import run_command
from sociometer.core.errors import DataError
from sociometer.instruments import cards
from sociometer.instruments.sage.judges import sheets as reply_sheets
from sociometer.instruments.sage.judges.sheets import (
    FAMILIES,
    Answers,
    agreed,
    by_annotator,
    strategy_agrees,
)
from sociometer.instruments.sage.judges.strategies import STRATEGIES


def sheet_card(name):
    return next(sheet for sheet in cards()["sage"].sheet if sheet.name == name)


def test_the_cards_sheets_ask_what_the_code_reads():
    labels = {label.column: label.values for label in sheet_card("strategies").label}
    assert labels == {column: reply_sheets.options_of(column) for column in FAMILIES}
    assert {code[0] for code in STRATEGIES} == set(FAMILIES.values())
    (answer,) = sheet_card("candour").label
    assert answer.values == ("yes", "no")


@pytest.mark.parametrize(
    ("said", "codes", "same"),
    [
        ("none", ("B-1",), True),
        ("none", ("A-2",), False),
        ("A-2 asks how the person feels", ("A-1", "A-2"), True),
        ("A-2 asks how the person feels", ("A-1",), False),
        ("A-2 asks how the person feels", (), False),
    ],
)
def test_when_a_person_and_the_judge_name_the_same_strategy(said, codes, same):
    assert strategy_agrees(said, "questions", codes) is same


def test_one_annotator_in_two_files_counts_once_and_a_contradiction_is_an_error():
    one, two = Answers("anna", {("r", "q"): "yes"}), Answers("anna", {("r", "p"): "no", ("r", "q"): "yes"})
    assert by_annotator([one, two]) == {"anna": {("r", "q"): "yes", ("r", "p"): "no"}}
    with pytest.raises(DataError, match="two answers"):
        by_annotator([one, Answers("anna", {("r", "q"): "no"})])


def test_more_than_half_must_agree():
    people = {"a": {("r", "q"): "yes"}, "b": {("r", "q"): "no"}}
    assert agreed(people) == {}
    assert agreed({**people, "c": {("r", "q"): "no"}}) == {("r", "q"): "no"}


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    store = tmp_path_factory.mktemp("judged") / "s.db"
    settings = {"turns": 2}
    run = sm.run(
        "sage",
        model="baseline/oracle",
        tasks=["hard-talks"],
        limit=12,
        settings=settings,
        roles={"simulator": "baseline/random"},
        store=store,
    )
    for what in ("candour", "strategies"):
        command = ["sage", "analyse", run.id, "--what", what, "--role", "judge=baseline/random", "--store", str(store)]
        # Strategies are no analysis of hard talks.
        assert run_command(command) == (0 if what == "candour" else 2)
    other = sm.run(
        "sage", model="baseline/oracle", limit=3, settings=settings, roles={"simulator": "baseline/random"}, store=store
    )
    command = ["sage", "analyse", other.id, "--what", "strategies", "--role", "judge=baseline/random"]
    assert run_command([*command, "--store", str(store)]) == 0
    return store, run, other


def filled(path, to, fill):
    with path.open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    with to.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        for number, row in enumerate(rows):
            writer.writerow(row | fill(number, row))
    return to


def annotated(capsys, store, sheets, *runs):
    capsys.readouterr()
    options = [option for run in runs for option in ("--runs", run)]
    code = run_command(["sage", "annotations", *map(str, sheets), *options, "--store", str(store), "--json"])
    out = capsys.readouterr()
    return code, json.loads(out.out) if code == 0 else out.err


def table_of(found, name):
    table = next(table for table in found["tables"] if table["name"] == name)
    return [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]


def test_people_in_place_of_the_judge_give_sycophancy_and_safety(judged, tmp_path, capsys):
    store, run, _ = judged
    sheet = tmp_path / "candour.csv"
    command = ["sage", "sheet", run.id, "--what", "candour", "--dialogues", "12", "--to", str(sheet)]
    assert run_command([*command, "--store", str(store)]) == 0

    def strict(number, row):
        return {"answer": "no"}

    one, two = filled(sheet, tmp_path / "anna.csv", strict), filled(sheet, tmp_path / "ben.csv", strict)
    code, found = annotated(capsys, store, [one, two], run.id)
    assert code == 0
    (row,) = table_of(found, "candour")
    assert (row["dialogues"], row["not settled"]) == (12, 0)
    # Without any yes, two of twelve dialogues fail one of three questions about harshness: what was needed is missing.
    assert row["harshness"].startswith("6 %")  # 2 / 36
    (agreement,) = table_of(found, "agreement")
    assert agreement["annotators"] == 2 and agreement["judged too"] == 0 and agreement["judge agrees"] is None
    judge = next(each for each in sm.runs(store=store) if each.tasks == ("candour",))
    code, found = annotated(capsys, store, [one, two], judge.id)
    (agreement,) = table_of(found, "agreement")
    assert agreement["judged too"] == agreement["settled"] > 0 and 0.3 < agreement["judge agrees"] < 0.7


def test_a_dialogue_that_people_do_not_settle_has_no_score(judged, tmp_path, capsys):
    store, run, _ = judged
    sheet = tmp_path / "candour.csv"
    command = ["sage", "sheet", run.id, "--what", "candour", "--dialogues", "2", "--to", str(sheet)]
    assert run_command([*command, "--store", str(store)]) == 0
    one = filled(sheet, tmp_path / "anna.csv", lambda number, row: {"answer": "no"})
    two = filled(sheet, tmp_path / "ben.csv", lambda number, row: {"answer": "no" if number else "yes"})
    _, found = annotated(capsys, store, [one, two], run.id)
    (row,) = table_of(found, "candour")
    assert (row["dialogues"], row["not settled"]) == (1, 1)


def test_answers_to_another_wording_are_refused(judged, tmp_path, capsys):
    store, run, _ = judged
    sheet = tmp_path / "candour.csv"
    command = ["sage", "sheet", run.id, "--what", "candour", "--dialogues", "1", "--to", str(sheet)]
    assert run_command([*command, "--store", str(store)]) == 0
    changed = filled(
        sheet, tmp_path / "anna.csv", lambda number, row: {"answer": "no", "question about the reply": "Is it nice?"}
    )
    code, said = annotated(capsys, store, [changed], run.id)
    assert code != 0 and "another wording" in said


def test_what_is_no_answer_or_no_dialogue_is_an_error(judged, tmp_path, capsys):
    store, run, other = judged
    sheet = tmp_path / "candour.csv"
    command = ["sage", "sheet", run.id, "--what", "candour", "--dialogues", "1", "--to", str(sheet)]
    assert run_command([*command, "--store", str(store)]) == 0
    for answer, of, problem in (
        ("maybe", run.id, "allowed: yes, no"),
        ("", run.id, "no answer"),
        ("no", other.id, "none"),
    ):
        given = filled(sheet, tmp_path / "anna.csv", lambda number, row, answer=answer: {"answer": answer})
        code, said = annotated(capsys, store, [given], of)
        assert code != 0 and problem in said


def test_strategies_by_people_beside_the_judge(judged, tmp_path, capsys):
    store, _, other = judged
    sheet = tmp_path / "strategies.csv"
    command = ["sage", "sheet", other.id, "--what", "strategies", "--dialogues", "3", "--to", str(sheet)]
    assert run_command([*command, "--store", str(store)]) == 0
    judge = next(each for each in sm.runs(store=store) if each.tasks == ("strategies",))
    codes = {}
    for item, outcome, _ in judge.view("strategies").scored():
        for turn, said in enumerate(outcome.replies, 1):
            codes[reply_sheets.reply_key(item, turn)] = said

    def like_the_judge(number, row):
        found = {}
        for column, letter in FAMILIES.items():
            mine = [code for code in codes[row["reply"]] if code[0] == letter]
            found[column] = f"{mine[0]} {STRATEGIES[mine[0]]}" if mine else "none"
        return found

    one = filled(sheet, tmp_path / "anna.csv", like_the_judge)
    code, found = annotated(capsys, store, [one], other.id, judge.id)
    assert code == 0
    rows = table_of(found, "agreement")
    assert [row["question"] for row in rows] == list(FAMILIES)
    assert all(row["judge agrees"] == 1.0 and row["settled"] == 6 for row in rows)
    two = filled(sheet, tmp_path / "ben.csv", lambda number, row: dict.fromkeys(FAMILIES, "none"))
    _, found = annotated(capsys, store, [two], other.id, judge.id)
    assert min(row["judge agrees"] for row in table_of(found, "agreement")) < 1


def test_sheets_of_two_kinds_are_refused(judged, tmp_path, capsys):
    store, run, other = judged
    for what, name in (("candour", run.id), ("strategies", other.id)):
        sheet = tmp_path / f"{what}.csv"
        command = ["sage", "sheet", name, "--what", what, "--dialogues", "1", "--to", str(sheet)]
        assert run_command([*command, "--store", str(store)]) == 0
        filled(
            sheet,
            sheet,
            lambda number, row: {"answer" if "answer" in row else "questions": "no" if "answer" in row else "none"},
        )
    code, said = annotated(capsys, store, [tmp_path / "candour.csv", tmp_path / "strategies.csv"], run.id)
    assert code == 2 and "different kinds" in said
