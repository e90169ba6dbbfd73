"""Intervals over people or scenarios: each is left out in turn, with all of their turns."""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sociometer.core.measure import Interval
from sociometer.statistics.distributions import t_quantile
from sociometer.statistics.intervals import too_few

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Used = NDArray[np.bool_]
Statistic = Callable[[Used], float | None]
"""A number of the turns that are used; None if they do not have it."""
_FEWEST_GROUPS = 4
_SMALLEST = 1e-9


def correlation_interval(statistic: Statistic, groups: Codes, used: Used, over: str) -> tuple[float | None, Interval]:
    """A correlation of the turns that are used, and its interval over groups (Fisher's z, Student's t)."""
    whole, left_out = _left_out(statistic, groups, used)
    if whole is None or not left_out:
        return whole, too_few(len(set(groups[used].tolist())))
    z = np.arctanh(np.clip([whole, *left_out], _SMALLEST - 1, 1 - _SMALLEST))
    half = _half_width(z[1:])
    low, high = np.tanh([z[0] - half, z[0] + half]).tolist()
    return whole, Interval(low, high, 0.95, f"jackknife over {over}, Fisher z", len(left_out))


def interval_of(statistic: Statistic, groups: Codes, used: Used, over: str) -> tuple[float | None, Interval]:
    """A mean, a slope or another smooth number of the turns that are used, and its interval over groups."""
    whole, left_out = _left_out(statistic, groups, used)
    if whole is None or not left_out:
        return whole, too_few(len(set(groups[used].tolist())))
    half = _half_width(np.asarray(left_out))
    return whole, Interval(whole - half, whole + half, 0.95, f"jackknife over {over}", len(left_out))


def _left_out(statistic: Statistic, groups: Codes, used: Used) -> tuple[float | None, list[float]]:
    """The number itself, and without each group; an empty list if that is too few for an interval."""
    names = sorted(set(groups[used].tolist()))
    if len(names) < _FEWEST_GROUPS:
        return statistic(used), []
    values = [statistic(used & (groups != name)) for name in names]
    known = [value for value in values if value is not None]
    if len(known) < len(names):
        return statistic(used), []
    return statistic(used), known


def _half_width(left_out: Floats) -> float:
    count = left_out.size
    return t_quantile(0.975, count - 1) * math.sqrt((count - 1) * float(np.var(left_out)))
