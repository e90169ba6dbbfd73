"""Clouds of points on a plane without a scale: one panel, or several side by side."""

from collections.abc import Sequence

from msgspec import Struct

from sociometer.statistics.charts.spec import Spec, inline, nominal, order_of, shaped

PANEL = 196
"""Width and height of a panel if there are several, in pixels; three fit side by side."""
COLUMNS = 3


class CloudPoint(Struct, frozen=True):
    """One point; `group` sets its colour and shape, an empty group makes it quiet; `note` appears in the tooltip."""

    x: float
    y: float
    group: str = ""
    panel: str = ""
    note: str = ""


def cloud_chart(points: Sequence[CloudPoint], *, own_legends: bool = False) -> Spec:
    """The points in one panel that fills the width, or in panels of equal size, each with its name.

    The panels share colours, shapes and one legend; with `own_legends` each panel has its own.
    """
    panels = order_of(point.panel for point in points)
    if len(panels) == 1:
        groups = order_of(point.group for point in points if point.group)
        return {"width": "container", "height": 420, **_panel(points, groups, size=42)}
    every = order_of(point.group for point in points if point.group)
    parts: list[Spec] = []
    for name in panels:
        own = [point for point in points if point.panel == name]
        groups = order_of(point.group for point in own if point.group) if own_legends else every
        part = _panel(
            own, groups, size=16, legend={"orient": "bottom", "columns": 1, "offset": 8} if own_legends else {}
        )
        parts.append(
            {"title": {"text": name, "fontSize": 12, "fontWeight": "normal"}, "width": PANEL, "height": PANEL, **part}
        )
    sharing = "independent" if own_legends else "shared"
    resolve = {"scale": {"color": sharing, "shape": sharing, "x": "independent", "y": "independent"}}
    return {"concat": parts, "columns": COLUMNS, "spacing": 18, "resolve": resolve}


def _panel(points: Sequence[CloudPoint], groups: Sequence[str], *, size: int, legend: Spec | None = None) -> Spec:
    """One panel: quiet points behind, the others by colour and shape."""
    place: Spec = {
        axis: {
            "field": axis,
            "type": "quantitative",
            "axis": None,
            "scale": {"zero": False, "nice": False, "padding": 8},
        }
        for axis in ("x", "y")
    }
    tooltip = [{"field": "group", "title": "group"}, {"field": "note", "title": "utterance"}]
    own: Spec = {"legend": legend} if legend else {}
    quiet = [point for point in points if not point.group]
    layers: list[Spec] = []
    if quiet:
        mark: Spec = {"type": "point", "style": "quiet", "shape": "circle", "size": size / 2, "opacity": 0.25}
        layers.append({"data": inline(quiet), "mark": mark, "encoding": place})
    layers.append(
        {
            "data": inline([point for point in points if point.group]),
            "mark": {"type": "point", "size": size, "tooltip": True, "opacity": 0.85},
            "encoding": {
                **place,
                "color": {**nominal("group", groups), **own},
                "shape": {**shaped("group", groups), **own},
                "tooltip": tooltip,
            },
        }
    )
    return {"layer": layers}
