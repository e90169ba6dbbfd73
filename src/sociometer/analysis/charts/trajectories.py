"""Trajectories: many dialogues as thin lines over turns, each subject's mean as a strong one, zones behind."""

from collections.abc import Sequence

from msgspec import Struct

from sociometer.analysis.charts.spec import COLOURS, Spec, dashed, inline, nominal, order_of


class Step(Struct, frozen=True):
    """One turn of one dialogue."""

    path: str
    turn: int
    value: float
    subject: str = ""


class Zone(Struct, frozen=True):
    """A named band of values behind the lines, such as a band of emotion."""

    label: str
    low: float
    high: float


def trajectory_chart(
    steps: Sequence[Step],
    *,
    zones: Sequence[Zone] = (),
    y_title: str = "",
    x_title: str = "turn",
    domain: Sequence[float] = (0, 100),
    thin: bool = True,
) -> Spec:
    """Lines by dialogue (left out with `thin=False`) and the mean by subject over the dialogues still going."""
    subjects = order_of(step.subject for step in steps)
    x: Spec = {"field": "turn", "type": "quantitative", "title": x_title, "scale": {"zero": False, "nice": False}}
    x["axis"] = {"grid": False, "format": "d", "tickMinStep": 1}
    scale = {"domain": list(domain)}
    y: Spec = {"field": "value", "type": "quantitative", "title": y_title or None, "scale": scale}
    color = nominal("subject", subjects)
    apart: Spec = {"color": color}
    if len(subjects) < 2:
        color["legend"] = None
    data = inline(steps)
    if len(subjects) > COLOURS:
        data, apart["strokeDash"] = dashed(steps, "subject", subjects)
    layers: list[Spec] = []
    for index, zone in enumerate(zones):
        named = {"values": [{"label": zone.label, "low": zone.low, "high": zone.high}]}
        span = {"y": {**y, "field": "low"}, "y2": {"field": "high"}}
        if index % 2 == 0:
            layers.append({"data": named, "mark": {"type": "rect", "style": "zone"}, "encoding": span})
        name: Spec = {"type": "text", "style": "reference-text", "align": "right", "dx": -6, "baseline": "top", "dy": 4}
        place = {"x": {"value": "width"}, "y": {**y, "field": "high"}, "text": {"field": "label"}}
        layers.append({"data": named, "mark": name, "encoding": place})
    if thin:
        layers.append(
            {
                "mark": {"type": "line", "strokeWidth": 1, "opacity": 0.28, "tooltip": True},
                "encoding": {
                    "x": x,
                    "y": y,
                    "color": color,
                    "detail": [{"field": "path"}],
                    "tooltip": [{"field": "path", "title": "dialogue"}, {"field": "subject", "title": "of"}],
                },
            }
        )
    layers.append(
        {
            "mark": {"type": "line", "strokeWidth": 3},
            "encoding": {"x": x, "y": {**y, "aggregate": "mean"}, **apart},
        }
    )
    return {"data": data, "width": "container", "height": 320, "layer": layers}
