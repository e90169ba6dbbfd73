"""Line chart with bands: a value over an ordered axis (rounds, sizes, turns), one line for each series."""

from collections.abc import Sequence

from msgspec import Struct

from sociometer.statistics.charts.spec import (
    Spec,
    inline,
    number_format,
    order_of,
    quantitative,
    series_channels,
    shaped,
    tooltip,
    whole_numbers,
)


class CurvePoint(Struct, frozen=True):
    """One point of a series; `low` and `high` are its band."""

    x: float
    y: float
    series: str = ""
    low: float | None = None
    high: float | None = None
    note: str = ""


def curve_chart(
    points: Sequence[CurvePoint],
    *,
    x_title: str = "",
    y_title: str = "",
    unit: str = "number",
    domain: Sequence[float] | None = None,
    truth: Sequence[CurvePoint] = (),
) -> Spec:
    """Lines with bands; `truth` is a dashed line behind them (such as the opponent's actual choices)."""
    series = order_of(point.series for point in points)
    x = whole_numbers("x", x_title, (point.x for point in (*points, *truth)))
    y = quantitative("y", y_title, unit, domain)
    data, color, channels = series_channels(points, "series", series)
    layers: list[Spec] = []
    if truth:
        layers.append(
            {
                "data": inline(truth),
                "mark": {"type": "line", "style": "reference", "interpolate": "linear"},
                "encoding": {"x": x, "y": y},
            }
        )
    if any(point.low is not None for point in points):
        span = {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}, "color": color}
        keep = [{"filter": "datum.low != null"}]
        layers.append({"transform": keep, "mark": {"type": "area", "style": "band"}, "encoding": span})
    layers += [
        {"mark": {"type": "line"}, "encoding": {"x": x, "y": y, **channels}},
        {
            "mark": {"type": "point", "size": 36, "tooltip": True},
            "encoding": {
                "x": x,
                "y": y,
                "color": color,
                **({"shape": shaped("series", series)} if len(series) > 1 else {}),
                "tooltip": tooltip({"y": number_format(unit)}, series="group", x=x_title or "x", y=y_title or "y"),
            },
        },
    ]
    return {"data": data, "width": "container", "height": 300, "layer": layers}
