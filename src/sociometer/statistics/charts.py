"""The kinds of charts, as Vega-Lite specifications."""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

import numpy as np
from msgspec import Struct, structs, to_builtins

from sociometer.core.measure import Measure
from sociometer.statistics import chart_parts
from sociometer.statistics.chart_theme import Spec

AREA_HEIGHT = 150
ROW_HEIGHT = 20
WIDTH_FOR_NAMES = 200
"""Column names are not rotated if they fit side by side in this width, in pixels, which a phone has."""
SHADES = 4
"""Up to this many parts have shades of one colour, since the other colours belong to subjects."""


class CurvePoint(Struct, frozen=True):
    """One point of a series; `low` and `high` are its band."""

    x: float
    y: float
    series: str = ""
    low: float | None = None
    high: float | None = None
    note: str = ""


def curve_chart(
    points: Sequence[CurvePoint],
    *,
    x_title: str = "",
    y_title: str = "",
    unit: str = "number",
    domain: Sequence[float] | None = None,
    truth: Sequence[CurvePoint] = (),
    noted: Mapping[str, str] | None = None,
) -> Spec:
    """Lines with bands; `truth` is a dashed line behind them; points with a note of `noted` have it in its style."""
    series = chart_parts.order_of(point.series for point in points)
    x = chart_parts.whole_numbers("x", x_title, (point.x for point in (*points, *truth)))
    y = chart_parts.quantitative("y", y_title, unit, domain)
    data, color, channels = chart_parts.series_channels(points, "series", series)
    layers: list[Spec] = []
    alone = len({point.x for point in (*points, *truth)}) == 1  # the band is a whisker, the line crosses the chart
    if truth:
        line: Spec = {"type": "line", "style": "reference", "interpolate": "linear"}
        mark, at = ({"type": "rule", "style": "reference"}, {"y": y}) if alone else (line, {"x": x, "y": y})
        layers.append({"data": chart_parts.inline(truth), "mark": mark, "encoding": at})
    if any(point.low is not None for point in points):
        span = {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}, "color": color}
        keep = [{"filter": "datum.low != null"}]
        band: Spec = {"type": "rule"} if alone else {"type": "area", "style": "band"}
        layers.append({"transform": keep, "mark": band, "encoding": span})
    layers += [
        {"mark": {"type": "line"}, "encoding": {"x": x, "y": y, **channels}},
        {
            "mark": {"type": "point", "size": 36, "tooltip": True},
            "encoding": {
                "x": x,
                "y": y,
                "color": color,
                **({"shape": chart_parts.shaped("series", series)} if len(series) > 1 else {}),
                "tooltip": chart_parts.tooltip(
                    {"y": chart_parts.number_format(unit)}, series="group", x=x_title or "x", y=y_title or "y"
                ),
            },
        },
    ]
    for note, style in (noted or {}).items():
        if heights := [point.y for point in points if point.note == note]:
            align = {"expr": f"datum.x == {min(point.x for point in points)} ? 'left' : 'center'"}  # not on the axis
            word = {"type": "text", "fontSize": 11, "text": note, "align": align, "dy": -12 if heights[0] > 0 else 14}
            where: Spec = {"transform": [{"filter": {"field": "note", "equal": note}}], "encoding": {"x": x, "y": y}}
            marks: list[Spec] = [{"type": "point", "size": 80, "filled": True}, word]
            layers += [{**where, "mark": {**mark, "style": style}} for mark in marks]
    return {"data": data, "width": "container", "height": 300, "layer": layers}


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
    curve: Sequence[DensityPoint], marks: Sequence[Mark], *, title: str = "", unit: str = "points", steps: bool = False
) -> Spec:
    """The distribution as an area; the marks are in rows below it, so that their names do not overlap.

    With `steps` it is a histogram of people: a point is the left end and height of a column, and the last closes it.
    """
    top = max((point.density for point in curve), default=1.0) or 1.0
    ordered = sorted(marks, key=lambda mark: mark.x)
    ends = [point.x for point in curve] + [mark.x for mark in marks]
    ends += [end for mark in marks for end in (mark.low, mark.high) if end is not None]
    low, high = (min(ends), max(ends)) if ends else (0.0, 1.0)
    floor = AREA_HEIGHT + ROW_HEIGHT * len(ordered)
    x = chart_parts.quantitative("x", title, unit)
    x["axis"] |= {"grid": False, "tickCount": 8, "labelFlush": False, "labelSeparation": 9}
    x["scale"] = {"domain": [low, high], "nice": True, "zero": False}
    subjects = chart_parts.order_of(mark.subject for mark in marks if mark.subject)
    color: Spec = {**chart_parts.nominal("subject", subjects), "legend": None}
    shape: Spec = {**chart_parts.shaped("subject", subjects), "legend": None}
    height = {"domain": [0, top], "range": [AREA_HEIGHT, 0], "nice": False}
    y = chart_parts.nominal("label", [mark.label for mark in ordered], range=[AREA_HEIGHT + 8, floor], padding=0.4)
    y["axis"] = {"orient": "left"}
    measured, others = ([mark for mark in ordered if bool(mark.subject) == of_subject] for of_subject in (True, False))
    tall: Spec = {"field": "density", "type": "quantitative", "axis": None, "scale": height}
    smooth: Spec = {"type": "area", "style": "people", "interpolate": "monotone"}
    area: Spec = {"data": chart_parts.inline(curve), "mark": smooth, "encoding": {"x": x, "y": tall}}
    if steps:
        columns = [{"x": one.x, "end": other.x, "density": one.density} for one, other in pairwise(curve)]
        area |= {"data": {"values": columns}, "mark": {"type": "bar", "style": "people", "x2Offset": -2}}
        area["encoding"] |= {"x2": {"field": "end"}, "y2": {"datum": 0}}
        tall["axis"] = {"title": "people", "values": [*range(0, int(top) + 1, math.ceil(top / 4))], "format": "d"}
    lines: Spec = {
        "data": chart_parts.inline(measured),
        "mark": {"type": "rule", "style": "whisker", "strokeWidth": 1.2},
        "encoding": {"x": x, "color": color, "y": {"value": 0}, "y2": {"value": AREA_HEIGHT}},
    }
    told = chart_parts.tooltip({"x": chart_parts.number_format(unit)}, label="who", x=title or "value")
    point: Spec = {"x": x, "y": y, "tooltip": told}
    quiet: Spec = {"type": "point", "style": "quiet", "shape": "square", "size": 44, "tooltip": True}
    rows: list[Spec] = [
        {"data": chart_parts.inline(others), "mark": quiet, "encoding": point},
        {
            "data": chart_parts.inline(measured),
            "mark": {"type": "point", "tooltip": True},
            "encoding": {**point, "color": color, "shape": shape},
        },
    ]
    for known, shade, style in ((measured, {"color": color}, "whisker"), (others, {}, ["whisker", "quiet"])):
        spans = [mark for mark in known if mark.low is not None]
        span: Spec = {"x": {**x, "field": "low"}, "x2": {"field": "high"}, "y": y, **shade}
        whisker: Spec = {"type": "rule", "style": style}
        rows[:0] = [{"data": chart_parts.inline(spans), "mark": whisker, "encoding": span}] if spans else []
    # the area and the rows of names share the x scale but not the y scale
    resolve = {"scale": {"y": "independent"}}
    return {"width": "container", "height": floor, "layer": [area, lines, {"layer": rows}], "resolve": resolve}


class HeatCell(Struct, frozen=True):
    """One cell; `mark` follows the number (such as stars), `note` appears in the tooltip."""

    row: str
    column: str
    value: float | None
    mark: str = ""
    note: str = ""


def heat_map(
    cells: Sequence[HeatCell],
    *,
    title: str = "",
    unit: str = "number",
    diverging: bool = False,
    domain: Sequence[float] | None = None,
) -> Spec:
    """Heat map with the number in every cell; `diverging` uses a scale with its middle colour at zero."""
    rows, columns = (
        chart_parts.order_of(cell.row for cell in cells),
        chart_parts.order_of(cell.column for cell in cells),
    )
    scale: Spec = {"range": "diverging" if diverging else "ramp"}
    values = [cell.value for cell in cells if cell.value is not None]
    if diverging:
        reach = max((abs(value) for value in values), default=1.0) or 1.0
        scale["domain"] = list(domain) if domain else [-reach, reach]
        scale["domainMid"] = 0
    elif domain:
        scale["domain"] = list(domain)
    low, high = scale.get("domain", (min(values, default=0.0), max(values, default=1.0)))
    strong = f"abs(datum.value) > {0.6 * high}" if diverging else f"datum.value > {low + 0.55 * (high - low)}"
    shown = chart_parts.SHARES.get(unit, f"format(datum.value, '{chart_parts.number_format(unit)}')")
    text = f"datum.value == null ? '' : {shown} + datum.mark"
    labels = (
        {"labelExpr": chart_parts.SHARES[unit]}
        if unit in chart_parts.SHARES
        else {"format": chart_parts.number_format(unit)}
    )
    widest = max(map(len, columns), default=0) + 1
    position = {
        "y": chart_parts.nominal("row", rows),
        "x": {
            **chart_parts.nominal("column", columns),
            "axis": {"labelAngle": 0 if widest * chart_parts.LETTER * len(columns) <= WIDTH_FOR_NAMES else -35},
        },
    }
    formats = {"value": chart_parts.number_format(unit).replace("0%", "1%")}
    told = chart_parts.tooltip(formats, row="row", column="column", value=title or "value")
    return {
        "data": chart_parts.inline(cells),
        "width": "container",
        "height": {"step": 34},
        "transform": [{"calculate": text, "as": "text"}, {"calculate": strong, "as": "strong"}],
        "encoding": position,
        "layer": [
            {
                "mark": {"type": "rect", "cornerRadius": 3, "tooltip": True},
                "encoding": {
                    "color": {
                        "field": "value",
                        "type": "quantitative",
                        "scale": scale,
                        "legend": {"title": title, "gradientLength": 180, **labels} if title else None,
                    },
                    "tooltip": told,
                },
            },
            *(
                {
                    "transform": [{"filter": which}],
                    "mark": {"type": "text", "style": style, "fontSize": 12},
                    "encoding": {"text": {"field": "text"}},
                }
                for which, style in (("!datum.strong", "ink"), ("datum.strong", "on-strong"))
            ),
        ],
    }


class Dot(Struct, frozen=True):
    """One value with its interval; `low` and `high` are None if there were too few clusters."""

    label: str
    value: float
    low: float | None = None
    high: float | None = None
    group: str = ""
    note: str = ""


def dots_of(found: Iterable[tuple[str, Measure | None, str]]) -> list[Dot]:
    """The dots of measures, each with its label and group; those without a value are left out."""
    return [dot for label, measure, group in found if (dot := dot_of(label, measure, group)) is not None]


def dot_of(label: str, measure: Measure | None, group: str = "") -> Dot | None:
    """The dot of a measure; None if there is none, or it has no value."""
    if measure is None or measure.value is None:
        return None
    low, high = (measure.interval.low, measure.interval.high) if measure.interval else (None, None)
    note = measure.note or ("too few for an interval" if low is None else "")
    return Dot(label, measure.value, low, high, group, note)


def interval_chart(
    dots: Sequence[Dot],
    *,
    title: str = "",
    unit: str = "share",
    domain: Sequence[float] | None = None,
    references: Sequence[chart_parts.ReferenceLine] = (),
    quiet: str = "",
) -> Spec:
    """Dots and whiskers with the labels on the y axis in the given order; colour and shape show the group.

    The dots of the group `quiet`, such as the figures that a paper prints, are grey and not in the legend.
    """
    labels = chart_parts.order_of(dot.label for dot in dots)
    groups = chart_parts.order_of(dot.group for dot in dots if not quiet or dot.group != quiet)
    several = len(groups) > 1
    crowded = several and len(labels) < len(dots)
    y = chart_parts.nominal("label", labels)
    shared: Spec = {"y": y}
    shape = chart_parts.shaped("group", groups)
    if several:
        if crowded:
            y["scale"]["paddingInner"] = 0.35
            shared["yOffset"] = chart_parts.nominal("group", groups)
        shared["color"] = chart_parts.nominal("group", groups)
    elif groups and groups[0]:
        shared["color"] = {**chart_parts.nominal("group", groups), "legend": None}
        shape["legend"] = None
    formats = dict.fromkeys(("value", "low", "high"), chart_parts.number_format(unit).replace("0%", "1%"))
    first = {"group": "group"} if several else {}
    told = chart_parts.tooltip(formats, **first, label="measure", value="value", low="from", high="to")
    value = chart_parts.quantitative("value", title, unit, domain)
    loud: list[Spec] = [{"filter": {"not": {"field": "group", "equal": quiet}}}] if quiet else []
    whisker: Spec = {
        "transform": [*loud, {"filter": "datum.low != null"}],
        "mark": {"type": "rule", "style": "whisker"},
        "encoding": {**shared, "x": {**value, "field": "low"}, "x2": {"field": "high"}},
    }
    grey: Spec = {  # in the middle of their row
        "transform": [{"filter": {"field": "group", "equal": quiet}}],
        "mark": {"type": "point", "style": "quiet", "shape": "square", "size": 44, "tooltip": True},
        "encoding": {"y": y, "x": value, "tooltip": told},
    }
    # the names of lines that are close are in rows above each other
    top = 30 + chart_parts.NAME_ROW * max(0, min(chart_parts.NAME_ROWS, len(references)) - 2)
    space = {"padding": {"left": 4, "top": top, "right": 10, "bottom": 4}} if len(references) > 1 else {}
    if several and top > 30:
        space, shared["color"]["legend"], shape["legend"] = {}, {"offset": top}, {"offset": top}
    return {
        "data": chart_parts.inline(dots),
        "width": "container",
        **space,
        "height": {"step": 15, "for": "offset"} if crowded else {"step": 28},
        "layer": [
            *chart_parts.reference_layers(references),
            *([whisker] if any(dot.low is not None for dot in dots) else []),
            *([grey] if quiet else []),
            {
                **({"transform": loud} if loud else {}),
                "mark": {"type": "point", "tooltip": True},
                "encoding": {
                    **shared,
                    "x": value,
                    "tooltip": told,
                    **({"shape": shape} if several or "color" in shared else {}),
                },
            },
        ],
    }


class ScatterPoint(Struct, frozen=True):
    """One named point; `group` sets its colour, `y_low` and `y_high`, `x_low` and `x_high` its whiskers."""

    label: str
    x: float
    y: float
    group: str = ""
    y_low: float | None = None
    y_high: float | None = None
    note: str = ""
    x_low: float | None = None
    x_high: float | None = None


def scatter_chart(
    points: Sequence[ScatterPoint],
    *,
    x_title: str,
    y_title: str,
    y_unit: str = "number",
    log_x: bool = False,
    trend: bool = False,
) -> Spec:
    """Scatter chart with names next to the points; `trend` adds the least-squares line."""
    groups = chart_parts.order_of(point.group for point in points)
    x, y = chart_parts.quantitative("x", x_title, "number"), chart_parts.quantitative("y", y_title, y_unit)
    if log_x:
        x |= {"scale": {"type": "log", "nice": True}, "axis": {"format": "~s", "tickCount": 6, "grid": False}}
    color = {"color": chart_parts.coloured("group", groups)} if len(groups) > 1 else {}
    mark: Spec = {"type": "point", "tooltip": True, "size": 90}
    formats = {"x": chart_parts.number_format("number"), "y": chart_parts.number_format(y_unit)}
    point: Spec = {"x": x, "y": y, **color, "tooltip": chart_parts.tooltip(formats, label="who", x=x_title, y=y_title)}
    layers: list[Spec] = [{"mark": mark, "encoding": point}]
    for own, axis in (("y", y), ("x", x)):
        if any(getattr(entry, f"{own}_low") is not None for entry in points):
            ends = {own: {**axis, "field": f"{own}_low"}, f"{own}2": {"field": f"{own}_high"}}
            span, keep = {"x": x, "y": y, **ends, **color}, [{"filter": f"datum.{own}_low != null"}]
            layers.insert(0, {"transform": keep, "mark": {"type": "rule", "style": "whisker"}, "encoding": span})
    if trend:
        method = {"regression": "y", "on": "x", **({"method": "log"} if log_x else {})}
        line: Spec = {"type": "line", "style": "reference"}
        layers.insert(0, {"transform": [method], "mark": line, "encoding": {"x": x, "y": y}})
    text: Spec = {"type": "text", "style": "ink", "fontSize": 11, **chart_parts.NAME_OFFSETS}
    layers.append({"mark": text, "encoding": {"x": x, "y": y, "text": {"field": "label"}}})
    across = [math.log10(entry.x) for entry in points] if log_x else [entry.x for entry in points]
    # the whiskers are points without names, so that no name crosses one
    whiskers = [
        (x, y)
        for entry, x in zip(points, across, strict=True)
        if entry.y_low is not None and entry.y_high is not None
        for y in np.linspace(entry.y_low, entry.y_high, 9).tolist()
    ]
    places = chart_parts.place_names(
        [*(entry.label for entry in points), *("" for _ in whiskers)],
        [*across, *(x for x, _ in whiskers)],
        [*(entry.y for entry in points), *(y for _, y in whiskers)],
    )
    values = [structs.asdict(entry) | to_builtins(place) for entry, place in zip(points, places, strict=False)]
    return {"data": {"values": values}, "width": "container", "height": 360, "layer": layers}


class Portion(Struct, frozen=True):
    """One part of one bar."""

    bar: str
    part: str
    value: float
    note: str = ""


def stacked_bars(portions: Sequence[Portion], *, title: str = "") -> Spec:
    """Horizontal bars, normalised to shares; bars and parts in the given order."""
    bars, parts = (
        chart_parts.order_of(entry.bar for entry in portions),
        chart_parts.order_of(entry.part for entry in portions),
    )
    rank = {part: index for index, part in enumerate(parts)}
    values = [
        {"bar": entry.bar, "part": entry.part, "value": entry.value, "note": entry.note, "place": rank[entry.part]}
        for entry in portions
    ]
    x: Spec = {"field": "value", "type": "quantitative", "title": title or None, "stack": "normalize"}
    x["axis"] = {"labelExpr": chart_parts.PERCENT, "tickCount": 5}
    colours: Spec = {"range": "ordinal", "reverse": True} if len(parts) <= SHADES else {}
    return {
        "data": {"values": values},
        "width": "container",
        "height": {"step": 34},
        "mark": {"type": "bar", "tooltip": True, "cornerRadius": 2, "height": {"band": 0.72}},
        "encoding": {
            "y": chart_parts.nominal("bar", bars),
            "x": x,
            "color": chart_parts.nominal("part", parts, **colours),
            "order": {"field": "place"},
            "tooltip": chart_parts.tooltip({"value": ".3~r"}, bar="group", part="part", value="value"),
        },
    }
