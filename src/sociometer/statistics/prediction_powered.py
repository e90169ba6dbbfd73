"""Means from a few labels by people and many by a judge: prediction-powered inference.

A judge scored every episode, people labelled a random part. The estimate is the mean of a regression of people's labels
on the judge's scores, predicted for every episode. It is unbiased for any judge in large samples: a good judge narrows
the interval, a useless one has a slope near zero and changes nothing, an adversarial one has a negative slope.

The labelled part must be a random sample of all episodes. The variance is that of a sum over independent clusters;
residuals are divided by 1 − leverage, so that few labels do not give intervals that are too narrow. The degrees of
freedom are Satterthwaite's: labels have few, the judge's scores many. In simulations the 95 % intervals cover the truth
in 93.5 to 96.5 % of samples from about 20 labels on.

References
----------
Angelopoulos, A. N., Duchi, J. C., and Zrnic, T. (2023). PPI++: efficient prediction-powered inference.
    arXiv:2311.01453.
Särndal, C.-E., Swensson, B., and Wretman, J. (1992). Model assisted survey sampling, ch. 6 and 7. Springer.
MacKinnon, J. G., and White, H. (1985). Some heteroskedasticity-consistent covariance matrix estimators. J. Econom. 29.
"""

import hashlib
import math
from collections.abc import Iterable, Sequence

import numpy as np
from msgspec import Struct

from sociometer.core.measure import Corrected, Interval
from sociometer.statistics.distributions import t_below, t_quantile
from sociometer.statistics.intervals import Floats, Integers, cluster_codes

FEWEST_LABELS = 10
FEWEST_RARE = 3
"""A share needs this many labels of its rarer value: with fewer, the interval covers too little."""
METHOD = "prediction-powered"


class Judged(Struct, frozen=True):
    """One episode: the judge's score, people's label if there is one, and its cluster."""

    id: str
    judge: float
    label: float | None = None
    cluster: str = ""


def differently_asked(found: Iterable[Corrected]) -> str:
    """Why corrected means cannot be compared: people answered differently worded questions. Empty if they can."""
    asked = {one.label_set: one.question for one in found}
    if len(asked) < 2:
        return ""
    wordings = " and ".join(f"“{question}”" for question in asked.values())
    return f"people answered differently worded questions ({wordings})"


def corrected_mean(episodes: Sequence[Judged], level: float = 0.95) -> Corrected | None:
    """The mean of people's labels over all episodes; None with too few labels.

    Too few are fewer than ten, and for a share fewer than three of its rarer value.
    """
    scores = np.array([one.judge for one in episodes], dtype=np.float64)
    labels = np.array([math.nan if one.label is None else one.label for one in episodes], dtype=np.float64)
    known = ~np.isnan(labels)
    if known.sum() < FEWEST_LABELS:
        return None
    between_both = bool(((labels[known] >= 0) & (labels[known] <= 1)).all() and np.isin(scores, (0.0, 1.0)).all())
    binary = between_both or bool(np.isin(labels[known], (0.0, 1.0)).all())
    rarer = min(float(labels[known].sum()), float((1 - labels[known]).sum()))
    if binary and rarer < FEWEST_RARE and not known.all():
        return None
    fit = _fit(scores, labels, known)
    names = [one.cluster or one.id for one in episodes]
    # People's labels: fitted values over all episodes, and the residuals of the labelled ones.
    error = (fit.predicted - fit.value) / scores.size
    error[known] += fit.residuals / known.sum()
    # The judge's mean less that: the same clusters, so that the two errors are subtracted before they are squared.
    difference = (scores - scores.mean()) / scores.size - error
    codes, groups = cluster_codes(names, len(names))
    shares = _sums(codes, error, groups)
    of_labels = _sums(codes[known], fit.residuals / known.sum(), groups)
    freedom = _freedom(shares, of_labels, np.unique(codes[known]).size - 2.0)
    # The labels of a share vary at least as if one of them had the other value.
    labelled, share = int(known.sum()), 1.0 / (int(known.sum()) + 2)
    least = share * (1.0 - share) / labelled * (1.0 - labelled / scores.size)
    extra = max(0.0, least - float((of_labels**2).sum())) if binary else 0.0
    between = (0.0, 1.0) if binary else (-math.inf, math.inf)
    apart = _sums(codes, difference, groups)
    judge = float(scores.mean())
    return Corrected(
        value=min(between[1], max(between[0], fit.value)),
        interval=_interval(fit.value, shares, groups, freedom, level, extra, between),
        judge=judge,
        bias=judge - fit.value,
        bias_interval=_interval(judge - fit.value, apart, groups, freedom, level, extra),
        labels=int(known.sum()),
        episodes=scores.size,
        slope=fit.slope,
        shares=dict(zip(dict.fromkeys(names), shares.tolist(), strict=True)),
        freedom=freedom,
        extra=extra,
    )


class CorrectedDifference(Struct, frozen=True):
    """The second corrected mean minus the first."""

    value: float
    interval: Interval
    standard_error: float
    p_value: float


def corrected_difference(first: Corrected, second: Corrected, level: float = 0.95) -> CorrectedDifference:
    """The difference of two corrected means of runs on the same clusters (stories, scenarios)."""
    names = {**first.shares, **second.shares}
    apart = np.array([second.shares.get(name, 0.0) - first.shares.get(name, 0.0) for name in names])
    value, freedom = second.value - first.value, min(first.freedom, second.freedom)
    extra = first.extra + second.extra
    error = _standard_error(apart, len(names), extra)
    p_value = 2 * t_below(-abs(value) / error, freedom) if error else float(value == 0)
    return CorrectedDifference(value, _interval(value, apart, len(names), freedom, level, extra), error, p_value)


class _Fitted(Struct, frozen=True):
    value: float
    slope: float
    predicted: Floats
    residuals: Floats


def _fit(scores: Floats, labels: Floats, known: np.ndarray) -> _Fitted:
    """Least squares of labels on scores, predicted for every episode."""
    x, y = scores[known], labels[known]
    inner = x - x.mean()
    spread = float((inner**2).sum())
    constant = spread <= 1e-12 * max(1.0, float((x**2).sum()))
    slope = 0.0 if constant else float((inner * y).sum()) / spread
    predicted = y.mean() + slope * (scores - x.mean())
    leverage = 1.0 / x.size + (0.0 if constant else inner**2 / spread)
    residuals = (y - predicted[known]) / np.maximum(1.0 - leverage, 0.1)
    value = float(predicted.mean())
    if not constant:
        # Each label is corrected with the slope of the others: a slope that has seen the label would bias the mean.
        unseen = 1.0 - x.size / scores.size
        value += unseen / x.size * float((inner * residuals / spread * (x - scores.mean())).sum())
    return _Fitted(value, slope, predicted, residuals)


def _sums(codes: Integers, values: Floats, groups: int) -> Floats:
    return np.bincount(codes, weights=values, minlength=groups).astype(np.float64)


def _freedom(shares: Floats, of_labels: Floats, labels: float) -> float:
    """Satterthwaite's degrees of freedom of the variance: the part of the labels, and that of all episodes."""
    whole, few = float((shares**2).sum()), float((of_labels**2).sum())
    rest = max(0.0, whole - few)
    if whole == 0.0:
        return max(1.0, labels)
    return float((few + rest) ** 2 / (few**2 / max(1.0, labels) + rest**2 / max(1, shares.size - 1)))


def _interval(
    value: float,
    shares: Floats,
    groups: int,
    freedom: float,
    level: float,
    extra: float = 0.0,
    between: tuple[float, float] = (-math.inf, math.inf),
) -> Interval:
    half = t_quantile(0.5 + level / 2, freedom) * _standard_error(shares, groups, extra)
    return Interval(max(between[0], value - half), min(between[1], value + half), level, METHOD, groups)


def _standard_error(shares: Floats, groups: int, extra: float = 0.0) -> float:
    return math.sqrt(float((shares**2).sum()) * groups / max(1, groups - 1) + extra)


def random_sample(names: Iterable[str], count: int, seed: int = 0) -> list[str]:
    """Some episodes in a random order: every beginning is a random sample, and a larger sample contains a smaller."""
    return sorted(names, key=lambda name: hashlib.blake2b(f"{seed}/{name}".encode(), digest_size=8).digest())[:count]
