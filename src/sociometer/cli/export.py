"""`sociometer export`: writes runs to a file that other tools read."""

from pathlib import Path

import click

from sociometer.api import write_runs
from sociometer.cli.options import json_option, open_stored, runs_argument, store_option, told
from sociometer.cli.output import option, print_text, tell
from sociometer.core.errors import UsageError, hint
from sociometer.core.words import counted
from sociometer.instruments import cards, load
from sociometer.reporting.progress import working
from sociometer.results.choice import choose
from sociometer.results.export import COLUMNS
from sociometer.store.bundle import ENDING
from sociometer.store.place import StorePlace
from sociometer.store.studies import study_books


def _export(runs: tuple[str, ...], to: Path, store: StorePlace | None, as_json: bool) -> None:
    with open_stored(store) as engine:
        for name in (name for book in study_books(engine.store.path) for name in book.names() if name in runs):
            raise UsageError(f"'{name}' is a study; to write it: {hint('study export', name, '--to', 'FOLDER')}")
        chosen = told(choose(engine.store, load, cards(), runs)).runs
        with working(f"writing {to.name}"):
            wrote = write_runs(chosen, to, runs)
    left = [f"left out: {why}" for why in wrote["left_out"].values()]
    if "rows" in wrote:
        whose = {run.manifest.whose_items for run in chosen if run.id not in wrote["left_out"]}
        if to.suffix == ".jsonl" and "official" in whose:
            print_text(f"{to} has official items word for word, with their keys; .csv has none.", err=True)
        return tell(as_json, wrote, f"wrote {to} ({counted(wrote['rows'], 'row')})", *left)
    roots = wrote.get("roots") or {str(to): wrote["root"]}
    said = [line for file, root in roots.items() for line in (f"wrote {file}", f"root {root}")]
    check = hint("check", next(iter(roots)))
    return tell(as_json, wrote, *said, *left, f"others check {'it' if len(roots) == 1 else 'each'} with: {check}")


command = click.Command(
    "export",
    callback=_export,
    params=[
        runs_argument(required=True),
        option(
            "--to",
            f"File to write: .jsonl, .csv or .parquet (one row per episode), {ENDING} (one run, for others to check);"
            f" or a folder, for a {ENDING} file of each finished run.",
            type=click.Path(path_type=Path),
            required=True,
        ),
        store_option(),
        json_option(),
    ],
    epilog="\n".join(["\b", "Columns of CSV and Parquet:", *(f"  {one:<10}  {what}" for one, what in COLUMNS.items())]),
    help="Write the results of RUN…, of an instrument or of all subjects ('all') to a file. JSON"
    " lines have items, outcomes and transcripts; CSV and Parquet have scores. Nothing is uploaded.",
)
