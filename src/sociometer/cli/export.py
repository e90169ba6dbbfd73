"""`sociometer export`: writes runs to a file that other tools read."""

from pathlib import Path

import click

from sociometer.cli.options import json_option, open_stored, runs_argument, store_option, told
from sociometer.cli.output import option, tell
from sociometer.core.errors import UsageError, hint
from sociometer.core.lazy import require
from sociometer.core.sheets import folder_for
from sociometer.engine.replay import export_bundle
from sociometer.instruments import load
from sociometer.reporting.progress import working
from sociometer.results.choice import choose_runs, means_all
from sociometer.results.export import COLUMNS, export_runs
from sociometer.results.groups import PeopleRun
from sociometer.store.bundle import ENDING
from sociometer.store.place import StorePlace
from sociometer.store.stored_run import StoredRun
from sociometer.store.studies import study_books

_LOG = ".eval"
_ENDINGS = (".jsonl", ".csv", ".parquet", _LOG, ENDING)


def _written(runs: list[StoredRun], to: Path, task: str, key: str) -> tuple[object, list[str]]:
    """Write the runs in the format of the ending; gives what to print, as JSON and as lines."""
    run = runs[0]
    if to.suffix in (_LOG, ENDING) and len(runs) > 1:
        raise UsageError(f"a file that ends in {to.suffix} has one run, not {len(runs)}; give one RUN.")
    if to.suffix == ENDING:
        root = export_bundle(run, to, key=key)
        said = f"root {root}" + (", signed" if key else "")
        how = f"others check it with: {hint('check', to.name)}"
        return {"wrote": str(to), "root": root}, [f"wrote {to}", said, how]
    if to.suffix == _LOG:
        rows = require("inspect", "sociometer.adapters.inspect_export").export_log(run, to, task)
    else:
        rows = export_runs(runs, to)
    return {"wrote": str(to), "rows": rows}, [f"wrote {to} ({rows} rows)"]


def _export(
    runs: tuple[str, ...],
    to: Path,
    task: str,
    sign: str,
    store: StorePlace | None,
    as_json: bool,
) -> None:
    if to.suffix not in _ENDINGS:
        raise UsageError(f"'{to}' has none of the endings {', '.join(_ENDINGS)}.")
    if task and to.suffix != _LOG:
        raise UsageError("--task works only with an Inspect log (.eval); the other formats contain every task.")
    if sign and to.suffix != ENDING:
        raise UsageError(f"--sign works only with a file that ends in {ENDING}.")
    folder_for(to)
    with open_stored(store) as engine, working(f"writing {to.name}"):
        for name in (name for book in study_books(engine.store.path) for name in book.names() if name in runs):
            raise UsageError(f"'{name}' is a study; to write it: {hint('study export', name, '--to', 'FOLDER')}")
        if means_all(runs):
            found = [one for one in told(choose_runs(engine.store, load)).runs if not isinstance(one, PeopleRun)]
        else:
            found = [engine.stored(run) for run in dict.fromkeys(runs)]
        value, lines = _written(found, to, task, sign)
    tell(as_json, value, *lines)


command = click.Command(
    "export",
    callback=_export,
    params=[
        runs_argument(required=True),
        option(
            "--to",
            "File to write: .jsonl, .csv or .parquet (one row per episode), .eval (an Inspect log),"
            f" {ENDING} (a run that others can check).",
            type=click.Path(path_type=Path),
            required=True,
        ),
        option("--task", "Task for an Inspect log, if the run has several.", default=""),
        option("--sign", f"SSH key that signs a {ENDING} file.", default="", metavar="KEY"),
        store_option(),
        json_option(),
    ],
    epilog="\n".join(["\b", "Columns of CSV and Parquet:", *(f"  {one:<10}  {what}" for one, what in COLUMNS.items())]),
    help="Write RUN…, or the run of each subject ('all'), to a file. JSON lines have items, outcomes and transcripts;"
    " CSV and Parquet have scores. Nothing is uploaded.",
)
