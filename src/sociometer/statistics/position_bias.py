"""Position bias: whether a subject picks options by their position instead of their content."""

from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from sociometer.statistics.distributions import chi_square_above


class PositionBias(Struct, frozen=True):
    """Counts of picks and keys by position; the p-value tests whether picks are spread evenly over the options."""

    picked: tuple[int, ...]
    keyed: tuple[int, ...]
    expected: tuple[float, ...]
    p_value: float
    most: int
    """The position with the largest excess over its expected count, from 0."""


def position_bias(picks: Sequence[int], keys: Sequence[int], options: Sequence[int] | int) -> PositionBias:
    """Chi-square test of picked positions against even choice among the options each item offered.

    The caller leaves out unreadable replies. Expected counts differ by position if items have different numbers of
    options. Assumes independent items. If the keys are unbalanced, a good subject also shows a bias: compare `picked`
    with `keyed`.
    """
    if len(picks) != len(keys) or not picks:
        raise ValueError(f"picks and keys must match and not be empty: {len(picks)} and {len(keys)}")
    offered = np.full(len(picks), options) if isinstance(options, int) else np.asarray(options, dtype=np.int64)
    width = int(offered.max())
    expected = np.array([(1 / offered[offered > place]).sum() for place in range(width)])
    picked = np.bincount(np.asarray(picks), minlength=width).astype(np.float64)
    keyed = np.bincount(np.asarray(keys), minlength=width)
    p_value = chi_square_above(float((np.square(picked - expected) / expected).sum()), width - 1)
    return PositionBias(
        tuple(int(count) for count in picked),
        tuple(int(count) for count in keyed),
        tuple(float(count) for count in expected),
        p_value,
        int(np.argmax(picked - expected)),
    )
