"""Charts as Vega-Lite specifications, and their theme: a palette that colour-blind readers can distinguish.

Charts name no colours. They use the category range, the ramps, and these mark styles: `reference` (a line such
as chance or people), `reference-text`, `whisker`, `band`, `zone`, `people`, `ink`, `on-strong`, `cross`, `quiet`
(what is shown for comparison and is no subject), `good`, `bad`.
"""

import copy
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from msgspec import Struct, structs

from sociometer.core.measure import Measure
from sociometer.statistics.intervals import Floats

Spec = dict[str, Any]
Mode = Literal["light", "dark"]
OUTER_PADDING = 0.2
"""Vega-Lite's padding around rows that contain rows, as a share of a row."""

FONT = "'Inter', 'Segoe UI', 'Helvetica Neue', Arial, 'Noto Sans', 'Noto Sans CJK SC', sans-serif"
CATEGORIES = {
    "light": ["#1f6f8b", "#c4572f", "#6b5b95", "#3d8b53", "#b8860b", "#a63d6b", "#56646f", "#2b9c94"],
    "dark": ["#6cb8d6", "#f0936a", "#b3a1e0", "#86cf97", "#e5c15a", "#e58fb2", "#a9b8c4", "#6fd3cb"],
}
_INK = {
    "light": {"text": "#22292f", "soft": "#5d6a75", "line": "#d8dde1", "faint": "#eceff1", "paper": "#fcfbf8"},
    "dark": {"text": "#e4e8eb", "soft": "#9eabb6", "line": "#3a444d", "faint": "#2a3239", "paper": "#14181c"},
}
_RAMPS = {
    "light": {
        "ramp": ["#eef3f5", "#a9c9d6", "#4f94b1", "#1b5a75", "#0b2f40"],
        "diverging": ["#a8461f", "#dd9a78", "#f3f1ee", "#86b4c6", "#1b5a75"],
        "good": "#3d8b53",
        "bad": "#b8452f",
    },
    "dark": {
        "ramp": ["#222b32", "#2c5163", "#3d86a5", "#7cc0db", "#d3eef8"],
        "diverging": ["#f0936a", "#8f5a44", "#2a3036", "#3f7388", "#7cc9e8"],
        "good": "#86cf97",
        "bad": "#f0836a",
    },
}


def theme(mode: Mode = "light") -> Spec:
    """The Vega-Lite configuration of a mode."""
    ink, ramps, categories = _INK[mode], _RAMPS[mode], CATEGORIES[mode]
    axis = {
        "domain": False,
        "ticks": False,
        "gridColor": ink["faint"],
        "labelColor": ink["soft"],
        "titleColor": ink["soft"],
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "labelPadding": 8,
        "titlePadding": 12,
        "labelLimit": 260,
    }
    legend = {
        "labelColor": ink["text"],
        "titleColor": ink["soft"],
        "titleFontWeight": "normal",
        "labelFontSize": 12,
        "titleFontSize": 12,
        "orient": "top",
        "direction": "horizontal",
        "offset": 30,
        "symbolType": "circle",
        "symbolOpacity": 1,
        "symbolStrokeWidth": 2,
        "columns": 4,
        "labelLimit": 220,
    }
    return {
        "background": None,
        "font": FONT,
        "padding": {"left": 4, "top": 6, "right": 10, "bottom": 4},
        "view": {"stroke": None, "continuousWidth": 640, "continuousHeight": 320},
        "axis": axis,
        "axisBand": {"grid": False},
        "axisY": {"titleAlign": "left", "titleAngle": 0, "titleAnchor": "start", "titleX": 0, "titleY": -10},
        "legend": legend,
        "title": {"color": ink["text"], "subtitleColor": ink["soft"], "anchor": "start"},
        "range": {
            "category": categories,
            "ramp": ramps["ramp"],
            "heatmap": ramps["ramp"],
            "diverging": ramps["diverging"],
            "ordinal": ramps["ramp"],
        },
        "mark": {"color": categories[0]},
        "text": {"color": ink["text"], "fontSize": 12},
        "rule": {"color": ink["soft"]},
        "point": {"size": 70, "filled": True, "opacity": 1},
        "line": {"strokeWidth": 2.2},
        "style": _styles(ink, ramps),
    }


def _styles(ink: dict[str, str], ramps: dict[str, Any]) -> Spec:
    # `color` and not `fill`: only `color` overrides the default colour of marks
    return {
        "reference": {"color": ink["soft"], "strokeDash": [4, 4], "strokeWidth": 1.2, "opacity": 0.9},
        "reference-text": {"color": ink["soft"], "fontSize": 11, "align": "left", "dx": 4},
        "whisker": {"strokeWidth": 2, "opacity": 0.55, "strokeCap": "round"},
        "band": {"opacity": 0.16},
        "zone": {"color": ink["faint"], "opacity": 0.75},
        "people": {"color": ink["line"]},
        "ink": {"color": ink["text"]},
        "on-strong": {"color": ink["paper"]},
        "quiet": {"color": ink["soft"], "opacity": 0.6},
        "cross": {"color": ink["line"], "strokeWidth": 1},
        "good": {"color": ramps["good"]},
        "bad": {"color": ramps["bad"]},
    }


def contained(spec: Spec) -> Spec:
    """A copy that fills the width of its container in a page, with the height of its rows computed."""
    if spec.get("width") != "container":
        return spec
    height = _height(spec)
    sized = spec if height is None else {**spec, "height": height}
    return {"autosize": {"type": "fit-x", "contains": "padding"}, **sized}


def _height(spec: Spec) -> float | None:
    """The height of rows with a fixed step; Vega-Lite does not compute it if the width is fitted."""
    step = spec.get("height")
    encodings = [spec.get("encoding", {}), *(layer.get("encoding", {}) for layer in spec.get("layer", []))]
    rows = next((e["y"]["scale"] for e in encodings if "domain" in e.get("y", {}).get("scale", {})), None)
    if not isinstance(step, dict) or rows is None:
        return None
    count = len(rows["domain"])
    if step.get("for") != "offset":
        return float(step["step"] * count)
    offsets = next(len(e["yOffset"]["scale"]["domain"]) for e in encodings if "yOffset" in e)
    inner = rows["paddingInner"]
    return float((count - inner + 2 * OUTER_PADDING) * step["step"] * offsets / (1 - inner))


def themed(spec: Spec, mode: Mode = "light", width: int | None = None) -> Spec:
    """A copy of the specification with the configuration of the theme and, for a picture, a fixed width."""
    result = copy.deepcopy(spec)
    result["config"] = theme(mode)
    if width is not None and result.get("width") == "container":
        result["width"] = width
    return result


_MARKED = ("color", "shape")
_PLACED = ("x", "y", "yOffset", "xOffset")


def with_subjects(spec: Spec, subjects: Sequence[str]) -> Spec:
    """A copy in which each subject has the colour, shape and dash of its place in `subjects`, in this order.

    A chart that shows some subjects only gives them the same colours as a chart of all. Rows that are subjects get
    their colours if the chart uses colour for nothing else.
    """
    made = copy.deepcopy(spec)
    encodings = list(_encodings(made))
    if not any("color" in encoding for _, encoding in encodings):
        _colour_rows(encodings, subjects, {value.get("label") for value in made.get("data", {}).get("values", ())})
    for _, encoding in encodings:
        for name in (*_MARKED, *_PLACED):
            if isinstance(encoding.get(name), dict):
                encoding[name] = _ordered(name, encoding[name], subjects)
    _set_dashes(made, encodings, subjects)
    return made


def shape_of(place: int) -> str:
    """The shape of the subject at a place; with the colour it distinguishes 56 subjects."""
    return SHAPES[place % len(SHAPES)]


def _encodings(spec: Spec) -> Iterator[tuple[Spec, Spec]]:
    """Every view of a specification that has an encoding, with the encoding."""
    if "encoding" in spec:
        yield spec, spec["encoding"]
    for layer in spec.get("layer", ()):
        yield from _encodings(layer)
    if "spec" in spec:
        yield from _encodings(spec["spec"])


def _names(channel: object) -> list[str]:
    """The names on a channel; none if it is not a channel of names."""
    scale = channel.get("scale") if isinstance(channel, dict) else None
    domain = scale.get("domain") if isinstance(scale, dict) else None
    return domain if isinstance(domain, list) and all(isinstance(name, str) for name in domain) else []


def _ordered(name: str, channel: Spec, subjects: Sequence[str]) -> Spec:
    """A channel with the subjects in their order; unchanged if it shows none. Layers may share a channel."""
    names = _names(channel)
    known = [subject for subject in subjects if subject in names]
    if not known:
        return channel
    others = [other for other in names if other not in subjects]
    if name in _PLACED:
        return {**channel, "scale": {**channel["scale"], "domain": [*known, *others]}}
    scale = {**channel["scale"], "domain": [*subjects, *others]}
    if name == "shape":
        scale["range"] = [shape_of(place) for place in range(len(subjects) + len(others))]
    made = {**channel, "scale": scale}
    if channel.get("legend", {}) is not None:
        made["legend"] = {**channel.get("legend", {}), "values": [*known, *others]}
    return made


def _colour_rows(encodings: Sequence[tuple[Spec, Spec]], subjects: Sequence[str], labels: set[object]) -> None:
    """Colour the dots and whiskers of rows or named points that are subjects; others keep the grey of their style."""
    for view, encoding in encodings:
        mark, rows = view.get("mark", {}), encoding.get("y", {})
        if (
            isinstance(mark, str)
            or mark.get("type") not in ("point", "rule")
            or mark.get("style") in ("quiet", "reference")
        ):
            continue
        if set(_names(rows)) & set(subjects):
            field = rows["field"]
        elif rows.get("type") == "quantitative" and labels & set(subjects):
            field = "label"
        else:
            continue
        channel = {"field": field, "type": "nominal", "legend": None}
        encoding["color"] = {**channel, "scale": {"domain": list(subjects)}}
        if mark["type"] == "point":
            shapes = [shape_of(place) for place in range(len(subjects))]
            encoding["shape"] = {**channel, "scale": {"domain": list(subjects), "range": shapes}}


def _set_dashes(spec: Spec, encodings: Sequence[tuple[Spec, Spec]], subjects: Sequence[str]) -> None:
    """The dash of each line: another one each time the colours repeat."""
    fields = {
        encoding["color"]["field"]
        for _, encoding in encodings
        if "strokeDash" in encoding and set(_names(encoding.get("color"))) & set(subjects)
    }
    for value in spec.get("data", {}).get("values", ()):
        for field in fields:
            if value.get(field) in subjects and "lap" in value:
                value["lap"] = subjects.index(value[field]) // COLOURS % len(DASHES)


COLOURS = 8
"""The number of colours in the theme; with more names, colours repeat."""
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right")
DASHES = ([1, 0], [6, 4], [2, 3], [10, 3, 2, 3])
PERCENT = "format(100 * datum.value, '.0f') + ' %'"
"""The label of a tick on an axis of shares, as the page writes percent."""
MOST_TICKS = 12
"""The maximum number of labels on an axis of whole numbers."""
LETTER = 6.2
"""The average width of a letter in the name of a reference line or a point, in pixels."""


class ReferenceLine(Struct, frozen=True):
    """A value for comparison, such as chance, people, or the top."""

    label: str
    value: float


def inline(records: Iterable[Struct]) -> Spec:
    """Records as inline data."""
    return {"values": [structs.asdict(record) for record in records]}


def number_format(unit: str) -> str:
    """The d3 format of a unit: shares as percent, points with one decimal, other numbers with two."""
    return {"share": ".0%", "points": ".1f"}.get(unit, ".2f")


def tooltip(formats: Mapping[str, str], **titles: str) -> list[Spec]:
    """What a chart tells about a point: fields with their titles, some with a number format; the note at the end."""
    told: dict[str, str] = {**titles, "note": "note"}
    return [
        {"field": name, "title": title, **({"format": formats[name]} if name in formats else {})}
        for name, title in told.items()
    ]


def quantitative(
    field: str, title: str, unit: str = "number", domain: Sequence[float] | None = None, **more: Any
) -> Spec:
    """A quantitative axis; shares are shown in percent, and `domain` fixes the range."""
    axis: Spec = {"tickCount": 6, "grid": True, **({"labelExpr": PERCENT} if unit == "share" else {})}
    scale: Spec = {"domain": list(domain), "clamp": True} if domain else {"zero": False, "nice": True}
    return {"field": field, "type": "quantitative", "title": title or None, "axis": axis, "scale": scale, **more}


def whole_numbers(field: str, title: str, numbers: Iterable[float]) -> Spec:
    """An axis of whole numbers (rounds, turns, hands) with one label for each, or for every second, third, …

    The labels are listed, because an axis that chooses its ticks itself writes a tick at 1.5 as “2”.
    """
    known = [round(number) for number in numbers]
    low, high = min(known, default=0), max(known, default=1)
    step = max(1, math.ceil((high - low + 1) / MOST_TICKS))
    ticks = list(range(low, high + 1, step))
    axis: Spec = {"grid": False, "format": "d", "values": ticks}
    scale: Spec = {"zero": False, "nice": False, "padding": 8}
    return {"field": field, "type": "quantitative", "title": title or None, "axis": axis, "scale": scale}


def nominal(field: str, names: Sequence[str], **scale: Any) -> Spec:
    """A channel of names in the given order.

    The order is the domain of the scale and not a `sort`: Vega-Lite turns a sort into an expression that contains the
    names, and a name may come from a model and must never be evaluated.
    """
    return {"field": field, "type": "nominal", "title": None, "scale": {"domain": list(names), **scale}}


def shaped(field: str, names: Sequence[str]) -> Spec:
    """A channel of shapes; together with the colours it distinguishes 56 names."""
    return nominal(field, names, range=[SHAPES[place % len(SHAPES)] for place in range(len(names))])


def coloured(field: str, names: Sequence[str]) -> Spec:
    """A channel of colours by name, with a legend if there is more than one name."""
    channel = nominal(field, names)
    if len(names) < 2:
        channel["legend"] = None
    return channel


def series_channels(records: Sequence[Struct], field: str, names: Sequence[str]) -> tuple[Spec, Spec, Spec]:
    """The data of lines by series, their colour channel, and all channels that distinguish the lines.

    These are the colour and a dash, which is solid for as many series as there are colours.
    """
    color = coloured(field, names)
    data, dash = _dashed(records, field, names)
    return data, color, {"color": color, "strokeDash": dash}


def _dashed(records: Sequence[Struct], field: str, names: Sequence[str]) -> tuple[Spec, Spec]:
    """Records as inline data, and a channel with another dash each time the colours repeat.

    The dash has its own field, `lap`, and no legend.
    """
    laps = {name: place // COLOURS % len(DASHES) for place, name in enumerate(names)}
    values = [{**structs.asdict(record), "lap": laps[getattr(record, field)]} for record in records]
    scale = {"domain": list(range(len(DASHES))), "range": list(DASHES)}
    return {"values": values}, {"field": "lap", "type": "nominal", "legend": None, "scale": scale}


def reference_layers(lines: Sequence[ReferenceLine]) -> list[Spec]:
    """Dashed vertical lines, each with its name at the upper end."""
    layers: list[Spec] = []
    before: list[ReferenceLine] = []
    for line in sorted(lines, key=lambda line: line.value):
        data = {"values": [{"at": line.value, "name": line.label}]}
        layers.append(
            {"data": data, "mark": {"type": "rule", "style": "reference"}, "encoding": {"x": {"datum": line.value}}}
        )
        layers.append(
            {
                "data": data,
                "mark": {"type": "text", "style": "reference-text", **_name_position(line, before)},
                "encoding": {"x": {"datum": line.value}, "y": {"value": 0}, "text": {"field": "name"}},
            }
        )
        before.append(line)
    return layers


def _name_position(line: ReferenceLine, before: Sequence[ReferenceLine]) -> Spec:
    """The position of the name of a line: inside the chart at any width, and above a name that it would overlap."""
    half = len(line.label) * LETTER / 2
    align = f"scale('x', {line.value}) + {half:.0f} > width ? 'right' : 'center'"
    apart = [
        f"scale('x', {line.value}) - scale('x', {other.value}) < {len(other.label) * LETTER / 2 + 2 * half:.0f}"
        for other in before[-1:]
    ]
    high = f"{' || '.join(apart)} ? -22 : -9" if apart else "-9"
    return {"align": {"expr": align}, "dy": {"expr": high}, "dx": 0}


def order_of(names: Iterable[str]) -> list[str]:
    """Distinct names in order of first appearance."""
    return list(dict.fromkeys(names))


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
) -> Spec:
    """Lines with bands; `truth` is a dashed line behind them (such as the opponent's actual choices)."""
    series = order_of(point.series for point in points)
    x = whole_numbers("x", x_title, (point.x for point in (*points, *truth)))
    y = quantitative("y", y_title, unit, domain)
    data, color, channels = series_channels(points, "series", series)
    layers: list[Spec] = []
    if truth:
        layers.append(
            {
                "data": inline(truth),
                "mark": {"type": "line", "style": "reference", "interpolate": "linear"},
                "encoding": {"x": x, "y": y},
            }
        )
    if any(point.low is not None for point in points):
        span = {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}, "color": color}
        keep = [{"filter": "datum.low != null"}]
        layers.append({"transform": keep, "mark": {"type": "area", "style": "band"}, "encoding": span})
    layers += [
        {"mark": {"type": "line"}, "encoding": {"x": x, "y": y, **channels}},
        {
            "mark": {"type": "point", "size": 36, "tooltip": True},
            "encoding": {
                "x": x,
                "y": y,
                "color": color,
                **({"shape": shaped("series", series)} if len(series) > 1 else {}),
                "tooltip": tooltip({"y": number_format(unit)}, series="group", x=x_title or "x", y=y_title or "y"),
            },
        },
    ]
    return {"data": data, "width": "container", "height": 300, "layer": layers}


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


WIDTH_FOR_NAMES = 200
"""Column names are not rotated if they fit side by side in this width, in pixels, which a phone has."""


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
    rows, columns = order_of(cell.row for cell in cells), order_of(cell.column for cell in cells)
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
    shown = (
        "format(100 * datum.value, '.0f') + ' %'"
        if unit == "share"
        else f"format(datum.value, '{number_format(unit)}')"
    )
    text = f"datum.value == null ? '' : {shown} + datum.mark"
    widest = max(map(len, columns), default=0) + 1
    position = {
        "y": nominal("row", rows),
        "x": {
            **nominal("column", columns),
            "axis": {"labelAngle": 0 if widest * LETTER * len(columns) <= WIDTH_FOR_NAMES else -35},
        },
    }
    formats = {"value": number_format(unit).replace("0%", "1%")}
    told = tooltip(formats, row="row", column="column", value=title or "value")
    return {
        "data": inline(cells),
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
                        "legend": {"title": title, "gradientLength": 180, **_labels(unit)} if title else None,
                    },
                    "tooltip": told,
                },
            },
            {
                "transform": [{"filter": "!datum.strong"}],
                "mark": {"type": "text", "style": "ink", "fontSize": 12},
                "encoding": {"text": {"field": "text"}},
            },
            {
                "transform": [{"filter": "datum.strong"}],
                "mark": {"type": "text", "style": "on-strong", "fontSize": 12},
                "encoding": {"text": {"field": "text"}},
            },
        ],
    }


def _labels(unit: str) -> Spec:
    return {"labelExpr": PERCENT} if unit == "share" else {"format": number_format(unit)}


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
    references: Sequence[ReferenceLine] = (),
    group_title: str = "",
    quiet: str = "",
) -> Spec:
    """Dots and whiskers with the labels on the y axis in the given order; colour and shape show the group.

    The dots of the group `quiet`, such as the figures that a paper prints, are grey and not in the legend.
    """
    labels = order_of(dot.label for dot in dots)
    groups = order_of(dot.group for dot in dots if not quiet or dot.group != quiet)
    several = len(groups) > 1
    crowded = several and len(labels) < len(dots)
    y = nominal("label", labels)
    shared: Spec = {"y": y}
    # the same title as the colour channel, so that Vega-Lite merges their legends
    shape: Spec = {**shaped("group", groups), "title": group_title or None}
    if several:
        if crowded:
            y["scale"]["paddingInner"] = 0.35
            shared["yOffset"] = nominal("group", groups)
        shared["color"] = {**nominal("group", groups), "title": group_title or None}
    elif groups and groups[0]:
        shared["color"] = {**nominal("group", groups), "legend": None}
        shape["legend"] = None
    formats = dict.fromkeys(("value", "low", "high"), number_format(unit).replace("0%", "1%"))
    first = {"group": group_title or "group"} if several else {}
    told = tooltip(formats, **first, label="measure", value="value", low="from", high="to")
    value = quantitative("value", title, unit, domain)
    loud: list[Spec] = [{"filter": {"not": {"field": "group", "equal": quiet}}}] if quiet else []
    whisker: Spec = {
        "transform": [*loud, {"filter": "datum.low != null"}],
        "mark": {"type": "rule", "style": "whisker"},
        "encoding": {**shared, "x": {**value, "field": "low"}, "x2": {"field": "high"}},
    }
    # the names of two lines that are close have two heights
    space = {"padding": {"left": 4, "top": 30, "right": 10, "bottom": 4}} if len(references) > 1 else {}
    return {
        "data": inline(dots),
        "width": "container",
        **space,
        "height": {"step": 15, "for": "offset"} if crowded else {"step": 28},
        "layer": [
            *reference_layers(references),
            *([whisker] if any(dot.low is not None for dot in dots) else []),
            *([_quiet_dots(quiet, shared, value, told)] if quiet else []),
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


def _quiet_dots(group: str, shared: Spec, value: Spec, told: list[Spec]) -> Spec:
    """The dots of the quiet group, in the middle of their row."""
    return {
        "transform": [{"filter": {"field": "group", "equal": group}}],
        "mark": {"type": "point", "style": "quiet", "shape": "square", "size": 44, "tooltip": True},
        "encoding": {"y": shared["y"], "x": value, "tooltip": told},
    }


WIDTH, HEIGHT = 620, 360
"""The size that names are placed for, in pixels; a page is a little wider."""
LINE = 14
CLEAR = 6
"""Half the width of a point."""


class NamePlace(Struct, frozen=True):
    """The offset of a name from its point, in pixels, and the side at which the name begins."""

    dx: int
    dy: int
    align: str


_TRIED = (
    NamePlace(10, -7, "left"),
    NamePlace(-10, -7, "right"),
    NamePlace(10, 9, "left"),
    NamePlace(-10, 9, "right"),
    NamePlace(0, -16, "center"),
    NamePlace(0, 18, "center"),
    NamePlace(10, -21, "left"),
    NamePlace(-10, -21, "right"),
    NamePlace(10, 23, "left"),
    NamePlace(-10, 23, "right"),
)
_STEPS = 8
_NAME_WEIGHT = 20
"""A name that covers another name is worse than one that covers so many points."""
Box = tuple[float, float, float, float]

NAME_OFFSETS: Spec = {
    "align": {"expr": "datum.name_align"},
    "dx": {"expr": "datum.name_dx"},
    "dy": {"expr": "datum.name_dy"},
    "baseline": "middle",
}
"""The properties of a text mark that read the fields of `name_fields`."""


def name_fields(place: NamePlace) -> Spec:
    """A place as fields of a point's data."""
    return {"name_dx": place.dx, "name_dy": place.dy, "name_align": place.align}


def along(low: float, high: float) -> list[float]:
    """Places along a whisker, for `place_names`: points without a name, which names do not cover."""
    return [low + (high - low) * step / _STEPS for step in range(_STEPS + 1)]


def place_names(names: Sequence[str], xs: Sequence[float], ys: Sequence[float]) -> list[NamePlace]:
    """A place for each name: the first of ten around its point that is inside the chart and covers the least."""
    across, down = _scaled(xs, WIDTH), _scaled(ys, HEIGHT, turned=True)
    points = np.array([(x - CLEAR, y - CLEAR, x + CLEAR, y + CLEAR) for x, y in zip(across, down, strict=True)])
    taken = np.empty((len(names), 4))
    found: list[NamePlace] = []
    for number, (name, x, y) in enumerate(zip(names, across, down, strict=True)):
        boxes = [(place, _box(name, x, y, place)) for place in _TRIED]
        inside = [pair for pair in boxes if pair[1][0] >= 0 and pair[1][2] <= WIDTH] or boxes[:1]
        tried = np.array([box for _, box in inside])
        least = np.argmin(_NAME_WEIGHT * _covered(tried, taken[:number]) + _covered(tried, points))
        place, taken[number] = inside[least]
        found.append(place)
    return found


def _scaled(values: Sequence[float], size: int, *, turned: bool = False) -> list[float]:
    low, high = min(values, default=0.0), max(values, default=1.0)
    reach = (high - low) or 1.0
    shares = [0.05 + 0.9 * (value - low) / reach for value in values]
    return [size * (1 - share if turned else share) for share in shares]


def _box(name: str, x: float, y: float, place: NamePlace) -> Box:
    wide = len(name) * LETTER
    left = x + place.dx - {"left": 0.0, "center": wide / 2, "right": wide}[place.align]
    return left, y + place.dy - LINE / 2, left + wide, y + place.dy + LINE / 2


def _covered(boxes: Floats, others: Floats) -> Floats:
    """For each box, the number of other boxes that it covers a part of."""
    left, top, right, bottom = (side[:, None] for side in boxes.T)
    covers = (left < others[:, 2]) & (others[:, 0] < right) & (top < others[:, 3]) & (others[:, 1] < bottom)
    return np.asarray(covers.sum(axis=1), dtype=np.float64)


class ScatterPoint(Struct, frozen=True):
    """One named point; `group` sets its colour, `y_low` and `y_high`, `x_low` and `x_high` its whiskers."""

    label: str
    x: float
    y: float
    group: str = ""
    y_low: float | None = None
    y_high: float | None = None
    size: float | None = None
    note: str = ""
    x_low: float | None = None
    x_high: float | None = None


def scatter_chart(
    points: Sequence[ScatterPoint],
    *,
    x_title: str,
    y_title: str,
    y_unit: str = "number",
    x_unit: str = "number",
    log_x: bool = False,
    trend: bool = False,
) -> Spec:
    """Scatter chart with names next to the points; `trend` adds the least-squares line."""
    groups = order_of(point.group for point in points)
    x, y = quantitative("x", x_title, x_unit), quantitative("y", y_title, y_unit)
    if log_x:
        x |= {"scale": {"type": "log", "nice": True}, "axis": {"format": "~s", "tickCount": 6, "grid": False}}
    color = {"color": coloured("group", groups)} if len(groups) > 1 else {}
    mark: Spec = {"type": "point", "tooltip": True, "size": 90}
    formats = {"x": number_format(x_unit), "y": number_format(y_unit)}
    point: Spec = {"x": x, "y": y, **color, "tooltip": tooltip(formats, label="who", x=x_title, y=y_title)}
    if any(entry.size is not None for entry in points):
        point["size"] = {"field": "size", "type": "quantitative", "title": None, "legend": None}
    layers: list[Spec] = [{"mark": mark, "encoding": point}]
    if any(entry.y_low is not None for entry in points):
        span = {"x": x, "y": {**y, "field": "y_low"}, "y2": {"field": "y_high"}, **color}
        keep = [{"filter": "datum.y_low != null"}]
        layers.insert(0, {"transform": keep, "mark": {"type": "rule", "style": "whisker"}, "encoding": span})
    if any(entry.x_low is not None for entry in points):
        across_span = {"y": y, "x": {**x, "field": "x_low"}, "x2": {"field": "x_high"}, **color}
        some = [{"filter": "datum.x_low != null"}]
        layers.insert(0, {"transform": some, "mark": {"type": "rule", "style": "whisker"}, "encoding": across_span})
    if trend:
        method = {"regression": "y", "on": "x", **({"method": "log"} if log_x else {})}
        line: Spec = {"type": "line", "style": "reference"}
        layers.insert(0, {"transform": [method], "mark": line, "encoding": {"x": x, "y": y}})
    text: Spec = {"type": "text", "style": "ink", "fontSize": 11, **NAME_OFFSETS}
    layers.append({"mark": text, "encoding": {"x": x, "y": y, "text": {"field": "label"}}})
    across = [math.log10(entry.x) for entry in points] if log_x else [entry.x for entry in points]
    # the whiskers are points without names, so that no name crosses one
    whiskers = [
        (x, y)
        for entry, x in zip(points, across, strict=True)
        if entry.y_low is not None and entry.y_high is not None
        for y in along(entry.y_low, entry.y_high)
    ]
    places = place_names(
        [*(entry.label for entry in points), *("" for _ in whiskers)],
        [*across, *(x for x, _ in whiskers)],
        [*(entry.y for entry in points), *(y for _, y in whiskers)],
    )
    values = [structs.asdict(entry) | name_fields(place) for entry, place in zip(points, places, strict=False)]
    return {"data": {"values": values}, "width": "container", "height": 360, "layer": layers}


SHADES = 4
"""Up to this many parts have shades of one colour, since the other colours belong to subjects."""


class Portion(Struct, frozen=True):
    """One part of one bar."""

    bar: str
    part: str
    value: float
    note: str = ""


def stacked_bars(portions: Sequence[Portion], *, title: str = "") -> Spec:
    """Horizontal bars, normalised to shares; bars and parts in the given order."""
    bars, parts = order_of(entry.bar for entry in portions), order_of(entry.part for entry in portions)
    rank = {part: index for index, part in enumerate(parts)}
    values = [
        {"bar": entry.bar, "part": entry.part, "value": entry.value, "note": entry.note, "place": rank[entry.part]}
        for entry in portions
    ]
    x: Spec = {"field": "value", "type": "quantitative", "title": title or None, "stack": "normalize"}
    x["axis"] = {"labelExpr": PERCENT, "tickCount": 5}
    colours: Spec = {"range": "ordinal", "reverse": True} if len(parts) <= SHADES else {}
    return {
        "data": {"values": values},
        "width": "container",
        "height": {"step": 34},
        "mark": {"type": "bar", "tooltip": True, "cornerRadius": 2, "height": {"band": 0.72}},
        "encoding": {
            "y": nominal("bar", bars),
            "x": x,
            "color": nominal("part", parts, **colours),
            "order": {"field": "place"},
            "tooltip": tooltip({"value": ".3~r"}, bar="group", part="part", value="value"),
        },
    }
