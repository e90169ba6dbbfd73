"""Chart of a distribution with marks: people as a grey area, models as labelled lines in it."""

from collections.abc import Sequence

from msgspec import Struct

from sociometer.statistics.charts.spec import Spec, inline, nominal, number_format, order_of, shaped, tooltip

AREA_HEIGHT = 150
ROW_HEIGHT = 20


class DensityPoint(Struct, frozen=True):
    """The density of the distribution at x."""

    x: float
    density: float


class Mark(Struct, frozen=True):
    """A value on the distribution: of a `subject`, or without one a value for comparison, which is grey."""

    label: str
    x: float
    subject: str = ""
    low: float | None = None
    high: float | None = None
    note: str = ""


def density_chart(
    curve: Sequence[DensityPoint], marks: Sequence[Mark], *, title: str = "", unit: str = "points"
) -> Spec:
    """The distribution as an area; the marks are in rows below it, so that their names do not overlap."""
    top = max((point.density for point in curve), default=1.0) or 1.0
    ordered = sorted(marks, key=lambda mark: mark.x)
    ends = [point.x for point in curve] + [mark.x for mark in marks]
    ends += [end for mark in marks for end in (mark.low, mark.high) if end is not None]
    low, high = (min(ends), max(ends)) if ends else (0.0, 1.0)
    floor = AREA_HEIGHT + ROW_HEIGHT * len(ordered)
    x: Spec = {"field": "x", "type": "quantitative", "title": title or None, "axis": {"grid": False, "tickCount": 8}}
    x["scale"] = {"domain": [low, high], "nice": True, "zero": False}
    subjects = order_of(mark.subject for mark in marks if mark.subject)
    color: Spec = {**nominal("subject", subjects), "legend": None}
    shape: Spec = {**shaped("subject", subjects), "legend": None}
    height = {"domain": [0, top], "range": [AREA_HEIGHT, 0], "nice": False}
    y = nominal("label", [mark.label for mark in ordered], range=[AREA_HEIGHT + 8, floor], padding=0.4)
    measured, others = ([mark for mark in ordered if bool(mark.subject) == of_subject] for of_subject in (True, False))
    area: Spec = {
        "data": inline(curve),
        "mark": {"type": "area", "style": "people", "interpolate": "monotone"},
        "encoding": {"x": x, "y": {"field": "density", "type": "quantitative", "axis": None, "scale": height}},
    }
    lines: Spec = {
        "data": inline(measured),
        "mark": {"type": "rule", "style": "whisker", "strokeWidth": 1.2},
        "encoding": {"x": x, "color": color, "y": {"value": 0}, "y2": {"value": AREA_HEIGHT}},
    }
    told = tooltip({"x": number_format(unit)}, label="who", x=title or "value")
    point: Spec = {"x": x, "y": y, "tooltip": told}
    quiet: Spec = {"type": "point", "style": "quiet", "shape": "square", "size": 44, "tooltip": True}
    rows: list[Spec] = [
        {"data": inline(others), "mark": quiet, "encoding": point},
        {
            "data": inline(measured),
            "mark": {"type": "point", "tooltip": True},
            "encoding": {**point, "color": color, "shape": shape},
        },
    ]
    if any(mark.low is not None for mark in measured):
        span = {"x": {**x, "field": "low"}, "x2": {"field": "high"}, "y": y, "color": color}
        keep = [{"filter": "datum.low != null"}]
        whisker: Spec = {"type": "rule", "style": "whisker"}
        rows.insert(0, {"data": inline(measured), "transform": keep, "mark": whisker, "encoding": span})
    # the area and the rows of names share the x scale but not the y scale
    resolve = {"scale": {"y": "independent"}}
    return {"width": "container", "height": floor, "layer": [area, lines, {"layer": rows}], "resolve": resolve}
