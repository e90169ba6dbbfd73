"""Applies the defaults of `sociometer.toml` to options that the command line does not give."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import click
from msgspec import structs

from sociometer.cli.project_file import PROJECT_FILE, SUBJECT, Project, ProjectFile, find_project
from sociometer.cli.table_text import harmless
from sociometer.core.card import Card
from sociometer.core.config import Caps, ProjectChoices, model_label
from sociometer.core.errors import DataError, UsageError, unknown
from sociometer.instruments import card_of, cards

_OPTIONS = {"models", "roles", "label", "base_url", "revision", "key_variable", *Caps.__struct_fields__}
"""The options of a command that plays."""
_READER = "reader"
Callback = Callable[..., Any]
Server = tuple[str, str]
"""A provider and the base URL of its server."""


def project_option() -> click.Option:
    """`--no-project`, for commands that read or write runs."""
    return click.Option(["--no-project"], is_flag=True, help=f"Ignore the defaults in {PROJECT_FILE}.")


def with_project(command: click.Command) -> click.Command:
    """The command with `--no-project` and the project's store, if it has `--store` and does not have them yet."""
    names = {param.name for param in command.params}
    if command.name != "init" and "store" in names and "no_project" not in names and command.callback is not None:
        command.params.append(project_option())
        command.callback = with_defaults(command.callback)
    return command


def with_defaults(callback: Callback, *instruments: str) -> Callback:
    """The callback with the project's defaults for missing options; prints the defaults it uses in one line."""

    def call(no_project: bool, **values: Any) -> Any:
        found = None if no_project else _find()
        if found is None:
            return callback(**values)
        defaults = _Defaults(found, values, instruments or values.get("instruments", ()))
        if defaults.told:
            click.echo(harmless(f"{PROJECT_FILE}: {'; '.join(defaults.told)}"), err=True)
        return callback(**defaults.values)

    return call


def _find() -> ProjectFile | None:
    try:
        return find_project(Path())
    except DataError as error:
        raise UsageError(f"{error} Correct the file, or ignore it with --no-project.") from None


def from_project(card: Card, subject: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """The parts of a run configuration that come from the project file: the label, and which defaults were used."""
    choices: ProjectChoices | None = values.get("project")
    if choices is None:
        return {}
    models = (subject,) if subject else values["models"]
    label = values["project_labels"].get(models[0], "") if len(models) == 1 and not values["label"] else ""
    roles = _roles_of(card)
    used = [name for name in choices.used if not name.startswith("roles.") or name.removeprefix("roles.") in roles]
    if not used and not label:
        return {}
    subjects = (SUBJECT,) if not values["project_withheld"].isdisjoint(models) else ()
    choices = structs.replace(
        choices,
        used=(*used, *(["labels"] if label else [])),
        unconfirmed=(*subjects, *choices.unconfirmed),
    )
    return {"project": choices, **({"label": label} if label else {})}


class _Defaults:
    """The values of a command line completed from a project file, and the messages about them."""

    def __init__(self, found: ProjectFile, values: Mapping[str, Any], instruments: Iterable[str]) -> None:
        self.values = dict(values)
        self.told: list[str] = []
        self._used: list[str] = []
        self._unconfirmed: list[str] = []
        if self.values.get("store") is None and found.store is not None:
            self.values["store"] = found.store
            self._use("store", f"store {found.store}")
        if set(values) >= _OPTIONS:
            named = _named_servers(values, found.project)
            self._take_models(found.project, named)
            self._take_roles(found.project, named, list(cards()) if "all" in instruments else list(instruments))
            self._take_caps(found.project)
            self.values["project"] = ProjectChoices(found.sha256, tuple(self._used), tuple(self._unconfirmed))

    def _use(self, name: str, said: str) -> None:
        self._used.append(name)
        self.told.append(said)

    def _take_models(self, project: Project, named: set[Server]) -> None:
        values, labels, withheld = self.values, dict(project.labels), list[str]()
        if project.models and not values["models"]:
            _refuse_key_without_server(values)
            retold = {spec: _retold(spec, values["base_url"], values["revision"]) for spec in project.models}
            labels |= {retold[spec]: label for spec, label in project.labels.items() if spec in retold}
            values["models"] = tuple(retold.values())
            self._use("models", f"models {', '.join(map(_shown, values['models']))}")
            if not values["base_url"]:
                withheld = [spec for spec in values["models"] if not _confirmed(spec, named)]
        if not values["label"] and ("instruments" in values or len(values["models"]) == 1):
            self.told += [f"label {labels[spec]}" for spec in values["models"] if spec in labels]
        values["project_labels"] = labels
        values["project_withheld"] = frozenset(withheld)

    def _take_roles(self, project: Project, named: set[Server], instruments: list[str]) -> None:
        refuse_unknown_roles(project)
        played = {role for name in instruments for role in _roles_asked(card_of(name), self.values)}
        typed = {text.partition("=")[0] for text in self.values["roles"]}
        for role, spec in project.roles.items():
            if role in played - typed:
                self.values["roles"] = (*self.values["roles"], f"{role}={spec}")
                self._use(f"roles.{role}", f"{role} {_shown(spec)}")
                if not _confirmed(spec, named):
                    self._unconfirmed.append(role)

    def _take_caps(self, project: Project) -> None:
        for name, cap in structs.asdict(project.caps.caps()).items():
            if cap is not None and self.values[name] is None:
                self.values[name] = cap
                option = name.replace("_", "-")
                self._use(f"caps.{option}", f"{option} {cap}")


def refuse_unknown_roles(project: Project) -> None:
    """A role that no instrument has is an error that names the nearest one."""
    every = {role for card in cards().values() for role in _roles_of(card)} - {SUBJECT}
    for role in project.roles:
        if role not in every:
            raise unknown(f"role in {PROJECT_FILE}", role, every)


def _roles_asked(card: Card, values: Mapping[str, Any]) -> set[str]:
    """The roles that a command asks: those of its tasks, or all roles for an instrument's own command."""
    if "instruments" not in values:
        return _roles_of(card)
    tasks = set(values["tasks"] or card.default_tasks(official=bool(values.get("official") or values.get("data"))))
    asked = {role.name for task in card.task if task.name in tasks for role in card.roles_of(task.name)}
    return asked | {_READER}


def _roles_of(card: Card) -> set[str]:
    """The roles of an instrument, and the reader that every instrument can have."""
    return {role.name for role in card.role} | {_READER}


def _refuse_key_without_server(values: Mapping[str, Any]) -> None:
    if values["key_variable"] and not values["base_url"]:
        raise UsageError(
            f"--key-variable needs --model or --base-url: {PROJECT_FILE} names the model, and a key is sent only"
            " to a server that the command line names."
        )


def _named_servers(values: Mapping[str, Any], project: Project) -> set[Server]:
    """The servers that the command line names, each with the provider it is named for."""
    typed = [*values["models"], *(text.partition("=")[2] for text in values["roles"])]
    named = {server for spec in typed if (server := _server(spec))[1]}
    if values["base_url"]:
        subjects = values["models"] or project.models
        named |= {(spec.partition("/")[0], _trimmed(values["base_url"])) for spec in subjects}
    return named


def _server(spec: str) -> Server:
    """The provider of a model and the address in its name; the address is empty if it has none."""
    name, at, address = spec.partition("@http")
    return name.partition("/")[0], _trimmed("http" + address.partition("#")[0]) if at else ""


def _trimmed(url: str) -> str:
    return url.rstrip("/")


def _confirmed(spec: str, named: set[Server]) -> bool:
    """Whether a model of the project file has no address, or one that the command line names for the same provider."""
    from sociometer.models.presets import PRESETS

    provider, url = _server(spec)
    if not url or (provider, url) in named:
        return True
    if provider not in PRESETS:
        raise UsageError(
            f"{PROJECT_FILE} gives '{_shown(spec)}' an address; for this provider an address is accepted on the command"
            " line only."
        )
    return False


def _retold(spec: str, base_url: str, revision: str) -> str:
    """A model of the project file without the address or the revision that the command line replaces."""
    name, at, rest = spec.partition("@http")
    address, _, weights = rest.partition("#")
    if not at:
        return spec
    if base_url:
        return name
    return f"{name}{at}{address}" if revision or not weights else spec


def _shown(spec: str) -> str:
    """A model as the line about the project file shows it: with its server's host."""
    url = _server(spec)[1]
    try:
        host = urlsplit(url).netloc
    except ValueError:
        host = "an address that cannot be read"
    return f"{model_label(spec)} at {host}" if url else model_label(spec)
