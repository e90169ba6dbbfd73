"""Writes a figure to a file for a paper: SVG, PDF or PNG from the same specification as the page; a table as CSV."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import vl_convert

from sociometer.analysis.charts.theme import Mode, themed
from sociometer.core.errors import UsageError, unknown
from sociometer.core.measure import Figure
from sociometer.reporting.safe_svg import clean_svg
from sociometer.sheets import write_sheet

PICTURES = ("svg", "pdf", "png")
TABLES = ("csv",)
WIDTH = 640


def drawn(figure: Figure, kind: str, *, mode: Mode = "light", width: int = WIDTH) -> bytes:
    """The figure as the bytes of a file of that kind: a picture, or CSV for a table."""
    if kind not in (*PICTURES, *TABLES):
        raise UsageError(
            f"unknown picture format '.{kind}'; use one of: {', '.join('.' + name for name in PICTURES)}, "
            "or .csv for a table."
        )
    if (figure.table is not None) != (kind in TABLES):
        what, endings = ("a table", ".csv") if figure.table is not None else ("a picture", ".svg, .pdf or .png")
        raise UsageError(f"figure '{figure.name}' is {what}; write it as {endings}, not as .{kind}.")
    if figure.table is not None:
        return write_sheet(figure.table.columns, figure.table.rows).encode()
    svg = _svg(figure, mode, width)
    if kind == "svg":
        return svg.encode()
    picture: bytes = vl_convert.svg_to_pdf(svg) if kind == "pdf" else vl_convert.svg_to_png(svg, scale=2.0)
    return picture


def find_figure(figures: Mapping[str, Figure], name: str) -> Figure:
    """The figure with that full name, or with that last part of the name if only one has it."""
    if name in figures:
        return figures[name]
    short = [full for full in figures if full.rsplit("/", 1)[-1] == name]
    if len(short) == 1:
        return figures[short[0]]
    if short:
        raise UsageError(f"'{name}' names several figures; give one of: {', '.join(sorted(short))}.")
    raise unknown("figure", name, figures)


def plot(figures: Mapping[str, Figure], name: str, path: Path, *, mode: Mode = "light", width: int = WIDTH) -> Path:
    """Write the named figure to a file; its suffix selects the format."""
    return _write(path, drawn(find_figure(figures, name), path.suffix.lstrip(".").lower(), mode=mode, width=width))


def plot_all(figures: Sequence[Figure], folder: Path) -> tuple[Path, ...]:
    """Write every figure to a folder under its own name: pictures as SVG, tables as CSV."""
    taken: dict[str, int] = {}
    paths = []
    for figure in figures:
        kind = "svg" if figure.table is None else "csv"
        stem = re.sub(r"[^\w.-]+", "-", figure.name).strip("-.") or "figure"
        taken[stem] = taken.get(stem, 0) + 1
        name = stem if taken[stem] == 1 else f"{stem}-{taken[stem]}"
        paths.append(_write(folder / f"{name}.{kind}", drawn(figure, kind)))
    return tuple(paths)


def _svg(figure: Figure, mode: Mode, width: int) -> str:
    if figure.chart is not None:
        return str(vl_convert.vegalite_to_svg(themed(figure.chart, mode, width)))
    return clean_svg(figure.svg)


def _write(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path
