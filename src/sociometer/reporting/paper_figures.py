"""Figures of a paper pack: remarks are drawn into the figure, so that no file loses its caveats."""

from collections.abc import Iterator, Sequence
from textwrap import wrap
from typing import Any
from xml.etree import ElementTree

from msgspec import structs

from sociometer.analysis.charts.spec import Spec
from sociometer.core.measure import Figure
from sociometer.reporting.safe_svg import clean_svg

LETTERS = 96
"""The maximum length of a line above a figure, in letters."""
_BOUNDS = (("low", "high"), ("y_low", "y_high"))
_MOST_NAMES = 4
_LINE = 15


def marked(figure: Figure, remarks: Sequence[str]) -> Figure:
    """The figure with remarks in it: above a chart, below a drawing."""
    said = [part for remark in remarks for part in wrap(remark, LETTERS)]
    if figure.chart is not None:
        return structs.replace(figure, chart=_headed(figure.chart, figure.title, said))
    return structs.replace(figure, svg=_footed(figure.svg, said)) if said else figure


def without_intervals(chart: Spec) -> str:
    """A sentence about the values of a chart that have no interval; empty if all have one."""
    values = list(_values(chart))
    for low, _ in _BOUNDS:
        known = [value for value in values if low in value]
        if not any(value[low] is not None for value in known):
            continue
        bare = list(dict.fromkeys(_name(value) for value in known if value[low] is None))
        if not bare:
            return ""
        more = f" and {len(bare) - _MOST_NAMES} more" if len(bare) > _MOST_NAMES else ""
        return f"Shown without an interval: {', '.join(bare[:_MOST_NAMES])}{more}."
    return "No intervals are shown."


def _headed(chart: Spec, title: str, said: Sequence[str]) -> Spec:
    """The chart with its own title, or else the given one, and the remarks in small letters below it."""
    own = chart.get("title")
    head: dict[str, Any] = dict(own) if isinstance(own, dict) else {"text": own or wrap(title, LETTERS)}
    below = [*_lines(head.get("subtitle")), *said]
    look = {"anchor": "start", "fontSize": 12, "subtitleFontSize": 10, "subtitlePadding": 4, "offset": 14}
    return {**chart, "title": {**look, **head, "anchor": "start", "subtitle": below}}


def _lines(text: object) -> list[str]:
    return [] if not text else [str(text)] if isinstance(text, str) else [str(line) for line in text]  # type: ignore[attr-defined]


def _values(chart: Spec) -> Iterator[dict[str, Any]]:
    """The inline values of a chart and of all its parts."""
    data = chart.get("data")
    if isinstance(data, dict):
        yield from (value for value in data.get("values", ()) if isinstance(value, dict))
    for key in ("layer", "hconcat", "vconcat", "concat"):
        for part in chart.get(key, ()):
            yield from _values(part)
    if isinstance(chart.get("spec"), dict):
        yield from _values(chart["spec"])


def _name(value: dict[str, Any]) -> str:
    names = (str(value.get(field) or "") for field in ("group", "label"))
    return ", ".join(dict.fromkeys(name for name in names if name)) or "a value"


def _footed(svg: str, said: Sequence[str]) -> str:
    """A drawing with lines of text below it."""
    root = ElementTree.fromstring(clean_svg(svg))  # noqa: S314 - cleaned, and our own
    box = [float(number) for number in root.get("viewBox", "").split()]
    left, top, width, height = (
        box
        if len(box) == 4
        else [0.0, 0.0, *(float(root.get(side, "640").removesuffix("px")) for side in ("width", "height"))]
    )
    space = "{http://www.w3.org/2000/svg}"
    for place, line in enumerate(said, 1):
        text = ElementTree.SubElement(
            root, f"{space}text", {"x": f"{left + 8:g}", "y": f"{top + height + place * _LINE:g}", "font-size": "10"}
        )
        text.text = line
    taller = height + (len(said) + 1) * _LINE
    root.set("viewBox", f"{left:g} {top:g} {width:g} {taller:g}")
    root.set("width", f"{width:g}")
    root.set("height", f"{taller:g}")
    return ElementTree.tostring(root, encoding="unicode")
