"""The rules of number guessing: both players aim at 0.8 times the average of their numbers."""

import msgspec

from sociometer.instruments.egosocial.games.game import IllegalMove

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


class NumbersState:
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


def is_right(prediction: float | None, actual: float) -> bool:
    """Return whether a prediction hits a number; an absent one never does.

    A prediction halfway between two whole numbers names neither of them: it would hit both.
    """
    if prediction is None:
        return False
    away = abs(prediction - actual)
    return away < TOLERANCE if actual == int(actual) else away <= TOLERANCE
