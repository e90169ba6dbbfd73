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
        note="Another server: --base-url URL, or NAME@URL. Keys are read from the environment only.",
        details=("key", "server"),
    )
    Display(everything, csv).show([table], limits=[len(entries)])


def _ready(entry: ModelEntry) -> str:
    if entry.ready is None:
        return "if its server runs" if entry.base_url else "if the file is there"
    return "yes" if entry.ready else f"key not set: {entry.key_variable}" if entry.key_variable else "not pulled"


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
    help="The accepted values for --model, and whether it can be used here.",
)
command.add_command(
    click.Command(
        "pull",
        callback=_pull,
        params=[click.Argument(["name"]), json_option()],
        help="Fetch an embedded model (smollm2-135m) into the cache; its checksum is verified.",
    )
)
