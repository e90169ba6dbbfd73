"""`sociometer copy`: copies a store into another, even while runs are in progress."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import click

from sociometer.cli.options import StoreParameter, json_option
from sociometer.cli.output import print_json, print_line
from sociometer.core.errors import UsageError
from sociometer.store.copying import copy_store
from sociometer.store.place import StorePlace
from sociometer.store.sqlite import storage_errors

_BESIDE = (".studies", ".labels")


def _copy(source: StorePlace, target: StorePlace, trust: bool, as_json: bool) -> None:
    if not source.exists():
        raise UsageError(f"there is no store at {source}; give 'copy' an existing store and the one to copy into.")
    copied = copy_store(source, target, trust=trust)
    beside, left_out = _copy_beside(source, target)
    if as_json:
        told = {"from": str(source), "to": str(target), "copied": copied, "files": beside, "not_copied": left_out}
        print_json(told)
        return
    new = f"{copied.runs:,} runs, {copied.episodes:,} episodes and {copied.replies:,} replies"
    print_line(f"Copied {source} to {target}. New there: {new}.")
    for name in beside:
        print_line(f"wrote {name}")
    for name in left_out:
        print_line(f"Not copied: {name}. Studies and labels are copied only to a new file next to a store file.")


def _copy_beside(source: StorePlace, target: StorePlace) -> tuple[list[str], list[str]]:
    """Copies the files of studies and labels next to the store; only their owner can read the copies."""
    wrote: list[str] = []
    left_out: list[str] = []
    if not isinstance(source, Path):
        return wrote, left_out
    for ending in _BESIDE:
        file = source.with_name(source.name + ending)
        copy = target.with_name(target.name + ending) if isinstance(target, Path) else None
        if not file.exists():
            continue
        if copy is None or copy.exists():
            left_out.append(str(file))
            continue
        os.close(os.open(copy, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        with storage_errors(copy), closing(sqlite3.connect(file)) as one, closing(sqlite3.connect(copy)) as two:
            one.backup(two)
        wrote.append(str(copy))
    return wrote, left_out


command = click.Command(
    "copy",
    callback=_copy,
    params=[
        click.Argument(["source"], type=StoreParameter(), metavar="FROM"),
        click.Argument(["target"], type=StoreParameter(), metavar="TO"),
        click.Option(
            ["--trust"],
            is_flag=True,
            help="Also use the copied replies and runs for your own commands, as if they were made here. Without it,"
            " copied replies answer only the runs that were copied with them.",
        ),
        json_option(),
    ],
    help="Copy the store FROM into the store TO, which keeps its own contents; each is a file or"
    " postgresql://USER@HOST/DATABASE. Runs in progress continue.",
)
