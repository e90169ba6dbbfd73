"""The steady opponents, as section 3.3.1 of the paper defines them, and those that go further."""

import random

import pytest

from sociometer.core.errors import UsageError
from sociometer.instruments.egosocial.games.numbers import OPPONENTS, Round, choose, is_legal


def sequence(name, replies, seed=0):
    """The opponent's numbers while the other player gives these."""
    rng = random.Random(seed)
    rounds = []
    for reply in replies:
        rounds.append(Round(choose(name, rounds, rng), reply))
    return [one.mine for one in rounds]


def test_level_one_is_constant():
    assert sequence("level-1", range(1, 11)) == [50] * 10


def test_level_two_is_the_arithmetic_sequence():
    assert sequence("level-2", [50] * 10) == [50, 45, 40, 35, 30, 25, 20, 15, 10, 5]


def test_level_three_copies_the_last_target():
    """a_o^t = 0.8 (a_m^{t-1} + a_o^{t-1}) / 2: 50, then 0.8 × 45 = 36, then 0.8 × 33 = 26.4."""
    assert sequence("level-3", [40, 30, 20]) == pytest.approx([50, 36, 26.4])


def test_a_level_k_player_answers_k_steps_ahead():
    """The best reply to x is y = 0.8 (x + y) / 2, that is 2x / 3."""
    assert sequence("reasoning-1", [30, 90])[:2] == pytest.approx([100 / 3, 20], abs=0.01)
    assert sequence("reasoning-2", [90, 90])[:2] == pytest.approx([50 * 4 / 9, 40], abs=0.01)


def test_noisy_opponents_stray_but_not_far_and_repeat_under_the_same_seed():
    numbers = sequence("noisy-2", [50] * 10, seed=4)
    plain = sequence("level-2", [50] * 10)
    assert numbers != plain
    assert all(abs(a - b) <= 3 for a, b in zip(numbers, plain, strict=True))
    assert numbers == sequence("noisy-2", [50] * 10, seed=4)


def test_the_switching_opponent_changes_its_rule_half_way():
    assert sequence("switching", [50] * 10) == [50, 50, 50, 50, 50, 25, 20, 15, 10, 5]


@pytest.mark.parametrize("name", OPPONENTS)
@pytest.mark.parametrize("reply", [1, 100])
def test_every_opponent_stays_within_the_rules_for_as_long_as_it_is_played(name, reply):
    assert all(is_legal(number) for number in sequence(name, [reply] * 30))


def test_an_unknown_opponent_is_refused_with_the_nearest_name(baseline, rehearsal):
    with pytest.raises(UsageError, match="did you mean 'level-2'"):
        rehearsal(baseline("random"), opponents=("level-22",))
