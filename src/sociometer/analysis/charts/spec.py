"""The parts that several charts share: data, reference lines, axes that read as percent."""

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct, structs

Spec = dict[str, Any]

COLOURS = 8
"""How many names the theme's colours tell apart."""
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right")
DASHES = ([1, 0], [6, 4], [2, 3], [10, 3, 2, 3])
LETTER = 6.2
"""The usual width of a letter in the name of a reference line, in pixels."""


class ReferenceLine(Struct, frozen=True):
    """A value to compare with, such as chance, people, or the best one can do."""

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
    """A quantitative axis; shares read as percent, and the domain is fixed where one is given."""
    axis: Spec = {"tickCount": 6, "grid": True, **({"format": ".0%"} if unit == "share" else {})}
    scale: Spec = {"domain": list(domain), "clamp": True} if domain else {"zero": False, "nice": True}
    return {"field": field, "type": "quantitative", "title": title or None, "axis": axis, "scale": scale, **more}


def nominal(field: str, names: Sequence[str], **scale: Any) -> Spec:
    """A channel of names in the order given.

    The order is the scale's domain, not a `sort`: Vega-Lite turns a sort into an expression with the names in it,
    and a name is data (a model's, perhaps) that must never be read as an expression.
    """
    return {"field": field, "type": "nominal", "title": None, "scale": {"domain": list(names), **scale}}


def shaped(field: str, names: Sequence[str]) -> Spec:
    """A channel of shapes that tells names apart where colours come round: no two of 56 share both."""
    return nominal(field, names, range=[SHAPES[place % len(SHAPES)] for place in range(len(names))])


def dashed(records: Sequence[Struct], field: str, names: Sequence[str]) -> tuple[Spec, Spec]:
    """Records as inline data, and a channel of dashes: another each time the colours come round.

    The dash has a field of its own, `lap`, so that no legend is made of it.
    """
    laps = {name: place // COLOURS % len(DASHES) for place, name in enumerate(names)}
    values = [{**structs.asdict(record), "lap": laps[getattr(record, field)]} for record in records]
    scale = {"domain": list(range(len(DASHES))), "range": list(DASHES)}
    return {"values": values}, {"field": "lap", "type": "nominal", "legend": None, "scale": scale}


def reference_layers(lines: Sequence[ReferenceLine], channel: str = "x") -> list[Spec]:
    """Dashed lines across the chart, each with its name at the end."""
    layers: list[Spec] = []
    before: list[ReferenceLine] = []
    for line in sorted(lines, key=lambda line: line.value):
        data = {"values": [{"at": line.value, "name": line.label}]}
        layers.append(
            {"data": data, "mark": {"type": "rule", "style": "reference"}, "encoding": {channel: {"datum": line.value}}}
        )
        place = {"y": {"value": 0}} if channel == "x" else {"x": {"value": "width"}}
        offset = _room_for(line, before) if channel == "x" else {"dy": -6, "align": "right", "dx": 0}
        layers.append(
            {
                "data": data,
                "mark": {"type": "text", "style": "reference-text", **offset},
                "encoding": {channel: {"datum": line.value}, **place, "text": {"field": "name"}},
            }
        )
        before.append(line)
    return layers


def _room_for(line: ReferenceLine, before: Sequence[ReferenceLine]) -> Spec:
    """Where the name of an upright line stands: inside the chart however narrow, and above a name it would cover."""
    half = len(line.label) * LETTER / 2
    align = f"scale('x', {line.value}) + {half:.0f} > width ? 'right' : 'center'"
    apart = [
        f"scale('x', {line.value}) - scale('x', {other.value}) < {len(other.label) * LETTER / 2 + 2 * half:.0f}"
        for other in before[-1:]
    ]
    high = f"{' || '.join(apart)} ? -19 : -6" if apart else "-6"
    return {"align": {"expr": align}, "dy": {"expr": high}, "dx": 0}


def order_of(names: Iterable[str]) -> list[str]:
    """Distinct names in order of first appearance, for a scale that keeps the given order."""
    return list(dict.fromkeys(names))
