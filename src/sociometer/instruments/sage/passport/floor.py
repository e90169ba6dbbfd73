"""The floor: the state of a talk, what it predicts, and how far judgements agree beyond it.

Talks have momentum: the feeling before a reply, the turn and the length of the reply predict how the feeling changes,
whatever the reply says. A judge who is told that feeling and ignores the reply therefore agrees with others.
"""

import math
from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike

from sociometer.core.measure import Interval
from sociometer.instruments.sage.passport.jackknife import Codes, Floats, Used, correlation_interval
from sociometer.statistics.intervals import cluster_codes

_FOLDS = 5
_SHORT_SCALE = 10
"""Up to so many steps, each value of the previous report has a column of its own."""
_SMALLEST = 1e-9


class BeyondState(Struct, frozen=True):
    """How far a simulator's changes follow released ones beyond the state of the talk."""

    turns: int
    state: float | None
    """The floor: the correlation of the released changes with those that the state predicts."""
    r: float | None
    """The partial correlation given the state."""
    interval: Interval
    first_turns: int
    """First turns that share their opening with another one."""
    first: float | None
    """The correlation of the changes on first turns, within one opening."""
    first_interval: Interval


def expected_changes(scenarios: Sequence[str], states: ArrayLike, changes: ArrayLike) -> list[float]:
    """The change that each state (turn, feeling before, characters of the reply) predicts.

    Least squares on the turns of other scenarios (five folds): powers and products of feeling and turn, the logarithm
    of the length and its square, and for first turns an intercept and a slope of their own.
    """
    change, (turn, before, length) = np.asarray(changes, np.float64), np.asarray(states, np.float64).T
    size, first = np.log1p(length), (turn == 1).astype(np.float64)
    powers = [(before / 100) ** power * (turn / 10) ** other for power in range(4) for other in range(4 - power)]
    table = np.stack([*powers, size, size**2, first, size * first], axis=1)
    fold = cluster_codes(scenarios, change.size)[0] % _FOLDS
    found = np.zeros(change.size)
    for held in set(fold.tolist()):
        here = fold == held
        found[here] = table[here] @ np.linalg.lstsq(table[~here], change[~here], rcond=None)[0]
    return [round(value, 4) for value in found.tolist()]


def beyond_state(
    here: ArrayLike,
    there: ArrayLike,
    expected: ArrayLike,
    states: ArrayLike,
    names: Sequence[tuple[str, str]],
    over: str = "scenarios",
) -> BeyondState:
    """The partial correlation of changes with released ones, given the state and the changes that it predicts.

    `names`: who released the turn, and its scenario (or its person). Each released simulator has its own mean.
    Intervals leave out each scenario in turn, with all of its dialogues (jackknife of Fisher's z, Student's t).
    """
    mine, theirs, floor = (np.asarray(values, np.float64) for values in (here, there, expected))
    turn, before, length = np.asarray(states, np.float64).T
    released, scenarios, openings = (
        cluster_codes(labels, mine.size)[0]
        for labels in ([by for by, _ in names], [name for _, name in names], [f"{by}/{name}" for by, name in names])
    )
    first = (turn == 1) & (np.bincount(openings, weights=turn == 1)[openings] > 1)

    def partial(kept: Used) -> float | None:
        one, two, *known = (
            centred(values[kept], released[kept]) for values in (mine, theirs, floor, before, turn, np.log1p(length))
        )
        state = np.stack(known, axis=1)
        return correlation_of_centred(
            *(values - state @ np.linalg.lstsq(state, values, rcond=None)[0] for values in (one, two))
        )

    def within(kept: Used) -> float | None:
        return correlation_of_centred(*(centred(values[kept], openings[kept]) for values in (mine, theirs)))

    return BeyondState(
        mine.size,
        correlation_of_centred(centred(theirs, released), centred(floor, released)),
        *correlation_interval(partial, scenarios, np.ones(mine.size, dtype=bool), over),
        int(first.sum()),
        *correlation_interval(within, scenarios, first, over),
    )


class PersonState(Struct, frozen=True):
    """What can be known of a turn without reading the reply: the earlier reports, the turn, the reply's length."""

    earlier: tuple[int, ...]
    turn: int
    length: int


def people_table(states: Sequence[PersonState], scale: tuple[int, int]) -> Floats:
    """The state of each turn of a person's talk as columns, with an intercept.

    The previous report (each value of a short scale on its own; on a long one three powers), whether there is none, the
    mean of the earlier ones, the turn and its logarithm, the logarithm of the length and its square.
    """
    low, high = scale
    previous = np.array([state.earlier[-1] if state.earlier else np.nan for state in states])
    first = np.isnan(previous)
    columns = [np.ones(len(states)), first.astype(np.float64)]
    if high - low <= _SHORT_SCALE:
        columns += [(previous == value).astype(np.float64) for value in range(low + 1, high + 1)]
    else:
        share = np.where(first, 0.0, (previous - low) / (high - low))
        columns += [share, share**2, share**3]
    means = [np.mean(state.earlier) if state.earlier else low for state in states]
    turn = np.array([state.turn for state in states], dtype=np.float64)
    size = np.log1p([state.length for state in states])
    columns += [np.asarray(means) - low, turn, np.log(turn), size, size**2]
    return np.stack(columns, axis=1)


def predicted(table: Floats, reports: ArrayLike, people: Sequence[str]) -> Floats:
    """The report that the state predicts, by least squares on the turns of other people (five folds)."""
    report = np.asarray(reports, np.float64)
    fold = cluster_codes(people, report.size)[0] % _FOLDS
    prediction = np.zeros(report.size)
    for held in set(fold.tolist()):
        here = fold == held
        if here.all():
            prediction[here] = report.mean()
            continue
        fitted = np.linalg.lstsq(table[~here], report[~here], rcond=None)[0]
        prediction[here] = table[here] @ fitted
    return prediction


def partial_correlation(one: Floats, two: Floats, table: Floats) -> float | None:
    """The correlation of what the table's columns leave of two lists; None if nothing is left of one."""
    both = np.stack([one, two], axis=1)
    left = both - table @ np.linalg.lstsq(table, both, rcond=None)[0]
    shares = np.square(left).sum(axis=0) / np.maximum(np.square(both - both.mean(axis=0)).sum(axis=0), _SMALLEST)
    if (shares < _SMALLEST).any():
        return None
    return correlation_of_centred(left[:, 0], left[:, 1])


def centred(values: Floats, groups: Codes) -> Floats:
    """The values less the mean of their group."""
    means = np.bincount(groups, weights=values) / np.maximum(np.bincount(groups), 1)
    return np.asarray(values - means[groups], np.float64)


def correlation_of_centred(one: Floats, two: Floats) -> float | None:
    """The correlation of two centred lists; None if one of them does not vary."""
    scale = math.sqrt(float(one @ one) * float(two @ two))
    return float(one @ two) / scale if scale > _SMALLEST else None
