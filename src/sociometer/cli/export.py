"""`sociometer export`: writes a run to JSON lines, CSV, Parquet or an Inspect log."""

from pathlib import Path

import click

from sociometer.adapters.extras import require
from sociometer.cli.options import json_option, open_stored, store_option, store_path
from sociometer.cli.output import print_json, print_line
from sociometer.core.errors import UsageError
from sociometer.engine.export import export_run
from sociometer.reporting.progress import working
from sociometer.store.place import StorePlace


def _export(run: str, to: Path, task: str, store: StorePlace | None, as_json: bool) -> None:
    with open_stored(store_path(store)) as engine, working(f"writing {to.name}"):
        stored = engine.stored(run)
        if to.suffix == ".eval":
            require("inspect")
            from sociometer.adapters.inspect_export import export_log  # needs the extra 'inspect'

            rows = export_log(stored, to, task)
        elif task:
            raise UsageError("--task works only with an Inspect log (.eval); the other formats contain every task.")
        else:
            rows = export_run(stored, to)
    if as_json:
        print_json({"wrote": str(to), "rows": rows})
    else:
        print_line(f"wrote {to} ({rows} rows)")


command = click.Command(
    "export",
    callback=_export,
    params=[
        click.Argument(["run"]),
        click.Option(
            ["--to"],
            type=click.Path(path_type=Path),
            required=True,
            help="File to write: .jsonl, .csv, .parquet, or .eval (an Inspect log).",
        ),
        click.Option(["--task"], default="", help="Task for an Inspect log, if the run has several."),
        store_option(),
        json_option(),
    ],
    help="Write RUN to a file, one row per episode. JSON lines contain items, outcomes and transcripts; CSV and Parquet"
    " contain scores.",
)
