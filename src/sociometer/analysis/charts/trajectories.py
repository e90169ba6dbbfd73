"""Chart of trajectories: a thin line for each dialogue over turns, a thick line for each subject's mean, and zones."""

from collections.abc import Sequence

from msgspec import Struct

from sociometer.analysis.charts.spec import Spec, order_of, series_channels


class Step(Struct, frozen=True):
    """One turn of one dialogue."""

    path: str
    turn: int
    value: float
    subject: str = ""


class Zone(Struct, frozen=True):
    """A named range of values, shown behind the lines, such as a range of emotion."""

    label: str
    low: float
    high: float


def trajectory_chart(
    steps: Sequence[Step],
    *,
    zones: Sequence[Zone] = (),
    y_title: str = "",
) -> Spec:
    """A line for each dialogue and the mean of each subject over its dialogues that reach the turn."""
    subjects = order_of(step.subject for step in steps)
    x: Spec = {"field": "turn", "type": "quantitative", "title": "turn", "scale": {"zero": False, "nice": False}}
    x["axis"] = {"grid": False, "format": "d", "tickMinStep": 1}
    scale = {"domain": [0, 100]}
    y: Spec = {"field": "value", "type": "quantitative", "title": y_title or None, "scale": scale}
    data, color, channels = series_channels(steps, "subject", subjects)
    layers: list[Spec] = []
    for index, zone in enumerate(zones):
        named = {"values": [{"label": zone.label, "low": zone.low, "high": zone.high}]}
        span = {"y": {**y, "field": "low"}, "y2": {"field": "high"}}
        if index % 2 == 0:
            layers.append({"data": named, "mark": {"type": "rect", "style": "zone"}, "encoding": span})
        name: Spec = {"type": "text", "style": "reference-text", "align": "right", "dx": -6, "baseline": "top", "dy": 4}
        place = {"x": {"value": "width"}, "y": {**y, "field": "high"}, "text": {"field": "label"}}
        layers.append({"data": named, "mark": name, "encoding": place})
    layers += [
        {
            "mark": {"type": "line", "strokeWidth": 1, "opacity": 0.28, "tooltip": True},
            "encoding": {
                "x": x,
                "y": y,
                "color": color,
                "detail": [{"field": "path"}],
                "tooltip": [{"field": "path", "title": "dialogue"}, {"field": "subject", "title": "of"}],
            },
        },
        {
            "mark": {"type": "line", "strokeWidth": 3},
            "encoding": {"x": x, "y": {**y, "aggregate": "mean"}, **channels},
        },
    ]
    return {"data": data, "width": "container", "height": 320, "layer": layers}
