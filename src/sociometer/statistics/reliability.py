"""Reliability of a set of items (alpha, repeats), and statistics of single items."""

import math
from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike

from sociometer.core.measure import Interval
from sociometer.statistics.agreement import intraclass
from sociometer.statistics.correlation import few_families, row_correlations
from sociometer.statistics.distributions import f_quantile, t_below
from sociometer.statistics.intervals import (
    Floats,
    Labels,
    cluster_codes,
    clustered_mean_interval,
    family_interval,
    is_binary,
)
from sociometer.statistics.paired import benjamini_hochberg

MINIMUM_SUBJECTS = 10


class Reliability(Struct, frozen=True):
    """One coefficient over subjects × items; `value` is None if it cannot be computed, and `note` says why."""

    coefficient: str
    value: float | None
    interval: Interval | None
    subjects: int
    items: int
    note: str = ""


class Repeatability(Struct, frozen=True):
    """Agreement of the repeats of each item: one-way ICC, share of equal pairs, standard deviation within an item.

    `icc` is None if all values are equal.
    """

    icc: float | None
    equal_pairs: float
    within_deviation: float
    items: int
    repeats: int
    all_right: float | None = None
    """pass^k: the share of items with the value 1 in all k repeats; None if the values are not right or wrong."""
    all_right_interval: Interval | None = None
    unstable: tuple[str, ...] = ()
    """The items whose repeats differ."""


def story_sums(table: ArrayLike, stories: Labels) -> tuple[Floats, list[int]]:
    """Subjects × stories from subjects × items: the sum over the items of each story, and their numbers.

    Items of one story share their error, so they count as one part of the test in a coefficient of reliability.
    Reference: Sireci, S. G., Thissen, D., and Wainer, H. (1991). On the reliability of testlet-based tests. JEM 28.
    """
    scores = _table(table)
    codes, count = cluster_codes(stories, scores.shape[1])
    member = np.eye(count)[codes]
    return np.asarray(scores @ member, dtype=np.float64), member.sum(axis=0).astype(int).tolist()


def cronbach_alpha(
    table: ArrayLike,
    lengths: Sequence[int] = (),
    *,
    minimum_subjects: int = MINIMUM_SUBJECTS,
    families: Labels | None = None,
) -> Reliability:
    """Cronbach's alpha with Feldt's interval, over distinct subjects (rows) and items or stories (columns).

    α = (1 − Σ s²_part / s²_total) / (1 − Σ λ²), λ the share of a part in the items (`lengths`); for parts of equal
    length this is k/(k − 1) (1 − Σ s²_part / s²_total). Interval: 1 − (1 − α) F, F with (n − 1, (n − 1)(k − 1))
    degrees of freedom; for models in `families`, a jackknife of log(1 − α) over these, and none below ten of them.
    Assumes essentially tau-equivalent items; otherwise alpha is a lower bound.
    References: Cronbach (1951), Psychometrika 16; Feldt (1965), Psychometrika 30; Raju (1977), Psychometrika 42.
    """
    scores = _table(table)
    subjects, items = scores.shape
    if subjects < minimum_subjects:
        note = f"too few distinct subjects: {subjects}, at least {minimum_subjects} needed"
        return Reliability("alpha", None, None, subjects, items, note)
    if np.ptp(scores.sum(axis=1)) == 0:
        return Reliability("alpha", None, None, subjects, items, "all subjects have the same total")
    shares = np.array(lengths or [1] * items) / sum(lengths or [1] * items)

    def alpha_of(part: Floats) -> float:
        total = float(part.sum(axis=1).var(ddof=1)) or math.nan
        return (1 - float(part.var(axis=0, ddof=1).sum()) / total) / (1 - float(np.square(shares).sum()))

    alpha = alpha_of(scores)
    if families is not None:
        over = family_interval(
            lambda kept: math.log(max(1 - alpha_of(scores[kept]), 1e-9)), families, lambda edge: 1 - math.exp(edge)
        )
        return Reliability("alpha", alpha, over, subjects, items, few_families(over))
    freedom = (subjects - 1, (subjects - 1) * (items - 1))
    low, high = (1 - (1 - alpha) * f_quantile(share, *freedom) for share in (0.975, 0.025))
    return Reliability("alpha", alpha, Interval(low, high, 0.95, "Feldt", subjects), subjects, items)


def repeatability(table: ArrayLike, items: Sequence[str] = (), stories: Labels | None = None) -> Repeatability:
    """Agreement of repeats (columns) over items (rows) of one subject."""
    scores = _table(table)
    count, repeats = scores.shape
    if count < 2 or repeats < 2:
        raise ValueError(f"repeatability needs two items and two repeats, not {count} × {repeats}")
    pairs = [float((scores[:, one] == scores[:, two]).mean()) for one in range(repeats) for two in range(one)]
    within = math.sqrt(float(scores.var(axis=1, ddof=1).mean()))
    icc = intraclass(scores)
    binary, right = is_binary(scores), scores.min(axis=1)
    return Repeatability(
        None if math.isnan(icc) else icc,
        sum(pairs) / len(pairs),
        within,
        count,
        repeats,
        float(right.mean()) if binary else None,
        clustered_mean_interval(right, stories, binary=True) if binary else None,
        tuple(name for name, spread in zip(items, np.ptp(scores, axis=1), strict=True) if spread > 0) if items else (),
    )


def standard_error_of_measurement(deviation: float, reliability: float) -> float:
    """SD √(1 − reliability): the standard deviation of observed scores around the true score."""
    return deviation * math.sqrt(max(0.0, 1 - reliability))


def _table(table: ArrayLike) -> Floats:
    scores = np.asarray(table, dtype=np.float64)
    if scores.ndim != 2 or scores.shape[1] < 2:
        raise ValueError(f"expected a table of at least two columns, not one of shape {scores.shape}")
    if np.isnan(scores).any():
        raise ValueError("the table contains NaN; keep only subjects and items without gaps")
    return scores


MINIMUM_SUBJECTS_OF_ITEMS = 5


class ItemStatistics(Struct, frozen=True):
    """One item over subjects; `concerns` are the reasons to check it."""

    item: str
    mean: float
    difficulty: float | None
    discrimination: float | None
    subjects: int
    concerns: tuple[str, ...] = ()


def item_statistics(table: ArrayLike, items: Sequence[str], *, top: float | None = 1.0) -> list[ItemStatistics]:
    """Statistics of every item from subjects × items, with values from 0 to `top`; None is a scale without a top.

    Difficulty is 1 − mean/top; None without a top. Discrimination is the correlation of the item with the total of the
    other items (corrected item-total correlation); None for too few subjects, or without variation.
    Reference: Allen, M. J., and Yen, W. M. (1979). Introduction to Measurement Theory, chapter 6.
    """
    scores = np.asarray(table, dtype=np.float64)
    if scores.shape[1] != len(items):
        raise ValueError(f"{scores.shape[1]} columns but {len(items)} item names")
    subjects = scores.shape[0]
    means = scores.mean(axis=0)
    rest = scores.sum(axis=1, keepdims=True) - scores
    correlations = row_correlations(scores.T, rest.T)
    reversed_items = _reversed(correlations, subjects)
    found = []
    for index, item in enumerate(items):
        r = float(correlations[index])
        known = subjects >= MINIMUM_SUBJECTS_OF_ITEMS and not np.isnan(r)
        mean, discrimination = float(means[index]), r if known else None
        share = mean / top if top else None
        concerns = _concerns(share, discrimination, subjects, index in reversed_items)
        difficulty = None if share is None else 1 - share
        found.append(ItemStatistics(item, mean, difficulty, discrimination, subjects, concerns))
    return found


def items_to_look_at(statistics: Sequence[ItemStatistics]) -> list[ItemStatistics]:
    """The items with concerns, lowest discrimination first."""
    flagged = [entry for entry in statistics if entry.concerns]
    return sorted(flagged, key=lambda entry: (entry.discrimination is None, entry.discrimination or 0.0))


FALSE_DISCOVERIES = 0.1
"""The share of false alarms among the items whose key is to be checked."""


def _reversed(correlations: Floats, subjects: int) -> set[int]:
    """The items that weak subjects do better on, at this rate of false discoveries (one-sided t of r, then BH)."""
    places = np.flatnonzero(~np.isnan(correlations))
    if subjects < MINIMUM_SUBJECTS_OF_ITEMS or not places.size:
        return set()
    r = np.clip(correlations[places], -1 + 1e-12, 1 - 1e-12)
    t = r * np.sqrt((subjects - 2) / (1 - np.square(r)))
    adjusted = benjamini_hochberg([t_below(float(value), subjects - 2) for value in t])
    return set(places[adjusted < FALSE_DISCOVERIES].tolist())


def _concerns(mean: float | None, discrimination: float | None, subjects: int, reverse: bool) -> tuple[str, ...]:
    if subjects < MINIMUM_SUBJECTS_OF_ITEMS:
        return ()
    concerns = []
    if reverse:
        concerns.append("weak subjects do better on it than strong ones: check the key")
    elif discrimination is not None and discrimination < 0.1:
        concerns.append("does not distinguish subjects")
    if mean is not None and mean >= 1 - 1e-12:
        concerns.append("every subject has the highest score")
    if mean is not None and mean <= 1e-12:
        concerns.append("no subject scores at all: check the key")
    return tuple(concerns)
