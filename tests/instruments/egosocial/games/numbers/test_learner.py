"""The learner that knows the family of drawn opponents: its forecasts, and what others lose beyond it."""

import random
from collections import Counter

import pytest

from sociometer.instruments.egosocial.games.numbers.learner import forecasts
from sociometer.instruments.egosocial.games.numbers.opponents import KINDS, draw, next_number
from sociometer.instruments.egosocial.games.numbers.rules import Round


def played(opponent, replies, seed=0):
    """A match against an opponent, seen from its side."""
    rng, rounds = random.Random(seed), []
    for reply in replies:
        rounds.append(Round(next_number(opponent, rounds, rng), reply))
    return tuple(rounds)


@pytest.mark.slow
def test_the_learner_is_right_as_often_as_it_expects():
    """Over 300 drawn matches, its most likely number comes as often as its forecasts say, round by round."""
    expected, hits = Counter(), Counter()
    for index in range(300):
        kind = KINDS[index % 6]
        rng = random.Random(f"calibration {index}")
        rounds = played(draw(kind, rng), [rng.randint(1, 100) for _ in range(10)], index)
        for number, (forecast, one) in enumerate(zip(forecasts(rounds), rounds, strict=True), 1):
            expected[number] += forecast.hit_rate
            hits[number] += forecast.mode == one.mine
    for number in range(1, 11):
        assert abs(hits[number] - expected[number]) < 4 * (0.25 * 300) ** 0.5
    assert expected[1] / 300 < 0.05
    assert expected[10] / 300 > 0.75


def test_the_learner_sees_nothing_but_the_rounds_before():
    rounds = played(draw("slope", random.Random(3)), (50,) * 6)
    other = (*rounds[:5], Round(1, 1))
    assert forecasts(rounds)[5] == forecasts(other)[5]


def test_regret_is_never_negative_and_zero_for_the_learners_own_prediction():
    rounds = played(draw("reply", random.Random(5)), (40, 30, 20, 60, 10, 80))
    for forecast in forecasts(rounds):
        assert forecast.regret(forecast.median) == 0
        assert all(forecast.regret(guess) >= 0 for guess in range(1, 101, 7))
        assert forecast.regret(None) == max(forecast.regret(1), forecast.regret(100))


def test_a_forecast_after_a_plain_slope_worked_by_hand():
    """80, 74, 68: a slope of −6, not a factor of 0.9 (80, 72), goes on with 62."""
    rounds = (Round(80, 50), Round(74, 50), Round(68, 50), Round(62, 50))
    assert forecasts(rounds)[3].mode == 62
    assert forecasts(rounds)[3].hit_rate > 0.8
