"""The sheet for human grading, and its agreement with a judge."""

import csv
import io

import pytest

from sociometer.core.errors import DataError
from sociometer.core.task import PeopleLabel
from sociometer.instruments.egosocial import commands
from sociometer.instruments.egosocial.commands import graded, read_people, write


@pytest.fixture
def run(script, rehearsal):
    said = (
        '{"self_belief": "=My total is 15.", "external_belief": "The dealer may bust, and must draw until 17.", '
        '"action": "stand"}'
    )
    return rehearsal(script(said), deals=30).play_all("blackjack")


def agreement(path, run, judge=None):
    return commands.table(grades(path, run), judge or {})


def grades(*paths_and_run):
    """The grades of the majority of several people's sheets."""
    *paths, run = paths_and_run
    return graded(
        PeopleLabel(str(who), *label) for who, path in enumerate(paths) for label in read_people(path, run).items()
    )


@pytest.fixture
def sheet(run):
    return write(run)


def filled(sheet, tmp_path, grade, name="sheet"):
    rows = list(csv.DictReader(io.StringIO(sheet)))
    for number, row in enumerate(rows):
        row["self_right"], row["external_right"] = grade(number, row)
    path = tmp_path / f"{name}.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        out = csv.DictWriter(file, rows[0])
        out.writeheader()
        out.writerows(rows)
    return path


def test_a_sheet_has_a_line_a_decision_and_leaves_the_grades_open(sheet):
    rows = list(csv.DictReader(io.StringIO(sheet)))
    assert len(rows) == 30
    assert {row["self_right"] for row in rows} == {""}
    assert not any("y" in (row["self_right"], row["external_right"]) for row in rows)
    assert len(rows[0]) == 10


def test_a_models_words_cannot_become_a_formula(sheet):
    assert all(row["self_belief"].startswith("'=") for row in csv.DictReader(io.StringIO(sheet)))


def test_people_alone_are_counted(sheet, run, tmp_path):
    path = filled(sheet, tmp_path, lambda number, row: ("y" if number < 10 else "n", ""))
    table = agreement(path, run)
    assert [row[:4] for row in table.rows] == [("people", "self", 30, "33 % [19, 51]")]


def test_the_majority_grades_and_a_tie_is_no_grade(sheet, run, tmp_path):
    ann = filled(sheet, tmp_path, lambda number, row: ("y", "n"), "ann")
    bob = filled(sheet, tmp_path, lambda number, row: ("n" if number < 5 else "y", "n"), "bob")
    cat = filled(sheet, tmp_path, lambda number, row: ("n", ""), "cat")
    two, three = grades(ann, bob, run), grades(ann, bob, cat, run)
    assert sum(place.endswith("self") for place in two) == 25
    assert [sum(right for place, right in found.items() if place.endswith("self")) for found in (two, three)] == [
        25,
        25,
    ]
    assert len(three) == 60


def test_a_sheet_of_another_run_is_refused(sheet, run, tmp_path):
    path = filled(sheet.replace("\n,", "\nanother-run,"), tmp_path, lambda number, row: ("y", "n"))
    with pytest.raises(DataError, match="is not in this run"):
        read_people(path, run)


def test_a_judge_who_agrees_throughout_has_full_agreement(sheet, run, tmp_path):
    path = filled(sheet, tmp_path, lambda number, row: ("y" if number % 2 else "n", ""))
    people = grades(path, run)
    table = agreement(path, run, dict(people))
    rows = {row[0]: row for row in table.rows}
    assert rows["people and judge"][1:6] == ("self", 30, None, 1, 1.0)


def test_a_judge_who_never_varies_has_no_kappa_but_a_reason(sheet, run, tmp_path):
    path = filled(sheet, tmp_path, lambda number, row: ("", "yes" if number < 5 else "no"))
    judge = dict.fromkeys(grades(path, run), False)
    row = next(row for row in agreement(path, run, judge).rows if row[0] == "people and judge")
    assert row[5:8] == (None, None, None)
    assert row[8] == "judge: the same grade every time, no kappa"


@pytest.mark.parametrize(("separator", "mark"), [(",", "\ufeff"), (";", ""), (";", "\ufeff"), ("\t", "")])
def test_a_sheet_is_read_as_spreadsheets_save_it(separator, mark, sheet, run, tmp_path):
    rows = list(csv.reader(io.StringIO(sheet)))
    text = io.StringIO()
    csv.writer(text, delimiter=separator).writerows([rows[0], *([*row[:-2], "y", "n"] for row in rows[1:])])
    path = tmp_path / "sheet.csv"
    path.write_bytes((mark + text.getvalue()).encode())
    table = agreement(path, run)
    assert [row[1:3] for row in table.rows] == [("self", 30), ("external", 30)]


def test_a_file_that_is_no_such_sheet_is_refused_with_what_it_lacks(run, tmp_path):
    path = tmp_path / "sheet.csv"
    path.write_text("item,words\nx,y\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"columns missing: repeat, .* Fill in the sheet"):
        agreement(path, run)
    path.write_bytes("item,é\n".encode("latin-1"))
    with pytest.raises(DataError, match="save it as 'CSV UTF-8'"):
        agreement(path, run)


def test_an_unfilled_sheet_a_strange_grade_and_a_strange_run_are_refused(sheet, run, rehearsal, baseline, tmp_path):
    with pytest.raises(DataError, match="no grade is filled in"):
        agreement(filled(sheet, tmp_path, lambda _, row: ("", "")), run)
    with pytest.raises(DataError, match=r"sheet.csv:2: 'maybe' is not a grade"):
        agreement(filled(sheet, tmp_path, lambda _, row: ("maybe", "")), run)
    with pytest.raises(DataError, match="cannot be read"):
        agreement(tmp_path / "none.csv", run)
    other = rehearsal(baseline("oracle"), deals=1, seed=9).play_all("blackjack")
    with pytest.raises(DataError, match="not in this run"):
        agreement(filled(sheet, tmp_path, lambda _, row: ("y", "y")), other)
