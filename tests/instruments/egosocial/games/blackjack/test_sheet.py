"""The sheet of beliefs for people, and their agreement with a judge."""

from types import SimpleNamespace

import pytest

from sociometer.core.task import PeopleLabel
from sociometer.instruments.egosocial import commands
from sociometer.instruments.egosocial.commands import graded


@pytest.fixture
def rows(script, rehearsal):
    said = (
        '{"self_belief": "=My total is 15.", "external_belief": "The dealer may bust, and must draw until 17.", '
        '"action": "stand"}'
    )
    view = rehearsal(script(said), deals=30).play_all("blackjack")
    run = SimpleNamespace(id="r", reference="r", tasks=("blackjack",), view=lambda task: view)
    return commands.beliefs([run], None, 0)


def grades(rows, *people):
    """The grades of the majority of several people, each a function of the number of the row."""
    return graded(
        PeopleLabel(str(who), row.key, {column: said for column, said in answers.items() if said})
        for who, grade in enumerate(people)
        for number, row in enumerate(rows)
        for answers in [dict(zip(("self_right", "external_right"), grade(number), strict=True))]
    )


def test_a_sheet_has_a_line_a_decision_without_the_name_of_the_run(rows):
    assert len(rows) == len({row.key for row in rows}) == 30
    assert {row.run for row in rows} == {"r"}
    assert all(row.shown[2] == "=My total is 15." for row in rows)


def test_people_alone_are_counted(rows):
    table = commands.table(grades(rows, lambda number: ("y" if number < 10 else "n", "")), {})
    assert [row[:4] for row in table.rows] == [("people", "self", 30, "33 % [19, 51]")]


def test_the_majority_grades_and_a_tie_is_no_grade(rows):
    def ann(number):
        return "y", "n"

    def bob(number):
        return "n" if number < 5 else "y", "n"

    two = grades(rows, ann, bob)
    three = grades(rows, ann, bob, lambda number: ("n", ""))
    assert sum(place.endswith("self") for place in two) == 25
    right = [sum(right for place, right in found.items() if place.endswith("self")) for found in (two, three)]
    assert right == [25, 25]
    assert len(three) == 60


def test_a_judge_who_agrees_throughout_has_full_agreement(rows):
    people = grades(rows, lambda number: ("y" if number % 2 else "n", ""))
    table = commands.table(people, dict(people))
    by_side = {row[0]: row for row in table.rows}
    assert by_side["people and judge"][1:6] == ("self", 30, None, 1, 1.0)


def test_a_judge_who_never_varies_has_no_kappa_but_a_reason(rows):
    people = grades(rows, lambda number: ("", "y" if number < 5 else "n"))
    table = commands.table(people, dict.fromkeys(people, False))
    row = next(row for row in table.rows if row[0] == "people and judge")
    assert row[5:8] == (None, None, None)
    assert row[8] == "judge: the same grade every time, no kappa"
