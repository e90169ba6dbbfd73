"""`sociometer.toml`: the defaults of a project, read as untrusted input, and what they add to a command."""

import hashlib
import stat
import tomllib
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta, Struct, structs

from sociometer.core.card import Card
from sociometer.core.config import Caps, ProjectChoices, model_label, split_spec
from sociometer.core.conversation import SUBJECT
from sociometer.core.errors import DataError, UsageError, unknown
from sociometer.core.words import visible
from sociometer.models.presets import ADDRESSES, PRESETS

PROJECT_FILE = "sociometer.toml"
_MOST_BYTES = 1 << 15
_LONGEST_LINE = 2_000
"""Python's TOML reader takes time that grows with the square of a dotted key's length."""
_COMMAND_LINE_ONLY = {"python": "runs code", "scripted": "reads a file", "recorded": "reads a file"}
"""Models that the file must not name: what they read could be sent to a server that the file names."""
Server = tuple[str, str]
"""A provider and the base URL of its server."""
_Whole = Annotated[int, Meta(ge=0, lt=1 << 53)]


class ProjectCaps(Struct, frozen=True, rename="kebab"):
    """The table `[caps]`, named as on the command line."""

    max_cost: Annotated[float, Meta(ge=0, lt=1e15)] | None = None
    max_requests: _Whole | None = None
    max_tokens: _Whole | None = None

    def caps(self) -> Caps:
        """The caps as a run configuration has them."""
        return Caps(self.max_cost, self.max_requests, self.max_tokens)


class Project(Struct, frozen=True):
    """A project's defaults; all are optional."""

    models: tuple[str, ...] = ()
    roles: dict[str, str] = {}
    labels: dict[str, str] = {}
    """The name of a model in tables and pages, by the value of `--model`."""
    caps: ProjectCaps = ProjectCaps()
    store: str = ""
    """The store's file, relative to the folder of the project file."""


class ProjectFile(Struct, frozen=True):
    """A project file that was read, with its checksum."""

    path: Path
    sha256: str
    project: Project

    @property
    def store(self) -> Path | None:
        """The path of the project's store, or None if the file names none."""
        named = Path(self.project.store)
        with suppress(RuntimeError):  # "~name" of an unknown user stays as it is
            named = named.expanduser()
        return self.path.parent / named if self.project.store else None


def find_project(folder: Path) -> ProjectFile | None:
    """The project file of this folder, or None; folders above it are not searched."""
    path = folder / PROJECT_FILE
    try:
        kind = path.stat().st_mode
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(kind):
        raise DataError("is not a file.", path)
    with path.open("rb") as file:
        body = file.read(_MOST_BYTES + 1)
    return ProjectFile(path, hashlib.sha256(body).hexdigest(), parse_project(body, path))


def parse_project(body: bytes, path: Path) -> Project:
    """Parse the content of a project file; a DataError says what is wrong and what is allowed."""
    if len(body) > _MOST_BYTES:
        raise DataError(f"has more than {_MOST_BYTES:,} bytes, the limit for a project file.", path)
    try:
        text = body.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise DataError(f"is not UTF-8 ({error.reason} at byte {error.start}).", path) from None
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > _LONGEST_LINE:
            raise DataError(f"the line has more than {_LONGEST_LINE:,} characters; split it.", path, number)
    try:
        tables = tomllib.loads(text)
        _refuse_unknown_names(tables)
        project = msgspec.convert(tables, Project)
        _refuse_unsafe_values(project)
    except RecursionError:
        raise DataError("is nested too deeply.", path) from None
    except tomllib.TOMLDecodeError as error:
        raise DataError(f"is not TOML: {error}.", path) from None
    except (ValueError, msgspec.ValidationError, UsageError) as error:
        raise DataError(str(error) + ("" if str(error).endswith((".", "?")) else "."), path) from None
    return project


def _refuse_unknown_names(tables: dict[str, Any]) -> None:
    for name in tables:
        if name not in Project.__struct_fields__:
            raise _unknown_name(name, Project.__struct_fields__)
    caps = tables.get("caps")
    for name in caps if isinstance(caps, dict) else ():
        known = [field.encode_name for field in structs.fields(ProjectCaps)]
        if name not in known:
            raise _unknown_name(name, known, "caps.")


def _unknown_name(name: str, known: tuple[str, ...] | list[str], table: str = "") -> UsageError:
    shown = table + visible(name[:80], "?", "")
    if "key" in name.lower():
        return UsageError(
            f"'{shown}' is not allowed: a project file must not contain a key or the name of a key variable. Give"
            " --key-variable on the command line."
        )
    return unknown("name", shown, [table + one for one in known])


def _refuse_unsafe_values(project: Project) -> None:
    texts: dict[str, Iterable[str]] = {
        "store": [project.store],
        "role": project.roles,
        "label": project.labels.values(),
    }
    for what, found in texts.items():
        if not all(text.isprintable() for text in found):
            raise UsageError(f"the name of a {what} has a control character.")
    if "://" in project.store:
        raise UsageError("the store of a project is a file; give the address of a database on the command line.")
    if SUBJECT in project.roles:
        raise UsageError("'roles' must not contain 'subject'; list the subjects in 'models'.")
    for spec in (*project.models, *project.roles.values()):
        _refuse_unsafe_model(spec)


def _refuse_unsafe_model(spec: str) -> None:
    if not spec.isprintable() or not spec or spec != spec.strip():
        raise UsageError("a model's name is empty, begins or ends with a space, or has a control character.")
    name, _, address = spec.partition("@http")
    if what := _COMMAND_LINE_ONLY.get(name.partition("/")[0]):
        raise UsageError(f"'{name[:80]}' {what}, which a project file must not do; give it on the command line.")
    if "@" in address:
        raise UsageError(f"the address of '{name[:80]}' contains a user name or password; remove it.")


def roles_of(card: Card, tasks: Collection[str] | None = None) -> set[str]:
    """The roles of an instrument, or of some of its tasks."""
    names = [task.name for task in card.task if tasks is not None and task.name in tasks]
    asked = card.role if tasks is None else [role for name in names for role in card.roles_of(name)]
    return {role.name for role in asked}


class Completed(Struct, frozen=True):
    """What a command plays, completed from a project file."""

    models: tuple[str, ...]
    roles: tuple[str, ...]
    """Each as ROLE=MODEL."""
    caps: Caps
    labels: dict[str, str]
    choices: ProjectChoices
    withheld: frozenset[str]
    """The subjects whose server only the file names: no key is sent there."""
    told: tuple[str, ...]
    """What came from the file, in words."""

    def of_run(self, card: Card, models: Sequence[str], label: str) -> dict[str, Any]:
        """The parts of a run's configuration that come from the file: its label, and which defaults it used."""
        label = self.labels.get(models[0], "") if len(models) == 1 and not label else ""
        roles = {f"roles.{role}" for role in roles_of(card)}
        used = [name for name in self.choices.used if not name.startswith("roles.") or name in roles]
        if not used and not label:
            return {}
        subjects = (SUBJECT,) if not self.withheld.isdisjoint(models) else ()
        unconfirmed = (*subjects, *self.choices.unconfirmed)
        choices = structs.replace(self.choices, used=(*used, *["labels"] * bool(label)), unconfirmed=unconfirmed)
        return {"project": choices, **({"label": label} if label else {})}


def complete(
    file: ProjectFile,
    models: tuple[str, ...],
    roles: tuple[str, ...],
    caps: Caps,
    asked: Collection[str],
    *,
    labelled: bool,
    stored: bool,
) -> Completed:
    """The models, roles and caps that a command names, completed from a project file for the roles that are `asked`.

    `labelled` says whether the models get the labels of the file, and `stored` whether the store comes from it.
    """
    project, used, told = file.project, ["store"] * stored, list[str]()
    specs = (*models, *(text.partition("=")[2] for text in roles))
    named = {server for spec in specs if (server := _server(spec))[1]}
    withheld: list[str] = []
    if project.models and not models:
        models = project.models
        used.append("models")
        told.append(f"models {', '.join(map(_shown, models))}")
        withheld = [spec for spec in models if not _confirmed(spec, named)]
    if labelled:
        told += [f"label {project.labels[spec]}" for spec in models if spec in project.labels]
    typed, unconfirmed = {text.partition("=")[0] for text in roles}, []
    for role, spec in project.roles.items():
        if role in asked and role not in typed:
            roles = (*roles, f"{role}={spec}")
            used.append(f"roles.{role}")
            told.append(f"{role} {_shown(spec)}")
            unconfirmed += [] if _confirmed(spec, named) else [role]
    ours = project.caps.caps()
    for name, cap in structs.asdict(ours).items():
        if cap is not None and getattr(caps, name) is None:
            option = name.replace("_", "-")
            used.append(f"caps.{option}")
            told.append(f"{option} {cap}")
    choices = ProjectChoices(file.sha256, tuple(used), tuple(unconfirmed))
    return Completed(models, roles, caps.or_else(ours), project.labels, choices, frozenset(withheld), tuple(told))


def refuse_unknown_roles(project: Project, cards: Iterable[Card]) -> None:
    """A role that no instrument has is an error that names the nearest one."""
    every = {role for card in cards for role in roles_of(card)} - {SUBJECT}
    for role in project.roles:
        if role not in every:
            raise unknown(f"role in {PROJECT_FILE}", role, every)


def _server(spec: str) -> Server:
    """The provider of a model and the address in its name; the address is empty if it has none."""
    name, address, _ = split_spec(spec)
    return name.partition("/")[0], address.rstrip("/")


def _confirmed(spec: str, named: set[Server]) -> bool:
    """Whether a model of the project file has no address, or one that the command line names for the same provider."""
    provider, url = _server(spec)
    if not url or (provider, url) in named:
        return True
    if provider not in PRESETS:
        raise UsageError(
            f"{PROJECT_FILE} gives '{_shown(spec)}' an address; for this provider an address is accepted on the command"
            " line only."
        )
    return False


def _shown(spec: str) -> str:
    """A model as the line about the project file shows it: with its server's host."""
    url = _server(spec)[1]
    try:
        host = ", ".join(urlsplit(one).netloc for one in ADDRESSES.split(url))
    except ValueError:
        host = "an address that cannot be read"
    return f"{model_label(spec)} at {host}" if url else model_label(spec)
