"""`sociometer export`: writes a run to JSON lines, CSV or Parquet."""

from pathlib import Path

import click

from sociometer.cli.opening import open_stored
from sociometer.cli.options import json_option, store_option, store_path
from sociometer.cli.output import print_json, print_line
from sociometer.cli.progress import working
from sociometer.engine.export import export_run


def _export(run: str, to: Path, store: Path | None, as_json: bool) -> None:
    with open_stored(store_path(store)) as engine, working(f"writing {to.name}"):
        rows = export_run(engine.stored(run), to)
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
            ["--to"], type=click.Path(path_type=Path), required=True, help="FILE.jsonl, FILE.csv or FILE.parquet"
        ),
        store_option(),
        json_option(),
    ],
    help="Write RUN, one row an episode: JSON lines with items, outcomes and transcripts; CSV and Parquet with scores.",
)
