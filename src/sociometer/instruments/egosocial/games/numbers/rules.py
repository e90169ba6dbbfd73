"""The rules of number guessing (both aim at 0.8 times the average), and the steady opponents, each a rule."""

import random
from collections.abc import Callable, Sequence

import msgspec

from sociometer.instruments.egosocial.games import IllegalMove

LOWEST, HIGHEST = 1.0, 100.0
FACTOR = 0.8
MIDDLE = 50.0

# The paper does not say how near a prediction of a broken number must come. Half a step is the tightest
# tolerance under which whole-number predictions can be right at all.
TOLERANCE = 0.5


class Round(msgspec.Struct, frozen=True):
    """What both players chose in one round."""

    mine: float
    theirs: float

    @property
    def gold(self) -> float:
        """The number both were aiming at."""
        return FACTOR * (self.mine + self.theirs) / 2

    def seen_from_the_other_side(self) -> "Round":
        """Return the same round as the second player sees it."""
        return Round(self.theirs, self.mine)


class State:
    """A match in progress: the rounds so far and how many there will be."""

    __slots__ = ("length", "rounds")

    def __init__(self, length: int) -> None:
        self.length = length
        self.rounds: list[Round] = []

    @property
    def over(self) -> bool:
        """Whether all rounds were played."""
        return len(self.rounds) == self.length

    def apply(self, mine: float, theirs: float) -> Round:
        """Play one round with both players' numbers."""
        for number in (mine, theirs):
            if not is_legal(number):
                raise IllegalMove(f"illegal number {number:g}; choose from {LOWEST:g} to {HIGHEST:g}")
        if self.over:
            raise IllegalMove(f"all {self.length} rounds are played; start another match")
        self.rounds.append(Round(mine, theirs))
        return self.rounds[-1]


def is_legal(number: float) -> bool:
    """Return whether a number may be chosen."""
    return LOWEST <= number <= HIGHEST


def clamp(number: float) -> float:
    """Return the nearest number that may be chosen."""
    return min(max(number, LOWEST), HIGHEST)


def format_number(number: float) -> str:
    """Return a number as both players see it, with at most two decimals."""
    return f"{number:.2f}".rstrip("0").rstrip(".")


Rule = Callable[[Sequence[Round], random.Random], float]


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
    share = (FACTOR / (2 - FACTOR)) ** depth
    return lambda rounds, rng: clamp(round((rounds[-1].theirs if rounds else MIDDLE) * share, 2))


def noisy(base: Rule) -> Rule:
    """Return a rule that deviates from another by a whole number of at most three."""
    return lambda rounds, rng: clamp(base(rounds, rng) + rng.randint(-3, 3))


DRAWN = "drawn"
"""No single rule: opponents drawn from the family by the seed."""
LEVELS = ("level-1", "level-2", "level-3")
"""The paper's opponents; the others are for users who train models, since these are held out for the test."""
OPPONENTS: dict[str, Rule] = {
    "level-1": constant,
    "level-2": descending,
    "level-3": copying,
    "reasoning-1": reasoning(1),
    "reasoning-2": reasoning(2),
    "noisy-1": noisy(constant),
    "noisy-2": noisy(descending),
    "switching": lambda rounds, rng: (constant if len(rounds) < 5 else descending)(rounds, rng),
}


def choose(name: str, rounds: Sequence[Round], rng: random.Random) -> float:
    """Return the next number of the named opponent; rounds are seen from its side."""
    return OPPONENTS[name](rounds, rng)


def is_right(prediction: float | None, actual: float, tolerance: float = TOLERANCE) -> bool:
    """Return whether a prediction hits a number; an absent one never does.

    A prediction halfway between two whole numbers names neither of them: it would hit both.
    """
    if prediction is None:
        return False
    away = abs(prediction - actual)
    return away < tolerance if actual == int(actual) else away <= tolerance
