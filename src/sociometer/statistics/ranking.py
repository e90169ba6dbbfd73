"""Ranks with intervals, from simultaneous comparisons of all pairs of subjects."""

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations

import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike

from sociometer.core.measure import Interval
from sociometer.statistics.correlation import row_correlations
from sociometer.statistics.intervals import MINIMUM_CLUSTERS, Floats, Labels, cluster_codes, is_binary, too_few
from sociometer.statistics.paired import Differences, simultaneous
from sociometer.statistics.people import PeopleMean, with_people


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
    clusters: Labels | None = None,
    *,
    higher_is_better: bool = True,
    binary: bool | None = None,
    people: Mapping[int, PeopleMean] | None = None,
    level: float = 0.95,
) -> list[Rank]:
    """Ranks of subjects (columns) over items (rows without gaps, in clusters), best first.

    Every two subjects are compared item by item, at the level at which all intervals hold together. The interval of a
    rank goes from 1 + the number of subjects that are better to the number of subjects − those that are worse. All
    ranks are in their intervals together with probability `level`, if the items are a sample of their kind. Columns in
    `people` are means over people, who are a sample too.
    Reference: Mogstad, M., Romano, J. P., Shaikh, A. M., and Wilhelm, D. (2024). Inference for ranks. Review of
    Economic Studies 91.
    """
    scores = np.asarray(table, dtype=np.float64)
    if scores.ndim != 2 or scores.shape[1] != len(subjects):
        raise ValueError(f"a table of shape {scores.shape} does not fit {len(subjects)} subjects")
    binary = is_binary(scores) if binary is None else binary
    if not higher_is_better:
        return [
            Rank(one.subject, -one.mean, one.rank, one.interval, one.beats)
            for one in rank_intervals(-scores, subjects, clusters, binary=binary, people=people, level=level)
        ]
    means = scores.mean(axis=0)
    codes, count = cluster_codes(clusters, scores.shape[0])
    if count < MINIMUM_CLUSTERS:
        return ranked(means, subjects, None, too_few(count, level))
    crowds = people or {}
    pairs = list(combinations(range(len(subjects)), 2))
    sums = np.stack([np.bincount(codes, weights=column, minlength=count) for column in (scores - means).T], axis=1)
    root: Floats = np.asarray(np.linalg.qr(sums, mode="r") if count > len(subjects) else sums) / scores.shape[0]
    own = np.zeros((len(crowds), len(subjects)))  # what other people would change is the same in every comparison
    own[range(len(crowds)), list(crowds)] = [math.sqrt(one.added) for one in crowds.values()]
    influence = np.vstack([root, own])
    first, second = [one for one, _ in pairs], [two for _, two in pairs]
    each = simultaneous(influence[:, first] - influence[:, second], [1.0] * len(pairs), level).level
    names = tuple(range(count))

    def between(one: int, two: int) -> Interval:
        values = scores[:, one] - scores[:, two]
        found = Differences(values, codes, names, float(means[two]), float(means[one]), binary)
        sides = [crowds[side] for side in (one, two) if side in crowds]
        return with_people(found.summary(each, draws=1), sides, each).interval if sides else found.interval(each)

    found = {pair: between(*pair) for pair in pairs}

    def beats(one: int, two: int) -> bool:
        interval = found[min(one, two), max(one, two)]
        bound = interval.low if one < two else interval.high
        return bound is not None and (bound > 0 if one < two else bound < 0)

    return ranked(means, subjects, beats, Interval(None, None, level, "simultaneous comparisons of all pairs", count))


def ranked(
    means: Floats, subjects: Sequence[str], beats: Callable[[int, int], bool] | None, interval: Interval
) -> list[Rank]:
    """The ranks from who surely beats whom; without it, ranks have `interval`, which has no bounds."""
    everyone = range(len(subjects))
    above = [[beats(one, two) if beats and one != two else False for two in everyone] for one in everyone]
    places = ranks(-means[None, :])[0].astype(int)
    found = []
    for me, subject in enumerate(subjects):
        if beats is not None:
            low, high = 1.0 + sum(row[me] for row in above), float(len(subjects) - sum(above[me]))
            interval = Interval(low, high, interval.level, interval.method, interval.clusters)
        beaten = tuple(subjects[other] for other in everyone if above[me][other])
        found.append(Rank(subject, float(means[me]), int(places[me]), interval, beaten))
    return sorted(found, key=lambda entry: (entry.rank, entry.subject))


def ranks(table: Floats) -> Floats:
    """The rank of each value in its row, from 1; equal values share the best of their ranks.

    A row with NaN has no ranks: all of them are NaN.
    """
    order = np.argsort(table, axis=1)
    ordered = np.take_along_axis(table, order, axis=1)
    differs = ordered[:, 1:] != ordered[:, :-1]
    places = np.arange(1, table.shape[1] + 1)
    first = np.concatenate([np.ones((table.shape[0], 1), dtype=bool), differs], axis=1)
    shared = np.maximum.accumulate(np.where(first, places, 1), axis=1)
    result = np.empty(table.shape)
    np.put_along_axis(result, order, shared.astype(np.float64), axis=1)
    result[np.isnan(table).any(axis=1)] = np.nan
    return result


def rank_correlations(first: Floats, second: Floats) -> Floats:
    """Spearman's rho of every row of two tables, with mid-ranks; NaN if a row does not vary or has a gap."""
    # twice the mid-rank, up to a constant: the best rank from below minus the best rank from above
    one, two = (ranks(each) - ranks(-each) for each in (first, second))
    return row_correlations(one, two)
