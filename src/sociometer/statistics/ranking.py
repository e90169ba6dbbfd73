"""Ranks with intervals, from simultaneous comparisons of all pairs of subjects."""

import math
from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike, NDArray

from sociometer.core.lazy import lazy
from sociometer.core.measure import Interval
from sociometer.statistics import intervals
from sociometer.statistics.correlation import row_correlations
from sociometer.statistics.paired import difference_bounds, item_differences, simultaneous, without_rounding
from sociometer.statistics.people import PeopleMean, with_people

stats = lazy("scipy.stats")


class FailedItems(Struct, frozen=True):
    """The table with its failed items at the low and at the high end of the scale, and more rows for the lost ones.

    None instead of the tables: the scale has no ends, so that failures leave all ranks open.
    """

    tables: tuple[intervals.Floats, intervals.Floats] | None
    clusters: intervals.Labels | None


class Rank(Struct, frozen=True):
    """A subject's rank (1 is best; ties share the better one), its interval, and the subjects that it surely beats."""

    subject: str
    mean: float
    rank: int
    interval: Interval
    beats: tuple[str, ...] = ()


def rank_intervals(
    table: ArrayLike,
    subjects: Sequence[str],
    clusters: intervals.Labels | None = None,
    *,
    higher_is_better: bool = True,
    binary: Sequence[bool] | None = None,
    people: Mapping[int, PeopleMean] | None = None,
    level: float = 0.95,
    failed: FailedItems | None = None,
) -> list[Rank]:
    """Ranks of subjects (columns) over items (rows without gaps, in clusters), best first.

    Every two subjects are compared item by item, at the level at which all intervals hold together. The interval of a
    rank goes from 1 + the number of subjects that are better to the number of subjects − those that are worse. All
    ranks are in their intervals together with probability `level`, if the items are a sample of their kind. Columns in
    `people` are means over people, who are a sample too. `binary` says of which subjects the answers are right or
    wrong. With `failed` items, a subject is better only if it also is with its own failures at their worst and those
    of the other at their best.
    Reference: Mogstad, M., Romano, J. P., Shaikh, A. M., and Wilhelm, D. (2024). Inference for ranks. Review of
    Economic Studies 91.
    """
    scores = np.asarray(table, dtype=np.float64)
    if scores.ndim != 2 or scores.shape[1] != len(subjects):
        raise ValueError(f"a table of shape {scores.shape} does not fit {len(subjects)} subjects")
    marks = [intervals.is_binary(column) for column in scores.T] if binary is None else binary
    if not higher_is_better:
        tables = (-failed.tables[1], -failed.tables[0]) if failed and failed.tables else None
        turned = FailedItems(tables, failed.clusters) if failed else None
        found = rank_intervals(-scores, subjects, clusters, binary=marks, people=people, level=level, failed=turned)
        return [Rank(one.subject, 0.0 - one.mean, one.rank, one.interval, one.beats) for one in found]
    means = scores.mean(axis=0)
    codes, count = intervals.cluster_codes(clusters, scores.shape[0])
    if count < intervals.MINIMUM_CLUSTERS:
        return _ranked(means, subjects, None, intervals.too_few(count, level))
    crowds = people or {}
    sums = np.stack([np.bincount(codes, weights=column, minlength=count) for column in (scores - means).T], axis=1)
    root: intervals.Floats = (
        np.asarray(np.linalg.qr(sums, mode="r") if count > len(subjects) else sums) / scores.shape[0]
    )
    own = np.zeros((len(crowds), len(subjects)))  # what other people would change is the same in every comparison
    own[range(len(crowds)), list(crowds)] = [math.sqrt(one.added) for one in crowds.values()]
    influence = np.vstack([root, own])
    others = range(len(subjects) - 1)
    each = simultaneous(influence[:, 1:] - influence[:, :1], [1.0] * len(others), count, level, alike=[others]).level
    interval = Interval(None, None, level, "simultaneous comparisons of all pairs", count)
    above = np.zeros((len(subjects), len(subjects)), dtype=bool)
    bounds = partial(_bounds, np.array(marks, dtype=bool), crowds, each)
    for one in range(len(subjects) - 1):
        later = np.arange(one + 1, len(subjects))
        low, high = bounds(one, later, (scores, scores), codes)
        above[one, later], above[later, one] = low > 0, high < 0
    if failed is not None and failed.tables is not None:
        codes = intervals.cluster_codes(failed.clusters, len(failed.tables[0]))[0]
        for one in range(len(subjects)):
            below = np.flatnonzero(above[one])
            above[one, below] = bounds(one, below, failed.tables, codes)[0] > 0
    elif failed is not None:
        above[:] = False
    return _ranked(means, subjects, above, interval)


def _bounds(
    marks: NDArray[np.bool_],
    people: Mapping[int, PeopleMean],
    level: float,
    one: int,
    others: NDArray[np.intp],
    tables: tuple[intervals.Floats, intervals.Floats],
    codes: intervals.Integers,
) -> tuple[intervals.Floats, intervals.Floats]:
    """The bounds of subject `one` in the first table minus each of the others in the second.

    `marks` says whose answers are right or wrong, `people` who are people.
    """
    if not others.size:
        return np.zeros(0), np.zeros(0)
    binary = marks[others] & marks[one]
    apart = tables[0][:, [one]] - tables[1][:, others]
    low, high = difference_bounds(without_rounding(apart), codes, binary, level)
    for place, two in enumerate(others.tolist()):
        if sides := [people[side] for side in (one, two) if side in people]:
            found = item_differences(tables[1][:, two], tables[0][:, one], codes, binary=bool(binary[place]))
            interval = with_people(found.summary(level), sides, level).interval
            known = interval.low is not None and interval.high is not None
            low[place], high[place] = (interval.low, interval.high) if known else (-math.inf, math.inf)
    return low, high


def _ranked(
    means: intervals.Floats, subjects: Sequence[str], above: NDArray[np.bool_] | None, interval: Interval
) -> list[Rank]:
    """The ranks from who surely beats whom (rows beat columns); without it, ranks have `interval`, without bounds."""
    places = [1 + int((means > mean).sum()) for mean in means]
    found = []
    for me, subject in enumerate(subjects):
        beaten: tuple[str, ...] = ()
        if above is not None:
            beaten = tuple(subjects[other] for other in np.flatnonzero(above[me]).tolist())
            low, high = 1.0 + float(above[:, me].sum()), float(len(subjects) - len(beaten))
            interval = Interval(low, high, interval.level, interval.method, interval.clusters)
        found.append(Rank(subject, float(means[me]), places[me], interval, beaten))
    return sorted(found, key=lambda entry: (entry.rank, entry.subject))


def rank_correlations(first: intervals.Floats, second: intervals.Floats) -> intervals.Floats:
    """Spearman's rho of every row of two tables, with mid-ranks; NaN if a row does not vary or has a gap."""
    return row_correlations(*(stats.rankdata(each, axis=1) for each in (first, second)))
