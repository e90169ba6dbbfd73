import pytest
from hypothesis import given
from hypothesis import strategies as st

from sociometer.instruments.sage.person.emotion import Protocol, band, direction

RULES = Protocol()


@given(st.integers(10, 99), st.integers(-1000, 1000))
def test_a_feeling_moves_by_ten_at_most_and_never_above_the_cap(before, change):
    after = RULES.update(before, change)
    assert abs(after - before) <= 10
    assert 0 <= after <= 100


def test_a_feeling_never_falls_below_nothing():
    assert RULES.update(3, -10) == 0


@given(st.integers(10, 99), st.integers(-10, 10))
def test_within_bounds_the_change_is_simply_added(before, change):
    assert RULES.update(before, change) == min(100, before + change)


@pytest.mark.parametrize(
    ("emotion", "name"),
    [(100, "S"), (99, "A"), (70, "A"), (69, "B"), (40, "B"), (39, "C"), (10, "C"), (9, "F"), (0, "F")],
)
def test_bands_begin_where_the_release_has_them(emotion, name):
    assert band(emotion) == name


def test_a_dialogue_ends_soothed_lost_by_farewell_or_out_of_turns():
    assert RULES.ending(100, 3) == "soothed"
    assert RULES.ending(9, 3) == "lost"
    assert RULES.ending(10, 3) is None
    assert RULES.ending(50, 3, "Thanks. Goodbye.") == "farewell"
    assert RULES.ending(50, 10) == "turns"
    assert RULES.ending(50, 9, "And the shoes?") is None


def test_the_tenth_reply_is_judged_only_when_asked_for():
    assert [RULES.judges(turn) for turn in (9, 10)] == [True, False]
    assert Protocol(judge_last=True).judges(10)


def test_directions():
    assert [direction(change) for change in (3, 0, -1)] == ["up", "same", "down"]
