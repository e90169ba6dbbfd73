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
from sociometer.statistics.paired import item_differences, simultaneous
from sociometer.statistics.people import PeopleMean, with_people


class FailedItems(Struct, frozen=True):
    """The table with its failed items at the low and at the high end of the scale, and more rows for the lost ones.

    None instead of the tables: the scale has no ends, so that failures leave all ranks open.
    """

    tables: tuple[Floats, Floats] | None
    clusters: Labels | None


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
    marks = [is_binary(column) for column in scores.T] if binary is None else binary
    if not higher_is_better:
        tables = (-failed.tables[1], -failed.tables[0]) if failed and failed.tables else None
        turned = FailedItems(tables, failed.clusters) if failed else None
        found = rank_intervals(-scores, subjects, clusters, binary=marks, people=people, level=level, failed=turned)
        return [Rank(one.subject, -one.mean, one.rank, one.interval, one.beats) for one in found]
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
    each = simultaneous(influence[:, first] - influence[:, second], [1.0] * len(pairs), count, level).level

    def between(one: int, two: int, tables: tuple[Floats, Floats], labels: Labels | None) -> Interval:
        right_or_wrong = bool(marks[one] and marks[two])
        found = item_differences(tables[1][:, two], tables[0][:, one], labels, binary=right_or_wrong)
        sides = [crowds[side] for side in (one, two) if side in crowds]
        return with_people(found.summary(each), sides, each).interval if sides else found.interval(each)

    seen = {pair: between(*pair, (scores, scores), codes) for pair in pairs}
    failed_codes = cluster_codes(failed.clusters, len(failed.tables[0]))[0] if failed and failed.tables else None

    def beats(one: int, two: int) -> bool:
        interval = seen[min(one, two), max(one, two)]
        if interval.low is None or interval.high is None or not (interval.low > 0 if one < two else interval.high < 0):
            return False
        if failed is None or failed.tables is None:
            return failed is None
        worst = between(one, two, failed.tables, failed_codes).low
        return worst is not None and worst > 0

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
