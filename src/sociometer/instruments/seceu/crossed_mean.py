"""The mean of values that cross two random facets, such as items and wordings, with an interval over both.

y = μ + item + wording + rest. The variance of the mean of n items under m wordings is estimated by
(MS items + MS wordings − MS rest) / (n m), with Satterthwaite's degrees of freedom. It is never below that of items
alone, so that a wording which happens to differ little does not make the interval narrower than one wording's.

Reference: Brennan, R. L. (2001). Generalizability Theory, chapters 3 and 6.
"""

import math

import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike

from sociometer.core.measure import Interval
from sociometer.statistics.distributions import t_quantile
from sociometer.statistics.intervals import MINIMUM_CLUSTERS, too_few

METHOD = "items and wordings crossed, Satterthwaite"


class CrossedMean(Struct, frozen=True):
    """The mean, its interval, and the standard error that each facet contributes."""

    mean: float
    interval: Interval
    item_error: float
    wording_error: float
    rest_error: float


def crossed_mean(table: ArrayLike, level: float = 0.95) -> CrossedMean:
    """The mean of a table of items (rows) by wordings (columns) without gaps."""
    values = np.asarray(table, float)
    if values.ndim != 2 or min(values.shape) < 2 or not np.isfinite(values).all():
        raise ValueError(f"a table of at least two items by two wordings is needed, without gaps; not {values.shape}")
    n, m = values.shape
    mean = float(values.mean())
    rows, columns = values.mean(axis=1), values.mean(axis=0)
    rest = values - rows[:, None] - columns[None, :] + mean
    ms_rows = m * float(np.square(rows - mean).sum()) / (n - 1)
    ms_columns = n * float(np.square(columns - mean).sum()) / (m - 1)
    ms_rest = float(np.square(rest).sum()) / ((n - 1) * (m - 1))
    errors = (
        math.sqrt(max(0.0, ms_rows - ms_rest) / (n * m)),
        math.sqrt(max(0.0, ms_columns - ms_rest) / (n * m)),
        math.sqrt(ms_rest / (n * m)),
    )
    if n < MINIMUM_CLUSTERS:
        return CrossedMean(mean, too_few(n, level), *errors)
    above = max(0.0, ms_columns - ms_rest)
    variance = (ms_rows + above) / (n * m)
    parts = ms_rows**2 / (n - 1)
    if above:
        parts += ms_columns**2 / (m - 1) + ms_rest**2 / ((n - 1) * (m - 1))
    freedom = max(1.0, (ms_rows + above) ** 2 / parts) if parts else float(n - 1)
    half = t_quantile(0.5 + level / 2, freedom) * math.sqrt(variance)
    return CrossedMean(mean, Interval(mean - half, mean + half, level, METHOD, n), *errors)
