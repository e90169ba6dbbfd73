"""`sociometer copy`: copies a store into another, even while runs are in progress."""

import click

from sociometer.cli.options import StoreParameter, json_option
from sociometer.cli.output import print_json, print_line
from sociometer.core.errors import UsageError
from sociometer.store.place import StorePlace


def _copy(source: StorePlace, target: StorePlace, as_json: bool) -> None:
    from sociometer.store.copying import copy_store

    if not source.exists():
        raise UsageError(f"there is no store at {source}; give 'copy' an existing store and the one to copy into.")
    copied = copy_store(source, target)
    if as_json:
        print_json({"from": str(source), "to": str(target), "copied": copied})
    else:
        new = f"{copied.runs:,} runs, {copied.episodes:,} episodes and {copied.replies:,} replies"
        print_line(f"Copied {source} to {target}. New there: {new}.")


command = click.Command(
    "copy",
    callback=_copy,
    params=[
        click.Argument(["source"], type=StoreParameter(), metavar="FROM"),
        click.Argument(["target"], type=StoreParameter(), metavar="TO"),
        json_option(),
    ],
    help="Copy the store FROM into the store TO, which keeps what it has; each is a file or"
    " postgresql://USER@HOST/DATABASE. Runs in progress continue.",
)
