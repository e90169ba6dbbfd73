"""The state of a talk, and how far judgements agree beyond it.

Talks have momentum: the feeling before a reply, the turn and the length of the reply predict how the feeling changes,
whatever the reply says. A judge who is told that feeling and ignores the reply therefore agrees with others.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike, NDArray

from sociometer.core.measure import Interval
from sociometer.statistics.distributions import t_quantile
from sociometer.statistics.intervals import cluster_codes, too_few

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Kept = NDArray[np.bool_]
_FOLDS = 5
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

    def partial(kept: Kept) -> float | None:
        one, two, *known = (
            _centred(values[kept], released[kept]) for values in (mine, theirs, floor, before, turn, np.log1p(length))
        )
        state = np.stack(known, axis=1)
        return _r(*(values - state @ np.linalg.lstsq(state, values, rcond=None)[0] for values in (one, two)))

    def within(kept: Kept) -> float | None:
        return _r(*(_centred(values[kept], openings[kept]) for values in (mine, theirs)))

    return BeyondState(
        mine.size,
        _r(_centred(theirs, released), _centred(floor, released)),
        *_jackknifed(partial, scenarios, np.ones(mine.size, dtype=bool), over),
        int(first.sum()),
        *_jackknifed(within, scenarios, first, over),
    )


def _centred(values: Floats, groups: Codes) -> Floats:
    """The values less the mean of their group."""
    means = np.bincount(groups, weights=values) / np.maximum(np.bincount(groups), 1)
    return np.asarray(values - means[groups], np.float64)


def _r(one: Floats, two: Floats) -> float | None:
    """The correlation of two centred lists; None if one of them does not vary."""
    scale = math.sqrt(float(one @ one) * float(two @ two))
    return float(one @ two) / scale if scale > _SMALLEST else None


def _jackknifed(
    statistic: Callable[[Kept], float | None], groups: Codes, used: Kept, over: str
) -> tuple[float | None, Interval]:
    """A correlation of the turns that are used, and its interval over groups."""
    names = sorted(set(groups[used].tolist()))
    count, whole = len(names), statistic(used)
    found = [each for name in names if (each := statistic(used & (groups != name))) is not None]
    if whole is None or len(found) < max(4, count):
        return whole, too_few(count)
    z = np.arctanh(np.clip([whole, *found], _SMALLEST - 1, 1 - _SMALLEST))
    half = t_quantile(0.975, count - 1) * math.sqrt((count - 1) * float(np.var(z[1:])))
    low, high = np.tanh([z[0] - half, z[0] + half]).tolist()
    return whole, Interval(low, high, 0.95, f"jackknife over {over}, Fisher z", count)
