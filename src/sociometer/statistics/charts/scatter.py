"""Where the names of points go, so that they cover neither each other nor the points."""

import math
from collections.abc import Sequence

import numpy as np
from msgspec import Struct, structs

from sociometer.statistics.charts.spec import LETTER, Spec, coloured, number_format, order_of, quantitative, tooltip
from sociometer.statistics.intervals import Floats

WIDTH, HEIGHT = 620, 360
"""The size that names are placed for, in pixels; a page is a little wider."""
LINE = 14
CLEAR = 6
"""Half the width of a point."""


class NamePlace(Struct, frozen=True):
    """The offset of a name from its point, in pixels, and the side at which the name begins."""

    dx: int
    dy: int
    align: str


_TRIED = (
    NamePlace(10, -7, "left"),
    NamePlace(-10, -7, "right"),
    NamePlace(10, 9, "left"),
    NamePlace(-10, 9, "right"),
    NamePlace(0, -16, "center"),
    NamePlace(0, 18, "center"),
    NamePlace(10, -21, "left"),
    NamePlace(-10, -21, "right"),
    NamePlace(10, 23, "left"),
    NamePlace(-10, 23, "right"),
)
_STEPS = 8
_NAME_WEIGHT = 20
"""A name that covers another name is worse than one that covers so many points."""
Box = tuple[float, float, float, float]

NAME_OFFSETS: Spec = {
    "align": {"expr": "datum.name_align"},
    "dx": {"expr": "datum.name_dx"},
    "dy": {"expr": "datum.name_dy"},
    "baseline": "middle",
}
"""The properties of a text mark that read the fields of `name_fields`."""


def name_fields(place: NamePlace) -> Spec:
    """A place as fields of a point's data."""
    return {"name_dx": place.dx, "name_dy": place.dy, "name_align": place.align}


def along(low: float, high: float) -> list[float]:
    """Places along a whisker, for `place_names`: points without a name, which names do not cover."""
    return [low + (high - low) * step / _STEPS for step in range(_STEPS + 1)]


def place_names(names: Sequence[str], xs: Sequence[float], ys: Sequence[float]) -> list[NamePlace]:
    """A place for each name: the first of ten around its point that is inside the chart and covers the least."""
    across, down = _scaled(xs, WIDTH), _scaled(ys, HEIGHT, turned=True)
    points = np.array([(x - CLEAR, y - CLEAR, x + CLEAR, y + CLEAR) for x, y in zip(across, down, strict=True)])
    taken = np.empty((len(names), 4))
    found: list[NamePlace] = []
    for number, (name, x, y) in enumerate(zip(names, across, down, strict=True)):
        boxes = [(place, _box(name, x, y, place)) for place in _TRIED]
        inside = [pair for pair in boxes if pair[1][0] >= 0 and pair[1][2] <= WIDTH] or boxes[:1]
        tried = np.array([box for _, box in inside])
        least = np.argmin(_NAME_WEIGHT * _covered(tried, taken[:number]) + _covered(tried, points))
        place, taken[number] = inside[least]
        found.append(place)
    return found


def _scaled(values: Sequence[float], size: int, *, turned: bool = False) -> list[float]:
    low, high = min(values, default=0.0), max(values, default=1.0)
    reach = (high - low) or 1.0
    shares = [0.05 + 0.9 * (value - low) / reach for value in values]
    return [size * (1 - share if turned else share) for share in shares]


def _box(name: str, x: float, y: float, place: NamePlace) -> Box:
    wide = len(name) * LETTER
    left = x + place.dx - {"left": 0.0, "center": wide / 2, "right": wide}[place.align]
    return left, y + place.dy - LINE / 2, left + wide, y + place.dy + LINE / 2


def _covered(boxes: Floats, others: Floats) -> Floats:
    """For each box, the number of other boxes that it covers a part of."""
    left, top, right, bottom = (side[:, None] for side in boxes.T)
    covers = (left < others[:, 2]) & (others[:, 0] < right) & (top < others[:, 3]) & (others[:, 1] < bottom)
    return np.asarray(covers.sum(axis=1), dtype=np.float64)


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
    formats = {"x": number_format(x_unit), "y": number_format(y_unit)}
    point: Spec = {"x": x, "y": y, **color, "tooltip": tooltip(formats, label="who", x=x_title, y=y_title)}
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
