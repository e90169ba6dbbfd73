"""The steady opponents, as section 3.3.1 of the paper defines them, those that go further, and the drawn family."""

import random

import pytest

from sociometer.core.errors import UsageError
from sociometer.instruments.egosocial.games.numbers.opponents import (
    KINDS,
    LEVELS,
    Drawn,
    Rule,
    draw,
    members,
    next_chances,
    next_number,
)
from sociometer.instruments.egosocial.games.numbers.rules import Round, is_legal


def sequence(name, replies):
    """The opponent's numbers while the other player gives these."""
    rounds = []
    for reply in replies:
        rounds.append(Round(LEVELS[name](rounds), reply))
    return [one.mine for one in rounds]


def test_level_one_is_constant():
    assert sequence("level-1", range(1, 11)) == [50] * 10


def test_level_two_is_the_arithmetic_sequence():
    assert sequence("level-2", [50] * 10) == [50, 45, 40, 35, 30, 25, 20, 15, 10, 5]


def test_level_three_copies_the_last_target():
    """a_o^t = 0.8 (a_m^{t-1} + a_o^{t-1}) / 2: 50, then 0.8 × 45 = 36, then 0.8 × 33 = 26.4."""
    assert sequence("level-3", [40, 30, 20]) == pytest.approx([50, 36, 26.4])


@pytest.mark.parametrize("name", LEVELS)
@pytest.mark.parametrize("reply", [1, 100])
def test_every_level_stays_within_the_rules_for_as_long_as_it_is_played(name, reply):
    assert all(is_legal(number) for number in sequence(name, [reply] * 30))


def test_an_unknown_opponent_is_refused_with_the_nearest_name(baseline, rehearsal):
    with pytest.raises(UsageError, match="did you mean 'level-2'"):
        rehearsal(baseline("random"), opponents=("level-22",))


def numbers(opponent, replies=(50,) * 10, seed=0):
    """The numbers of a drawn opponent while the other player gives these."""
    rng, rounds = random.Random(seed), []
    for reply in replies:
        rounds.append(Round(next_number(opponent, rounds, rng), reply))
    return [one.mine for one in rounds]


def test_the_probabilities_of_all_members_add_up_to_one():
    for kind in KINDS:
        assert sum(share for _, share in members(kind)) == pytest.approx(1)


def test_each_rule_worked_by_hand():
    assert numbers(Drawn("constant", 37, Rule("stay"))) == [37] * 10
    assert numbers(Drawn("slope", 80, Rule("slope", -6)))[:4] == [80, 74, 68, 62]
    # 60 × 0.8 = 48, 38.4 → 38, 30.4 → 30
    assert numbers(Drawn("factor", 60, Rule("factor", 0.8)))[:4] == [60, 48, 38, 30]
    # a best reply to 30 and 60 is 20 and 40; plus 6
    assert numbers(Drawn("reply", 70, Rule("reply", 2 / 3, 6)), (30, 60, 1)) == [70, 26, 46]
    # the target of 70 and 30 is 40; times 1.2 is 48; then of 48 and 60 is 43.2, times 1.2 is 51.84
    assert numbers(Drawn("reply", 70, Rule("copy", 1.2)), (30, 60, 1)) == [70, 48, 52]
    switch = Drawn("switching", 20, Rule("stay"), 0, Rule("slope", 5), 3)
    assert numbers(switch)[:6] == [20, 20, 20, 25, 30, 35]


def test_a_noisy_opponent_strays_around_its_rule_and_does_not_drift():
    seen = numbers(Drawn("noisy", 50, Rule("stay"), 2), (50,) * 200)
    assert set(seen) == {48, 49, 50, 51, 52}


def test_a_mixture_chooses_between_two_depths():
    mixed = Drawn("reply", 50, Rule("reply", 1.0, 0, 2 / 3))
    assert set(numbers(mixed, (60,) * 40)[1:]) == {60, 40}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("reply", [1, 100])
def test_every_drawn_opponent_stays_within_the_rules(kind, reply):
    for seed in range(40):
        opponent = draw(kind, random.Random(seed))
        assert opponent.kind == kind
        assert all(is_legal(number) for number in numbers(opponent, (reply,) * 30, seed))


def test_an_opponent_that_models_the_other_replies_to_what_it_expects():
    rounds = [Round(50, 60), Round(40, 48)]
    trend, mean = (Drawn("modelling", 50, Rule(how, 2 / 3, 6)) for how in ("trend", "mean"))
    assert next_chances(trend, rounds) == {30: 1.0}
    assert next_chances(mean, rounds) == {42: 1.0}
