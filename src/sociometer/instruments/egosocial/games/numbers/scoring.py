"""The score of a match: right predictions, their error, and patterns in them."""

from collections.abc import Sequence
from itertools import pairwise
from statistics import fmean
from typing import Any

import msgspec

from sociometer.core.measure import Cell, Measure, Summary, Table
from sociometer.core.reply_kind import count_replies
from sociometer.core.task import RunView, Score
from sociometer.instruments.egosocial.games.game import NOTES, TABLES, card_measures
from sociometer.instruments.egosocial.games.numbers.match import NumberMatch, NumberOutcome
from sociometer.instruments.egosocial.games.numbers.rules import HIGHEST, LOWEST, MIDDLE, TOLERANCE, is_right
from sociometer.statistics.formatting import estimate
from sociometer.statistics.measures import Observation, mean_measure

STRANGE_STEP = 2.0
FEWEST_LEARNT = 3
_Matches = Sequence[tuple[NumberMatch, NumberOutcome]]


class Patterns(msgspec.Struct, frozen=True):
    """The patterns found in one match; rounds are counted from 1, None if there is none."""

    mid_point_belief: bool
    strange_guess: int | None
    back_on_track: int | None
    always_smaller: bool
    learnt_at: int | None


def find(predictions: Sequence[float | None], actual: Sequence[float]) -> Patterns:
    """Return the patterns in a match.

    Mid-point belief: the first prediction is 50. Strange guess: the first round in which the prediction lies more than
    two above the opponent's last number, though the opponent has never gone up. Back on track: the first round after
    a strange guess that opens two right predictions in a row. Always smaller: every prediction lies below the one
    before it, yet some are wrong. Learnt: the first round from which every prediction is right, for at least three
    rounds; if the opponent's numbers change in the match, they must change in those rounds too.
    """
    right = [is_right(guess, number) for guess, number in zip(predictions, actual, strict=True)]
    strange = _strange(predictions, actual)
    later = range(strange, len(right) - 1) if strange else ()
    steps = list(pairwise(predictions))
    return Patterns(
        mid_point_belief=bool(predictions) and predictions[0] is not None and abs(predictions[0] - MIDDLE) <= TOLERANCE,
        strange_guess=strange,
        back_on_track=next((place + 1 for place in later if right[place] and right[place + 1]), None),
        always_smaller=bool(steps)
        and not all(right)
        and all(first is not None and second is not None and second < first for first, second in steps),
        learnt_at=_learnt(right, actual),
    )


def _strange(predictions: Sequence[float | None], actual: Sequence[float]) -> int | None:
    for index in range(1, len(predictions)):
        guess, shown = predictions[index], actual[:index]
        never_rose = all(later <= earlier for earlier, later in pairwise(shown))
        if guess is not None and never_rose and guess > shown[-1] + STRANGE_STEP:
            return index + 1
    return None


def _learnt(right: Sequence[bool], actual: Sequence[float]) -> int | None:
    """Return the first round of the run of right predictions that ends the match, if that run shows a rule."""
    first = max((index + 1 for index, hit in enumerate(right) if not hit), default=0)
    if len(right) - first < FEWEST_LEARNT:
        return None
    # If one number fits all of these rounds, but not the match, no rule was needed to predict it.
    streak = actual[first:]
    stuck = max(streak) - min(streak) <= 2 * TOLERANCE < max(actual) - min(actual)
    return None if stuck else first + 1


def patterns_of(outcome: NumberOutcome) -> Patterns:
    """Return the patterns in a match's predictions."""
    return find([one.prediction for one in outcome.rounds], [one.opponent for one in outcome.rounds])


def error_of(prediction: float | None, actual: float) -> float:
    """Return the distance of a prediction from a number; a missing one counts as the worst possible."""
    return max(actual - LOWEST, HIGHEST - actual) if prediction is None else abs(prediction - actual)


def score(item: NumberMatch, outcome: NumberOutcome) -> Score:
    """The share of right predictions, their error and patterns; an unreadable prediction is wrong and as far off as
    one can be.

    `repeating` is the share that a player would get right who predicts the opponent's last number, on the same rounds:
    whoever always chooses one number makes an opponent that replies constant and easy to predict, and `beyond`, the
    share right minus this one, gives no credit for it.
    """
    rounds = outcome.rounds
    right = [is_right(one.prediction, one.opponent) for one in rounds]
    errors = [error_of(one.prediction, one.opponent) for one in rounds]
    found = patterns_of(outcome)
    repeated = sum(is_right(before.opponent, one.opponent) for before, one in pairwise(rounds))
    values = {
        "right": sum(right) / len(right),
        "repeating": repeated / len(rounds),
        "beyond": (sum(right) - repeated) / len(rounds),
        "error": sum(errors) / len(errors),
        "learnt": float(found.learnt_at is not None),
        "mid_point": float(found.mid_point_belief),
        "strange": float(found.strange_guess is not None),
        "back_on_track": float(found.back_on_track is not None),
        "always_smaller": float(found.always_smaller),
        "faults": sum(one.faults.count for one in rounds) / len(rounds),
    }
    unreadable = sum(one.faults.defaulted for one in rounds)
    replies = count_replies(how for one in rounds for how in one.faults.asked)
    return Score(values=values, facets={"opponent": item.opponent}, unreadable=unreadable, replies=replies)


def summarise(run: RunView[NumberMatch, NumberOutcome]) -> Summary:
    """Accuracy, error, learning and patterns, overall and by opponent, with the learning curves."""
    measures: list[Measure] = []
    for _, found in card_measures(run, "numbers", "opponent", not_shares=["beyond"]):
        measures += found
    matches = [(item, outcome) for item, outcome, _ in run.scored()]
    drawn = [(item, outcome) for item, outcome in matches if item.drawn is not None]
    by_round = _by_round(drawn)
    tables: list[Table] = []
    if by_round:
        tables.append(TABLES("by-round", (tuple(point.values())[:-1] for point in by_round)))
    notes = (NOTES["tolerance"].format(tolerance=TOLERANCE), NOTES["one-number"])
    traces = [
        {
            "match": item.id,
            "opponent": item.opponent,
            "predictions": [one.prediction for one in outcome.rounds],
            "numbers": [one.opponent for one in outcome.rounds],
            "choices": [one.choice for one in outcome.rounds],
        }
        for item, outcome in matches
    ]
    series = {"by_round": by_round, "matches": traces}
    return Summary(tuple(measures), (*tables, _pattern_table(matches)), notes, series)


def _by_round(drawn: _Matches) -> list[dict[str, Any]]:
    """Return accuracy and what repeating gets right, round by round, over all drawn opponents."""
    rights: dict[int, list[Observation]] = {}
    repeats: dict[int, list[bool]] = {}
    for item, outcome in drawn:
        last: float | None = None
        for number, played in enumerate(outcome.rounds, 1):
            right = is_right(played.prediction, played.opponent)
            rights.setdefault(number, []).append(Observation(item.id, item.cluster or item.id, right, {}))
            repeats.setdefault(number, []).append(is_right(last, played.opponent))
            last = played.opponent
    points: list[dict[str, Any]] = []
    for number, observations in sorted(rights.items()):
        accuracy = mean_measure("right", observations)
        points.append(
            {
                "round": number,
                "shown": estimate(accuracy.value, "share", accuracy.interval),
                "repeating": fmean(repeats[number]),
                "matches": len(observations),
                "accuracy": accuracy.value,
            }
        )
    return points


def _pattern_table(matches: _Matches) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for item, outcome in matches:
        hits = sum(is_right(one.prediction, one.opponent) for one in outcome.rounds)
        rows.append((item.opponent, f"{hits}/{len(outcome.rounds)}", *msgspec.structs.astuple(patterns_of(outcome))))
    return TABLES("patterns", rows)
