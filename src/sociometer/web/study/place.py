"""Where a participant is on the curve of people's scores."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from msgspec import Struct

from sociometer.core.measure import Interval, Summary
from sociometer.statistics.monotone_curve import MonotoneCurve

WIDTH, HEIGHT, FLOOR = 640, 240, 200
_LOW, _HIGH, _WINDOW, _CURVE_STEPS = 40.0, 150.0, 6.0, 111
"""The range of EQs of the curve; it is smoothed, because percentiles are printed as whole numbers."""


class PlaceOnNorm(Struct, frozen=True):
    """The curve as points of a picture, and where the participant is."""

    curve: str
    below: str
    x: float
    eq: int
    percent: int
    ticks: tuple[tuple[float, int], ...]
    people: int
    bounds: str = ""
    """The interval of the EQ: “92 to 110”; empty if there are too few items for one."""
    span: tuple[float, float] | None = None
    """The interval in the picture: where it begins, and how wide it is."""


def place_of(summary: Summary) -> PlaceOnNorm | None:
    """The place on the norm according to a summary; None without a norm, or if nothing was scored."""
    norm: dict[str, Any] | None = summary.series.get("norm")
    eq, percentile = summary.measure("eq"), summary.measure("percentile")
    if norm is None or eq is None or eq.value is None or percentile is None or percentile.value is None:
        return None
    pairs = norm["score_below"]
    curve = MonotoneCurve([x for x, _ in pairs], [y for _, y in pairs], increasing=False)
    xs = np.linspace(_LOW, _HIGH, _CURVE_STEPS)

    def below(eqs: Any) -> Any:
        return curve(norm["mean"] - (eqs - 100) * norm["deviation"] / 15)

    heights = np.maximum(0.0, below(xs + _WINDOW) - below(xs - _WINDOW))
    heights = heights / max(float(heights.max()), 1e-9) * (FLOOR - 20)
    points = [(_across(float(x)), FLOOR - float(height)) for x, height in zip(xs, heights, strict=True)]
    at = _across(min(_HIGH, max(_LOW, eq.value)))
    height = float(np.interp(min(_HIGH, max(_LOW, eq.value)), xs, heights))
    left = [*(point for point in points if point[0] < at), (at, FLOOR - height)]
    return PlaceOnNorm(
        _path(points),
        _path([(points[0][0], FLOOR), *left, (at, FLOOR)]),
        round(at, 1),
        round(eq.value),
        # Nobody is better than all people: a sample has ends, a population has none.
        min(99, max(1, round(100 * percentile.value))),
        tuple((round(_across(tick), 1), tick) for tick in range(55, 146, 15)),
        int(norm["people"]),
        *_bounds(eq.interval),
    )


def _bounds(interval: Interval | None) -> tuple[str, tuple[float, float] | None]:
    if interval is None or interval.low is None or interval.high is None:
        return "", None
    low, high = (_across(min(_HIGH, max(_LOW, end))) for end in (interval.low, interval.high))
    return f"{interval.low:.0f} – {interval.high:.0f}", (round(low, 1), round(high - low, 1))


def _across(eq: float) -> float:
    return 20 + (WIDTH - 40) * (eq - _LOW) / (_HIGH - _LOW)


def _path(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
