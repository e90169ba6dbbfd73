"""Distributions of people estimated from a percentile curve, for norms without individual scores."""

from collections.abc import Callable
from typing import Any

import numpy as np

from sociometer.statistics.charts.density import DensityPoint
from sociometer.statistics.monotone_curve import MonotoneCurve

EQ_WINDOW, SIMILARITY_WINDOW = 6.0, 0.06
STEPS = 121


def eq_density(norm: dict[str, Any]) -> list[DensityPoint]:
    """Return the density of people's EQs, from a norm as a summary's series holds it."""
    pairs = norm["score_below"]
    curve = MonotoneCurve([x for x, _ in pairs], [y for _, y in pairs], increasing=False)

    def below(eq: float) -> float:
        return float(curve(norm["mean"] - (eq - 100) * norm["deviation"] / 15)) / 100

    return _density(below, 30, 140, EQ_WINDOW)


def similarity_density(norm: dict[str, Any]) -> list[DensityPoint]:
    """Return the density of people's pattern similarities."""
    mean, spread = norm["similarity_mean"], 4 * norm["similarity_deviation"]
    pairs = [*norm["similarity_below"], [mean - spread, 0.0], [mean + spread, 100.0]]
    curve = MonotoneCurve([x for x, _ in pairs], [y for _, y in pairs])
    return _density(lambda value: float(curve(value)) / 100, mean - spread, mean + spread, SIMILARITY_WINDOW)


def _density(below: Callable[[float], float], low: float, high: float, window: float) -> list[DensityPoint]:
    """The slope over a window on either side, because rounded percentiles make the bare derivative jagged."""
    return [
        DensityPoint(round(float(x), 4), max(0.0, (below(x + window) - below(x - window)) / (2 * window)))
        for x in np.linspace(low, high, STEPS)
    ]
