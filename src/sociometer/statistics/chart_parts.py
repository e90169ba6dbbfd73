"""The parts that kinds of charts share: data, axes, channels of names, lines for comparison, places for names."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct, structs

from sociometer.statistics.chart_theme import COLOURS, DASHES, SHAPES, Spec
from sociometer.statistics.intervals import Floats

PERCENT = "format(100 * datum.value, '.0f') + ' %'"
"""The label of a tick on an axis of shares, as the page writes percent."""
SHARES = {"share": PERCENT, "share-points": "format(100 * datum.value, '.0f')"}
"""How labels show shares, and differences of shares in points, by unit."""
MOST_TICKS = 12
"""The maximum number of labels on an axis of whole numbers."""
LETTER = 6.2
"""The average width of a letter in the name of a reference line or a point, in pixels."""
NAME_ROW, NAME_ROWS = 13, 4
"""The height of a row of names of reference lines, in pixels, and the maximum number of rows."""
WIDTH, HEIGHT = 620, 360
"""The size that names are placed for, in pixels; a page is a little wider."""
LINE = 14
CLEAR = 6
"""Half the width of a point."""
_NAME_WEIGHT = 20
"""A name that covers another name is worse than one that covers so many points."""
Box = tuple[float, float, float, float]
NAME_OFFSETS: Spec = {
    "align": {"expr": "datum.name_align"},
    "dx": {"expr": "datum.name_dx"},
    "dy": {"expr": "datum.name_dy"},
    "baseline": "middle",
}
"""The properties of a text mark that read the fields of a `NamePlace`."""


class ReferenceLine(Struct, frozen=True):
    """A value for comparison, such as chance, people, or the top."""

    label: str
    value: float


def inline(records: Iterable[Struct]) -> Spec:
    """Records as inline data."""
    return {"values": [structs.asdict(record) for record in records]}


def number_format(unit: str) -> str:
    """The d3 format of a unit: shares as percent, points with one decimal, other numbers with two."""
    return {"share": ".0%", "share-points": ".0%", "points": ".1f"}.get(unit, ".2f")


def tooltip(formats: Mapping[str, str], **titles: str) -> list[Spec]:
    """What a chart tells about a point: fields with their titles, some with a number format; the note at the end."""
    told: dict[str, str] = {**titles, "note": "note"}
    return [
        {"field": name, "title": title, **({"format": formats[name]} if name in formats else {})}
        for name, title in told.items()
    ]


def quantitative(
    field: str, title: str, unit: str = "number", domain: Sequence[float] | None = None, **more: Any
) -> Spec:
    """A quantitative axis; shares are shown in percent, and `domain` fixes the range."""
    axis: Spec = {"tickCount": 6, "grid": True, **({"labelExpr": SHARES[unit]} if unit in SHARES else {})}
    scale: Spec = {"domain": list(domain), "clamp": True} if domain else {"zero": False, "nice": True}
    return {"field": field, "type": "quantitative", "title": title or None, "axis": axis, "scale": scale, **more}


def whole_numbers(field: str, title: str, numbers: Iterable[float]) -> Spec:
    """An axis of whole numbers (rounds, turns, steps) with a label for each that occurs, or for every second, third, …

    The labels are listed, because an axis that chooses its ticks itself writes a tick at 1.5 as “2”.
    """
    known = sorted({round(number) for number in numbers})
    ticks = known[:: max(1, math.ceil(len(known) / MOST_TICKS))]
    axis: Spec = {"grid": False, "format": "d", "values": ticks}
    scale: Spec = {"zero": False, "nice": False, "padding": 8}
    return {"field": field, "type": "quantitative", "title": title or None, "axis": axis, "scale": scale}


def nominal(field: str, names: Sequence[str], **scale: Any) -> Spec:
    """A channel of names in the given order.

    The order is the domain of the scale and not a `sort`: Vega-Lite turns a sort into an expression that contains the
    names, and a name may come from a model and must never be evaluated.
    """
    return {"field": field, "type": "nominal", "title": None, "scale": {"domain": list(names), **scale}}


def shaped(field: str, names: Sequence[str]) -> Spec:
    """A channel of shapes; together with the colours it distinguishes 56 names."""
    return nominal(field, names, range=[SHAPES[place % len(SHAPES)] for place in range(len(names))])


def coloured(field: str, names: Sequence[str]) -> Spec:
    """A channel of colours by name, with a legend if there is more than one name."""
    channel = nominal(field, names)
    if len(names) < 2:
        channel["legend"] = None
    return channel


def series_channels(records: Sequence[Struct], field: str, names: Sequence[str]) -> tuple[Spec, Spec, Spec]:
    """The data of lines by series, their colour channel, and all channels that distinguish the lines.

    These are the colour and a dash, another one each time the colours repeat. The dash has its own field, `lap`, and
    no legend.
    """
    color = coloured(field, names)
    laps = {name: place // COLOURS % len(DASHES) for place, name in enumerate(names)}
    values = [{**structs.asdict(record), "lap": laps[getattr(record, field)]} for record in records]
    scale = {"domain": list(range(len(DASHES))), "range": list(DASHES)}
    dash = {"field": "lap", "type": "nominal", "legend": None, "scale": scale}
    return {"values": values}, color, {"color": color, "strokeDash": dash}


def reference_layers(lines: Sequence[ReferenceLine]) -> list[Spec]:
    """Dashed vertical lines, each with its name at the upper end."""
    layers: list[Spec] = []
    before: ReferenceLine | None = None
    row = "0"
    for line in sorted(lines, key=lambda line: line.value):
        data, at = {"values": [{"at": line.value, "name": line.label}]}, {"datum": line.value}
        row = _name_row(line, before, row) if before is not None else row
        side = f"scale('x', {line.value}) + {len(line.label) * LETTER / 2:.0f} > width ? 'right' : 'center'"
        height = {"expr": f"-9 - {NAME_ROW} * {row}"}
        name = {"type": "text", "style": "reference-text", "align": {"expr": side}, "dx": 0, "dy": height}
        layers += [
            {"data": data, "mark": {"type": "rule", "style": "reference"}, "encoding": {"x": at}},
            {"data": data, "mark": name, "encoding": {"x": at, "y": {"value": 0}, "text": {"field": "name"}}},
        ]
        before = line
    return layers


def _name_row(line: ReferenceLine, before: ReferenceLine, row: str) -> str:
    """The row of the name of a line, as an expression: above that of the line before it if the names would overlap."""
    near = (len(before.label) / 2 + len(line.label)) * LETTER
    apart = f"scale('x', {line.value}) - scale('x', {before.value})"
    return f"({apart} < {near:.0f} ? ({row} + 1) % {NAME_ROWS} : 0)"


def order_of(names: Iterable[str]) -> list[str]:
    """Distinct names in order of first appearance."""
    return list(dict.fromkeys(names))


class NamePlace(Struct, frozen=True, rename=lambda field: f"name_{field}"):
    """The offset of a name from its point, in pixels, and the side at which the name begins."""

    dx: int
    dy: int
    align: str


_TRIED = (
    NamePlace(10, -7, "left"), NamePlace(-10, -7, "right"), NamePlace(10, 9, "left"), NamePlace(-10, 9, "right"),
    NamePlace(0, -16, "center"), NamePlace(0, 18, "center"), NamePlace(10, -21, "left"), NamePlace(-10, -21, "right"),
    NamePlace(10, 23, "left"), NamePlace(-10, 23, "right"),
)  # fmt: skip


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
