"""`sociometer publish`: writes a run as a dataset folder for Hugging Face, or the numbers of runs as a table."""

from pathlib import Path

import click

from sociometer.adapters.hugging_face import publish
from sociometer.adapters.score_tables import write_table
from sociometer.cli.chosen import runs_argument
from sociometer.cli.options import json_option, open_stored, store_option, store_path
from sociometer.cli.output import print_json, print_line
from sociometer.core.errors import UsageError
from sociometer.store.place import StorePlace
from sociometer.store.stored_run import StoredRun


def _publish(
    runs: tuple[str, ...],
    to: Path,
    table: bool,
    dataset: str,
    without_keys: bool,
    store: StorePlace | None,
    as_json: bool,
) -> None:
    if table and (dataset or without_keys):
        raise UsageError("--table cannot be combined with --dataset or --without-keys: a table has no items.")
    if not table and len(runs) != 1:
        raise UsageError(f"a dataset folder has one run, not {len(runs)}; give one RUN, or --table.")
    if to.is_dir() if table else to.is_file():
        raise UsageError(f"--to '{to}' is a {'folder; --table writes a file' if table else 'file; give a folder'}.")
    with open_stored(store_path(store)) as engine:
        stored = [engine.stored(run) for run in dict.fromkeys(runs)]
        if table:
            _publish_table(stored, to, as_json)
        else:
            _publish_dataset(stored[0], to, dataset, without_keys, as_json)


def _publish_table(runs: list[StoredRun], to: Path, as_json: bool) -> None:
    written = write_table(runs, to)
    if as_json:
        print_json({"file": to, "table": written})
        return
    print_line(f"wrote {to}")
    names = dict.fromkeys(f"{row.subject} on {row.conditions.instrument}/{row.conditions.task}" for row in written.rows)
    print_line(f"It has the numbers of {', '.join(names)}, and no items or replies.")


def _publish_dataset(run: StoredRun, to: Path, dataset: str, without_keys: bool, as_json: bool) -> None:
    done = publish(run, to, dataset=dataset, without_keys=without_keys)
    if as_json:
        print_json(done)
        return
    for path in done.files:
        print_line(f"wrote {path}")
    if done.left_out:
        print_line(done.left_out)


command = click.Command(
    "publish",
    callback=_publish,
    params=[
        runs_argument(required=True),
        click.Option(
            ["--to"],
            type=click.Path(path_type=Path),
            required=True,
            help="New folder to write; with --table, the file.",
        ),
        click.Option(
            ["--table"],
            is_flag=True,
            help="Write the numbers of one or more runs as one small JSON file, for 'leaderboard --with'.",
        ),
        click.Option(
            ["--dataset"],
            default="",
            metavar="OWNER/NAME",
            help="Id of the dataset on the Hub, to write .eval_results for the model's repository too.",
        ),
        click.Option(
            ["--without-keys"],
            is_flag=True,
            help="Leave out everything that reveals the right answers of held-out items.",
        ),
        store_option(),
        json_option(),
    ],
    help="Write RUN as a dataset folder (Parquet, card), or the numbers of RUN… as a table. Nothing is uploaded;"
    " official items are never included.",
)
