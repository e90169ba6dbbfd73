"""Chart of trajectories: a thin line for each dialogue over turns, a thick line for each subject's mean, and zones."""

from collections.abc import Sequence

from msgspec import Struct

from sociometer.statistics.charts.spec import Spec, order_of, series_channels, shaped, whole_numbers

FEW = 3
"""With more subjects than this, the lines of single dialogues cover each other and are left out."""


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
    """The mean of each subject over its dialogues that reach the turn; for a few subjects, a line for each dialogue.

    The names of the zones are labels of a second axis on the right, so that no line crosses them.
    """
    subjects = order_of(step.subject for step in steps)
    x = whole_numbers("turn", "turn", (step.turn for step in steps))
    scale = {"domain": [0, 100]}
    y: Spec = {"field": "value", "type": "quantitative", "title": y_title or None, "scale": scale}
    few = len(subjects) <= FEW
    data, color, channels = series_channels(steps if few else _means(steps), "subject", subjects)
    path: Spec = {
        "mark": {"type": "line", "strokeWidth": 1, "opacity": 0.28, "tooltip": True},
        "encoding": {
            "x": x,
            "y": y,
            "color": color,
            "detail": [{"field": "path"}],
            "tooltip": [{"field": "path", "title": "dialogue"}, {"field": "subject", "title": "subject"}],
        },
    }
    # with zones every layer has an axis of its own, and one on the left is enough
    once: Spec = {"axis": None} if few and zones else {}
    mean: Spec = {
        "mark": {"type": "line", "strokeWidth": 3},
        "encoding": {"x": x, "y": {**y, "aggregate": "mean", **once}, **channels},
    }
    dots: Spec = {
        "mark": {"type": "point", "size": 40},
        "encoding": {
            "x": x,
            "y": {**y, "aggregate": "mean", **({"axis": None} if zones else {})},
            "color": color,
            **({"shape": shaped("subject", subjects)} if len(subjects) > 1 else {}),
        },
    }
    layers = [*_zone_layers(zones, y), *([path] if few else []), mean, dots]
    return {
        "data": data,
        "width": "container",
        "height": 320,
        "layer": layers,
        **({"resolve": {"axis": {"y": "independent"}}} if zones else {}),
    }


def _means(steps: Sequence[Step]) -> list[Step]:
    """One step for each subject and turn: the mean over the dialogues that reach the turn."""
    values: dict[tuple[str, int], list[float]] = {}
    for step in steps:
        values.setdefault((step.subject, step.turn), []).append(step.value)
    return [Step(subject, turn, sum(of) / len(of), subject) for (subject, turn), of in values.items()]


def _zone_layers(zones: Sequence[Zone], y: Spec) -> list[Spec]:
    """Every second zone as a grey band, and the names of all zones on an axis on the right."""
    if not zones:
        return []
    names = "".join(f"datum.value == {(zone.low + zone.high) / 2} ? '{zone.label}' : " for zone in zones) + "''"
    axis = {
        "orient": "right",
        "grid": False,
        "values": [(zone.low + zone.high) / 2 for zone in zones],
        "labelExpr": names,
        "title": None,
    }
    grey = {"values": [{"low": zone.low, "high": zone.high} for zone in zones[::2]]}
    span = {"y": {**y, "field": "low", "axis": axis}, "y2": {"field": "high"}}
    return [{"data": grey, "mark": {"type": "rect", "style": "zone"}, "encoding": span}]
