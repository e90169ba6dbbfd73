"""Cleans SVG for use in a page: only drawing elements and plain attributes are kept."""

import re
from xml.etree import ElementTree

from sociometer.core.errors import DataError

_NAMESPACE = "http://www.w3.org/2000/svg"
_SHAPES = ("svg", "g", "path", "rect", "circle", "ellipse", "line", "polyline", "polygon", "text", "tspan")
_OTHERS = (
    "title",
    "desc",
    "defs",
    "marker",
    "clipPath",
    "linearGradient",
    "radialGradient",
    "stop",
    "pattern",
    "style",
)
_ELEMENTS = frozenset((*_SHAPES, *_OTHERS))
_PLACES = ("d", "x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r", "rx", "ry", "dx", "dy", "width", "height", "points")
_PAINT = ("fill", "fill-opacity", "fill-rule", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap")
_LETTERS = ("font-size", "font-family", "font-weight", "font-style", "text-anchor", "dominant-baseline", "textLength")
_MARKERS = ("marker-end", "marker-start", "marker-mid", "markerWidth", "markerHeight", "refX", "refY", "orient")
_REST = ("id", "class", "viewBox", "transform", "opacity", "rotate", "offset", "stop-color", "stop-opacity", "role")
_MORE = ("clip-path", "gradientTransform", "gradientUnits", "patternUnits", "preserveAspectRatio", "aria-label")
_LAST = ("stroke-linejoin", "stroke-opacity", "markerUnits", "letter-spacing", "lengthAdjust", "alignment-baseline")
_ATTRIBUTES = frozenset((*_PLACES, *_PAINT, *_LETTERS, *_MARKERS, *_REST, *_MORE, *_LAST))
_OUTSIDE = re.compile(r"url\(\s*(?!['\"]?#)|javascript:|expression\(|@import", re.IGNORECASE)


def clean_svg(text: str) -> str:
    """The drawing without anything that could run, load or link; raises DataError if it is not SVG."""
    if "<!DOCTYPE" in text.upper() or "<!ENTITY" in text.upper():
        raise DataError("a drawing must not declare a document type or entities")
    try:
        root = ElementTree.fromstring(text)  # noqa: S314 - entities are rejected above, and the drawing is our own
    except ElementTree.ParseError as error:
        raise DataError(f"a drawing is not valid SVG: {error}") from None
    if _local(root.tag) != "svg":
        raise DataError(f"a drawing must be an <svg>, not <{_local(root.tag)}>")
    _clean(root)
    ElementTree.register_namespace("", _NAMESPACE)
    return ElementTree.tostring(root, encoding="unicode")


def _clean(element: ElementTree.Element) -> None:
    element.tag = f"{{{_NAMESPACE}}}{_local(element.tag)}"
    for name in list(element.attrib):
        if name not in _ATTRIBUTES or _OUTSIDE.search(element.attrib[name]):
            del element.attrib[name]
    for child in list(element):
        style = isinstance(child.tag, str) and _local(child.tag) == "style"
        if not isinstance(child.tag, str) or _local(child.tag) not in _ELEMENTS or (style and _reaches_out(child)):
            element.remove(child)
        else:
            _clean(child)


def _reaches_out(style: ElementTree.Element) -> bool:
    """Whether a style sheet could load something. It cannot style the page, which shows drawings in a shadow root."""
    return len(style) > 0 or bool(_OUTSIDE.search(style.text or "")) or "\\" in (style.text or "")


def _local(tag: str) -> str:
    return tag.rsplit("}", 1)[-1]
