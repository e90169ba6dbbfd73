"""What the user asked for, before anything is looked up."""

import math

from msgspec import Struct

from sociometer.core.caps import Caps
from sociometer.core.conversation import Sampling
from sociometer.core.errors import UsageError
from sociometer.engine.throttle import DEFAULT_IN_FLIGHT


class RunConfig(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One subject, one instrument, and all that may be set."""

    instrument: str
    subject: str
    tasks: tuple[str, ...] = ()
    roles: dict[str, str] = {}
    settings: dict[str, object] = {}
    seed: int = 0
    repeats: int | None = None
    limit: int | None = None
    official: bool = False
    data_folder: str = ""
    prompts_folder: str = ""
    base_url: str = ""
    revision: str = ""
    key_variable: str = ""
    timeout_seconds: float = 300.0
    sampling: Sampling = Sampling()
    caps: Caps = Caps()
    fresh: bool = False
    in_flight: int = DEFAULT_IN_FLIGHT
    retries: int | None = None
    command: tuple[str, ...] = ()
    dry_run: bool = False

    def __post_init__(self) -> None:
        for name, least in (("repeats", 1), ("limit", 1), ("in_flight", 1), ("retries", 0)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise UsageError(f"--{name.replace('_', '-')} must be at least {least}, not {value}.")
        if not (0 < self.timeout_seconds < math.inf):
            raise UsageError(f"--timeout must be a positive number of seconds, not {self.timeout_seconds:g}.")
        sampling = self.sampling
        for option, value, low, high in (
            ("temperature", sampling.temperature, 0, 10),
            ("top-p", sampling.top_p, 0, 1),
            ("reply-tokens", sampling.max_tokens, 1, math.inf),
            ("logprobs", sampling.logprobs, 0, 100),
        ):
            if value is not None and not low <= value <= high:
                allowed = f"at least {low}" if high == math.inf else f"between {low} and {high}"
                raise UsageError(f"--{option} must be {allowed}, not {value:g}.")
