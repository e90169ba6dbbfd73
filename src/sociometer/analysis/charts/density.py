"""A distribution with marks on it: people as a grey hill, models as labelled lines in it."""

from collections.abc import Sequence

from msgspec import Struct

from sociometer.analysis.charts.spec import Spec, inline, nominal, number_format

HILL = 150
ROW = 20


class DensityPoint(Struct, frozen=True):
    """Height of the distribution at x."""

    x: float
    density: float


class Mark(Struct, frozen=True):
    """Someone placed on the distribution; `kind` groups the marks (measured here, published)."""

    label: str
    x: float
    kind: str = "measured here"
    low: float | None = None
    high: float | None = None
    note: str = ""


def density_chart(
    curve: Sequence[DensityPoint],
    marks: Sequence[Mark],
    *,
    title: str = "",
    unit: str = "points",
    kinds: Sequence[str] = (),
) -> Spec:
    """The distribution as an area, marks beneath it in rows so that their names never collide.

    `kinds` in their order keep their colours, whichever of them have a mark.
    """
    top = max((point.density for point in curve), default=1.0) or 1.0
    ordered = sorted(marks, key=lambda mark: mark.x)
    ends = [point.x for point in curve] + [mark.x for mark in marks]
    ends += [end for mark in marks for end in (mark.low, mark.high) if end is not None]
    low, high = (min(ends), max(ends)) if ends else (0.0, 1.0)
    floor = HILL + ROW * len(ordered)
    x: Spec = {"field": "x", "type": "quantitative", "title": title or None, "axis": {"grid": False}}
    x["scale"] = {"domain": [low, high], "nice": True, "zero": False}
    color: Spec = {"field": "kind", "type": "nominal", "title": None}
    if kinds:
        present = [kind for kind in kinds if any(mark.kind == kind for mark in marks)]
        color |= {"scale": {"domain": list(kinds)}, "legend": {"values": present}}
    height = {"domain": [0, top], "range": [HILL, 0], "nice": False}
    y = nominal("label", [mark.label for mark in ordered], range=[HILL + 8, floor], padding=0.4)
    layers: list[Spec] = [
        {
            "data": inline(curve),
            "mark": {"type": "area", "style": "people", "interpolate": "monotone"},
            "encoding": {"x": x, "y": {"field": "density", "type": "quantitative", "axis": None, "scale": height}},
        },
        {
            "data": inline(ordered),
            "mark": {"type": "rule", "style": "whisker", "strokeWidth": 1.2},
            "encoding": {"x": x, "color": color, "y": {"value": 0}, "y2": {"value": HILL}},
        },
        {
            "data": inline(ordered),
            "mark": {"type": "point", "tooltip": True},
            "encoding": {
                "x": x,
                "y": y,
                "color": color,
                "tooltip": [
                    {"field": "label", "title": "who"},
                    {"field": "x", "title": title or "value", "format": number_format(unit)},
                    {"field": "note", "title": "note"},
                ],
            },
        },
    ]
    # the hill and the rows of names share the width but not the height
    hill, lines, *rest = layers
    if any(mark.low is not None for mark in marks):
        span = {"x": {**x, "field": "low"}, "x2": {"field": "high"}, "y": y, "color": color}
        keep = [{"filter": "datum.low != null"}]
        whisker: Spec = {"type": "rule", "style": "whisker"}
        rest.insert(0, {"data": inline(ordered), "transform": keep, "mark": whisker, "encoding": span})
    names: Spec = {"layer": rest}
    resolve = {"scale": {"y": "independent"}}
    return {"width": "container", "height": floor, "layer": [hill, lines, names], "resolve": resolve}
