"""A distribution with marks on it: people as a grey hill, models as labelled lines in it."""

from collections.abc import Sequence

from msgspec import Struct

from sociometer.analysis.charts.spec import Spec, inline, number_format


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
) -> Spec:
    """The distribution as an area, marks beneath it in rows so that their names never collide."""
    top = max((point.density for point in curve), default=1.0) or 1.0
    ordered = sorted(marks, key=lambda mark: mark.x)
    ends = [point.x for point in curve] + [mark.x for mark in marks]
    low, high = (min(ends), max(ends)) if ends else (0.0, 1.0)
    x: Spec = {"field": "x", "type": "quantitative", "title": None, "scale": {"domain": [low, high], "nice": True}}
    color: Spec = {"field": "kind", "type": "nominal", "title": None}
    hill: Spec = {
        "data": inline(curve),
        "width": "container",
        "height": 150,
        "layer": [
            {
                "mark": {"type": "area", "style": "people", "interpolate": "monotone", "line": False},
                "encoding": {"x": {**x, "axis": None}, "y": _height(top)},
            },
            {
                "data": inline(ordered),
                "mark": {"type": "rule", "style": "whisker"},
                "encoding": {"x": {**x, "axis": None}, "color": color},
            },
        ],
    }
    names: Spec = {
        "data": inline(ordered),
        "width": "container",
        "height": {"step": 20},
        "encoding": {
            "y": {"field": "label", "type": "nominal", "sort": [mark.label for mark in ordered], "title": None},
            "color": color,
        },
        "layer": [
            {
                "transform": [{"filter": "datum.low != null"}],
                "mark": {"type": "rule", "style": "whisker"},
                "encoding": {"x": {**x, "field": "low"}, "x2": {"field": "high"}},
            },
            {
                "mark": {"type": "point", "tooltip": True},
                "encoding": {
                    "x": {**x, "title": title or None},
                    "tooltip": [
                        {"field": "label", "title": "who"},
                        {"field": "x", "title": title or "value", "format": number_format(unit)},
                        {"field": "note", "title": "note"},
                    ],
                },
            },
        ],
    }
    return {"vconcat": [hill, names], "spacing": 6, "resolve": {"scale": {"x": "shared", "color": "shared"}}}


def _height(top: float) -> Spec:
    return {"field": "density", "type": "quantitative", "axis": None, "scale": {"domain": [0, top * 1.05]}}
