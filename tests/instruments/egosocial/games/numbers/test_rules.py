"""Number guessing: the target, and what is refused."""

import pytest

from sociometer.instruments.egosocial.games.game import IllegalMove
from sociometer.instruments.egosocial.games.numbers.rules import NumbersState, Round, clamp, format_number


def test_the_target_is_four_fifths_of_the_average():
    assert Round(50, 40).gold == pytest.approx(36)


@pytest.mark.parametrize("number", [0, 0.99, 100.01, -5, float("nan"), float("inf")])
def test_a_number_outside_the_range_is_refused(number):
    with pytest.raises(IllegalMove, match="choose from 1 to 100"):
        NumbersState(1).apply(number, 50)


def test_a_match_ends_after_its_rounds():
    state = NumbersState(1)
    state.apply(1, 100)
    assert state.over
    with pytest.raises(IllegalMove, match="all 1 rounds"):
        state.apply(1, 1)


def test_numbers_are_shown_with_at_most_two_decimals():
    assert [format_number(number) for number in (50.0, 36.666, 7.5)] == ["50", "36.67", "7.5"]


def test_clamping_reaches_the_nearest_legal_number():
    assert [clamp(number) for number in (-3, 42, 400)] == [1, 42, 100]
