"""Clusters of observations (stories, trees, scenarios), and confidence intervals for means over them."""

import functools
import math
from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sociometer.core.measure import EXPANDED_BOOTSTRAP, NO_VARIATION, TOO_FEW, TOO_FEW_PEOPLE, Interval
from sociometer.statistics.distributions import normal_below, normal_quantile, t_quantile

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Labels = Sequence[Hashable] | NDArray[Any]


def cluster_codes(labels: Labels | None, size: int) -> tuple[Integers, int]:
    """Number clusters 0, 1, … in order of first appearance; labels are names, or whole numbers in an array.

    Without labels, or with an empty label, an observation is its own cluster.
    """
    if labels is None:
        return np.arange(size, dtype=np.int64), size
    if len(labels) != size:
        raise ValueError(f"{len(labels)} cluster labels for {size} observations; give one label each")
    if _are_numbers(labels):  # without a Python object for each observation
        _, first, codes = np.unique(labels, return_index=True, return_inverse=True)
        place = np.empty(first.size, dtype=np.int64)
        place[np.argsort(first)] = np.arange(first.size)
        return place[codes], first.size
    numbers: dict[Hashable, int] = {}
    named = [("", place) if label == "" else label for place, label in enumerate(labels)]
    codes = np.fromiter([numbers.setdefault(label, len(numbers)) for label in named], np.int64, size)
    return codes, len(numbers)


def _are_numbers(labels: Labels | None) -> TypeGuard[Integers]:
    return isinstance(labels, np.ndarray) and labels.dtype == np.int64


def is_binary(values: Floats) -> bool:
    """Whether all values are 0 or 1."""
    return bool(((values == 0) | (values == 1)).all())


def item_means(values: Floats, clusters: Labels | None, items: Labels | None) -> tuple[Floats, Labels | None]:
    """The mean of each item over its repeats, and the cluster label of each item.

    Raises ValueError if repeats of one item have different cluster labels.
    """
    if values.ndim != 1:
        raise ValueError(f"values must be one list, not an array of shape {values.shape}")
    if np.isnan(values).any():
        raise ValueError("values contain NaN; leave failed items out before you compute an interval")
    if clusters is not None and len(clusters) != values.size:
        raise ValueError(f"{len(clusters)} cluster labels for {values.size} values; give one label each")
    if items is None:
        return values, clusters
    codes, count = cluster_codes(items, values.size)
    sizes = np.bincount(codes, minlength=count)
    means = np.bincount(codes, weights=values, minlength=count) / sizes
    if clusters is None:
        return means, None
    if _are_numbers(clusters):
        _, first = np.unique(codes, return_index=True)
        if (wrong := clusters != clusters[first][codes]).any():
            at = int(np.argmax(wrong))
            raise ValueError(f"an item is in two clusters, {clusters[first][codes[at]]} and {clusters[at]}")
        return means, clusters[first]
    owner: dict[int, Hashable] = {}
    for code, cluster in zip(codes.tolist(), clusters, strict=True):
        if owner.setdefault(code, cluster) != cluster:
            raise ValueError(f"an item is in two clusters, {owner[code]!r} and {cluster!r}")
    return means, [owner[code] for code in range(count)]


def cluster_sums(table: Floats, codes: Integers, count: int) -> tuple[Floats, Floats]:
    """Sums and sizes of every cluster for each column (observations × columns); NaN means missing."""
    sums, sizes = np.zeros((2, count, table.shape[1]))
    np.add.at(sums, codes, np.where(np.isnan(table), 0.0, table))
    np.add.at(sizes, codes, ~np.isnan(table))
    return sums, sizes


def effective_clusters(codes: Integers, count: int) -> float:
    """Kish's effective number of clusters, (Σ n_g)² / Σ n_g²: their number if all have the same size.

    One less is the number of degrees of freedom of a variance over them; at least one. Reference: Kish, L. (1965).
    Survey Sampling. Wiley.
    """
    sizes = np.bincount(codes, minlength=count).astype(np.float64)
    return max(2.0, float(sizes.sum() ** 2 / np.square(sizes).sum()))


def mean_variance(values: Floats, codes: Integers, count: int) -> float:
    """Cluster-robust variance of the mean: G/(G − 1) Σ_g (Σ_{i∈g} (x_i − x̄))² / n².

    With one observation in each cluster this is s²/n.
    """
    if count < 2:
        return float("nan")
    deviations = np.bincount(codes, weights=values - values.mean(), minlength=count)
    return float(count / (count - 1) * np.square(deviations).sum() / values.size**2)


MINIMUM_CLUSTERS = 10
DRAWS = 10_000
SEED = 20_240_229
FEW_CLUSTERS = 100
"""The draws from at most so many clusters are kept (10,000 of them take 1 MB)."""


def too_few(clusters: int, level: float = 0.95, *, people: bool = False) -> Interval:
    """The interval without bounds that is returned for too few clusters of items, or too few people."""
    return Interval(None, None, level, TOO_FEW_PEOPLE if people else TOO_FEW, clusters)


def clustered_mean_interval(
    values: ArrayLike,
    clusters: Labels | None = None,
    *,
    items: Labels | None = None,
    binary: bool | None = None,
    scale: tuple[float, float] | None = None,
    level: float = 0.95,
    draws: int = DRAWS,
) -> Interval:
    """Interval of the mean of `values`, whose clusters are independent but whose values in a cluster are not.

    Without `clusters` (or with an empty label) an item is its own cluster; without `items` every value is its own
    item. Repeats of one item (equal labels in `items`) are averaged first and never count as new items. Values that
    are all 0 or 1 are treated as right or wrong unless `binary` is given (distances may happen to be all 0). Values on
    a known `scale` (lowest and highest possible value) have a Wilson interval too; others are bootstrapped.
    """
    array = np.asarray(values, dtype=np.float64)
    if binary is None:
        binary = is_binary(array)
    means, labels = item_means(array, clusters, items)
    codes, count = cluster_codes(labels, means.size)
    if count < MINIMUM_CLUSTERS:
        return too_few(count, level)
    low, high = (0.0, 1.0) if binary or scale is None else scale
    known = (binary or scale is not None) and high > low and low <= array.min() and array.max() <= high
    ends = (low, high) if known else ()
    if float(np.ptp(means)) == 0.0 and not binary and float(means[0]) not in ends:
        return Interval(float(means[0]), float(means[0]), level, NO_VARIATION, count)
    if not known:
        sample = bootstrap_means(*cluster_sums(means[:, None], codes, count), draws=draws)[:, 0]
        bounds = expanded_percentiles(sample, effective_clusters(codes, count), level)
        return Interval(*bounds, level, EXPANDED_BOOTSTRAP, count)
    most = array.size if binary else math.inf
    shares = (means - low) / (high - low)
    found = _effective_wilson(shares, codes, count, level, most)
    return (found if binary else _with_skew(found, shares, codes, count)).scaled(high - low, low)


def wilson(share: float, n: float, level: float = 0.95) -> tuple[float, float]:
    """Wilson score interval of a proportion in `n` trials; an effective number may be fractional.

    (p + z²/2n ± z √(p(1 − p)/n + z²/4n²)) / (1 + z²/n), z the normal quantile of the level.
    """
    if n <= 0:
        raise ValueError(f"the number of trials must be positive, not {n}")
    z = normal_quantile(0.5 + level / 2)
    centre = share + z * z / (2 * n)
    half = z * math.sqrt(max(0.0, share * (1 - share) / n + z * z / (4 * n * n)))
    scale = 1 + z * z / n
    # at 0 and 1 the terms cancel, which rounding must not hide
    low, high = 0.0 if share == 0 else (centre - half) / scale, 1.0 if share == 1 else (centre + half) / scale
    return max(0.0, low), min(1.0, high)


def effective_size(means: Floats, codes: Integers, count: int, most: float) -> float:
    """The number of independent right-or-wrong answers with the same information: p(1 − p) over the robust variance.

    At most `most` (for right or wrong, the number of answers, with repeats); without variation, the number of clusters.
    """
    share = float(means.mean())
    spread = share * (1 - share)
    if spread <= 0:
        return float(count)
    variance = mean_variance(means, codes, count)
    if count == most:
        # one answer for each cluster: p(1 − p) has no factor n/(n − 1) either; this gives the plain Wilson interval
        variance *= (count - 1) / count
    return float(most) if variance * most <= spread else max(1.0, spread / variance)


def _effective_wilson(means: Floats, codes: Integers, count: int, level: float, most: float) -> Interval:
    """Wilson's interval of means between 0 and 1 on their effective number."""
    n = effective_size(means, codes, count, most)
    if count < most:
        # Korn and Graubard's correction, because the variance is itself an estimate from few clusters
        quantile = 0.5 + level / 2
        n *= (normal_quantile(quantile) / t_quantile(quantile, effective_clusters(codes, count) - 1)) ** 2
    low, high = wilson(float(means.mean()), n, level)
    return Interval(low, high, level, "Wilson on the effective sample size", count)


def cluster_deviations(table: Floats, codes: Integers, count: int) -> Floats:
    """The sum over each cluster of the deviations from the mean, for each column (observations × columns)."""
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(count))
    return np.asarray(np.add.reduceat((table - table.mean(axis=0))[order], starts, axis=0))


def cluster_skewness(table: Floats, codes: Integers, count: int) -> Floats:
    """The skewness of what clusters add to the mean of each column; 0 if they do not vary."""
    sums = cluster_deviations(table, codes, count)
    squares = np.square(sums)
    square = squares.mean(axis=0)
    if count < 3:
        return np.zeros_like(square)
    scaled = (squares * sums).mean(axis=0) * math.sqrt(count * (count - 1)) / (count - 2)
    result: Floats = np.divide(scaled, square * np.sqrt(square), out=np.zeros_like(square), where=square > 0)
    return result


def _with_skew(found: Interval, means: Floats, codes: Integers, count: int) -> Interval:
    """The interval of graded scores, as wide on each side as the wider of Wilson's and Hall's.

    Hall's cubic transformation of t takes the skewness of the clusters into account: few high scores among many low
    ones say little about how high the mean can be. Reference: Hall, P. (1992). On the removal of skewness by
    transformation. J. R. Stat. Soc. B 54.
    """
    mean, variance = float(means.mean()), mean_variance(means, codes, count)
    if variance <= 0 or found.low is None or found.high is None:
        return found
    skew = float(cluster_skewness(means[:, None], codes, count)[0])
    t = t_quantile(0.5 + found.level / 2, effective_clusters(codes, count) - 1) / math.sqrt(count)

    def bound(v: float) -> float:
        moved = v if abs(skew) < 1e-6 else 3 / skew * (math.cbrt(1 + skew * (v - skew / (6 * count))) - 1)
        return mean - math.sqrt(variance * count) * moved

    low, high = max(0.0, min(found.low, bound(t))), min(1.0, max(found.high, bound(-t)))
    return Interval(low, high, found.level, "the wider of Wilson's and Hall's", count)


def family_interval(
    statistic: Callable[[NDArray[np.bool_]], float], families: Labels, back: Callable[[float], float]
) -> Interval:
    """The 95 % interval of a statistic of models, of which those of one family are not independent: a jackknife.

    `statistic` gets the models that are kept, and gives a value on a scale on which it varies evenly; `back` leads back
    from there. ± t √((G − 1) Var), over the values without each of the G families in turn, t with Kish's degrees of
    freedom. No bounds for too few families, or if one has all the variation. Reference: Tukey (1958), AMS 29.
    """
    codes, count = cluster_codes(families, len(families))
    if count < MINIMUM_CLUSTERS:
        return too_few(count)
    whole, without = statistic(codes >= 0), [statistic(codes != one) for one in range(count)]
    half = t_quantile(0.975, effective_clusters(codes, count) - 1) * math.sqrt((count - 1) * float(np.var(without)))
    low, high = sorted((back(whole - half), back(whole + half)))
    return too_few(count) if math.isnan(half) else Interval(low, high, 0.95, "jackknife over families", count)


def bootstrap_means(sums: Floats, sizes: Floats, *, draws: int = DRAWS) -> Floats:
    """Bootstrap means, draws × columns, from cluster sums and sizes (clusters × columns).

    Whole clusters are drawn with replacement. Every column uses the same draws, so that columns (subjects on the same
    items) stay paired. Columns may lack items; their sizes then differ.
    """
    count = sums.shape[0]
    generator = np.random.default_rng(SEED)
    result = np.empty((draws, sums.shape[1]))
    step = max(1, 4_000_000 // count)
    for start in range(0, draws, step):
        rows = min(step, draws - start)
        few = count <= FEW_CLUSTERS and rows == draws
        weights = (_few_weights(draws, count) if few else _weights(generator, rows, count)).astype(np.float64)
        totals = weights @ sizes
        result[start : start + rows] = np.divide(
            weights @ sums, totals, out=np.full_like(totals, np.nan), where=totals > 0
        )
    return result


def _weights(generator: np.random.Generator, rows: int, count: int) -> Integers:
    """How often each of `count` clusters is in each of so many draws, rows × clusters."""
    picks = generator.integers(0, count, size=(rows, count))
    picks += np.arange(rows)[:, None] * count
    return np.bincount(picks.ravel(), minlength=rows * count).reshape(rows, count)


@functools.lru_cache(maxsize=32)
def _few_weights(draws: int, count: int) -> NDArray[np.uint8]:
    """The weights of the first draws, kept: a report draws from the same few clusters hundreds of times."""
    return _weights(np.random.default_rng(SEED), draws, count).astype(np.uint8)


def expanded_percentiles(sample: Floats, clusters: float, level: float = 0.95) -> tuple[float, float]:
    """Percentile interval of bootstrap draws, widened because the bootstrap is too narrow in small samples.

    The tail is Φ(−√(n/(n − 1)) t(n − 1)) instead of α/2 (Hesterberg 2015, section 5).
    """
    quantile = t_quantile(0.5 + level / 2, clusters - 1)
    tail = normal_below(-math.sqrt(clusters / (clusters - 1)) * quantile)
    low, high = np.nanquantile(sample, [tail, 1 - tail])
    return float(low), float(high)
