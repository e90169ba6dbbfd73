"""Agreement between raters: kappa, Krippendorff's alpha, intraclass correlation, and who settles what."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import numpy as np
from msgspec import Struct, structs
from numpy.typing import ArrayLike

from sociometer.core.lazy import lazy
from sociometer.core.measure import Interval
from sociometer.core.task import PeopleLabel
from sociometer.core.words import grouped
from sociometer.statistics.correlation import correlation_p
from sociometer.statistics.distributions import t_quantile
from sociometer.statistics.intervals import Floats, Labels

stats = lazy("scipy.stats")

Scale = Literal["nominal", "ordinal", "interval"]


class Agreement(Struct, frozen=True):
    """A coefficient of agreement, with the observed share of agreement and an interval if they are defined."""

    coefficient: str
    value: float
    observed: float | None = None
    interval: Interval | None = None
    units: int = 0


def cohen_kappa(first: Labels, second: Labels) -> Agreement:
    """Cohen's kappa of two raters: (observed − expected agreement) / (1 − expected agreement).

    The interval is that of Fleiss, Cohen and Everitt with t quantiles, after two units are spread evenly over all pairs
    of labels (as Agresti and Coull add to a share); without them it is far too narrow below 40 units.
    References: Cohen (1960), Educ. Psychol. Meas. 20; Fleiss, Cohen and Everitt (1969), Psychol. Bull. 72.
    """
    one, two = list(first), list(second)
    if len(one) != len(two) or not one:
        raise ValueError(f"two raters of the same units are needed, not {len(one)} and {len(two)} labels")
    place = {name: index for index, name in enumerate(dict.fromkeys((*one, *two)))}
    n, k = len(one), len(place)
    table = np.zeros((k, k))
    np.add.at(table, ([place[label] for label in one], [place[label] for label in two]), 1)
    kappa, observed, _ = _kappa(table)
    if math.isnan(kappa):
        return Agreement("Cohen's kappa", kappa, observed, None, n)
    centre, _, error = _kappa(table + 2 / k**2)
    half = t_quantile(0.975, n - 1) * error if n > 1 else 2.0
    low, high = max(-1.0, min(kappa, centre - half)), min(1.0, max(kappa, centre + half))
    return Agreement("Cohen's kappa", kappa, observed, Interval(low, high, 0.95, "Fleiss-Cohen-Everitt", n), n)


def _kappa(counts: Floats) -> tuple[float, float, float]:
    """Kappa, the observed agreement, and the large-sample standard error; kappa is NaN if there is one label only."""
    n = float(counts.sum())
    table = counts / n
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    observed, expected = float(np.trace(table)), float(rows @ columns)
    if counts.shape[0] < 2:
        return math.nan, observed, math.nan
    kappa = (observed - expected) / (1 - expected)
    marginal = columns[:, None] + rows[None, :]
    variance = float((table * np.square(np.eye(rows.size) - marginal * (1 - kappa))).sum())
    variance = (variance - (kappa - expected * (1 - kappa)) ** 2) / (n * (1 - expected) ** 2)
    return kappa, observed, math.sqrt(max(0.0, variance))


def krippendorff_alpha(ratings: ArrayLike, scale: Scale = "nominal") -> Agreement:
    """Krippendorff's alpha, 1 − observed / expected disagreement; raters × units, NaN for a missing rating.

    Categories must be numbers: encode names as 0, 1, …. Their order matters for the ordinal scale.
    Reference: Krippendorff, K. (2011). Computing Krippendorff's alpha-reliability. Penn Annenberg.
    """
    table = np.asarray(ratings, dtype=np.float64)
    values = np.unique(table[~np.isnan(table)])
    counts = np.stack([(table == value).sum(axis=0) for value in values], axis=1).astype(np.float64)
    raters = counts.sum(axis=1)
    counts, raters = counts[raters >= 2], raters[raters >= 2]
    if counts.size == 0:
        raise ValueError("no unit was rated twice; agreement cannot be computed")
    scaled = counts / (raters - 1)[:, None]
    coincidences = counts.T @ scaled - np.diag(scaled.sum(axis=0))
    margin = coincidences.sum(axis=0)
    total = float(margin.sum())
    distance = _distance(values, margin, scale)
    expected = float((distance * (np.outer(margin, margin) - np.diag(margin))).sum()) / (total - 1)
    value = float("nan") if expected == 0 else 1 - float((distance * coincidences).sum()) / expected
    return Agreement(f"Krippendorff's alpha ({scale})", value, None, None, counts.shape[0])


def _distance(values: Floats, margin: Floats, scale: Scale) -> Floats:
    """The squared difference of each pair of categories on a scale of measurement."""
    if scale == "nominal":
        return np.asarray(values[:, None] != values[None, :], dtype=np.float64)
    if scale == "interval":
        return np.square(values[:, None] - values[None, :])
    middle = np.cumsum(margin) - margin / 2
    return np.square(middle[:, None] - middle[None, :])


def intraclass(table: ArrayLike) -> float:
    """One-way intraclass correlation of single values, ICC(1,1), units × raters; NaN if all values are equal.

    Reference: Shrout, P. E., and Fleiss, J. L. (1979). Psychological Bulletin 86.
    """
    scores = np.asarray(table, dtype=np.float64)
    k = scores.shape[1]
    between, within = k * float(scores.mean(axis=1).var(ddof=1)), float(scores.var(axis=1, ddof=1).mean())
    below = between + (k - 1) * within
    return (between - within) / below if below else math.nan


def spearman(first: ArrayLike, second: ArrayLike) -> tuple[float, float]:
    """Spearman's rank correlation (mid-ranks for ties) and its two-sided p."""
    one, two = (stats.rankdata(np.asarray(values, dtype=np.float64)) for values in (first, second))
    return float(np.corrcoef(one, two)[0, 1]), correlation_p(one, two)


DRAWS = 1_000
SEED = 20_240_229
FEWEST_UNITS = 10
Ratings = Mapping[str, Mapping[str, str]]
"""The labels of each rater, by unit."""


def alpha_of(ratings: Ratings, values: Sequence[str] = (), scale: Scale = "nominal") -> Agreement:
    """Krippendorff's alpha of all raters, with a bootstrap interval over units; numbers keep their distances.

    `values` are the labels in their order, for the nominal and ordinal scales. With fewer than ten units that two
    raters share there is no interval. Raises ValueError if no unit was rated twice.
    """
    table = _table(ratings, values, scale)
    found = krippendorff_alpha(table, scale)
    shared = table[:, (~np.isnan(table)).sum(axis=0) >= 2]
    units = shared.shape[1]
    if units < FEWEST_UNITS or np.isnan(found.value):
        return found
    lots = np.random.default_rng(SEED)
    drawn = [krippendorff_alpha(shared[:, lots.integers(units, size=units)], scale).value for _ in range(DRAWS)]
    # A draw with one label only has no expected disagreement; all raters agree in it.
    known = np.nan_to_num(np.array(drawn), nan=1.0)
    low, high = np.quantile(known, [0.025, 0.975])
    return structs.replace(found, interval=Interval(float(low), float(high), 0.95, "bootstrap over units", units))


def _table(ratings: Ratings, values: Sequence[str], scale: Scale) -> np.ndarray:
    """Raters × units, NaN for a missing label."""
    units = list(dict.fromkeys(unit for labels in ratings.values() for unit in labels))
    names = list(values) or sorted({label for labels in ratings.values() for label in labels.values()})
    codes = {name: float(place) for place, name in enumerate(names)}
    number = float if scale == "interval" else codes.__getitem__
    return np.array(
        [[number(labels[unit]) if unit in labels else float("nan") for unit in units] for labels in ratings.values()],
        dtype=np.float64,
    ).reshape(len(ratings), len(units))


def majorities(labels: Iterable[PeopleLabel], column: str) -> dict[tuple[str, ...], str]:
    """What more than half of the people said of each row in a column; a tie is no answer."""
    said = grouped((one.key, one.answers[column]) for one in labels if column in one.answers)
    return {key: found for key, answers in said.items() if (found := settled(answers)) is not None}


def settled(labels: Sequence[str]) -> str | None:
    """The label that more than half of the raters gave; None if no label has a majority."""
    if not labels:
        return None
    ((first, count), *_) = Counter(labels).most_common(1)
    return first if 2 * count > len(labels) else None
