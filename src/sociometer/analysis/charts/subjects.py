"""A subject's colour, shape and place, which are the same in every chart of a report."""

import copy
from collections.abc import Iterator, Sequence

from sociometer.analysis.charts.spec import COLOURS, DASHES, SHAPES, Spec

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
        if mark.get("type") not in ("point", "rule") or mark.get("style") in ("quiet", "reference"):
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
