"""`sociometer plot`: one figure of the report as SVG, PDF or PNG."""

from pathlib import Path
from typing import Literal

import click

from sociometer.cli.chosen import EVERY, chosen_runs, runs_argument
from sociometer.cli.options import open_stored, store_option, store_path
from sociometer.cli.output import Display, display_options, print_result
from sociometer.core.errors import UsageError
from sociometer.core.instrument import Result
from sociometer.core.measure import Figure, Table
from sociometer.engine.engine import Engine
from sociometer.reporting.content import gather
from sociometer.reporting.plot import WIDTH, find_figure, plot
from sociometer.reporting.progress import working
from sociometer.store.place import StorePlace


def _plot(
    name: str | None,
    runs: tuple[str, ...],
    out: Path | None,
    dark: bool,
    width: int,
    store: StorePlace | None,
    everything: bool,
    csv: Path | None,
    as_json: bool,
) -> int:
    mode: Literal["light", "dark"] = "dark" if dark else "light"
    with open_stored(store_path(store)) as engine:
        if name is not None and out is None and _is_run(engine, name):
            runs, name = (name, *runs), None
        found = chosen_runs(engine, runs)
        with working("drawing figures"):
            figures = gather(found, evidence=0).figures()
    if name is None:
        rows = tuple((full, figure.title, _kind(figure)) for full, figure in figures.items())
        listed = Table("figures", "Figures", ("name", "title", "kind"), rows)
        return print_result(Result(tables=(listed,)), as_json, Display(everything, csv))
    figure = find_figure(figures, name)
    if out is None:
        endings = ".csv" if figure.table is not None else ".svg, .pdf or .png"
        raise UsageError(f"plot needs --out FILE with one of these endings: {endings}.")
    wrote = str(plot(figures, name, out, mode=mode, width=width))
    return print_result(Result(notes=(figure.caption,) if figure.caption else (), wrote=(wrote,)), as_json)


def _is_run(engine: Engine, word: str) -> bool:
    """Whether a word names runs (`all`, `last`, an id or its beginning) and so no figure."""
    try:
        return word == EVERY or bool(engine.stored(word))
    except UsageError:
        return False


def _kind(figure: Figure) -> str:
    return "table" if figure.table is not None else "drawing" if figure.svg else "chart"


command = click.Command(
    "plot",
    callback=_plot,
    params=[
        click.Argument(["name"], required=False),
        runs_argument(),
        click.Option(
            ["--out"],
            type=click.Path(path_type=Path, dir_okay=False),
            help="File to write: .svg, .pdf or .png for a picture, .csv for a table.",
        ),
        click.Option(["--dark"], is_flag=True, help="Use colours for a dark background."),
        click.Option(["--width"], type=int, default=WIDTH, show_default=True, help="Width of the picture in points."),
        store_option(),
        *display_options(),
    ],
    help="Draw the figure NAME of the given runs, or of each subject's run with the most items. Without NAME, list"
    " the figures.",
)
