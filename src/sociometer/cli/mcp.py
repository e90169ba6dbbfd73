"""`sociometer mcp`: the commands as tools for a coding agent."""

from pathlib import Path

import click

from sociometer.cli.options import store_option, store_path
from sociometer.cli.output import option
from sociometer.core.lazy import require
from sociometer.store.place import StorePlace


def _serve(to: Path | None, models: tuple[str, ...], store: StorePlace | None) -> None:
    tools = require("mcp", "sociometer.adapters.mcp_server").Tools(store_path(store), to, models)
    tools.server().run()


command = click.Command(
    "mcp",
    callback=_serve,
    params=[
        option(
            "--to",
            "Folder for reports; without it there is no tool for reports.",
            type=click.Path(path_type=Path, file_okay=False, exists=True, resolve_path=True),
        ),
        option(
            "--model models",
            "Model with an address or a path that the agent may use, as vllm/NAME@URL; repeat for several.",
            multiple=True,
            metavar="MODEL",
        ),
        store_option(),
    ],
    help="Serve list, plan, run, runs, show, compare and report as tools for a coding agent, over standard input and"
    " output (Model Context Protocol). Every run needs a spending limit. Needs the extra 'mcp'.",
)
