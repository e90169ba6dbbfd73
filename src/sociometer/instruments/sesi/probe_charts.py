"""The charts of a probe: changes against a control as bars, and values with intervals in several panels."""

from collections.abc import Sequence

from msgspec import Struct

from sociometer.statistics.charts.spec import Spec, inline, nominal, number_format, order_of, quantitative, shaped


class ChangeBar(Struct, frozen=True):
    """The change of one condition (a ratio: 0.1 is an increase of ten percent), its interval and its stars."""

    condition: str
    change: float
    stars: str = ""
    low: float | None = None
    high: float | None = None
    group: str = ""
    note: str = ""


def change_bars(bars: Sequence[ChangeBar], *, title: str = "Change against the control") -> Spec:
    """A bar from zero for each condition; one chart for each group if there are several."""
    conditions, groups = order_of(bar.condition for bar in bars), order_of(bar.group for bar in bars)
    x = quantitative("change", title, "share")
    x["scale"] = {"zero": True, "nice": True}
    y = nominal("condition", conditions)
    tooltip = [
        {"field": "condition", "title": "condition"},
        {"field": "change", "title": "change", "format": "+.1%"},
        {"field": "stars", "title": "significance"},
        {"field": "note", "title": "note"},
    ]
    bar: Spec = {"type": "bar", "height": {"band": 0.6}, "cornerRadius": 2, "tooltip": True}
    up: list[Spec] = [{"filter": "datum.change >= 0"}]
    down: list[Spec] = [{"filter": "datum.change < 0"}]
    text: Spec = {"type": "text", "style": "ink", "fontSize": 11, "baseline": "middle"}
    stars: Spec = {"x": {**x, "field": "tip"}, "y": y, "text": {"field": "stars"}}
    layer: list[Spec] = [
        {"transform": up, "mark": {**bar, "style": "good"}, "encoding": {"x": x, "y": y, "tooltip": tooltip}},
        {"transform": down, "mark": {**bar, "style": "bad"}, "encoding": {"x": x, "y": y, "tooltip": tooltip}},
        {"transform": [*up, _tip("high")], "mark": {**text, "align": "left", "dx": 5}, "encoding": stars},
        {"transform": [*down, _tip("low")], "mark": {**text, "align": "right", "dx": -5}, "encoding": stars},
    ]
    if any(bar.low is not None for bar in bars):
        span = {"x": {**x, "field": "low"}, "x2": {"field": "high"}, "y": y}
        keep = [{"filter": "datum.low != null"}]
        layer.append({"transform": keep, "mark": {"type": "rule", "style": "whisker"}, "encoding": span})
    if len(groups) < 2:
        return {"data": inline(bars), "width": "container", "height": {"step": 24}, "layer": layer}
    return {
        "data": inline(bars),
        "transform": [{"window": [{"op": "row_number", "as": "place"}]}],
        "facet": {"field": "group", "type": "nominal", "sort": {"field": "place", "op": "min"}, "title": None},
        "columns": 2,
        "spec": {"width": 300, "height": {"step": 20}, "layer": layer},
    }


def _tip(end: str) -> Spec:
    """The position of the stars: after the whisker if there is one."""
    return {"calculate": f"datum.{end} == null ? datum.change : datum.{end}", "as": "tip"}


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
