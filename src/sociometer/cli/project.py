"""`sociometer.toml`: the defaults of a project, read as untrusted input, for options that are not given."""

import hashlib
import re
import stat
import tomllib
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

import click
import msgspec
from msgspec import Meta, Struct, structs

from sociometer.cli.output import option, print_text
from sociometer.core.card import Card
from sociometer.core.config import Caps, ProjectChoices, model_label, split_spec
from sociometer.core.conversation import SUBJECT
from sociometer.core.errors import DataError, UsageError, unknown
from sociometer.core.words import visible
from sociometer.instruments import card_of, cards
from sociometer.models.presets import ADDRESSES, PRESETS

PROJECT_FILE = "sociometer.toml"
_MOST_BYTES = 1 << 15
_LONGEST_LINE = 2_000
"""Python's TOML reader takes time that grows with the square of a dotted key's length."""
_COMMAND_LINE_ONLY = {
    "python": "runs code",
    "scripted": "reads a file",
    "recorded": "reads a file",
}
"""Models that the file must not name: what they read could be sent to a server that the file names."""
_EXAMPLES = {"max-cost": "5.0", "max-requests": "10000", "max-tokens": "5000000"}
_BARE = re.compile(r"[A-Za-z0-9_-]+")
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


def project_text(project: Project) -> str:
    """The text of a project file; missing values appear as comments."""
    models = ", ".join(map(_quoted, project.models))
    caps = {field.encode_name: getattr(project.caps, field.name) for field in structs.fields(ProjectCaps)}
    lines = [
        "# Defaults for sociometer in this folder. Command-line options override them; --no-project ignores this file.",
        "# A server named here receives a key only if the command line names it too.",
        "",
        f"models = [{models}]" if models else '# models = ["openai/gpt-4o-mini", "vllm/NAME@http://localhost:8000/v1"]',
        f"store = {_quoted(project.store)}" if project.store else '# store = "results/sociometer.db"',
        "",
        "[roles]",
        *(f"{_key(role)} = {_quoted(model)}" for role, model in project.roles.items()),
        *([] if project.roles else ['# simulator = "deepseek/deepseek-chat"']),
        "",
        "[labels]",
        *(f"{_key(model)} = {_quoted(label)}" for model, label in project.labels.items()),
        *([] if project.labels else ['# "openai/gpt-4o-mini" = "GPT-4o mini"']),
        "",
        "[caps]",
        *(f"{name} = {cap}" if cap is not None else f"# {name} = {_EXAMPLES[name]}" for name, cap in caps.items()),
    ]
    return "\n".join(lines) + "\n"


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _quoted(name)


def _quoted(text: str) -> str:
    # A JSON string is a TOML string, except that TOML allows no DEL in it.
    return msgspec.json.encode(text).decode().replace("\x7f", "\\u007f")


_OPTIONS = {"models", "roles", "label", "key_variable", *Caps.__struct_fields__}
"""The options of a command that plays."""
_READER = "reader"
Callback = Callable[..., Any]
Server = tuple[str, str]
"""A provider and the base URL of its server."""


def project_option() -> click.Option:
    """`--no-project`, for commands that read or write runs."""
    return option("--no-project", f"Ignore the defaults in {PROJECT_FILE}.", is_flag=True)


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
            print_text(f"{PROJECT_FILE}: {'; '.join(defaults.told)}", err=True)
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
        choices, used=(*used, *(["labels"] if label else [])), unconfirmed=(*subjects, *choices.unconfirmed)
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
            typed = [*values["models"], *(text.partition("=")[2] for text in values["roles"])]
            named = {server for spec in typed if (server := _server(spec))[1]}
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
            if values["key_variable"]:
                raise UsageError(
                    f"--key-variable needs --model: {PROJECT_FILE} names the model, and a key is sent only"
                    " to a server that the command line names."
                )
            values["models"] = project.models
            self._use("models", f"models {', '.join(map(_shown, values['models']))}")
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
