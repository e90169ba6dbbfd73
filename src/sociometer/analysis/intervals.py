"""Confidence intervals for means of clustered observations (clusters are stories, trees or scenarios).

Binary values get a Wilson interval on the effective sample size: it stays inside [0, 1] and has a width above zero at
means of 0 and 1. Other values get a cluster bootstrap. Fewer than ten clusters get no interval.

References
----------
Wilson, E. B. (1927). Probable inference, the law of succession, and statistical inference. JASA 22.
Dean, N., and Pagano, M. (2015). Evaluating confidence interval methods for binomial proportions in
clustered surveys. Journal of Survey Statistics and Methodology 3(4).
Hesterberg, T. C. (2015). What teachers should know about the bootstrap. The American Statistician 69(4).
"""

import functools
import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sociometer.analysis.clusters import (
    Floats,
    Integers,
    Labels,
    cluster_codes,
    cluster_sums,
    is_binary,
    item_means,
    mean_variance,
)
from sociometer.analysis.distributions import normal_below, normal_quantile, t_quantile
from sociometer.analysis.interval_methods import CLUSTER_BOOTSTRAP, NO_VARIATION, TOO_FEW
from sociometer.core.measure import Interval

MINIMUM_CLUSTERS = 10
DRAWS = 10_000
SEED = 20_240_229
FEW_CLUSTERS = 100
"""The draws from at most so many clusters are kept (10,000 of them take 1 MB)."""


def too_few(clusters: int, level: float = 0.95) -> Interval:
    """The interval without bounds that is returned for too few clusters."""
    return Interval(None, None, level, TOO_FEW, clusters)


def clustered_mean_interval(
    values: ArrayLike,
    clusters: Labels | None = None,
    *,
    items: Labels | None = None,
    binary: bool | None = None,
    level: float = 0.95,
    draws: int = DRAWS,
) -> Interval:
    """Interval of the mean of `values`, whose clusters are independent but whose values in a cluster are not.

    Without `clusters` (or with an empty label) an item is its own cluster; without `items` every value is its own
    item. Repeats of one item (equal labels in `items`) are averaged first and never count as new items. Values that
    are all 0 or 1 are treated as right or wrong unless `binary` is given (distances may happen to be all 0).
    """
    array = np.asarray(values, dtype=np.float64)
    if binary is None:
        binary = is_binary(array)
    means, labels = item_means(array, clusters, items)
    codes, count = cluster_codes(labels, means.size)
    if count < MINIMUM_CLUSTERS:
        return too_few(count, level)
    if binary:
        return _effective_wilson(means, codes, count, level)
    if float(np.ptp(means)) == 0.0:
        return Interval(float(means[0]), float(means[0]), level, NO_VARIATION, count)
    return bootstrap_interval(means, codes, count, level, draws)


def bootstrap_interval(values: Floats, codes: Integers, count: int, level: float, draws: int) -> Interval:
    """Cluster-bootstrap interval of the mean of `values`, whose clusters are numbered by `codes`."""
    sums, sizes = cluster_sums(values[:, None], codes, count)
    sample = bootstrap_means(sums, sizes, draws=draws)[:, 0]
    low, high = expanded_percentiles(sample, count, level)
    return Interval(low, high, level, CLUSTER_BOOTSTRAP, count)


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


def effective_size(means: Floats, codes: Integers, count: int) -> float:
    """The number of independent items with the same information: p(1 − p) over the cluster-robust variance.

    At most the number of items; without variation (a mean of 0 or 1), the number of clusters.
    """
    share = float(means.mean())
    spread = share * (1 - share)
    if spread <= 0:
        return float(count)
    variance = mean_variance(means, codes, count)
    if count == means.size:
        # each item is its own cluster: p(1 − p) has no factor n/(n − 1) either; this gives the plain Wilson interval
        variance *= (count - 1) / count
    if variance * means.size <= spread:
        return float(means.size)
    return max(1.0, spread / variance)


def _effective_wilson(means: Floats, codes: Integers, count: int, level: float) -> Interval:
    n = effective_size(means, codes, count)
    if count < means.size:
        # Korn and Graubard's correction, because the variance is itself an estimate from few clusters
        quantile = 0.5 + level / 2
        n *= (normal_quantile(quantile) / t_quantile(quantile, count - 1)) ** 2
    low, high = wilson(float(means.mean()), n, level)
    return Interval(low, high, level, "Wilson on the effective sample size", count)


def bootstrap_means(
    sums: Floats, sizes: Floats, *, draws: int = DRAWS, seed: int = SEED, block: int = 4_000_000
) -> Floats:
    """Bootstrap means, draws × columns, from cluster sums and sizes (clusters × columns).

    Whole clusters are drawn with replacement. Every column uses the same draws, so that columns (subjects on the same
    items) stay paired. Columns may lack items; their sizes then differ.
    """
    count = sums.shape[0]
    generator = np.random.default_rng(seed)
    result = np.empty((draws, sums.shape[1]))
    step = max(1, block // count)
    for start in range(0, draws, step):
        rows = min(step, draws - start)
        few = count <= FEW_CLUSTERS and rows == draws
        weights = (_few_weights(seed, draws, count) if few else _weights(generator, rows, count)).astype(np.float64)
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
def _few_weights(seed: int, draws: int, count: int) -> NDArray[np.uint8]:
    """The weights of the first draws of a seed, kept: a report draws from the same few clusters hundreds of times."""
    return _weights(np.random.default_rng(seed), draws, count).astype(np.uint8)


def expanded_percentiles(sample: Floats, clusters: int, level: float = 0.95) -> tuple[float, float]:
    """Percentile interval of bootstrap draws, widened because the bootstrap is too narrow in small samples.

    The tail is Φ(−√(n/(n − 1)) t(n − 1)) instead of α/2 (Hesterberg 2015, section 5).
    """
    quantile = t_quantile(0.5 + level / 2, clusters - 1)
    tail = normal_below(-math.sqrt(clusters / (clusters - 1)) * quantile)
    low, high = np.nanquantile(sample, [tail, 1 - tail])
    return float(low), float(high)
