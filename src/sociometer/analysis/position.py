"""Position bias: whether a subject picks options by where they stand rather than by what they say."""

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from scipy import stats


class PositionBias(Struct, frozen=True):
    """Picks and keys by position; p-value of "picks are spread as evenly as the options offered"."""

    picked: tuple[int, ...]
    keyed: tuple[int, ...]
    expected: tuple[float, ...]
    p_value: float
    most: int
    """Position picked most often beyond what was expected, counted from 0."""


def position_bias(picks: Sequence[int], keys: Sequence[int], options: Sequence[int] | int) -> PositionBias:
    """Chi-square test of picked positions against even choice among the options each item offered.

    Unreadable replies are left out by the caller. With very unequal numbers of options the expected counts
    differ by position; assumes items to be independent. A good subject on unbalanced keys is biased in this
    sense too: read it beside `keyed`.
    """
    if len(picks) != len(keys) or not picks:
        raise ValueError(f"picks and keys must match and not be empty: {len(picks)} and {len(keys)}")
    offered = np.full(len(picks), options) if isinstance(options, int) else np.asarray(options)
    width = int(offered.max())
    expected = np.array([(1 / offered[offered > place]).sum() for place in range(width)])
    picked = np.bincount(np.asarray(picks), minlength=width).astype(np.float64)
    keyed = np.bincount(np.asarray(keys), minlength=width)
    p_value = float(stats.chisquare(picked, expected).pvalue)
    return PositionBias(
        tuple(int(count) for count in picked),
        tuple(int(count) for count in keyed),
        tuple(float(count) for count in expected),
        p_value,
        int(np.argmax(picked - expected)),
    )
