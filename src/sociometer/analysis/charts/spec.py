"""Parts of a Vega-Lite specification that several charts use: data, axes, channels, reference lines."""

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct, structs

Spec = dict[str, Any]

COLOURS = 8
"""The number of colours in the theme; with more names, colours repeat."""
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right")
DASHES = ([1, 0], [6, 4], [2, 3], [10, 3, 2, 3])
LETTER = 6.2
"""The average width of a letter in the name of a reference line, in pixels."""


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


def quantitative(
    field: str, title: str, unit: str = "number", domain: Sequence[float] | None = None, **more: Any
) -> Spec:
    """A quantitative axis; shares are shown in percent, and `domain` fixes the range."""
    axis: Spec = {"tickCount": 6, "grid": True, **({"format": ".0%"} if unit == "share" else {})}
    scale: Spec = {"domain": list(domain), "clamp": True} if domain else {"zero": False, "nice": True}
    return {"field": field, "type": "quantitative", "title": title or None, "axis": axis, "scale": scale, **more}


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

    These are the colour and, if there are more series than colours, a dash.
    """
    color = coloured(field, names)
    if len(names) <= COLOURS:
        return inline(records), color, {"color": color}
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
    high = f"{' || '.join(apart)} ? -19 : -6" if apart else "-6"
    return {"align": {"expr": align}, "dy": {"expr": high}, "dx": 0}


def order_of(names: Iterable[str]) -> list[str]:
    """Distinct names in order of first appearance."""
    return list(dict.fromkeys(names))
