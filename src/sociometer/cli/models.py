"""`sociometer models`: the accepted values for --model; `models pull` fetches the embedded one."""

from pathlib import Path

import click

from sociometer.cli.options import json_option
from sociometer.cli.output import Display, display_options, print_json, print_line
from sociometer.cli.progress import working
from sociometer.core.measure import Table
from sociometer.models.registry import ModelEntry, describe


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
        return "if its server is running" if entry.base_url else "if the file exists"
    if entry.ready:
        return "yes"
    if entry.key_variable:
        return f"key not set: {entry.key_variable}"
    return "extra 'embed' not installed" if entry.spec.startswith("embed/") else "not pulled"


def _pull(name: str, as_json: bool) -> None:
    from sociometer.models.pull import pull

    with working(f"fetching {name}"):
        path = pull(name)
    if as_json:
        print_json({"model": f"local/{name}", "path": str(path)})
    else:
        print_line(f"local/{name} is ready: {path}")


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
        help="Fetch the embedded model NAME (smollm2-135m). Stores it in the cache and verifies its checksum.",
    )
)
