"""The parts that several charts share: data, reference lines, axes that read as percent."""

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct, structs

Spec = dict[str, Any]


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


def reference_layers(lines: Sequence[ReferenceLine], channel: str = "x") -> list[Spec]:
    """Dashed lines across the chart, each with its name at the end."""
    layers: list[Spec] = []
    for line in lines:
        data = {"values": [{"at": line.value, "name": line.label}]}
        layers.append(
            {"data": data, "mark": {"type": "rule", "style": "reference"}, "encoding": {channel: {"datum": line.value}}}
        )
        place = {"y": {"value": 0}} if channel == "x" else {"x": {"value": "width"}}
        offset = {"dy": -6, "align": "center", "dx": 0} if channel == "x" else {"dy": -6, "align": "right", "dx": 0}
        layers.append(
            {
                "data": data,
                "mark": {"type": "text", "style": "reference-text", **offset},
                "encoding": {channel: {"datum": line.value}, **place, "text": {"field": "name"}},
            }
        )
    return layers


def order_of(names: Iterable[str]) -> list[str]:
    """Distinct names in order of first appearance, for a scale that keeps the given order."""
    return list(dict.fromkeys(names))
