"""Ranks with intervals: the ranks that subjects could have on other items of the same kind."""

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike

from sociometer.core.measure import CLUSTER_BOOTSTRAP, Interval
from sociometer.statistics.intervals import (
    DRAWS,
    MINIMUM_CLUSTERS,
    Floats,
    Labels,
    bootstrap_means,
    cluster_codes,
    cluster_sums,
    too_few,
)


class Rank(Struct, frozen=True):
    """A subject's rank (1 is best; ties share the better one), its interval, and the probability of rank 1."""

    subject: str
    mean: float
    rank: int
    interval: Interval
    first: float | None = None


def rank_intervals(
    table: ArrayLike,
    subjects: Sequence[str],
    clusters: Labels | None = None,
    *,
    higher_is_better: bool = True,
    level: float = 0.95,
    draws: int = DRAWS,
) -> list[Rank]:
    """Ranks of subjects (columns) over items (rows, in clusters), best first.

    Clusters are drawn with replacement, the same for all subjects, and all subjects are ranked in each draw. The
    interval contains the central share of these ranks. Assumes that the items are a sample of their kind. Missing
    items of a subject are NaN. Reference: Goldstein, H., and Spiegelhalter, D. J. (1996). League
    tables and their limitations. JRSS A 159.
    """
    scores = np.asarray(table, dtype=np.float64)
    if scores.ndim != 2 or scores.shape[1] != len(subjects):
        raise ValueError(f"a table of shape {scores.shape} does not fit {len(subjects)} subjects")
    sign = 1.0 if higher_is_better else -1.0
    means = np.nanmean(scores, axis=0)
    places = ranks(-sign * means[None, :])[0].astype(int)
    codes, count = cluster_codes(clusters, scores.shape[0])
    known = count >= MINIMUM_CLUSTERS
    if known:
        sums, sizes = cluster_sums(scores, codes, count)
        sample = bootstrap_means(sums, sizes, draws=draws)
        tail = (1 - level) / 2
        # with ties, a draw allows a range of ranks: its best rank counts for `low`, its worst for `high`
        best, worst = ranks(-sign * sample), ranks(-sign * sample, worst=True)
        low = np.quantile(best, tail, axis=0, method="lower")
        high = np.quantile(worst, 1 - tail, axis=0, method="higher")
        first = (best == 1).mean(axis=0)
    found = []
    for column, subject in enumerate(subjects):
        interval = too_few(count, level)
        if known:
            interval = Interval(float(low[column]), float(high[column]), level, CLUSTER_BOOTSTRAP, count)
        share = float(first[column]) if known else None
        found.append(Rank(subject, float(means[column]), int(places[column]), interval, share))
    return sorted(found, key=lambda entry: (entry.rank, entry.subject))


def ranks(table: Floats, *, worst: bool = False) -> Floats:
    """The rank of each value in its row, from 1; equal values share the best of their ranks, or the worst.

    A row with NaN has no ranks: all of them are NaN.
    """
    order = np.argsort(table, axis=1)
    ordered = np.take_along_axis(table, order, axis=1)
    differs = ordered[:, 1:] != ordered[:, :-1]
    places = np.arange(1, table.shape[1] + 1)
    if worst:
        last = np.concatenate([differs, np.ones((table.shape[0], 1), dtype=bool)], axis=1)
        shared = np.minimum.accumulate(np.where(last, places, places[-1])[:, ::-1], axis=1)[:, ::-1]
    else:
        first = np.concatenate([np.ones((table.shape[0], 1), dtype=bool), differs], axis=1)
        shared = np.maximum.accumulate(np.where(first, places, 1), axis=1)
    result = np.empty(table.shape)
    np.put_along_axis(result, order, shared.astype(np.float64), axis=1)
    result[np.isnan(table).any(axis=1)] = np.nan
    return result


def rank_correlations(first: Floats, second: Floats) -> Floats:
    """Spearman's rho of every row of two tables, with mid-ranks; NaN if a row does not vary or has a gap."""
    one, two = ((ranks(each) + ranks(each, worst=True)) / 2 for each in (first, second))
    one, two = one - one.mean(axis=1, keepdims=True), two - two.mean(axis=1, keepdims=True)
    scale = np.sqrt((one * one).sum(axis=1) * (two * two).sum(axis=1))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(scale > 0, (one * two).sum(axis=1) / scale, np.nan), dtype=np.float64)
