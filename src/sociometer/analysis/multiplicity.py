"""Corrections of p-values for multiple comparisons."""

import numpy as np
from numpy.typing import ArrayLike

from sociometer.analysis.clusters import Floats


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
