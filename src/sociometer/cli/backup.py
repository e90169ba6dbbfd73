"""`sociometer backup`: copies the store and its studies, even while runs are in progress."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import click

from sociometer.cli.opening import open_stored
from sociometer.cli.options import json_option, store_option, store_path
from sociometer.cli.output import print_result
from sociometer.core.task import Result
from sociometer.store.database import storage_errors


def _backup(file: Path, store: Path | None, as_json: bool) -> int:
    with open_stored(store_path(store)) as engine:
        engine.store.backup(file)
    return print_result(Result(wrote=(str(file), *_copy_beside(store_path(store), file))), as_json)


def _copy_beside(store: Path, file: Path) -> tuple[str, ...]:
    """Copies the files of studies and of labels that lie beside the store; only their owner can read the copies."""
    wrote = []
    for ending in (".studies", ".labels"):
        source, target = store.with_name(store.name + ending), file.with_name(file.name + ending)
        if source.exists():
            os.close(os.open(target, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600))
            with (
                storage_errors(target),
                closing(sqlite3.connect(source)) as one,
                closing(sqlite3.connect(target)) as two,
            ):
                one.backup(two)
            wrote.append(str(target))
    return tuple(wrote)


command = click.Command(
    "backup",
    callback=_backup,
    params=[click.Argument(["file"], type=click.Path(path_type=Path, dir_okay=False)), store_option(), json_option()],
    help="Copy the store to FILE, its studies to FILE.studies and labels to FILE.labels. Runs in progress continue.",
)
