"""A wheel of abilities: one petal each, as long as its score, coloured by the dimension it belongs to."""

import math
from collections.abc import Sequence

from msgspec import Struct, structs

from sociometer.analysis.charts.spec import Spec, nominal, order_of


class Petal(Struct, frozen=True):
    """One ability; `value` between 0 and 1, None where it was not asked."""

    ability: str
    dimension: str
    value: float | None
    low: float | None = None
    high: float | None = None
    items: int = 0


def wheel_chart(petals: Sequence[Petal], *, chance: float | None = None, size: int = 600) -> Spec:
    """The wheel, abilities clockwise in the order given, with a dashed ring at chance where it is known."""
    dimensions = order_of(petal.dimension for petal in petals)
    inner, outer = size * 0.08, size * 0.3
    values = [_placed(petal, place, len(petals), inner, outer) for place, petal in enumerate(petals)]
    color = nominal("dimension", dimensions)
    color["legend"] = {"orient": "bottom", "columns": 3}
    tooltip = [
        {"field": "ability", "title": "ability"},
        {"field": "dimension", "title": "dimension"},
        {"field": "value", "title": "accuracy", "format": ".1%"},
        {"field": "low", "title": "from", "format": ".1%"},
        {"field": "high", "title": "to", "format": ".1%"},
        {"field": "items", "title": "questions"},
    ]
    petal_mark: Spec = {"type": "arc", "padAngle": 0.012, "cornerRadius": 2}
    layers: list[Spec] = [
        {"mark": {**petal_mark, "style": "zone"}, "encoding": _arc("rim")},
        {
            "mark": {**petal_mark, "tooltip": True},
            "encoding": {**_arc("reach"), "color": color, "tooltip": tooltip},
        },
    ]
    if chance is not None:
        ring = inner + (outer - inner) * chance
        arc: Spec = {"type": "arc", "style": "ring", "innerRadius": ring, "outerRadius": ring}
        layers.append({"data": {"values": [{}]}, "mark": {**arc, "theta": 0, "theta2": 2 * math.pi}})
    layers += _names(values, outer, size)
    return {"data": {"values": values}, "width": size, "height": size, "layer": layers}


def _placed(petal: Petal, place: int, count: int, inner: float, outer: float) -> Spec:
    """A petal with its angles in radians and its radii in pixels."""
    return {
        **structs.asdict(petal),
        "place": place,
        "start": 2 * math.pi * place / count,
        "end": 2 * math.pi * (place + 1) / count,
        "inner": inner,
        "rim": outer,
        "reach": inner + (outer - inner) * (petal.value or 0.0),
    }


def _arc(reach: str) -> Spec:
    def exact(field: str) -> Spec:
        return {"field": field, "type": "quantitative", "scale": None, "stack": None}

    ends = {"theta2": {"field": "end"}, "radius2": {"field": "inner"}}
    return {"theta": exact("start"), "radius": exact(reach), **ends}


def _names(values: list[Spec], outer: float, size: int) -> list[Spec]:
    """Names around the rim, each turned to read outwards and never upside down."""
    layers: list[Spec] = []
    for entry in values:
        middle = 2 * math.pi * (entry["place"] + 0.5) / len(values)
        right = middle <= math.pi
        angle = math.degrees(middle) - 90 if right else math.degrees(middle) + 90
        reach = outer + 8
        share = "" if entry["value"] is None else f" {entry['value']:.0%}"
        layers.append(
            {
                "data": {"values": [{"text": entry["ability"] + share}]},
                "mark": {
                    "type": "text",
                    "style": "ink",
                    "fontSize": 10.5,
                    "align": "left" if right else "right",
                    "baseline": "middle",
                    "angle": angle,
                    "x": size / 2 + reach * math.sin(middle),
                    "y": size / 2 - reach * math.cos(middle),
                },
                "encoding": {"text": {"field": "text"}},
            }
        )
    return layers
