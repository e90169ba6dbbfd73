"""Bar chart of changes against a control: increases and decreases in two colours, with stars at the end."""

from collections.abc import Sequence

from msgspec import Struct

from sociometer.analysis.charts.spec import Spec, inline, nominal, order_of, quantitative


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
