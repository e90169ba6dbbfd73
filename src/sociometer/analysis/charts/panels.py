"""Chart of values with their intervals in several panels, such as one for each trait: a row for each label."""

from collections.abc import Sequence

from msgspec import Struct

from sociometer.analysis.charts.spec import Spec, inline, nominal, number_format, order_of, quantitative, shaped


class PanelDot(Struct, frozen=True):
    """One value with its interval, in the panel and row it belongs to; colour and shape show its group."""

    panel: str
    label: str
    group: str
    value: float
    low: float | None = None
    high: float | None = None


def panel_chart(dots: Sequence[PanelDot], *, title: str = "", unit: str = "share", columns: int = 3) -> Spec:
    """Dots and whiskers in panels that share their axes, in the order in which they are given."""
    labels, groups = order_of(dot.label for dot in dots), order_of(dot.group for dot in dots)
    panels = order_of(dot.panel for dot in dots)
    bounds = [at for dot in dots for at in (dot.value, dot.low, dot.high) if at is not None]
    room = 0.05 * ((max(bounds) - min(bounds)) or 1)
    x = quantitative("value", title, unit, (min(bounds) - room, max(bounds) + room))
    x["axis"] = {**x["axis"], "tickCount": 4}
    y = nominal("label", labels)
    y["scale"]["paddingInner"] = 0.35
    shared: Spec = {"y": y, "yOffset": nominal("group", groups), "color": nominal("group", groups)}
    tooltip = [
        {"field": "panel", "title": "panel"},
        {"field": "label", "title": "group"},
        {"field": "group", "title": "level"},
        *({"field": end, "format": number_format(unit).replace("0%", "1%")} for end in ("value", "low", "high")),
    ]
    whisker: Spec = {
        "transform": [{"filter": "datum.low != null"}],
        "mark": {"type": "rule", "style": "whisker"},
        "encoding": {**shared, "x": {**x, "field": "low"}, "x2": {"field": "high"}},
    }
    point: Spec = {
        "mark": {"type": "point", "tooltip": True},
        "encoding": {**shared, "x": x, "shape": shaped("group", groups), "tooltip": tooltip},
    }
    height = {"step": 13, "for": "offset"} if len(groups) > 1 else {"step": 24}
    layer = [*([whisker] if any(dot.low is not None for dot in dots) else []), point]
    if len(panels) == 1:
        return {"data": inline(dots), "width": "container", "height": height, "layer": layer}
    return {
        "data": inline(dots),
        "transform": [{"window": [{"op": "row_number", "as": "place"}]}],
        "facet": {"field": "panel", "type": "nominal", "sort": {"field": "place", "op": "min"}, "title": None},
        "columns": columns,
        "spec": {"width": 190, "height": height, "layer": layer},
    }
