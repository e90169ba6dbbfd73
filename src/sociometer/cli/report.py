"""`sociometer report`: one self-contained HTML page about runs, or one of its figures."""

from collections.abc import Sequence
from pathlib import Path

import click

from sociometer.api import report
from sociometer.cli.options import margin_of, open_stored, runs_argument, store_option, terms_options, told
from sociometer.cli.output import Display, TableCommand, display_options, option, print_result, print_text
from sociometer.core.errors import UsageError
from sociometer.core.instrument import Result
from sociometer.core.measure import Table
from sociometer.core.sheets import folder_for
from sociometer.core.words import listed
from sociometer.instruments import cards, load
from sociometer.reporting.content import gather
from sociometer.reporting.page import TOP
from sociometer.reporting.plot import WIDTH, find_figure, write_figure
from sociometer.reporting.progress import working
from sociometer.results.choice import choose
from sociometer.results.verdicts import Terms
from sociometer.store.place import StorePlace
from sociometer.store.stored_run import StoredRun

_LIST = "list"


def _report(
    runs: tuple[str, ...],
    to: Path | None,
    figure: str,
    width: int,
    evidence: int | None,
    top: int,
    margin: tuple[str, ...],
    level: float,
    store: StorePlace | None,
    display: Display,
) -> int:
    terms, out = Terms(level, margin_of(margin)), to or Path("report.html")
    folder_for(out)
    before = ["The report.html that was here before is replaced."] if to is None and out.exists() else []
    if figure != _LIST and display.format in ("csv", "wide"):
        raise UsageError(f"--format {display.format} works only with --figure {_LIST}; leave it out.")
    with open_stored(store) as engine:
        chosen = told(choose(engine.store, load, cards(), runs)).runs
        if figure:
            return _figure(chosen, figure, to, width, display)
        with working("writing the page"):
            path = report(chosen, out, evidence=evidence, margin=terms.margin, level=level, top=top)
    shown = [run for run in chosen if evidence != 0 and (evidence or not run.people)]
    if official := [*dict.fromkeys(run.instrument for run in shown if run.manifest.whose_items == "official")]:
        word_for_word = f"{path} has official items of {listed(official)} word for word, with their keys"
        print_text(f"{word_for_word}. Check their licence before you share it; --evidence 0 leaves them out.", err=True)
    return print_result(Result(notes=tuple(before), wrote=(str(path),)), display)


def _figure(runs: Sequence[StoredRun], name: str, to: Path | None, width: int, display: Display) -> int:
    with working("drawing figures"):
        figures = gather(runs, evidence=0).figures()
    if name == _LIST:
        rows = tuple((full, one.title, "table" if one.table else "chart") for full, one in figures.items())
        listed = Table("figures", "Figures", ("name", "title", "kind"), rows)
        return print_result(Result(tables=(listed,), notes=()), display)
    found = find_figure(figures, name)
    if to is None:
        endings = ".csv" if found.table is not None else ".svg, .pdf or .png"
        raise UsageError(f"--figure needs --to FILE with one of these endings: {endings}.")
    write_figure(found, to, width=width)
    return print_result(Result(notes=tuple(filter(None, [found.caption])), wrote=(str(to),)), display)


command = TableCommand(
    "report",
    callback=_report,
    params=[
        runs_argument(),
        option(
            "--to",
            "File to write: .html for the page [default: report.html]; .svg, .pdf, .png or .csv for a figure.",
            type=click.Path(path_type=Path, dir_okay=False),
        ),
        option("--figure", "Write one figure; 'list' lists their names.", default="", metavar="NAME"),
        option("--width", "Width of the figure in points.", type=click.IntRange(100, 10_000), default=WIDTH),
        option(
            "--evidence",
            "Number of transcripts of each kind per run and task; by default 4, fewer for many runs, none of people.",
            type=click.IntRange(0),
        ),
        option(
            "--top", "Number of subjects shown at once; the others are folded.", type=click.IntRange(1), default=TOP
        ),
        *terms_options(),
        store_option(),
        *display_options(to=False),
    ],
    help="Write one HTML page about the given results, or with --figure one figure of it. Without RUN or with 'all':"
    " about all. RUN is the name of a model, a model, a study, an instrument, the id of a run, 'last' or 'all'.",
)
