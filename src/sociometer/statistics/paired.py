"""Two subjects, or a condition and its control, on the same items: difference, interval, tests, one error rate."""

import functools
import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike, NDArray

from sociometer.core.lazy import lazy
from sociometer.core.measure import NO_VARIATION, Interval
from sociometer.statistics.distributions import binomial_below, normal_below, normal_quantile, t_below, t_quantile
from sociometer.statistics.intervals import (
    DRAWS,
    MINIMUM_CLUSTERS,
    SEED,
    Floats,
    Integers,
    Labels,
    cluster_codes,
    cluster_deviations,
    cluster_skewness,
    effective_clusters,
    is_binary,
    item_means,
    mean_variance,
    too_few,
)

stats = lazy("scipy.stats")

Marks = NDArray[np.bool_]

MANY = 1_000
"""With more comparisons than this, fewer draws are enough: the quantile of their largest varies less."""

FEW_DRAWS = 200_000
"""How often up to ten comparisons are drawn together: their quantile varies most (by 0.003 from seed to seed)."""


ENOUGH_CLUSTERS = 40
"""From so many clusters on, the correlations of several comparisons are known well enough for max-t."""


class Simultaneous(Struct, frozen=True):
    """What several comparisons share: the level of each that gives all of them the joint level, and adjusted p-values.

    The p-value of a comparison is the probability that any of them is as extreme if no true difference exists.
    """

    level: float
    p_values: tuple[float, ...]


def simultaneous(
    influence: Floats,
    p_values: Sequence[float],
    clusters: int,
    level: float = 0.95,
    *,
    alike: Sequence[Sequence[int]] = (),
) -> Simultaneous:
    """The level at which every comparison is made so that all intervals hold together with probability `level`.

    `influence` is clusters × comparisons: the contribution of each cluster to the error of each difference. The
    comparisons are jointly normal with the correlations of these columns; the quantile c of the largest |t| of draws
    from that distribution gives the level 2Φ(c) − 1 (max-t). Fewer than `ENOUGH_CLUSTERS` clusters do not show the
    correlations well enough: the error rate is then divided by the number of comparisons (Bonferroni), and the
    intervals use the t distribution. One comparison keeps its level and its p-value. The pairs in each group of columns
    in `alike` are comparisons too.
    References: Westfall, P. H., and Young, S. S. (1993). Resampling-based multiple testing. Wiley; Chernozhukov, V.,
    Chetverikov, D., and Kato, K. (2013). Gaussian approximations and multiplier bootstrap. Annals of Statistics 41.
    """
    many = len(p_values) + sum(math.comb(len(group), 2) for group in alike)
    if many < 2:
        return Simultaneous(level, tuple(p_values))
    if clusters < ENOUGH_CLUSTERS:
        return Simultaneous(1 - (1 - level) / many, tuple(min(1.0, many * p) for p in p_values))
    draws = max(DRAWS if many <= MANY else DRAWS // 5, min(FEW_DRAWS, 10 * FEW_DRAWS // many))
    largest = _largest(influence, draws, alike)
    each = max(level, 2 * normal_below(float(np.quantile(largest, level))) - 1)
    sizes = [normal_quantile(1 - max(p, 1e-15) / 2) for p in p_values]
    found = [(1 + int((largest >= size - 1e-6).sum())) / (1 + largest.size) for size in sizes]
    return Simultaneous(each, tuple(min(1.0, max(p, one)) for p, one in zip(p_values, found, strict=True)))


def _largest(influence: Floats, draws: int, alike: Sequence[Sequence[int]]) -> Floats:
    """The largest |t| in each draw from a normal distribution with the correlations of the comparisons.

    Pairs are taken one column against the later ones of its group, so that no table of all pairs is made.
    """
    columns: Floats = np.asarray(np.linalg.qr(influence, mode="r"))
    columns *= np.where(columns.diagonal() < 0, -1.0, 1.0)[:, None]  # whatever the order of the clusters
    normal = np.random.default_rng(SEED).standard_normal((columns.shape[0], draws), dtype=np.float32)
    drawn = columns.T.astype(np.float32) @ normal
    result = np.zeros(draws, dtype=np.float32)

    def include(apart: Floats, sizes: NDArray[np.float32]) -> None:
        scale = np.sqrt(np.square(apart).sum(axis=0, dtype=np.float32))
        sizes *= np.divide(1, scale, out=np.zeros_like(scale), where=scale > 0)[:, None]
        np.maximum(result, np.maximum(sizes.max(axis=0), -sizes.min(axis=0)), out=result)

    for group in alike:
        members, their_draws = columns[:, list(group)], drawn[list(group)]
        for one in range(len(group) - 1):
            include(members[:, one + 1 :] - members[:, [one]], their_draws[one + 1 :] - their_draws[one])
    include(columns, drawn)
    return result.astype(np.float64)


def influence_table(members: Sequence[Mapping[Any, float]]) -> Floats:
    """The influences of several comparisons, clusters × comparisons; a cluster that one of them lacks counts as 0."""
    labels = dict.fromkeys(label for member in members for label in member)
    rows = {label: place for place, label in enumerate(labels)}
    table = np.zeros((len(rows), len(members)))
    for column, member in enumerate(members):
        table[[rows[label] for label in member], column] = list(member.values())
    return table


def holm(p_values: ArrayLike) -> Floats:
    """Holm's step-down adjusted p-values, which control the probability of any false positive.

    p(i) becomes max over j ≤ i of min(1, (m − j + 1) p(j)); needs no assumption about dependence.
    Reference: Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scand. J. Stat. 6.
    """
    p = np.asarray(p_values, dtype=np.float64).ravel()
    if np.isnan(p).any() or (p < 0).any() or (p > 1).any():
        raise ValueError(f"p-values must be between 0 and 1, not {p.tolist()}")
    order = np.argsort(p, kind="stable")
    result = np.empty_like(p)
    result[order] = np.maximum.accumulate(np.minimum(1.0, p[order] * np.arange(p.size, 0, -1)))
    return result


def benjamini_hochberg(p_values: ArrayLike) -> Floats:
    """Benjamini and Hochberg's adjusted p-values, which control the share of false positives among findings.

    Assumes independence or positive dependence.
    """
    return np.asarray(stats.false_discovery_control(np.asarray(p_values)), dtype=np.float64)


Verdict = Literal[
    "better", "worse", "differs", "equivalent", "cannot tell", "too few", "both at the top", "both at the best value",
    "both at chance", "no verdict",
]  # fmt: skip


def verdict_of(interval: Interval, better: str, margin: float | None) -> Verdict:
    """What the interval of a difference says: it excludes zero, it is within the margin, or neither."""
    if interval.low is None or interval.high is None:
        return "too few"
    if interval.low > 0 or interval.high < 0:
        if better == "neither":
            return "differs"
        return "better" if (interval.low > 0) == (better == "higher") else "worse"
    return "equivalent" if margin is not None and max(-interval.low, interval.high) < margin else "cannot tell"


class PairedDifference(Struct, frozen=True):
    """Second minus first on the same items."""

    items: int  # The number of shared items.
    clusters: int  # The number of independent parts among them.
    first: float  # The score of the first run on them.
    second: float  # The score of the second run on them.
    difference: float  # Second minus first.
    interval: Interval  # The interval of the difference.
    p_value: float  # The p-value, not corrected for other comparisons.
    effect: float | None  # The difference over its standard deviation; None if that is zero.
    standard_error: float  # The standard error of the difference.
    binary: bool  # Whether every item is right or wrong.
    square: float  # The mean squared difference; of right-or-wrong items played once, the share that differs.
    disagreement: float  # The share of single answers, right or wrong, on which the two differ; else the square.
    worth: float  # The effective number of items: independent ones with the same information.
    freedom: float  # The degrees of freedom of the error.
    mcnemar: float | None = None  # McNemar's p-value, if every item is right or wrong.

    @property
    def deviation(self) -> float:
        """The standard deviation of the item differences."""
        if self.items < 2:
            return 0.0
        return math.sqrt(max(0.0, self.square - self.difference**2) * self.items / (self.items - 1))


class Differences(Struct, frozen=True):
    """The difference of each item (second minus first), and its cluster; repeats of an item are averaged."""

    values: Floats
    codes: Integers
    clusters: tuple[Hashable, ...]
    """The label of each cluster, by its code."""
    first: float
    second: float
    binary: bool
    disagreement: float = 0.0
    """The share of single answers, right or wrong, on which the two differ: E[a(1 − b) + b(1 − a)] of the averages."""
    span: float = 0.0
    """The length of the scale of graded values of which each side has one end on every item; else 0."""

    @property
    def freedom(self) -> float:
        """The degrees of freedom of the error: Kish's effective number of clusters − 1."""
        return effective_clusters(self.codes, len(self.clusters)) - 1

    def interval(self, level: float = 0.95) -> Interval:
        """Bonett and Price's interval of the mean difference, on the effective number of items.

        Few or one-sided differences must not give a narrow interval, so k/2 items are added in each direction, as large
        as the usual nonzero difference (for right or wrong: 1): d̃ ± t √((q̃ − d̃²) / (n + k)), with d̃ and q̃ the mean
        difference and the mean squared difference over the n + k items. For right or wrong k is 2, for other values
        twice the share of items without a difference; without such items this is the t interval. Equal differences
        of graded values at the ends of their scale are shares of it, right or wrong. The quantile is normal
        for single right-or-wrong items, else that of t with `freedom`. Graded differences can be skewed: the side of
        the longer tail is moved outwards by (1 + 2t²) skew / 6√G errors, over G clusters.
        References: Bonett, D. G., and Price, R. M. (2012). JEBS 37; Johnson, N. J. (1978). Modified t tests and
        confidence intervals for asymmetrical populations. JASA 73.
        """
        count = len(self.clusters)
        if count < MINIMUM_CLUSTERS:
            return too_few(count, level)
        span, ends = self.span or 1.0, np.array([self.binary or self.span > 0])
        low, high = difference_bounds(self.values[:, None] / span, self.codes, ends, level)
        method = NO_VARIATION if not ends[0] and low[0] == high[0] else "Bonett-Price on the effective sample size"
        return Interval(span * float(low[0]), span * float(high[0]), level, method, count)

    def p_value(self) -> float:
        """The largest error rate at which the interval includes zero; without an interval, that of sign flips."""
        if len(self.clusters) < MINIMUM_CLUSTERS or (not self.binary and float(np.ptp(self.values)) == 0.0):
            return sign_flip_test(self.values, self.codes)
        made = _estimates(self.values[:, None], self.codes, np.array([self.binary]))
        centre, error, moved = (float(one[0]) for one in made)
        size, shift = abs(centre) / error, max(0.0, -moved if centre > 0 else moved)
        if shift:  # the size at which the bound that is moved outwards is zero
            size = max(0.0, (math.sqrt(max(0.0, 1 + 8 * shift * (size - shift))) - 1) / (4 * shift))
        single = self.binary and len(self.clusters) == self.values.size
        return 2 * (normal_below(-size) if single else t_below(-size, self.freedom))

    def influence(self) -> dict[Hashable, float]:
        """The contribution of each cluster to the error of the mean difference: Σ (d − mean) / n."""
        deviations = self.values - self.values.mean()
        sums = np.bincount(self.codes, weights=deviations, minlength=len(self.clusters)) / self.values.size
        return dict(zip(self.clusters, sums.tolist(), strict=True))

    def summary(self, level: float = 0.95, *, flips: bool = False) -> PairedDifference:
        """The mean difference with its interval, effect size and p-value (`flips`: that of sign flips by cluster)."""
        values, count = self.values, len(self.clusters)
        mean = float(values.mean())
        spread = float(values.std(ddof=1)) if values.size > 1 and np.ptp(values) else 0.0
        once = self.binary and is_binary(np.abs(values))
        square = float(np.square(values).mean())
        return PairedDifference(
            items=values.size,
            clusters=count,
            first=self.first,
            second=self.second,
            difference=mean,
            interval=self.interval(level),
            p_value=sign_flip_test(values, self.codes) if flips else self.p_value(),
            effect=mean / spread if spread else None if mean else 0.0,
            standard_error=math.sqrt(_variance(values, self.codes, count, self.binary)) if count > 1 else float("nan"),
            binary=self.binary,
            square=square,
            disagreement=max(square, self.disagreement) if self.binary else square,
            worth=float(_worth(values[:, None], self.codes)[0]),
            freedom=self.freedom,
            mcnemar=mcnemar(int((values < 0).sum()), int((values > 0).sum())) if once else None,
        )


def difference_bounds(values: Floats, codes: Integers, binary: Marks, level: float) -> tuple[Floats, Floats]:
    """The bounds of `Differences.interval` for several comparisons on the same items, items × comparisons."""
    count, quantile = int(codes.max()) + 1, 0.5 + level / 2
    centre, error, shift = _estimates(values, codes, binary)
    wide = t_quantile(quantile, effective_clusters(codes, count) - 1)
    size = np.where(binary & (count == len(codes)), normal_quantile(quantile), wide)
    shift *= 1 + 2 * size**2
    low, high = centre - error * (size - np.minimum(0.0, shift)), centre + error * (size + np.maximum(0.0, shift))
    low[binary], high[binary] = np.maximum(-1.0, low[binary]), np.minimum(1.0, high[binary])
    steady = ~binary & (np.ptp(values, axis=0) == 0.0)
    low[steady] = high[steady] = values[0, steady]
    return low, high


def without_rounding(values: Floats) -> Floats:
    """The differences, items × comparisons; those of a comparison that vary by rounding only do not vary."""
    mean = values.mean(axis=0)
    return np.where(np.ptp(values, axis=0) <= 1e-9 * np.maximum(1.0, np.abs(mean)), mean, values)


def _estimates(values: Floats, codes: Integers, binary: Marks) -> tuple[Floats, Floats, Floats]:
    """Bonett and Price's estimate of each mean difference, its error, and Johnson's correction in errors."""
    squares = np.square(values)
    nonzero = (squares > 0).sum(axis=0)
    mean, size = values.mean(axis=0), np.where(nonzero, squares.sum(axis=0) / np.maximum(nonzero, 1), 1.0)
    n = _worth(values, codes)
    added = np.where(binary, 2.0, 2.0 * (1 - nonzero / len(values)))
    centre = n * mean / (n + added)
    square = (n * squares.mean(axis=0) + added * size) / (n + added)
    # the variance of graded values is an estimate with its own degree of freedom
    error = np.sqrt(np.maximum(0.0, square - centre**2) / (n + added - ~binary))
    count, shift, graded = int(codes.max()) + 1, np.zeros(values.shape[1]), ~binary
    shift[graded] = cluster_skewness(values[:, graded], codes, count) / (6 * math.sqrt(count))
    return centre, error, shift


def item_differences(
    first: ArrayLike,
    second: ArrayLike,
    clusters: Labels | None = None,
    *,
    items: Labels | None = None,
    binary: bool | None = None,
    scale: tuple[float, float] | None = None,
) -> Differences:
    """The item differences of two subjects whose values are given in the same order.

    Repeats of one item (equal labels in `items`) are averaged first. Values that are all 0 or 1 are treated as right
    or wrong unless `binary` is given. Equal differences of values at the ends of a `scale` have an interval.
    """
    one, two = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if one.shape != two.shape:
        raise ValueError(f"paired values must match: {one.size} of the first, {two.size} of the second")
    if one.size == 0:
        raise ValueError("there are no items to compare; the two subjects share none")
    if binary is None:
        binary = is_binary(one) and is_binary(two)
    values, labels = item_means(two - one, clusters, items)
    codes, count = cluster_codes(labels, values.size)
    values = without_rounding(values[:, None])[:, 0]
    _, places = np.unique(codes, return_index=True)
    names = range(count) if labels is None else [labels[place] or ("", int(place)) for place in places.tolist()]
    left, right = (item_means(side, None, items)[0] for side in (one, two))
    disagreement = float((left + right - 2 * left * right).mean())
    steady = not binary and len({*left.tolist()}) == len({*right.tolist()}) == 1
    span = scale[1] - scale[0] if scale and steady and {left[0], right[0]} <= {*scale} else 0.0
    return Differences(values, codes, tuple(names), float(left.mean()), float(right.mean()), binary, disagreement, span)


def paired_difference(
    first: ArrayLike, second: ArrayLike, clusters: Labels | None = None, *, items: Labels | None = None
) -> PairedDifference:
    """Compare the values of two subjects on the same items, given in the same order.

    Assumes independent clusters, and nothing about the values in one cluster. The p-value is that of sign flips.
    """
    return item_differences(first, second, clusters, items=items).summary(flips=True)


def mcnemar(only_first: int, only_second: int) -> float:
    """The p-value of McNemar's test from the numbers of items that only the first or only the second subject got right.

    Exact: twice the binomial tail of the smaller count at ½, at most 1.
    """
    n = only_first + only_second
    below = binomial_below(min(only_first, only_second), n) if n else 1.0
    return min(1.0, 2 * below)


def sign_flip_test(differences: ArrayLike, clusters: Labels | None = None, *, draws: int = DRAWS) -> float:
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
        bits = (np.arange(2**sums.size)[:, None] >> np.arange(sums.size)) & 1
        return float((np.abs((2.0 * bits - 1.0) @ sums) >= observed - 1e-9).mean())
    flipped = _signs(sums.size, draws) @ sums
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


@functools.lru_cache(maxsize=4)
def _signs(count: int, draws: int) -> Floats:
    coins = np.random.default_rng(SEED).integers(0, 2, size=(draws, count), dtype=np.int8)
    return (2 * coins - 1).astype(np.float64)


def _variance(differences: Floats, codes: Integers, count: int, binary: bool) -> float:
    """Cluster-robust variance of the mean difference; for binary items at least that of two usual differences."""
    robust = mean_variance(differences, codes, count)
    if not binary:
        return robust
    n = differences.size if robust > 0 else count
    nonzero = differences[differences != 0]
    return max(robust, 2.0 * (float(np.square(nonzero).mean()) if nonzero.size else 1.0) / (n + 2) ** 2)


def _worth(differences: Floats, codes: Integers) -> Floats:
    """The effective number of items of each comparison: at most that of items; without variation, that of clusters."""
    items, count = len(codes), int(codes.max()) + 1
    simple = differences.var(axis=0) / items
    if count == items or count < 2:
        return np.full(simple.shape, float(count))
    robust = count / (count - 1) * np.square(cluster_deviations(differences, codes, count)).sum(axis=0) / items**2
    varies = simple > 0
    return np.where(varies, items * simple / np.where(varies, np.maximum(robust, simple), 1.0), float(count))


class Change(Struct, frozen=True):
    """A condition against its control; `ratio` is (condition − control) / control, None if the control is 0."""

    condition: str
    paired: PairedDifference
    ratio: float | None
    stars: str
    p_holm: float
    p_benjamini_hochberg: float


class SignedRank(Struct, frozen=True):
    """Wilcoxon's signed-rank test with the matched-pairs rank-biserial correlation as effect size."""

    statistic: float
    p_value: float
    effect: float
    pairs: int


def stars(p_value: float) -> str:
    """Significance as in Fig. 3 of the SESI paper: ns, or *, **, ***, **** below .05, .01, .001, .0001."""
    for mark, limit in (("****", 1e-4), ("***", 1e-3), ("**", 1e-2), ("*", 0.05)):
        if p_value < limit:
            return mark
    return "ns"


def changes(conditions: Mapping[str, tuple[ArrayLike, ArrayLike, Labels | None]]) -> list[Change]:
    """Compare every condition with its control: the values of the control and of the condition, and their clusters.

    Stars mark uncorrected p-values; the corrected ones are over all conditions of the call.
    """
    pairs = [paired_difference(*values) for values in conditions.values()]
    raw = [pair.p_value for pair in pairs]
    found = zip(conditions, pairs, holm(raw).tolist(), benjamini_hochberg(raw).tolist(), strict=True)
    return [
        Change(name, pair, pair.difference / pair.first if pair.first else None, stars(pair.p_value), *corrected)
        for name, pair, *corrected in found
    ]


def signed_rank(first: ArrayLike, second: ArrayLike) -> SignedRank:
    """Wilcoxon's signed-rank test of second against first (zeros dropped), effect (R₊ − R₋) / (R₊ + R₋).

    Assumes independent pairs: pass one pair for each tree, not one for each episode.
    References: Wilcoxon (1945), Biometrics Bulletin 1; Kerby (2014), Comprehensive Psychology 3.
    """
    differences = np.asarray(second, dtype=np.float64) - np.asarray(first, dtype=np.float64)
    differences = differences[np.abs(differences) > 1e-12]
    if differences.size == 0:
        return SignedRank(0.0, 1.0, 0.0, 0)

    result = stats.wilcoxon(differences)
    ranks = stats.rankdata(np.abs(differences))
    effect = float((ranks * np.sign(differences)).sum() / ranks.sum())
    return SignedRank(float(result.statistic), float(result.pvalue), effect, int(differences.size))
