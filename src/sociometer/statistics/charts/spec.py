"""Parts of a Vega-Lite specification that several charts use: data, axes, channels, reference lines."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct, structs

Spec = dict[str, Any]

COLOURS = 8
"""The number of colours in the theme; with more names, colours repeat."""
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right")
DASHES = ([1, 0], [6, 4], [2, 3], [10, 3, 2, 3])
PERCENT = "format(100 * datum.value, '.0f') + ' %'"
"""The label of a tick on an axis of shares, as the page writes percent."""
MOST_TICKS = 12
"""The maximum number of labels on an axis of whole numbers."""
LETTER = 6.2
"""The average width of a letter in the name of a reference line or a point, in pixels."""


class ReferenceLine(Struct, frozen=True):
    """A value for comparison, such as chance, people, or the top."""

    label: str
    value: float


def inline(records: Iterable[Struct]) -> Spec:
    """Records as inline data."""
    return {"values": [structs.asdict(record) for record in records]}


def number_format(unit: str) -> str:
    """The d3 format of a unit: shares as percent, points with one decimal, other numbers with two."""
    return {"share": ".0%", "points": ".1f"}.get(unit, ".2f")


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
    axis: Spec = {"tickCount": 6, "grid": True, **({"labelExpr": PERCENT} if unit == "share" else {})}
    scale: Spec = {"domain": list(domain), "clamp": True} if domain else {"zero": False, "nice": True}
    return {"field": field, "type": "quantitative", "title": title or None, "axis": axis, "scale": scale, **more}


def whole_numbers(field: str, title: str, numbers: Iterable[float]) -> Spec:
    """An axis of whole numbers (rounds, turns, hands) with one label for each, or for every second, third, …

    The labels are listed, because an axis that chooses its ticks itself writes a tick at 1.5 as “2”.
    """
    known = [round(number) for number in numbers]
    low, high = min(known, default=0), max(known, default=1)
    step = max(1, math.ceil((high - low + 1) / MOST_TICKS))
    ticks = list(range(low, high + 1, step))
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

    These are the colour and a dash, which is solid for as many series as there are colours.
    """
    color = coloured(field, names)
    data, dash = _dashed(records, field, names)
    return data, color, {"color": color, "strokeDash": dash}


def _dashed(records: Sequence[Struct], field: str, names: Sequence[str]) -> tuple[Spec, Spec]:
    """Records as inline data, and a channel with another dash each time the colours repeat.

    The dash has its own field, `lap`, and no legend.
    """
    laps = {name: place // COLOURS % len(DASHES) for place, name in enumerate(names)}
    values = [{**structs.asdict(record), "lap": laps[getattr(record, field)]} for record in records]
    scale = {"domain": list(range(len(DASHES))), "range": list(DASHES)}
    return {"values": values}, {"field": "lap", "type": "nominal", "legend": None, "scale": scale}


def reference_layers(lines: Sequence[ReferenceLine]) -> list[Spec]:
    """Dashed vertical lines, each with its name at the upper end."""
    layers: list[Spec] = []
    before: list[ReferenceLine] = []
    for line in sorted(lines, key=lambda line: line.value):
        data = {"values": [{"at": line.value, "name": line.label}]}
        layers.append(
            {"data": data, "mark": {"type": "rule", "style": "reference"}, "encoding": {"x": {"datum": line.value}}}
        )
        layers.append(
            {
                "data": data,
                "mark": {"type": "text", "style": "reference-text", **_name_position(line, before)},
                "encoding": {"x": {"datum": line.value}, "y": {"value": 0}, "text": {"field": "name"}},
            }
        )
        before.append(line)
    return layers


def _name_position(line: ReferenceLine, before: Sequence[ReferenceLine]) -> Spec:
    """The position of the name of a line: inside the chart at any width, and above a name that it would overlap."""
    half = len(line.label) * LETTER / 2
    align = f"scale('x', {line.value}) + {half:.0f} > width ? 'right' : 'center'"
    apart = [
        f"scale('x', {line.value}) - scale('x', {other.value}) < {len(other.label) * LETTER / 2 + 2 * half:.0f}"
        for other in before[-1:]
    ]
    high = f"{' || '.join(apart)} ? -22 : -9" if apart else "-9"
    return {"align": {"expr": align}, "dy": {"expr": high}, "dx": 0}


def order_of(names: Iterable[str]) -> list[str]:
    """Distinct names in order of first appearance."""
    return list(dict.fromkeys(names))
