"""One figure as a picture for a paper: SVG, PDF or PNG from the same specification as the page."""

from collections.abc import Mapping
from pathlib import Path

import vl_convert

from sociometer.analysis.charts.theme import Mode, themed
from sociometer.core.errors import UsageError, unknown
from sociometer.core.measure import Figure
from sociometer.report.drawing import clean_svg

FORMATS = ("svg", "pdf", "png")


def picture(figure: Figure, kind: str, *, mode: Mode = "light", width: int = 640, scale: float = 2.0) -> bytes:
    """The figure as the bytes of a file of that kind; tables are no pictures and are refused."""
    if kind not in FORMATS:
        raise UsageError(f"unknown picture format '.{kind}'; use one of: {', '.join('.' + name for name in FORMATS)}.")
    if figure.chart is not None:
        svg = vl_convert.vegalite_to_svg(themed(figure.chart, mode, width))
    elif figure.svg:
        svg = clean_svg(figure.svg)
    else:
        raise UsageError(
            f"figure '{figure.name}' is a table; `sociometer report` shows it, and `--json` gives its rows."
        )
    if kind == "svg":
        return str(svg).encode()
    drawn: bytes = vl_convert.svg_to_pdf(svg) if kind == "pdf" else vl_convert.svg_to_png(svg, scale=scale)
    return drawn


def find_figure(figures: Mapping[str, Figure], name: str) -> Figure:
    """The figure of that full name, or of that last part where only one has it."""
    if name in figures:
        return figures[name]
    short = [full for full in figures if full.rsplit("/", 1)[-1] == name]
    if len(short) == 1:
        return figures[short[0]]
    if short:
        raise UsageError(f"'{name}' names several figures; give one of: {', '.join(sorted(short))}.")
    raise unknown("figure", name, figures)


def plot(figures: Mapping[str, Figure], name: str, path: Path, *, mode: Mode = "light", width: int = 640) -> Path:
    """Draw the named figure into a file whose ending says the format."""
    data = picture(find_figure(figures, name), path.suffix.lstrip(".").lower(), mode=mode, width=width)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path
