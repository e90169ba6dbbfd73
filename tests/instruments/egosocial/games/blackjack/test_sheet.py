"""The sheet for human grading, and its agreement with the automatic grade."""

import csv
import io

import pytest

from sociometer.core.errors import DataError
from sociometer.instruments.egosocial.games.blackjack.sheet import agreement, write


@pytest.fixture
def sheet(script, rehearsal):
    said = '{"self_belief": "=My total is 15.", "external_belief": "The dealer must draw until 17.", "action": "stand"}'
    return write(rehearsal(script(said), deals=30).play_all("blackjack"))


def filled(sheet, tmp_path, grade):
    rows = list(csv.DictReader(io.StringIO(sheet)))
    for number, row in enumerate(rows):
        row["self_right"], row["external_right"] = grade(number, row)
    path = tmp_path / "sheet.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        out = csv.DictWriter(file, rows[0])
        out.writeheader()
        out.writerows(rows)
    return path


def test_a_sheet_has_a_line_a_decision_and_leaves_the_grades_open(sheet):
    rows = list(csv.DictReader(io.StringIO(sheet)))
    assert len(rows) == 30
    assert {row["self_right"] for row in rows} == {""}
    assert {row["self_automatic"] for row in rows} == {"y", "n"}
    assert {row["external_automatic"] for row in rows} == {"y"}


def test_a_models_words_cannot_become_a_formula(sheet):
    assert all(row["self_belief"].startswith("'=") for row in csv.DictReader(io.StringIO(sheet)))


def test_a_person_who_agrees_throughout_gives_full_agreement(sheet, tmp_path):
    path = filled(sheet, tmp_path, lambda _, row: (row["self_automatic"], row["external_automatic"]))
    table, apart = agreement(path)
    rows = {row[0]: row for row in table.rows}
    assert rows["self"][1:4] == (30, pytest.approx(1), 1.0)
    # everybody said yes throughout, so kappa is not defined
    assert rows["external"][2:4] == (pytest.approx(1), None)
    assert apart.rows == ()


def test_disagreements_are_listed_with_the_words(sheet, tmp_path):
    path = filled(sheet, tmp_path, lambda number, row: ("", "no" if number == 0 else "yes"))
    table, apart = agreement(path)
    assert table.rows[0][:3] == ("external", 30, pytest.approx(29 / 30))
    ((_, belief, words, person, rule),) = apart.rows
    assert (belief, person, rule) == ("external", "no", "y")
    assert "until 17" in words


def test_an_unfilled_sheet_and_a_strange_grade_are_refused(sheet, tmp_path):
    with pytest.raises(DataError, match="no grade is filled in"):
        agreement(filled(sheet, tmp_path, lambda _, row: ("", "")))
    with pytest.raises(DataError, match=r"sheet.csv:2: 'maybe' is no grade"):
        agreement(filled(sheet, tmp_path, lambda _, row: ("maybe", "")))
    with pytest.raises(DataError, match="cannot be read"):
        agreement(tmp_path / "none.csv")
