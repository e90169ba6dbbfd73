"""The defaults of `sociometer.toml` for the options of a command that are not given."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import click
from msgspec import structs

from sociometer.cli.output import option, print_text
from sociometer.core.config import Caps
from sociometer.core.errors import DataError, UsageError
from sociometer.core.hints import use_store
from sociometer.core.sheets import folder_for
from sociometer.engine.project import (
    PROJECT_FILE,
    Completed,
    ProjectFile,
    complete,
    find_project,
    refuse_unknown_roles,
    roles_of,
)
from sociometer.instruments import card_of, cards

_OPTIONS = {"models", "roles", "label", "key_variable", *Caps.__struct_fields__}
"""The options of a command that plays."""
Callback = Callable[..., Any]


def project_option() -> click.Option:
    """`--no-project`, for commands that read or write runs."""
    return option("--no-project", f"Ignore the defaults in {PROJECT_FILE}.", is_flag=True)


def with_project(command: click.Command) -> click.Command:
    """The command with `--no-project` and the project's store, if it has `--store` and does not have them yet."""
    names = {param.name for param in command.params}
    if "store" in names and "no_project" not in names and command.callback is not None:
        command.params.append(project_option())
        command.callback = with_defaults(command.callback)
    return command


def with_defaults(callback: Callback, *instruments: str) -> Callback:
    """The callback with the project's defaults for missing options; prints the defaults it uses in one line."""

    def call(no_project: bool, **values: Any) -> Any:
        use_store("", *["--no-project"] * no_project)
        found = None if no_project else _find()
        if found is None:
            return callback(**values)
        told: tuple[str, ...] = ()
        if values.get("store") is None and found.store is not None:
            values["store"] = found.store
            if isinstance(found.store, Path):
                folder_for(found.store, within=found.store.parent)
            told = (f"store {found.store}",)
        if set(values) >= _OPTIONS:
            whole = _completed(found, values, instruments or values.get("instruments", ()), bool(told))
            values |= {"models": whole.models, "roles": whole.roles, **structs.asdict(whole.caps), "project": whole}
            told += whole.told
        if told:
            print_text(f"{PROJECT_FILE}: {'; '.join(told)}", err=True)
        return callback(**values)

    return call


def _completed(found: ProjectFile, values: Mapping[str, Any], instruments: Iterable[str], stored: bool) -> Completed:
    """The models, roles and caps of a command that plays, completed from the project file."""
    models, several = values["models"], "instruments" in values
    if found.project.models and not models and values["key_variable"]:
        raise UsageError(
            f"--key-variable needs --model: {PROJECT_FILE} names the model, and a key is sent only to a server that the"
            " command line names."
        )
    refuse_unknown_roles(found.project, cards().values())
    asked: set[str] = set()
    for card in map(card_of, cards() if "all" in instruments else instruments):
        official = bool(values.get("official") or values.get("data"))
        asked |= roles_of(card, (values["tasks"] or card.default_tasks(official=official)) if several else None)
    labelled = not values["label"] and (several or len(models or found.project.models) == 1)
    caps = Caps(*(values[name] for name in Caps.__struct_fields__))
    return complete(found, models, values["roles"], caps, asked, labelled=labelled, stored=stored)


def _find() -> ProjectFile | None:
    try:
        return find_project(Path())
    except DataError as error:
        raise UsageError(f"{error} Correct the file, or ignore it with --no-project.") from None
