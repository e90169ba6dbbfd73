"""One test for all conditions of a factor: Cochran's Q, over one subject or several, and the size of the effect.

Q compares the conditions within each item, so items may differ in difficulty. Over several subjects the strata are
subject and item: the sum over strata is the score test of a logistic model with one intercept for each stratum and
one effect for each condition, conditional on the intercepts. It answers the question of a mixed logistic model (do the
conditions differ, given that subjects and items do?) without assuming that intercepts are normal, and it has no
integral to approximate. Subjects answer the same items, so their strata are not independent: the p-value comes from
permuting the conditions of a cluster of items for all subjects together.

References
----------
Cochran, W. G. (1950). The comparison of percentages in matched samples. Biometrika 37.
Somes, G. W. (1986). The generalized Mantel-Haenszel statistic. The American Statistician 40(2).
Winkler, A. M., et al. (2014). Permutation inference for the general linear model. NeuroImage 92.
"""

import math
from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from sociometer.core.measure import Interval
from sociometer.statistics.intervals import DRAWS, MINIMUM_CLUSTERS, SEED, Floats, Integers, Labels, cluster_codes


class Omnibus(Struct, frozen=True):
    """Cochran's Q with its degrees of freedom, and the p-values by permutation and by the chi-square distribution."""

    statistic: float
    degrees: int
    p_value: float
    p_chi_square: float
    items: int
    conditions: int


def cochran_q(
    tables: Sequence[Floats], clusters: Labels | None = None, *, draws: int = DRAWS, seed: int = SEED
) -> Omnibus:
    """Whether the conditions differ; each table is a subject's items × conditions, the items the same in all.

    Values are right or wrong, or means over repeats. With all values of every item equal there is nothing to test, and
    the p-value is 1.
    """
    stacked = np.stack([np.asarray(table, dtype=np.float64) for table in tables])
    _, items, count = stacked.shape
    if count < 2:
        raise ValueError(f"at least two conditions are needed, not {count}")
    centred = stacked - stacked.mean(axis=2, keepdims=True)
    variance = float(np.square(centred).sum()) / (count - 1)
    if variance <= 1e-12:
        return Omnibus(0.0, count - 1, 1.0, 1.0, items, count)
    statistic = float(np.square(centred.sum(axis=(0, 1))).sum()) / variance
    from scipy import stats  # here, since it takes longer to import than a short command takes

    codes, number = cluster_codes(clusters, items)
    by_cluster = np.zeros((number, count))
    np.add.at(by_cluster, codes, centred.sum(axis=0))
    extreme = _extreme(by_cluster, statistic * variance, draws, seed)
    return Omnibus(
        statistic, count - 1, (1 + extreme) / (1 + draws), float(stats.chi2.sf(statistic, count - 1)), items, count
    )


def _extreme(by_cluster: Floats, observed: float, draws: int, seed: int) -> int:
    """How many permutations of the conditions within clusters give a sum of squares at least as large."""
    rng = np.random.default_rng(seed)
    moving = by_cluster[np.ptp(by_cluster, axis=1) > 1e-12]
    extreme = 0
    for start in range(0, draws, 200):
        size = min(200, draws - start)
        sums = rng.permuted(np.broadcast_to(moving, (size, *moving.shape)), axis=2).sum(axis=1)
        extreme += int((np.square(sums).sum(axis=1) >= observed * (1 - 1e-9)).sum())
    return extreme


class Spread(Struct, frozen=True):
    """How far conditions are from the control: the root mean square difference, and the same of noise conditions.

    `excess` is the root of the difference of the two mean squares (negative below the floor), with its interval from a
    bootstrap over clusters of items: chance adds the same to both mean squares, so it cancels. Without noise conditions
    it is None.
    """

    size: float
    floor: float | None = None
    excess: float | None = None
    interval: Interval | None = None


def spread(
    control: Sequence[Floats],
    conditions: Sequence[Floats],
    noise: Sequence[Floats] = (),
    clusters: Labels | None = None,
    *,
    level: float = 0.95,
    draws: int = 2000,
    seed: int = SEED,
) -> Spread:
    """The size of a factor and of its noise floor; each array is a subject's items (× conditions), the items the same.

    Mean squares do not grow with the number of conditions, so a factor with many levels can be compared with few
    placebos.
    """
    codes, number = cluster_codes(clusters, len(control[0]))
    moved = [_by_cluster(table - own[:, None], codes, number) for own, table in zip(control, conditions, strict=True)]
    idle = [_by_cluster(table - own[:, None], codes, number) for own, table in zip(control, noise, strict=False)]
    items = np.bincount(codes, minlength=number).astype(np.float64)
    every = np.ones((1, number))
    size = float(_size(moved, items, every)[0])
    if not idle:
        return Spread(size)
    floor = float(_size(idle, items, every)[0])
    excess = _rooted(size**2 - floor**2)
    if number < MINIMUM_CLUSTERS:
        return Spread(size, floor, excess, Interval(None, None, level, "", number))
    weights = np.random.default_rng(seed).multinomial(number, np.full(number, 1 / number), draws).astype(np.float64)
    sample = np.square(_size(moved, items, weights)) - np.square(_size(idle, items, weights))
    low, high = (_rooted(float(end)) for end in np.quantile(sample, [0.5 - level / 2, 0.5 + level / 2]))
    return Spread(size, floor, excess, Interval(low, high, level, "cluster bootstrap", number))


def _rooted(square: float) -> float:
    """The root of a difference of squares, with its sign."""
    return math.copysign(math.sqrt(abs(square)), square)


def _by_cluster(differences: Floats, codes: Integers, number: int) -> Floats:
    sums = np.zeros((number, differences.shape[1]))
    np.add.at(sums, codes, differences)
    return sums


def _size(tables: Sequence[Floats], items: Floats, weights: Floats) -> Floats:
    """The root mean square over subjects and conditions of the mean difference, for each row of cluster weights."""
    total = weights @ items
    squares = [np.square(weights @ table / total[:, None]).mean(axis=1) for table in tables]
    found: Floats = np.sqrt(np.mean(squares, axis=0))
    return found
