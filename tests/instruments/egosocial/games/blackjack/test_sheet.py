"""The sheet for human grading, and its agreement with the automatic grade."""

import csv
import io

import pytest

from sociometer.core.errors import DataError
from sociometer.instruments.egosocial.games.blackjack import judging
from sociometer.instruments.egosocial.games.blackjack.judging import (
    calibrated,
    disagreements,
    read_people,
    reader_grades,
    threshold,
    write,
)


@pytest.fixture
def run(script, rehearsal):
    said = (
        '{"self_belief": "=My total is 15.", "external_belief": "The dealer may bust, and must draw until 17.", '
        '"action": "stand"}'
    )
    return rehearsal(script(said), deals=30).play_all("blackjack")


def agreement(path, run, judge=None):
    graders = judging.Graders(reader_grades(run), read_people(path, run), judge or {})
    return judging.table(graders), disagreements(run, graders)


@pytest.fixture
def sheet(run):
    return write(run)


def automatic(run):
    return [(episode.score.values["self_words"], episode.score.values["external_words"]) for episode in run.episodes()]


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
    assert not any("y" in (row["self_right"], row["external_right"]) for row in rows)
    assert len(rows[0]) == 9


def test_a_models_words_cannot_become_a_formula(sheet):
    assert all(row["self_belief"].startswith("'=") for row in csv.DictReader(io.StringIO(sheet)))


def test_a_person_who_agrees_throughout_gives_full_agreement(sheet, run, tmp_path):
    words = [["ny"[int(right)] for right in pair] for pair in automatic(run)]
    assert {pair[0] for pair in words} == {"y", "n"}
    table, apart = agreement(filled(sheet, tmp_path, lambda number, row: words[number]), run)
    rows = {row[2]: row for row in table.rows}
    assert rows["self"][:6] == ("people", "reader", "self", 30, pytest.approx(1), 1.0)
    # what holds at every deal is no belief about this one, so everybody said no, so kappa is not defined
    assert rows["external"][4:] == (
        pytest.approx(1), None, None, None, "people and reader: the same grade every time, no kappa",
    )  # fmt: skip
    assert apart.rows == ()


def test_disagreements_are_listed_with_the_words(sheet, run, tmp_path):
    path = filled(sheet, tmp_path, lambda number, row: ("", "yes" if number == 0 else "no"))
    table, apart = agreement(path, run)
    assert table.rows[0][2:5] == ("external", 30, pytest.approx(29 / 30))
    ((_, belief, words, person, rule, judge),) = apart.rows
    assert (belief, person, rule, judge) == ("external", "y", "n", "")
    assert "until 17" in words


def test_where_the_rule_never_varies_there_is_no_kappa_but_a_reason(sheet, run, tmp_path):
    path = filled(sheet, tmp_path, lambda number, row: ("", "yes" if number < 5 else "no"))
    ((*_, graded, agreed, kappa, low, high, why),) = agreement(path, run)[0].rows
    assert (graded, agreed) == (30, pytest.approx(25 / 30))
    assert kappa is low is high is None
    assert why == "reader: the same grade every time, no kappa"


@pytest.mark.parametrize(("separator", "mark"), [(",", "\ufeff"), (";", ""), (";", "\ufeff"), ("\t", "")])
def test_a_sheet_is_read_as_spreadsheets_save_it(separator, mark, sheet, run, tmp_path):
    rows = list(csv.reader(io.StringIO(sheet)))
    text = io.StringIO()
    csv.writer(text, delimiter=separator).writerows([rows[0], *([*row[:-2], "y", "n"] for row in rows[1:])])
    path = tmp_path / "sheet.csv"
    path.write_bytes((mark + text.getvalue()).encode())
    table, _ = agreement(path, run)
    assert [row[2:4] for row in table.rows] == [("self", 30), ("external", 30)]


def test_a_file_that_is_no_such_sheet_is_refused_with_what_it_lacks(run, tmp_path):
    path = tmp_path / "sheet.csv"
    path.write_text("item,words\nx,y\n", encoding="utf-8")
    with pytest.raises(
        DataError, match=r"columns missing: repeat, .* Fill in the sheet that 'sociometer grade egosocial' wrote"
    ):
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


def test_people_set_the_threshold_of_the_judge():
    """Grades of 2, 4 and 7 with people who call only the 7 right: anything between 4 and 7 agrees throughout."""
    grades = [(2, False), (4, False), (7, True), (7, True), (4, False)]
    assert threshold(grades) == 5.5
    assert threshold([(8, False), (9, True), (8, False)]) == 8.5
    assert threshold([]) == 5.5
    assert calibrated([*grades, (2, False)]) == [False, False, True, True, False, False]


def test_a_belief_does_not_set_its_own_threshold():
    """One belief that people and judge see the other way round stays a disagreement."""
    assert calibrated([(9, True), (9, True), (1, False), (1, False), (1, True)])[-1] is False


def test_reader_judge_and_people_are_compared_two_by_two(sheet, run, tmp_path):
    words = [["ny"[int(right)] for right in pair] for pair in automatic(run)]
    path = filled(sheet, tmp_path, lambda number, row: words[number])
    judge = {place: 9.0 if right else 8.0 for place, right in reader_grades(run).items()}
    table, _ = agreement(path, run, judge)
    rows = {row[:3]: row for row in table.rows}
    assert set(rows) == {
        (*pair, belief)
        for pair in (("people", "reader"), ("people", "judge"), ("judge", "reader"))
        for belief in ("self", "external")
    }
    assert rows["people", "judge", "self"][4] == 1
    assert "above 8.5 count as right" in table.note
