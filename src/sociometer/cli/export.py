"""`sociometer export`: writes a run to JSON lines, CSV, Parquet or a log of Inspect."""

from pathlib import Path

import click

from sociometer.cli.opening import open_stored
from sociometer.cli.options import json_option, store_option, store_path
from sociometer.cli.output import print_json, print_line
from sociometer.cli.progress import working
from sociometer.core.errors import UsageError
from sociometer.engine.export import export_run


def _export(run: str, to: Path, task: str, store: Path | None, as_json: bool) -> None:
    with open_stored(store_path(store)) as engine, working(f"writing {to.name}"):
        stored = engine.stored(run)
        if to.suffix == ".eval":
            from sociometer.adapters.inspect_export import export_log  # here, since it needs an extra

            rows = export_log(stored, to, task)
        elif task:
            raise UsageError("--task is for a log of Inspect (.eval); the other files hold every task.")
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
            help="FILE.jsonl, FILE.csv, FILE.parquet, or FILE.eval (a log of Inspect)",
        ),
        click.Option(["--task"], default="", help="The task that a log of Inspect holds, where the run has several."),
        store_option(),
        json_option(),
    ],
    help="Write RUN, one row an episode: JSON lines with items, outcomes and transcripts; CSV and Parquet with scores.",
)
