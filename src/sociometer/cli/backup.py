"""`sociometer backup`: copies the store, even while runs are in progress."""

from pathlib import Path

import click

from sociometer.cli.opening import open_stored
from sociometer.cli.options import json_option, store_option, store_path
from sociometer.cli.output import print_result
from sociometer.core.task import Result


def _backup(file: Path, store: Path | None, as_json: bool) -> int:
    with open_stored(store_path(store)) as engine:
        engine.store.backup(file)
    return print_result(Result(wrote=(str(file),)), as_json)


command = click.Command(
    "backup",
    callback=_backup,
    params=[click.Argument(["file"], type=click.Path(path_type=Path, dir_okay=False)), store_option(), json_option()],
    help="Copy the store to FILE. Runs in progress continue.",
)
