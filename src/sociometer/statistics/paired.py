"""Two subjects on the same items: difference, interval, tests, equivalence, correction for multiple tests."""

import functools
import math

import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike

from sociometer.core.measure import NO_VARIATION, Interval
from sociometer.statistics.distributions import binomial_below, normal_quantile, t_below, t_quantile
from sociometer.statistics.intervals import (
    DRAWS,
    MINIMUM_CLUSTERS,
    SEED,
    Floats,
    Integers,
    Labels,
    bootstrap_interval,
    cluster_codes,
    is_binary,
    item_means,
    mean_variance,
    too_few,
)


class Equivalence(Struct, frozen=True):
    """Result of the two one-sided tests; `interval` is the (1 − 2α) interval that must lie inside the margin.

    `p_holm` is corrected over the comparisons of a family; if it is given, `equivalent` follows from it.
    """

    margin: float
    difference: float
    p_value: float
    equivalent: bool
    interval: Interval
    p_holm: float | None = None


def equivalence_of(
    difference: float, standard_error: float, clusters: int, margin: float, alpha: float = 0.05
) -> Equivalence:
    """The two one-sided tests from a difference and its standard error; p is the larger of both.

    t = (d ± margin) / SE with the cluster-robust standard error on G − 1 degrees of freedom; assumes that the
    mean difference is approximately normal. Reference: Schuirmann, D. J. (1987). A comparison of the two one-sided
    tests procedure and the power approach. J. Pharmacokinetics and Biopharmaceutics 15.
    """
    level = 1 - 2 * alpha
    if clusters < 2:
        return Equivalence(margin, difference, 1.0, False, too_few(clusters, level))
    if standard_error == 0:
        inside = abs(difference) < margin
        same = Interval(difference, difference, level, NO_VARIATION, clusters)
        return Equivalence(margin, difference, 0.0 if inside else 1.0, inside, same)
    above = t_below(-(difference + margin) / standard_error, clusters - 1)
    below = t_below((difference - margin) / standard_error, clusters - 1)
    half = t_quantile(1 - alpha, clusters - 1) * standard_error
    interval = Interval(difference - half, difference + half, level, "t on cluster-robust error", clusters)
    p_value = max(above, below)
    return Equivalence(margin, difference, p_value, p_value < alpha, interval)


def holm(p_values: ArrayLike) -> Floats:
    """Holm's step-down adjusted p-values, which control the probability of any false positive.

    p(i) becomes max over j ≤ i of min(1, (m − j + 1) p(j)); needs no assumption about dependence.
    Reference: Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scand. J. Stat. 6.
    """
    p = _checked(p_values)
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(np.minimum(1.0, p[order] * np.arange(p.size, 0, -1)))
    return _restored(stepped, order)


def benjamini_hochberg(p_values: ArrayLike) -> Floats:
    """Benjamini and Hochberg's adjusted p-values, which control the share of false positives among findings.

    p(i) becomes min over j ≥ i of min(1, m p(j) / j); assumes independence or positive dependence.
    Reference: Benjamini, Y., and Hochberg, Y. (1995). Controlling the false discovery rate. JRSS B 57.
    """
    p = _checked(p_values)
    order = np.argsort(p, kind="stable")
    raw = np.minimum(1.0, p[order] * p.size / np.arange(1, p.size + 1))
    return _restored(np.minimum.accumulate(raw[::-1])[::-1], order)


def _checked(p_values: ArrayLike) -> Floats:
    p = np.asarray(p_values, dtype=np.float64).ravel()
    if np.isnan(p).any() or (p < 0).any() or (p > 1).any():
        raise ValueError(f"p-values must be between 0 and 1, not {p.tolist()}")
    return p


def _restored(adjusted: Floats, order: Floats | np.ndarray[tuple[int], np.dtype[np.int64]]) -> Floats:
    result = np.empty_like(adjusted)
    result[order.astype(np.int64)] = adjusted
    return result


class McNemar(Struct, frozen=True):
    """Numbers of discordant items and the tests on them; both tests assume independent items."""

    only_first: int
    only_second: int
    p_exact: float
    p_mid: float


class PairedDifference(Struct, frozen=True):
    """Second minus first on the same items.

    `effect` is the mean difference over its standard deviation; None if all items have the same nonzero difference.
    `square` is the mean squared difference of an item; for right-or-wrong items, the share on which the two differ.
    `worth` is the effective number of items: independent items with the same information as the clustered ones.
    """

    items: int
    clusters: int
    first: float
    second: float
    difference: float
    interval: Interval
    p_value: float
    effect: float | None
    standard_error: float
    binary: bool
    square: float
    worth: float
    mcnemar: McNemar | None = None

    @property
    def deviation(self) -> float:
        """The standard deviation of the item differences."""
        if self.items < 2:
            return 0.0
        return math.sqrt(max(0.0, self.square - self.difference**2) * self.items / (self.items - 1))


def paired_difference(
    first: ArrayLike,
    second: ArrayLike,
    clusters: Labels | None = None,
    *,
    items: Labels | None = None,
    binary: bool | None = None,
    level: float = 0.95,
    draws: int = DRAWS,
) -> PairedDifference:
    """Compare the values of two subjects on the same items, given in the same order.

    Repeats of one item (equal labels in `items`) are averaged first. Assumes independent clusters, and nothing about
    the values in one cluster. Values that are all 0 or 1 are treated as right or wrong unless `binary` is given. The
    p-value comes from the sign-flip permutation test by cluster.
    """
    one, two = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if one.shape != two.shape:
        raise ValueError(f"paired values must match: {one.size} of the first, {two.size} of the second")
    if one.size == 0:
        raise ValueError("there are no items to compare; the two subjects share none")
    if binary is None:
        binary = is_binary(one) and is_binary(two)
    differences, labels = item_means(two - one, clusters, items)
    codes, count = cluster_codes(labels, differences.size)
    mean = float(differences.mean())
    spread = float(differences.std(ddof=1)) if differences.size > 1 else 0.0
    if spread <= 1e-9 * max(1.0, abs(mean)):
        # differences that vary by rounding only do not vary
        spread, differences = 0.0, np.full_like(differences, mean)
    once = binary and is_binary(np.abs(differences))
    discordant = int((differences < 0).sum()), int((differences > 0).sum())
    return PairedDifference(
        items=differences.size,
        clusters=count,
        first=float(item_means(one, None, items)[0].mean()),
        second=float(item_means(two, None, items)[0].mean()),
        difference=mean,
        interval=_interval(differences, codes, count, binary, level, draws),
        p_value=sign_flip_test(differences, labels, draws=draws),
        effect=mean / spread if spread else None if mean else 0.0,
        standard_error=math.sqrt(_variance(differences, codes, count, binary)) if count > 1 else float("nan"),
        binary=binary,
        square=float(np.square(differences).mean()),
        worth=_worth(differences, codes, count),
        mcnemar=mcnemar(*discordant) if once else None,
    )


def mcnemar(only_first: int, only_second: int) -> McNemar:
    """McNemar's test from the numbers of items that only the first or only the second subject got right.

    Exact: twice the binomial tail of the smaller count at ½, at most 1. Mid-p: exact minus the probability of the
    observed count.
    """
    n = only_first + only_second
    if n == 0:
        return McNemar(0, 0, 1.0, 1.0)
    low = min(only_first, only_second)
    at_most, fewer = binomial_below(low, n), binomial_below(low - 1, n)
    mid = at_most + fewer if only_first != only_second else 1 - (at_most - fewer) / 2
    return McNemar(only_first, only_second, min(1.0, 2 * at_most), mid)


def sign_flip_test(
    differences: ArrayLike, clusters: Labels | None = None, *, draws: int = DRAWS, seed: int = SEED
) -> float:
    """Two-sided p-value of the hypothesis that differences are symmetric about zero; flips signs of whole clusters.

    Exact if cluster sums are whole numbers (right-or-wrong items) or if there are at most 13 of them. Otherwise from
    `draws` random flips, with the observed one counted among them: (1 + extreme) / (1 + draws).
    """
    values = np.asarray(differences, dtype=np.float64)
    codes, count = cluster_codes(clusters, values.size)
    sums: Floats = np.bincount(codes, weights=values, minlength=count).astype(np.float64)
    sums = np.abs(sums[np.abs(sums) > 1e-12])
    if sums.size == 0:
        return 1.0
    observed = abs(float(values.sum()))
    whole: Floats = np.rint(sums)
    if np.abs(sums - whole).max() <= 1e-9 and whole.sum() <= 20_000:
        return _exact_flips(whole.astype(np.int64), round(observed))
    if sums.size <= 13:
        return _all_flips(sums, observed)
    flipped = _signs(sums.size, draws, seed) @ sums
    extreme = int((np.abs(flipped) >= observed - 1e-9).sum())
    return (1 + extreme) / (1 + draws)


def _exact_flips(sums: Integers, observed: int) -> float:
    """Exact tail probability of |Σ ± s| for whole numbers s, by convolution."""
    if (sums == 1).all():
        return min(1.0, 2 * binomial_below((sums.size - observed) // 2, sums.size))
    total = int(sums.sum())
    chances = np.zeros(total + 1)
    chances[0] = 1.0
    reach = 0
    for size in sums.tolist():
        # chances[k] is the probability that the sizes with a plus sign add up to k
        chances[size : reach + size + 1] = 0.5 * (chances[size : reach + size + 1] + chances[: reach + 1])
        chances[:size] *= 0.5
        reach += size
    statistic = np.abs(2 * np.arange(total + 1) - total)
    return min(1.0, float(chances[statistic >= observed].sum()))


def _all_flips(sums: Floats, observed: float) -> float:
    bits = (np.arange(2**sums.size)[:, None] >> np.arange(sums.size)) & 1
    flipped = (2.0 * bits - 1.0) @ sums
    return float((np.abs(flipped) >= observed - 1e-9).mean())


@functools.lru_cache(maxsize=4)
def _signs(count: int, draws: int, seed: int) -> Floats:
    generator = np.random.default_rng(seed)
    coins = generator.integers(0, 2, size=(draws, count), dtype=np.int8)
    return (2 * coins - 1).astype(np.float64)


def _variance(differences: Floats, codes: Integers, count: int, binary: bool) -> float:
    """Cluster-robust variance of the mean difference; always above zero for binary items."""
    robust = mean_variance(differences, codes, count)
    if not binary:
        return robust
    n = differences.size if robust > 0 else count
    return max(robust, 2.0 / (n + 2) ** 2)


def _worth(differences: Floats, codes: Integers, count: int) -> float:
    """The effective number of items: at most the number of items; without variation, the number of clusters."""
    items = differences.size
    simple = float(differences.var()) / items
    if simple <= 0 or count < 2:
        return float(count)
    if count == items:
        return float(items)
    robust = mean_variance(differences, codes, count)
    return float(items) if robust <= simple else items * simple / robust


def _interval(differences: Floats, codes: Integers, count: int, binary: bool, level: float, draws: int) -> Interval:
    if count < MINIMUM_CLUSTERS:
        return too_few(count, level)
    if binary:
        return _bonett_price(differences, codes, count, level)
    if float(np.ptp(differences)) == 0.0:
        mean = float(differences.mean())
        return Interval(mean, mean, level, NO_VARIATION, count)
    return bootstrap_interval(differences, codes, count, level, draws)


def _bonett_price(differences: Floats, codes: Integers, count: int, level: float) -> Interval:
    """Adjusted Wald interval on the effective sample size: one item is added to each discordant cell.

    With repeats, the discordant share is the mean squared item difference, split by the mean difference.
    """
    mean, square = float(differences.mean()), float(np.square(differences).mean())
    n = _worth(differences, codes, count)
    gained, lost = n * (square + mean) / 2, n * (square - mean) / 2
    up, down = (gained + 1) / (n + 2), (lost + 1) / (n + 2)
    quantile = 0.5 + level / 2
    z = normal_quantile(quantile) if count == differences.size else t_quantile(quantile, count - 1)
    half = z * math.sqrt(max(0.0, (up + down - (up - down) ** 2) / (n + 2)))
    method = "Bonett-Price on the effective sample size"
    return Interval(max(-1.0, up - down - half), min(1.0, up - down + half), level, method, count)
