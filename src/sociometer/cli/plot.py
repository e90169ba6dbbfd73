"""`sociometer plot`: one figure of the report as SVG, PDF or PNG."""

from pathlib import Path
from typing import Literal

import click

from sociometer.cli.chosen import chosen_runs, given_runs, runs_argument
from sociometer.cli.opening import open_stored
from sociometer.cli.options import json_option, store_option, store_path
from sociometer.cli.output import print_result
from sociometer.core.errors import UsageError
from sociometer.core.measure import Table
from sociometer.core.workbench import Result
from sociometer.report.material import gather
from sociometer.report.plot import plot


def _plot(
    name: str | None,
    runs: tuple[str, ...],
    out: Path | None,
    dark: bool,
    width: int,
    store: Path | None,
    as_json: bool,
) -> int:
    with open_stored(store_path(store)) as engine:
        given, instruments = given_runs(chosen_runs(engine, runs))
        figures = gather(given, instruments, evidence=0).figures()
    if name is None:
        rows = tuple((full, figure.title, _kind(figure.table, figure.svg)) for full, figure in figures.items())
        return print_result(Result(tables=(Table("figures", "Figures", ("name", "title", "kind"), rows),)), as_json)
    if out is None:
        raise UsageError("plot needs --out FILE, whose ending says the format: .svg, .pdf or .png.")
    mode: Literal["light", "dark"] = "dark" if dark else "light"
    return print_result(Result(wrote=(str(plot(figures, name, out, mode=mode, width=width)),)), as_json)


def _kind(table: Table | None, svg: str) -> str:
    return "table" if table is not None else "drawing" if svg else "chart"


command = click.Command(
    "plot",
    callback=_plot,
    params=[
        click.Argument(["name"], required=False),
        runs_argument(),
        click.Option(["--out"], type=click.Path(path_type=Path, dir_okay=False), help="fig.svg, fig.pdf or fig.png."),
        click.Option(["--dark"], is_flag=True, help="Colours for a dark background."),
        click.Option(["--width"], type=int, default=640, show_default=True, help="Width in points."),
        store_option(),
        json_option(),
    ],
    help="Draw the figure NAME of the runs given (default: the fullest of all); without NAME, list the figures.",
)
