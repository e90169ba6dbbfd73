"""`sociometer report`: one self-contained HTML page about runs."""

from pathlib import Path

import click

from sociometer.api import report
from sociometer.cli.chosen import chosen_runs, include_short_option, runs_argument, terms_options, without_short
from sociometer.cli.options import json_option, open_stored, store_option, store_path
from sociometer.cli.output import print_result
from sociometer.core.instrument import Result
from sociometer.reporting.progress import working
from sociometer.store.place import StorePlace


def _report(
    runs: tuple[str, ...],
    out: Path,
    evidence: int | None,
    margin: float | None,
    power: float,
    level: float,
    include_short: bool,
    store: StorePlace | None,
    as_json: bool,
) -> int:
    with open_stored(store_path(store)) as engine:
        chosen = chosen_runs(engine, runs)
        left: list[str] = []
        if not include_short:
            chosen, left = without_short(engine, chosen)
        with working("writing the page"):
            path = report(chosen, out, evidence=evidence, margin=margin, power=power, level=level)
    return print_result(Result(notes=tuple(f"Left out: {why}." for why in left), wrote=(str(path),)), as_json)


command = click.Command(
    "report",
    callback=_report,
    params=[
        runs_argument(),
        click.Option(
            ["--out"],
            type=click.Path(path_type=Path, dir_okay=False),
            default="report.html",
            show_default=True,
            help="File to write.",
        ),
        click.Option(
            ["--evidence"],
            type=int,
            help="Number of transcripts of each kind per run and task; by default 4, fewer for many runs.",
        ),
        *terms_options(),
        include_short_option(),
        store_option(),
        json_option(),
    ],
    help="Write one HTML page about the given runs. Without RUN or with 'all': about each subject's run with"
    " the most items. RUN is an id, the start of an id, a name, 'last' or 'all'.",
)
