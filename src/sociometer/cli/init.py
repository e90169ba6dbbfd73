"""`sociometer init`: writes a project file into the working folder."""

from pathlib import Path
from typing import Any

import click
from msgspec import structs

from sociometer.cli.options import cap_options, caps, json_option, parse_roles
from sociometer.cli.output import option, tell
from sociometer.core.errors import UsageError
from sociometer.engine.project import (
    PROJECT_FILE,
    Project,
    ProjectCaps,
    parse_project,
    project_text,
    refuse_unknown_roles,
)
from sociometer.instruments import cards


def _init(models: tuple[str, ...], roles: tuple[str, ...], store: str, as_json: bool, **values: Any) -> None:
    path = Path(PROJECT_FILE)
    if path.is_symlink() or path.exists():
        raise UsageError(f"{path} already exists and was not overwritten; edit it, or delete it first.")
    project = Project(
        tuple(dict.fromkeys(models)), parse_roles(roles), caps=ProjectCaps(**structs.asdict(caps(values))), store=store
    )
    refuse_unknown_roles(project, cards().values())
    text = project_text(project)
    parse_project(text.encode(), path)
    with path.open("x", encoding="utf-8") as file:
        file.write(text)
    tell(as_json, {"wrote": str(path)}, f"wrote {path}; commands in this folder use it unless you add --no-project.")


command = click.Command(
    "init",
    callback=_init,
    params=[
        option("--model models", "Default model to test; repeat for several.", multiple=True, metavar="MODEL"),
        option(
            "--role roles", "Default model for another role; repeat for several.", multiple=True, metavar="ROLE=MODEL"
        ),
        *cap_options(),
        option("--store store", "Store file of the project, relative to this folder.", default="", metavar="FILE"),
        json_option(),
    ],
    help=f"Write {PROJECT_FILE}, the defaults for commands in this folder. Never overwrites an existing file.",
)
