"""What a run of predictions shows: how many were right, from when on, and the patterns the paper describes, by rule."""

from collections.abc import Sequence
from itertools import pairwise

import msgspec

from sociometer.instruments.egosocial.games.numbers.rules import MIDDLE

# The paper does not say how near a prediction of a broken number must come. Half a step is the tightest
# tolerance under which whole-number predictions can be right at all.
TOLERANCE = 0.5
STRANGE_STEP = 2.0
FEWEST_LEARNT = 3


class Patterns(msgspec.Struct, frozen=True):
    """The patterns found in one match; rounds are counted from 1, None if there is none."""

    mid_point_belief: bool
    strange_guess: int | None
    back_on_track: int | None
    always_smaller: bool
    learnt_at: int | None


def is_right(prediction: float | None, actual: float, tolerance: float = TOLERANCE) -> bool:
    """Return whether a prediction hits a number; an absent one never does.

    A prediction halfway between two whole numbers names neither of them: it would hit both.
    """
    if prediction is None:
        return False
    away = abs(prediction - actual)
    return away < tolerance if actual == int(actual) else away <= tolerance


def find(predictions: Sequence[float | None], actual: Sequence[float], tolerance: float = TOLERANCE) -> Patterns:
    """Return the patterns in a match.

    Mid-point belief: the first prediction is 50. Strange guess: the first round in which the prediction lies more than
    two above the opponent's last number, though the opponent has never gone up. Back on track: the first round after
    a strange guess that opens two right predictions in a row. Always smaller: every prediction lies below the one
    before it, yet some are wrong. Learnt: the first round from which every prediction is right, for at least three
    rounds; if the opponent's numbers change in the match, they must change in those rounds too.
    """
    right = [is_right(guess, number, tolerance) for guess, number in zip(predictions, actual, strict=True)]
    strange = _strange(predictions, actual)
    steps = list(pairwise(predictions))
    return Patterns(
        mid_point_belief=bool(predictions) and predictions[0] is not None and abs(predictions[0] - MIDDLE) <= tolerance,
        strange_guess=strange,
        back_on_track=_two_in_a_row(right, strange) if strange else None,
        always_smaller=bool(steps)
        and not all(right)
        and all(first is not None and second is not None and second < first for first, second in steps),
        learnt_at=_learnt(right, actual, tolerance),
    )


def _strange(predictions: Sequence[float | None], actual: Sequence[float]) -> int | None:
    for index in range(1, len(predictions)):
        guess, shown = predictions[index], actual[:index]
        if guess is None or any(later > earlier for earlier, later in pairwise(shown)):
            continue
        if guess > shown[-1] + STRANGE_STEP:
            return index + 1
    return None


def _two_in_a_row(right: Sequence[bool], after: int) -> int | None:
    for index in range(after, len(right) - 1):
        if right[index] and right[index + 1]:
            return index + 1
    return None


def _learnt(right: Sequence[bool], actual: Sequence[float], tolerance: float) -> int | None:
    """Return the first round of the run of right predictions that ends the match, if that run shows a rule."""
    first = first_always_right(right)
    if first is None or len(right) - first + 1 < FEWEST_LEARNT:
        return None
    # If one number fits all of these rounds, but not the match, no rule was needed to predict it.
    streak = actual[first - 1 :]
    stuck = max(streak) - min(streak) <= 2 * tolerance < max(actual) - min(actual)
    return None if stuck else first


def first_always_right(right: Sequence[bool]) -> int | None:
    """Return the first round (from 1) from which every prediction is right, None if the last one is wrong."""
    if not right or not right[-1]:
        return None
    wrong = [index for index, hit in enumerate(right) if not hit]
    return wrong[-1] + 2 if wrong else 1
