"""Worst-case bounds of a mean with missing observations, so that dropping failures cannot improve a score."""

import numpy as np
from numpy.typing import ArrayLike


def missing_bounds(values: ArrayLike, missing: int, lowest: float, highest: float) -> tuple[float, float]:
    """The mean if every missing observation had the lowest value, and if every one had the highest.

    Reference: Manski, C. F. (1989). Anatomy of the selection problem. Journal of Human Resources 24.
    """
    seen = np.asarray(values, dtype=np.float64)
    if missing < 0:
        raise ValueError(f"the number of missing observations cannot be negative: {missing}")
    total = seen.size + missing
    if total == 0:
        return lowest, highest
    return float((seen.sum() + missing * lowest) / total), float((seen.sum() + missing * highest) / total)
