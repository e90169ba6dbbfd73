"""The theme of charts, with a palette that colour-blind readers can distinguish, and the colours of subjects.

Charts name no colours. They use the category range, the ramps, and these mark styles: `reference` (a line such
as chance or people), `reference-text`, `whisker`, `band`, `zone`, `people`, `ink`, `on-strong`, `cross`, `quiet`
(what is shown for comparison and is no subject), `good`, `bad`.
"""

import copy
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

from sociometer.core.language import read_texts

Spec = dict[str, Any]
Mode = Literal["light", "dark"]
OUTER_PADDING = 0.2
"""Vega-Lite's padding around rows that contain rows, as a share of a row."""
_LOOK = read_texts(Path(__file__).with_suffix(".toml"))
CATEGORIES: dict[Mode, list[str]] = {"light": _LOOK["light"]["category"], "dark": _LOOK["dark"]["category"]}
_LINE = 14  # the height of a line of a name in pixels, and the width of two letters or a Chinese character
_MARKED = ("color", "shape")
_PLACED = ("x", "y", "yOffset", "xOffset")
COLOURS = 8
"""The number of colours in the theme; with more names, colours repeat."""
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right")
DASHES = ([1, 0], [6, 4], [2, 3], [10, 3, 2, 3])


def theme(mode: Mode = "light") -> Spec:
    """The Vega-Lite configuration of a mode."""
    colours = {**_LOOK[mode], "first": CATEGORIES[mode][0], "none": None}

    def coloured(part: Any) -> Any:
        if isinstance(part, dict):
            return {name: coloured(value) for name, value in part.items()}
        return colours[part[1:]] if isinstance(part, str) and part.startswith("@") else part

    made: Spec = coloured(_LOOK["config"])
    return made


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
        for one in every:
            _wrap_rows(result, one.get("y"), most)
        room = (width - min(most, 7 * rows) - 40) // (min(220, 7 * names) + 30)
        result["config"]["legend"]["columns"] = max(1, min(4, int(room)))
    return result


def _wrap_rows(spec: Spec, rows: Any, most: float) -> None:
    """Breaks names of rows that are wider than `most` pixels into lines, with room for them; evaluates no name."""
    wide, pairs = "(?:[!-~ ]{1,2}|[^!-~ ])", int(most / _LINE)
    line = f"{wide}{{1,{pairs}}}$|{wide}{{1,{pairs - 1}}}[-/_ .]|{wide}{{{pairs}}}"
    lines = max((len(re.findall(line, name)) for name in _names(rows)), default=0)
    if lines > 1 and isinstance(spec.get("height"), int | float):
        start, end = rows["scale"].get("range", (0, spec["height"]))
        more = max(0, _LINE * lines * len(_names(rows)) - (end - start))
        rows["scale"] |= {"range": [start, end + more]}
        spec["height"] += more
        broken = f"split(trim(replace(datum.label, regexp({json.dumps(line)}, 'g'), '$&\\n')), '\\n')"
        middle = {"condition": {"test": "true", "expr": f"{-_LINE / 2} * (length({broken}) - 1)"}, "value": 0}
        rows["axis"] = {**rows.get("axis", {}), "labelExpr": broken, "labelOffset": middle}


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
