"""The steady opponents of number guessing, each a rule from the rounds so far to the next number."""

import random
from collections.abc import Callable, Sequence

from sociometer.core.errors import UsageError, unknown
from sociometer.instruments.egosocial.games.numbers.rules import FACTOR, MIDDLE, Round, clamp

Rule = Callable[[Sequence[Round], random.Random], float]

NOISE = 3.0
SWITCH_AFTER = 5


def constant(rounds: Sequence[Round], rng: random.Random) -> float:
    """Always choose 50 (the paper's level 1)."""
    return MIDDLE


def descending(rounds: Sequence[Round], rng: random.Random) -> float:
    """Choose 50, 45, 40 and so on down (the paper's level 2)."""
    return clamp(MIDDLE - 5 * len(rounds))


def copying(rounds: Sequence[Round], rng: random.Random) -> float:
    """Choose the last round's target, starting with 50 (the paper's level 3)."""
    return clamp(round(rounds[-1].gold, 2)) if rounds else MIDDLE


def reasoning(depth: int) -> Rule:
    """Return a level-k player: it expects the other to repeat its last number and answers `depth` steps ahead.

    One step is the best reply to a number x, which is the y with y = 0.8 (x + y) / 2, so y = 2x / 3.
    """
    step = FACTOR / (2 - FACTOR)

    def rule(rounds: Sequence[Round], rng: random.Random) -> float:
        start = rounds[-1].theirs if rounds else MIDDLE
        return clamp(round(start * step**depth, 2))

    return rule


def noisy(base: Rule, spread: float = NOISE) -> Rule:
    """Return a rule that deviates from another by a whole number of at most `spread`."""

    def rule(rounds: Sequence[Round], rng: random.Random) -> float:
        return clamp(base(rounds, rng) + rng.randint(-int(spread), int(spread)))

    return rule


def switching(first: Rule, second: Rule, after: int = SWITCH_AFTER) -> Rule:
    """Return a rule that follows one rule for some rounds and then another."""

    def rule(rounds: Sequence[Round], rng: random.Random) -> float:
        return (first if len(rounds) < after else second)(rounds, rng)

    return rule


SEATED = "seated"
"""No rule: another model as opponent, in one match."""
DRAWN = "drawn"
"""No single rule: opponents drawn from the family by the seed."""
LEVELS = ("level-1", "level-2", "level-3")
"""The paper's opponents."""
OPPONENTS: dict[str, Rule] = {
    "level-1": constant,
    "level-2": descending,
    "level-3": copying,
    "reasoning-1": reasoning(1),
    "reasoning-2": reasoning(2),
    "noisy-1": noisy(constant),
    "noisy-2": noisy(descending),
    "switching": switching(constant, descending),
}


def choose(name: str, rounds: Sequence[Round], rng: random.Random) -> float:
    """Return the next number of the named opponent; rounds are seen from its side."""
    if name == SEATED:
        raise UsageError(f"--opponents {SEATED} is a match against another model; give --role opponent=MODEL.")
    if name not in OPPONENTS:
        raise unknown("opponent of number guessing", name, OPPONENTS)
    return OPPONENTS[name](rounds, rng)
