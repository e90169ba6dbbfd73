"""Reliability of a set of items (alpha, repeats), and statistics of single items."""

import math
from collections.abc import Sequence

import numpy as np
from msgspec import Struct, structs
from numpy.typing import ArrayLike

from sociometer.core.measure import Interval, Measure
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
    """Cronbach's alpha over subjects × items; `value` is None if it cannot be computed, and `note` says why."""

    value: float | None
    interval: Interval | None
    subjects: int
    items: int
    note: str = ""


class Repeatability(Struct, frozen=True):
    """Agreement of the repeats of each item: the one-way ICC, None if all values are equal."""

    icc: float | None
    items: int
    repeats: int
    all_right: float | None = None
    """pass^k: the share of items with the value 1 in all k repeats; None if the values are not right or wrong."""
    all_right_interval: Interval | None = None
    unstable: tuple[str, ...] = ()
    """The items whose repeats differ."""


def cronbach_alpha(table: ArrayLike, stories: Labels | None = None, *, families: Labels | None = None) -> Reliability:
    """Cronbach's alpha with Feldt's interval, over people or distinct models (rows) and items (columns).

    Items of one story share their error, so their sum is one part of the test; without stories each item is one.
    α = (1 − Σ s²_part / s²_total) / (1 − Σ λ²), λ the share of a part in the items; for parts of equal length this is
    k/(k − 1) (1 − Σ s²_part / s²_total). Interval: 1 − (1 − α) F, F with (n − 1, (n − 1)(k − 1)) degrees of freedom;
    for models in `families`, a jackknife of log(1 − α) over these, and none below ten of them. Assumes essentially
    tau-equivalent parts; otherwise alpha is a lower bound. References: Cronbach (1951), Psychometrika 16; Feldt (1965),
    Psychometrika 30; Raju (1977), Psychometrika 42; Sireci, Thissen and Wainer (1991), J. Educ. Measurement 28.
    """
    scores = _table(table)
    subjects, items = scores.shape
    codes, count = cluster_codes(stories, items)
    who = "people" if families is None else "distinct subjects"
    why = f"too few {who}: {subjects}, at least {MINIMUM_SUBJECTS} needed" * (subjects < MINIMUM_SUBJECTS)
    why = "the items are one independent part, and at least two are needed" if count < 2 else why
    if why or np.ptp(scores.sum(axis=1)) == 0:
        return Reliability(None, None, subjects, items, why or "all subjects have the same total")
    member = np.eye(count)[codes]
    parts, shares = scores @ member, member.mean(axis=0)

    def alpha_of(some: Floats) -> float:
        total = float(some.sum(axis=1).var(ddof=1)) or math.nan
        return (1 - float(some.var(axis=0, ddof=1).sum()) / total) / (1 - float(np.square(shares).sum()))

    alpha = alpha_of(parts)
    if families is not None:
        over = family_interval(
            lambda kept: math.log(max(1 - alpha_of(parts[kept]), 1e-9)), families, lambda edge: 1 - math.exp(edge)
        )
        return Reliability(alpha, over, subjects, items, few_families(over))
    freedom = (subjects - 1, (subjects - 1) * (count - 1))
    low, high = (1 - (1 - alpha) * f_quantile(share, *freedom) for share in (0.975, 0.025))
    return Reliability(alpha, Interval(low, high, 0.95, "Feldt", subjects), subjects, items)


def repeatability(table: ArrayLike, items: Sequence[str] = (), stories: Labels | None = None) -> Repeatability:
    """Agreement of repeats (columns) over items (rows) of one subject."""
    scores = _table(table)
    count, repeats = scores.shape
    if count < 2 or repeats < 2:
        raise ValueError(f"repeatability needs two items and two repeats, not {count} × {repeats}")
    icc = intraclass(scores)
    binary, right = is_binary(scores), scores.min(axis=1)
    return Repeatability(
        None if math.isnan(icc) else icc,
        count,
        repeats,
        float(right.mean()) if binary else None,
        clustered_mean_interval(right, stories, binary=True) if binary else None,
        tuple(name for name, spread in zip(items, np.ptp(scores, axis=1), strict=True) if spread > 0) if items else (),
    )


def standard_error_of_measurement(deviation: float, reliability: float) -> float:
    """SD √(1 − reliability): the standard deviation of observed scores around the true score."""
    return deviation * math.sqrt(max(0.0, 1 - reliability))


def error_of_measurement(deviation: float, alpha: Reliability | Measure) -> Measure:
    """The standard error of measurement, with the ends of alpha's interval; no value if alpha is not above 0."""
    if alpha.value is None or alpha.value <= 0:
        return Measure("sem", None)
    error, ends, around = standard_error_of_measurement(deviation, alpha.value), None, alpha.interval
    if around is not None and around.low is not None and around.high is not None:
        low, high = (standard_error_of_measurement(deviation, end) for end in (around.high, around.low))
        ends = structs.replace(around, low=low, high=high, method=f"{around.method} through SD √(1 − alpha)")
    return Measure("sem", error, interval=ends, items=alpha.items)


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
    share_right: float | None
    discrimination: float | None
    subjects: int
    concerns: tuple[str, ...] = ()


def item_statistics(table: ArrayLike, items: Sequence[str], *, top: float | None = 1.0) -> list[ItemStatistics]:
    """Statistics of every item from subjects × items, with values from 0 to `top`; None is a scale without a top.

    The share right (p) is mean/top; None without a top. Discrimination is the correlation of the item with the total of
    the other items (corrected item-total correlation); None for too few subjects, or without variation.
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
        found.append(ItemStatistics(item, mean, share, discrimination, subjects, concerns))
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
