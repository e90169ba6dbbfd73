"""The theme of charts, with a palette that colour-blind readers can distinguish, and the colours of subjects.

Charts name no colours. They use the category range, the ramps, and these mark styles: `reference` (a line such
as chance or people), `reference-text`, `whisker`, `band`, `zone`, `people`, `ink`, `on-strong`, `cross`, `quiet`
(what is shown for comparison and is no subject), `good`, `bad`.
"""

import copy
from collections.abc import Iterator, Sequence
from typing import Any, Literal

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
_MARKED = ("color", "shape")
_PLACED = ("x", "y", "yOffset", "xOffset")
COLOURS = 8
"""The number of colours in the theme; with more names, colours repeat."""
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right")
DASHES = ([1, 0], [6, 4], [2, 3], [10, 3, 2, 3])


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
        result["config"]["axis"]["labelLimit"] = most = min(260, 0.4 * width)  # names leave room for what they name
        every = [one for _, one in _encodings(result)]
        rows = max((len(name) for one in every for name in _names(one.get("y"))), default=0)
        names = max((len(name) for one in every for key in _MARKED for name in _names(one.get(key))), default=0)
        room = (width - min(most, 7 * rows) - 40) // (min(220, 7 * names) + 30)
        result["config"]["legend"]["columns"] = max(1, min(4, int(room)))
    return result


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
