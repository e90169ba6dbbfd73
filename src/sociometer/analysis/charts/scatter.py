"""Scatter chart of models: one measure against another, with named points and optional intervals."""

import math
from collections.abc import Sequence

from msgspec import Struct, structs

from sociometer.analysis.charts.name_places import NAME_OFFSETS, along, name_fields, place_names
from sociometer.analysis.charts.spec import Spec, coloured, number_format, order_of, quantitative


class ScatterPoint(Struct, frozen=True):
    """One named point; `group` sets its colour, `y_low` and `y_high`, `x_low` and `x_high` its whiskers."""

    label: str
    x: float
    y: float
    group: str = ""
    y_low: float | None = None
    y_high: float | None = None
    size: float | None = None
    note: str = ""
    x_low: float | None = None
    x_high: float | None = None


def scatter_chart(
    points: Sequence[ScatterPoint],
    *,
    x_title: str,
    y_title: str,
    y_unit: str = "number",
    x_unit: str = "number",
    log_x: bool = False,
    trend: bool = False,
) -> Spec:
    """Scatter chart with names next to the points; `trend` adds the least-squares line."""
    groups = order_of(point.group for point in points)
    x, y = quantitative("x", x_title, x_unit), quantitative("y", y_title, y_unit)
    if log_x:
        x |= {"scale": {"type": "log", "nice": True}, "axis": {"format": "~s", "tickCount": 6, "grid": False}}
    color = {"color": coloured("group", groups)} if len(groups) > 1 else {}
    mark: Spec = {"type": "point", "tooltip": True, "size": 90}
    point: Spec = {
        "x": x,
        "y": y,
        **color,
        "tooltip": [
            {"field": "label", "title": "who"},
            {"field": "x", "title": x_title, "format": number_format(x_unit)},
            {"field": "y", "title": y_title, "format": number_format(y_unit)},
            {"field": "note", "title": "note"},
        ],
    }
    if any(entry.size is not None for entry in points):
        point["size"] = {"field": "size", "type": "quantitative", "title": None, "legend": None}
    layers: list[Spec] = [{"mark": mark, "encoding": point}]
    if any(entry.y_low is not None for entry in points):
        span = {"x": x, "y": {**y, "field": "y_low"}, "y2": {"field": "y_high"}, **color}
        keep = [{"filter": "datum.y_low != null"}]
        layers.insert(0, {"transform": keep, "mark": {"type": "rule", "style": "whisker"}, "encoding": span})
    if any(entry.x_low is not None for entry in points):
        across_span = {"y": y, "x": {**x, "field": "x_low"}, "x2": {"field": "x_high"}, **color}
        some = [{"filter": "datum.x_low != null"}]
        layers.insert(0, {"transform": some, "mark": {"type": "rule", "style": "whisker"}, "encoding": across_span})
    if trend:
        method = {"regression": "y", "on": "x", **({"method": "log"} if log_x else {})}
        line: Spec = {"type": "line", "style": "reference"}
        layers.insert(0, {"transform": [method], "mark": line, "encoding": {"x": x, "y": y}})
    text: Spec = {"type": "text", "style": "ink", "fontSize": 11, **NAME_OFFSETS}
    layers.append({"mark": text, "encoding": {"x": x, "y": y, "text": {"field": "label"}}})
    across = [math.log10(entry.x) for entry in points] if log_x else [entry.x for entry in points]
    # the whiskers are points without names, so that no name crosses one
    whiskers = [
        (x, y)
        for entry, x in zip(points, across, strict=True)
        if entry.y_low is not None and entry.y_high is not None
        for y in along(entry.y_low, entry.y_high)
    ]
    places = place_names(
        [*(entry.label for entry in points), *("" for _ in whiskers)],
        [*across, *(x for x, _ in whiskers)],
        [*(entry.y for entry in points), *(y for _, y in whiskers)],
    )
    values = [structs.asdict(entry) | name_fields(place) for entry, place in zip(points, places, strict=False)]
    return {"data": {"values": values}, "width": "container", "height": 360, "layer": layers}
