"""The configuration of a run: one subject, one instrument, and all options."""

import math
import shlex
from pathlib import Path
from typing import get_args

from msgspec import Struct, structs

from sociometer.core.conversation import Sampling
from sociometer.core.errors import UsageError, unknown
from sociometer.core.session import AnswerMode
from sociometer.core.settings import SettingValue
from sociometer.core.stopping import Until

DEFAULT_IN_FLIGHT = 32
_FAMILIES_OF_FILES = ("local", "scripted", "recorded")


def check_characters(what: str, name: str) -> None:
    """Raise a UsageError if a name is empty, or has characters that a command line would need quotes for."""
    if not name.replace("-", "").replace("_", "").replace(".", "").isalnum():
        raise UsageError(f"{what} must consist of letters, digits, '-', '_' and '.', not '{name}'.")


def check_number(option: str, value: float | None, low: float, high: float = math.inf) -> None:
    """Raise a UsageError if a number is not in its range."""
    if value is not None and not (low <= value <= high and math.isfinite(value)):
        allowed = f"at least {low}" if high == math.inf else f"between {low} and {high}"
        raise UsageError(f"{option} must be {allowed}, not {value:g}.")


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


class ProjectChoices(Struct, frozen=True, omit_defaults=True):
    """The parts of `sociometer.toml` that a run used: the file's checksum and the names."""

    sha256: str
    used: tuple[str, ...] = ()
    """For example `models`, `roles.judge`, `caps.max-cost`."""
    unconfirmed: tuple[str, ...] = ()
    """Roles whose server only the project file names; they send a key only to the preset's host."""


class RunConfig(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The choices for one run; the run's manifest keeps them, so that `resume` needs nothing else."""

    instrument: str
    subject: str
    tasks: tuple[str, ...] = ()
    roles: dict[str, str] = {}
    settings: dict[str, SettingValue] = {}
    seed: int = 0
    repeats: int | None = None
    limit: int | None = None
    items: tuple[str, ...] = ()
    """Ids of the items to play; empty means all."""
    official: bool = False
    second_question: bool | None = None
    """Whether to ask again after a reply without an answer; None means yes for bundled and no for official items."""
    base: bool = False
    """Whether the subject is a base model: it continues a text with examples instead of answering a conversation."""
    answer: AnswerMode = "reply"
    """How a choice is answered: by a reply that is read, or by the probability of each option."""
    data_folder: str = ""
    prompts_folder: str = ""
    base_url: str = ""
    revision: str = ""
    key_variable: str = ""
    insecure_http: bool = False
    """Whether keys may be sent over plain HTTP to other machines; valid for one command and never stored."""
    timeout_seconds: float = 300.0
    sampling: Sampling = Sampling()
    caps: Caps = Caps()
    fresh: bool = False
    in_flight: int = DEFAULT_IN_FLIGHT
    on: str = ""
    """Where models in process run: empty for this process, `ray`, or the address of a cluster, which is not stored."""
    replicas: int | None = None
    """The number of copies of each model there; None means what the cluster has room for."""
    shard: str = ""
    """The part of the items to play, such as `2/8`; empty means all. Valid for one command and never stored."""
    batch: bool = False
    """Whether requests are sent in batches, where a provider has them."""
    cancel_batches: bool = False
    """Whether an interrupted run cancels its batches."""
    retries: int | None = None
    command: tuple[str, ...] = ()
    name: str = ""
    """The name of the run, which commands accept in place of its id; may be empty."""
    step_of: str = ""
    """The instrument's command that this run is a step of; empty for a run of `run`."""
    label: str = ""
    """The name of the subject in tables and pages; empty means the model's name."""
    until: Until | None = None
    """When the run stops before all items are played; None means that it does not."""
    project: ProjectChoices | None = None
    """The parts that came from `sociometer.toml`; None if there are none."""

    def __post_init__(self) -> None:
        check_number("--repeats", self.repeats, 1)
        check_number("--limit", self.limit, 1)
        check_number("-o in-flight", self.in_flight, 1)
        check_number("-o retries", self.retries, 0)
        if self.on not in ("", "ray") and not self.on.startswith("ray://"):
            raise UsageError(
                f"--on must be 'ray' or the address of a Ray cluster, such as ray://HOST:10001, not '{self.on}'."
            )
        if not 1 <= self.part[0] <= self.part[1]:
            raise UsageError(f"--shard must be K/N with K between 1 and N, such as 2/8, not '{self.shard}'.")
        check_number("--replicas", self.replicas, 1)
        if self.replicas and not self.on:
            raise UsageError("--replicas needs --on ray.")
        if not (0 < self.timeout_seconds < math.inf):
            raise UsageError(f"-o timeout must be a positive number of seconds, not {self.timeout_seconds:g}.")
        if self.items and self.limit is not None:
            raise UsageError("--item and --limit cannot be combined; give one of them.")
        if self.until and (self.shard or self.batch):
            raise UsageError(
                "--until cannot be combined with --shard or --batch: a rule looks at the items in their order."
            )
        if self.answer not in get_args(AnswerMode):
            raise unknown("value for -o answer", self.answer, get_args(AnswerMode))
        if self.base and self.second_question:
            raise UsageError("-o base and --second-question cannot be combined: a base model is not asked again.")
        if self.name:
            check_characters("--name", self.name)
        check_number("-o temperature", self.sampling.temperature, 0, 10)
        check_number("-o top-p", self.sampling.top_p, 0, 1)
        check_number("-o reply-tokens", self.sampling.max_tokens, 1)
        check_number("-o logprobs", self.sampling.logprobs, 0, 100)

    @property
    def part(self) -> tuple[int, int]:
        """Which of how many parts of the items is played."""
        if not self.shard:
            return 1, 1
        nth, _, of = self.shard.partition("/")
        return (int(nth), int(of)) if nth.isdecimal() and of.isdecimal() else (0, 0)

    @property
    def code(self) -> tuple[str, ...]:
        """The functions of the user's own that the run asks, as `resume --code` takes them."""
        specs = (spec.strip() for spec in (self.subject, *self.roles.values()))  # as `resolve` reads them
        return tuple(dict.fromkeys(spec for spec in specs if spec.startswith("python/")))

    def resume_command(self, run: str) -> str:
        """The command that continues the run with this id."""
        code = (word for spec in self.code for word in ("--code", spec))
        return shlex.join(("sociometer", "resume", run, *code))

    @property
    def subject_label(self) -> str:
        """The name of the subject in tables: the label, or the model's name and how it answers if not by replies."""
        ways = [way for way, chosen in (("base", self.base), ("probability", self.answer == "probability")) if chosen]
        return self.label or model_label(self.subject) + (f" ({', '.join(ways)})" if ways else "")

    @property
    def ways(self) -> dict[str, SettingValue]:
        """How the subject answers, where it is not the usual way; shown and compared like a setting."""
        usual = {"base": False, "answer": "reply"}
        return {name: value for name in usual if (value := getattr(self, name)) != usual[name]}


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


def model_label(spec: str) -> str:
    """A model's name as tables show it: without its server's address and without the folder of a file."""
    name, _, revision = split_spec(spec)
    family, slash, rest = name.partition("/")
    # hf/OWNER/NAME is a name on a hub; hf/./FOLDER and hf/FILE.gguf are files.
    is_file = family in _FAMILIES_OF_FILES or (family == "hf" and (rest[:1] in ("/", ".", "~") or ".gguf" in rest))
    shown = f"{family}/{Path(rest).name}" if slash and is_file else name
    return f"{shown}#{revision}" if revision else shown
