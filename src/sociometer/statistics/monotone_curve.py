"""A smooth monotone curve through published points, such as a printed table of percentiles."""

import numpy as np
from numpy.typing import ArrayLike

from sociometer.core.lazy import lazy
from sociometer.statistics.intervals import Floats

interpolate = lazy("scipy.interpolate")
optimize = lazy("scipy.optimize")


class MonotoneCurve:
    """Monotone curve through points (x, y): isotonic regression of the points, then PCHIP interpolation.

    Outside the points it is constant. References: Fritsch and Carlson (1980), SIAM J. Numer.
    Anal. 17 (PCHIP); Barlow and Brunk (1972), JASA 67 (isotonic regression).
    """

    def __init__(self, x: ArrayLike, y: ArrayLike, *, increasing: bool = True) -> None:
        """Needs at least two different x; the caller states the direction."""
        first, second = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
        knots, codes, counts = np.unique(first, return_inverse=True, return_counts=True)
        if knots.size < 2:
            raise ValueError(f"a curve needs two different points, not {knots.size}")
        means = np.bincount(codes, weights=second) / counts
        fitted = optimize.isotonic_regression(means, weights=counts.astype(np.float64), increasing=increasing)
        self.x: Floats = knots
        self.y: Floats = np.asarray(fitted.x, dtype=np.float64)
        self._curve = interpolate.PchipInterpolator(self.x, self.y)

    def __call__(self, x: ArrayLike) -> Floats:
        """The value of the curve at x."""
        inside = np.clip(np.asarray(x, dtype=np.float64), self.x[0], self.x[-1])
        return np.asarray(self._curve(inside), dtype=np.float64)
