"""Correlations over few models, with an interval and the model that carries them."""

import functools
import itertools
import math
from collections.abc import Hashable, Mapping, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike, NDArray

from sociometer.core.measure import Interval
from sociometer.core.words import counted
from sociometer.statistics.distributions import normal_quantile, t_below
from sociometer.statistics.intervals import MINIMUM_CLUSTERS, Floats, family_interval, too_few

EXACT_UP_TO = 9
"""The most points whose orders are all enumerated; above that, the t distribution gives p."""
SWING = 0.15


class Correlation(Struct, frozen=True):
    """Pearson's r with its interval; `carried_by` names the point that changes r most, if the change is large."""

    r: float
    p_value: float
    interval: Interval
    n: int
    carried_by: str = ""


def few_families(interval: Interval) -> str:
    """Why there is no interval over models; empty if there is one."""
    families = counted(interval.clusters, "family", "families")
    return (
        "" if interval.low is not None else f"no interval: the models are of {families}, {MINIMUM_CLUSTERS} are needed"
    )


def pearson(
    x: ArrayLike, y: ArrayLike, names: Sequence[str] | None = None, families: Sequence[Hashable] | None = None
) -> Correlation:
    """Pearson's r, two-sided p (`correlation_p`), interval by Fisher's z.

    z = atanh r, SE = 1/√(n − 3); assumes independent points that are approximately bivariate normal. Models of one
    family are not independent: with `families`, the interval is that of a jackknife of z over them. `carried_by`
    names the point whose removal changes r most, if by more than `SWING`. Reference: Fisher, R. A. (1921). Metron 1.
    """
    first, second = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if first.shape != second.shape or first.size < 3:
        raise ValueError(f"at least three pairs are needed, not {first.size} and {second.size} values")
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        raise ValueError("one of the two measures does not vary; its correlation is undefined")
    n = first.size
    r = float(np.clip(np.corrcoef(first, second)[0, 1], -1, 1))
    without = leave_one_out(first, second)
    far = int(np.nanargmax(np.abs(without - r)))
    label = names[far] if names is not None else f"point {far + 1}"
    carried_by = label if abs(float(without[far]) - r) > SWING else ""

    def fisher_z(kept: NDArray[np.bool_]) -> float:
        r = float(row_correlations(first[None, kept], second[None, kept])[0])
        return math.atanh(min(max(r, 1e-15 - 1), 1 - 1e-15))

    if families is not None:
        interval = family_interval(fisher_z, families, math.tanh)
    elif n < 4:
        interval = too_few(n)
    else:
        z, half = fisher_z(first == first), normal_quantile(0.975) / math.sqrt(n - 3)
        interval = Interval(math.tanh(z - half), math.tanh(z + half), 0.95, "Fisher z", n)
    return Correlation(r, correlation_p(first, second), interval, n, carried_by)


def leave_one_out(x: Floats, y: Floats) -> Floats:
    """Pearson's r without each point in turn (NaN if the remaining points do not vary)."""
    n = x.size
    keep = ~np.eye(n, dtype=bool)
    first, second = (np.broadcast_to(values, (n, n))[keep].reshape(n, n - 1) for values in (x, y))
    return row_correlations(first, second)


def row_correlations(first: Floats, second: Floats) -> Floats:
    """Pearson's r of each row of two tables; NaN if a row does not vary or has a gap."""
    first, second = first - first.mean(axis=1, keepdims=True), second - second.mean(axis=1, keepdims=True)
    scale = np.sqrt(np.square(first).sum(axis=1) * np.square(second).sum(axis=1))
    result: Floats = np.full(scale.shape, np.nan)
    np.divide((first * second).sum(axis=1), scale, out=result, where=scale > 1e-12)
    return result


def correlation_contrast(
    table: Mapping[str, Sequence[float]], measure: str, families: Sequence[Hashable]
) -> tuple[float, float, Interval]:
    """The mean correlation of `measure` with the others, that among these, and the interval of the difference."""
    if measure not in table or len(table) < 3:
        raise ValueError(f"{measure!r} and at least two other measures are needed, not {sorted(table)}")
    names = [measure, *(name for name in table if name != measure)]
    values = np.array([table[name] for name in names], dtype=np.float64)
    pairs = list(itertools.combinations(range(len(names)), 2))

    def means(kept: NDArray[np.bool_]) -> tuple[float, float]:
        r = row_correlations(*(values[list(side)][:, kept] for side in zip(*pairs, strict=True)))
        return float(r[: len(names) - 1].mean()), float(r[len(names) - 1 :].mean())

    apart = family_interval(lambda kept: -float(np.subtract(*means(kept))), families, float)
    return *means(np.ones(values.shape[1], dtype=bool)), apart


def correlation_p(x: Floats, y: Floats) -> float:
    """Two-sided p of Pearson's r.

    Up to nine points, the share of all orders of `y` with a correlation at least as far from zero; otherwise by the t
    distribution. On ranks this is the test of Spearman's rho.
    """
    n = x.size
    if n > EXACT_UP_TO:
        r = float(np.clip(np.corrcoef(x, y)[0, 1], -1, 1))
        return 0.0 if abs(r) >= 1 else 2 * t_below(-abs(r) * math.sqrt((n - 2) / (1 - r * r)), n - 2)
    products = np.abs((y - y.mean())[_orders(n)] @ (x - x.mean()))
    return float(np.mean(products >= products[0] - 1e-9 * products.max()))


@functools.lru_cache(maxsize=2)
def _orders(n: int) -> NDArray[np.intp]:
    """Every order of n points, the given one first."""
    return np.array(list(itertools.permutations(range(n))))
