"""Writes a figure to a file for a paper: SVG, PDF or PNG from the same specification as the page; a table as CSV."""

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import chain, count
from pathlib import Path

import vl_convert

from sociometer.core.errors import UsageError, hint, unknown
from sociometer.core.measure import Figure
from sociometer.core.sheets import whole_file, write_sheet
from sociometer.statistics.chart_theme import Mode, contained, themed

PICTURES = ("svg", "pdf", "png")
TABLES = ("csv",)
WIDTH = 640

_MOST_NAME_BYTES = 120
# Windows has devices of these names in every folder, whatever the ending.
_DEVICES = {"con", "prn", "aux", "nul", *(f"{port}{number}" for port in ("com", "lpt") for number in range(1, 10))}


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
        return write_sheet(figure.table.columns, figure.table.rows, guard_formulas=True).encode()
    svg = _svg(json.dumps(themed(contained(figure.chart or {}), mode, width)))
    if kind == "svg":
        return svg.encode()
    picture: bytes = vl_convert.svg_to_pdf(svg) if kind == "pdf" else vl_convert.svg_to_png(svg, scale=2.0)
    return picture


@lru_cache(maxsize=32)
def _svg(chart: str) -> str:
    """The picture of a chart; cached, because a paper has it in two formats and a page shows it again."""
    return str(vl_convert.vegalite_to_svg(chart))


def find_figure(figures: Mapping[str, Figure], name: str) -> Figure:
    """The figure with that full name, or with that last part of the name if only one has it."""
    if name in figures:
        return figures[name]
    short = [full for full in figures if full.rsplit("/", 1)[-1] == name]
    if len(short) == 1:
        return figures[short[0]]
    if short:
        raise UsageError(f"'{name}' names several figures; give one of: {', '.join(sorted(short))}.")
    near = [full for full in figures if name in full]
    raise unknown("figure", name, near or figures, f"To see all: {hint('report --figure list')}")


def write_figure(figure: Figure, path: Path, *, width: int = WIDTH, within: Path | None = None) -> Path:
    """Write a figure to a file; its suffix selects the format."""
    data = drawn(figure, path.suffix.lstrip(".").lower(), width=width)
    with whole_file(path, within=within) as partial:
        partial.write_bytes(data)
    return path


def plot_all(figures: Sequence[Figure], folder: Path) -> tuple[Path, ...]:
    """Write every figure to a folder under its own name: pictures as SVG, tables as CSV."""
    taken: set[str] = set()
    paths = []
    for figure in figures:
        kind = "svg" if figure.table is None else "csv"
        paths.append(write_figure(figure, folder / f"{free_stem(figure.name, taken)}.{kind}", within=folder))
    return tuple(paths)


def free_stem(name: str, taken: set[str]) -> str:
    """A file name without ending for a figure, legal on every system; `taken` are those in use, and it is added."""
    plain = re.sub(r"[^\w.-]+", "-", unicodedata.normalize("NFC", name))
    stem = plain.encode()[:_MOST_NAME_BYTES].decode(errors="ignore").strip("-.") or "figure"
    if stem.split(".")[0].casefold() in _DEVICES:
        stem = f"figure-{stem}"
    # Compared without case, since macOS and Windows take `A.svg` and `a.svg` for the same file.
    free = next(
        each for each in chain([stem], (f"{stem}-{number}" for number in count(2))) if each.casefold() not in taken
    )
    taken.add(free.casefold())
    return free
