"""What the user asks for: one subject, one instrument, and everything that can be set."""

import math
from pathlib import Path

from msgspec import Struct, structs

from sociometer.core.conversation import Sampling
from sociometer.core.errors import UsageError
from sociometer.core.settings import SettingValue

DEFAULT_IN_FLIGHT = 32
_FAMILIES_OF_FILES = ("local", "scripted", "recorded")


def _check(option: str, value: float | None, low: float, high: float = math.inf) -> None:
    if value is not None and not (low <= value <= high and math.isfinite(value)):
        allowed = f"at least {low}" if high == math.inf else f"between {low} and {high}"
        raise UsageError(f"{option} must be {allowed}, not {value:g}.")


class Caps(Struct, frozen=True, omit_defaults=True):
    """Hard caps, all roles included; None means no cap."""

    max_cost: float | None = None
    max_requests: int | None = None
    max_tokens: int | None = None

    def __post_init__(self) -> None:
        for name, cap in structs.asdict(self).items():
            _check(f"--{name.replace('_', '-')}", cap, 0)

    def or_else(self, other: "Caps") -> "Caps":
        """These caps, with `other`'s where none is set."""
        return structs.replace(other, **{name: cap for name, cap in structs.asdict(self).items() if cap is not None})


class ProjectChoices(Struct, frozen=True, omit_defaults=True):
    """What a run took from `sociometer.toml`: the file's checksum, and the names in it that were used."""

    sha256: str
    used: tuple[str, ...] = ()
    """For example `models`, `roles.judge`, `caps.max-cost`."""
    unconfirmed: tuple[str, ...] = ()
    """Roles with a model of the file whose server the command line does not name: only the preset's host gets a key."""


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
    """Whether a reply without an answer is asked about once more; None means yes, but not for official items."""
    data_folder: str = ""
    prompts_folder: str = ""
    base_url: str = ""
    revision: str = ""
    key_variable: str = ""
    insecure_http: bool = False
    """Whether keys may travel over plain HTTP to other machines; holds for one command and is never stored."""
    timeout_seconds: float = 300.0
    sampling: Sampling = Sampling()
    caps: Caps = Caps()
    fresh: bool = False
    in_flight: int = DEFAULT_IN_FLIGHT
    retries: int | None = None
    command: tuple[str, ...] = ()
    name: str = ""
    """The run's name, by which commands find it; empty means that only its id does."""
    step_of: str = ""
    """The instrument's own command that this run is a step of; empty for a run in its own right."""
    label: str = ""
    """What the subject is called in tables and pages; empty means its model's name."""
    project: ProjectChoices | None = None
    """What came from `sociometer.toml`; None where nothing did."""

    def __post_init__(self) -> None:
        _check("--repeats", self.repeats, 1)
        _check("--limit", self.limit, 1)
        _check("--in-flight", self.in_flight, 1)
        _check("--retries", self.retries, 0)
        if not (0 < self.timeout_seconds < math.inf):
            raise UsageError(f"--timeout must be a positive number of seconds, not {self.timeout_seconds:g}.")
        if self.items and self.limit is not None:
            raise UsageError("--item names the items to play and --limit draws a sample; give one of them.")
        if self.name and not self.name.replace("-", "").replace("_", "").replace(".", "").isalnum():
            raise UsageError(f"--name takes letters, digits, '-', '_' and '.', not '{self.name}'.")
        _check("--temperature", self.sampling.temperature, 0, 10)
        _check("--top-p", self.sampling.top_p, 0, 1)
        _check("--reply-tokens", self.sampling.max_tokens, 1)
        _check("--logprobs", self.sampling.logprobs, 0, 100)


def model_label(spec: str) -> str:
    """A model's name as tables show it: without its server's address and without the folder of a file."""
    name, at, address = spec.partition("@http")
    revision = address.partition("#")[2] if at else ""
    family, slash, rest = name.partition("/")
    shown = f"{family}/{Path(rest).name}" if slash and family in _FAMILIES_OF_FILES else name
    return f"{shown}#{revision}" if revision else shown
