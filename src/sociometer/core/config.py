"""The configuration of a run: one subject, one instrument, and all options."""

import math
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_type_hints
from urllib.parse import urlsplit

from msgspec import UNSET, Struct, structs

from sociometer.core.conversation import SUBJECT, Sampling
from sociometer.core.errors import UsageError, unknown
from sociometer.core.hints import hint
from sociometer.core.server_fields import ServerFields
from sociometer.core.session import ToolMode
from sociometer.core.settings import Setting, SettingValue, without_folders
from sociometer.core.stopping import Until

DEFAULT_IN_FLIGHT = 32
_FAMILIES_OF_FILES = ("local", "scripted", "recorded")


def check_characters(what: str, name: str) -> None:
    """Raise a UsageError if a name is empty, or has characters that a command line would need quotes for."""
    if not name.replace("-", "").replace("_", "").replace(".", "").isalnum():
        raise UsageError(f"{what} must consist of letters, digits, '-', '_' and '.', not '{name}'.")


def check_number(option: str, value: float | None, low: float, high: float = math.inf, *, whole: bool = False) -> None:
    """Raise a UsageError if a number is not in its range, or not whole where it must be."""
    number = isinstance(value, int | float) and math.isfinite(value)
    given = f"{value:g}" if number else repr(value)
    if value is not None and not (number and (isinstance(value, int) or not whole)):
        raise UsageError(f"{option} must be a {'whole ' * whole}number, not {given}.")
    if value is not None and not low <= value <= high:
        allowed = f"at least {low}" if high == math.inf else f"between {low} and {high}"
        raise UsageError(f"{option} must be {allowed}, not {given}.")


class Caps(Struct, frozen=True, omit_defaults=True):
    """Hard caps over all roles; None means no cap."""

    max_cost: float | None = None
    max_requests: int | None = None
    max_tokens: int | None = None

    def __post_init__(self) -> None:
        for name, cap in structs.asdict(self).items():
            check_number(f"--{name.replace('_', '-')}", cap, 0)

    def or_else(self, other: "Caps") -> "Caps":
        """These caps; those that are not set come from `other`."""
        return structs.replace(other, **{name: cap for name, cap in structs.asdict(self).items() if cap is not None})


class FieldContext(Struct, frozen=True):
    """What a function of a field may use besides the configuration."""

    settings: tuple[Setting, ...] = ()
    """The settings that the instrument declares."""
    labels: Mapping[str, str] = {}
    """The names of the roles' models in tables."""


_NO_CONTEXT = FieldContext()
_Question = Literal["stored", "published", "planned"]
_Answer = bool | Callable[["RunConfig", FieldContext], object]
"""Yes, no (the field then has its default), or a function that gives another value."""


class About(Struct, frozen=True, kw_only=True):
    """What becomes of a field of `RunConfig`; a new field answers all questions where it is defined."""

    counted: _Answer
    """Whether another value makes another run; a function leaves the field out with UNSET."""
    stored: _Answer
    """Whether the run's manifest keeps it."""
    published: _Answer
    """Whether files and plans for strangers have it: no path, no address of a server, no name of a key."""
    planned: _Answer
    """Whether the digest of a published plan depends on it: not on the name of the run, and not on the machine."""

    def but(self, **answers: _Answer) -> "About":
        """The same with other answers to these questions."""
        return structs.replace(self, **answers)


def _model_name(config: "RunConfig", context: FieldContext) -> str:
    return config.model_name


def _role_labels(config: "RunConfig", context: FieldContext) -> dict[str, str]:
    return {role: context.labels[role] for role in config.roles if role in context.labels}


def _bare_settings(config: "RunConfig", context: FieldContext) -> dict[str, SettingValue]:
    return dict(without_folders(context.settings, config.settings))


def _ray_or_here(config: "RunConfig", context: FieldContext) -> str:
    """The address of a cluster is not kept: a store may come from somebody else, and Ray's messages are pickles."""
    return "ray" if config.on else ""


def _digests(config: "RunConfig", context: FieldContext) -> object:
    return {role: one.stored for role, one in config.server_fields.items()} or UNSET


def _header_names(config: "RunConfig", context: FieldContext) -> object:
    return {role: one.published for role, one in config.server_fields.items()}


# What most fields answer: a choice, a limit under which the same run goes on, a path, a server, a property of the
# machine, an option of one command, what the subject is called.
CHOICE = About(counted=True, stored=True, published=True, planned=True)
LIMIT = About(counted=False, stored=True, published=True, planned=True)
PRIVATE = About(counted=False, stored=True, published=False, planned=True)
SERVER = About(counted=True, stored=True, published=False, planned=True)
MACHINE = About(counted=False, stored=True, published=True, planned=lambda config, context: 1)
ONE_COMMAND = About(counted=False, stored=False, published=False, planned=True)
NAME = About(counted=False, stored=True, published=True, planned=False)


class RunConfig(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The choices for one run; the run's manifest keeps them, so that `resume` needs nothing else."""

    instrument: Annotated[str, CHOICE]
    subject: Annotated[str, CHOICE.but(published=_model_name)]
    tasks: Annotated[tuple[str, ...], CHOICE] = ()
    roles: Annotated[dict[str, str], CHOICE.but(published=_role_labels)] = {}
    settings: Annotated[dict[str, SettingValue], CHOICE.but(published=_bare_settings)] = {}
    seed: Annotated[int, CHOICE] = 0
    repeats: Annotated[int | None, CHOICE] = None
    limit: Annotated[int | None, CHOICE] = None
    items: Annotated[tuple[str, ...], CHOICE] = ()
    """Ids of the items to play; empty means all."""
    official: Annotated[bool, CHOICE] = False
    second_question: Annotated[bool | None, CHOICE] = None
    """Whether to ask again after a reply without an answer; None: yes, unless that changes an official score."""
    base: Annotated[bool, CHOICE] = False
    """Whether the subject is a base model: it continues a text with examples instead of answering a conversation."""
    tools: Annotated[ToolMode, CHOICE.but(counted=lambda config, context: config.tools or UNSET)] = ""
    """How the subject uses tools; empty before the plan has decided it, and for tasks without tools."""
    data_folder: Annotated[str, PRIVATE] = ""
    prompts_folder: Annotated[str, PRIVATE] = ""
    base_url: Annotated[str, SERVER] = ""
    revision: Annotated[str, CHOICE] = ""
    key_variable: Annotated[str, SERVER] = ""
    server_fields: Annotated[
        dict[str, ServerFields], CHOICE.but(counted=_digests, stored=_digests, published=_header_names)
    ] = {}
    """What the user adds to the requests of each role; the values of headers are never stored."""
    insecure_http: Annotated[bool, ONE_COMMAND] = False
    """Whether keys may be sent over plain HTTP to other machines; valid for one command and never stored."""
    timeout_seconds: Annotated[float, MACHINE] = 300.0
    sampling: Annotated[Sampling, CHOICE] = Sampling()
    caps: Annotated[Caps, LIMIT] = Caps()
    fresh: Annotated[bool, CHOICE] = False
    in_flight: Annotated[int, MACHINE] = DEFAULT_IN_FLIGHT
    on: Annotated[str, About(counted=False, stored=_ray_or_here, published=_ray_or_here, planned=False)] = ""
    """Where models in process run: empty for this process, `ray`, or the address of a cluster, which is not stored."""
    replicas: Annotated[int | None, LIMIT.but(planned=False)] = None
    """The number of copies of each model there; None means what the cluster has room for."""
    retries: Annotated[int | None, LIMIT] = None
    command: Annotated[tuple[str, ...], PRIVATE] = ()
    name: Annotated[str, NAME] = ""
    """The name that the user gave to the subject; empty where its model names it."""
    same: Annotated[bool, ONE_COMMAND] = False
    """Whether the user vouches that a named model of unknown weights has not changed."""
    step_of: Annotated[str, CHOICE] = ""
    """The instrument's command that this run is a step of; empty for a run of `run`."""
    until: Annotated[Until | None, CHOICE.but(counted=lambda config, context: config.until or UNSET)] = None
    """When the run stops before all items are played; None means that it does not."""

    def __post_init__(self) -> None:
        check_number("--repeats", self.repeats, 1, whole=True)
        check_number("--limit", self.limit, 1, whole=True)
        check_number("-o in-flight", self.in_flight, 1)
        check_number("-o retries", self.retries, 0)
        if self.on not in ("", "ray") and not self.on.startswith("ray://"):
            raise UsageError(
                f"--on must be 'ray' or the address of a Ray cluster, such as ray://HOST:10001, not '{self.on}'."
            )
        check_number("--replicas", self.replicas, 1)
        if self.replicas and not self.on:
            raise UsageError("--replicas needs --on ray.")
        if not (0 < self.timeout_seconds < math.inf):
            raise UsageError(f"-o timeout must be a positive number of seconds, not {self.timeout_seconds:g}.")
        if self.items and self.limit is not None:
            raise UsageError("--item and --limit cannot be combined; give one of them.")
        if self.tools not in get_args(ToolMode):
            raise unknown("value for -o tools", self.tools, get_args(ToolMode)[1:])
        if self.base and self.second_question:
            raise UsageError("-o base and --second-question cannot be combined: a base model is not asked again.")
        check_number("-o temperature", self.sampling.temperature, 0, 10)
        check_number("-o top-p", self.sampling.top_p, 0, 1)
        check_number("-o reply-tokens", self.sampling.max_tokens, 1)

    def asks_again(self, separable: bool) -> bool:
        """Whether a reply without an answer is asked about; `separable` if the score without it can be told."""
        again = not self.base and (separable or not self.official)
        return again if self.second_question is None else self.second_question

    @property
    def counted(self) -> dict[str, object]:
        """The choices that make two runs different."""
        return self._answered("counted")

    def only(self, question: _Question, context: FieldContext = _NO_CONTEXT) -> "RunConfig":
        """The choices that are stored, published or planned; the others have their defaults."""
        return RunConfig(**self._answered(question, context))

    def _answered(self, question: str, context: FieldContext = _NO_CONTEXT) -> dict[str, Any]:
        answers = {name: answer for name, about in about_fields().items() if (answer := getattr(about, question))}
        found = {name: one(self, context) if callable(one) else getattr(self, name) for name, one in answers.items()}
        return {name: value for name, value in found.items() if value is not UNSET}

    @property
    def code(self) -> tuple[str, ...]:
        """The functions of the user's own that the run asks, as `resume --code` takes them."""
        specs = (spec.strip() for spec in (self.subject, *self.roles.values()))  # as `resolve` reads them
        return tuple(dict.fromkeys(spec for spec in specs if spec.startswith("python/")))

    @property
    def of_people(self) -> bool:
        """Whether a person takes part, so that the run belongs to a study."""
        return "human" in (self.subject, *self.roles.values())

    def resume_command(self, run: str, *more: str) -> str:
        """What to type to continue this run: with the code, the key and the headers that a store cannot give."""
        if self.of_people:  # a study is opened again, with the same caps; its name begins that of the run
            return "" if more else hint("study open", run.partition(".")[0])
        headers = (
            f"{'' if role == SUBJECT else f'{role}.'}header.{name}=VALUE"
            for role, fields in self.server_fields.items()
            for name in fields.stored.header_digests
        )
        given = (
            *(("--code", spec) for spec in self.code),
            *([("--key-variable", self.key_variable)] if self.key_variable else []),
            *(("-o", header) for header in headers),
            *([("-o", "insecure-http")] if self.insecure_http else []),
        )
        return hint("resume", run, *(word for pair in given for word in pair), *more)

    @property
    def subject_label(self) -> str:
        """The name of the subject in messages: that which the user gave, or the model's."""
        return self.name or self.model_name

    @property
    def model_name(self) -> str:
        """The name of the subject's model in tables, and whether it continues a text."""
        label = model_label(self.subject)
        return f"{label} (base)" if self.base else label

    @property
    def ways(self) -> dict[str, SettingValue]:
        """How the subject answers, where it is not the usual way; shown and compared like a setting."""
        usual = {"base": False, "tools": ""}
        return {name: value for name in usual if (value := getattr(self, name)) != usual[name]}


@cache
def about_fields(config: type[Struct] = RunConfig) -> dict[str, About]:
    """What each field of `RunConfig` answers; a TypeError names a field without answers."""
    kinds = get_type_hints(config, include_extras=True)
    found = {name: [one for one in get_args(kind)[1:] if isinstance(one, About)] for name, kind in kinds.items()}
    if missing := [name for name, answers in found.items() if not answers]:
        raise TypeError(f"RunConfig.{missing[0]} does not answer the questions of About.")
    return {name: answers[0] for name, answers in found.items()}


def split_spec(spec: str) -> tuple[str, str, str]:
    """The name, the address and the revision in `NAME@URL#REVISION`; both of the latter may be missing."""
    name, at, address = spec.partition("@http")
    if at:
        address, _, revision = address.partition("#")
        return name, f"http{address}", revision
    if name.partition("/")[0] in _FAMILIES_OF_FILES:
        return name, "", ""
    name, _, revision = name.partition("#")
    return name, "", revision


def provider_of(spec: str) -> str:
    """Who reads what a model is sent: its provider, or the host of its address; empty for one in this process."""
    name, address, _ = split_spec(spec)
    family = name.partition("/")[0]
    if address:
        return urlsplit(address).netloc.rpartition("@")[2]
    return "" if family in (*_FAMILIES_OF_FILES, "hf", "baseline") else family


def model_label(spec: str) -> str:
    """A model's name as tables show it: without its server's address and without the folder of a file."""
    name, _, revision = split_spec(spec)
    family, slash, rest = name.partition("/")
    # hf/OWNER/NAME is a name on a hub; hf/./FOLDER and hf/FILE.gguf are files.
    is_file = family in _FAMILIES_OF_FILES or (family == "hf" and (rest[:1] in ("/", ".", "~") or ".gguf" in rest))
    shown = f"{family}/{Path(rest).name}" if slash and is_file else name
    return f"{shown}#{revision}" if revision else shown
