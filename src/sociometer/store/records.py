"""The records that go into the store and come out of it."""

from typing import Any

from msgspec import Struct

from sociometer.core.caps import Caps
from sociometer.core.conversation import Identity, Message, Reply, Sampling


class SeatRecord(Struct, frozen=True, omit_defaults=True):
    """Who played a role, as far as needed to seat them again; keys are never part of it."""

    spec: str
    identity: Identity
    sampling: Sampling = Sampling()
    base_url: str = ""
    revision: str = ""
    key_variable: str = ""
    timeout_seconds: float = 300.0


class Manifest(Struct, frozen=True, omit_defaults=True):
    """What makes a run repeatable."""

    instrument: str
    instrument_version: str
    tasks: tuple[str, ...]
    settings: dict[str, Any]
    seats: dict[str, SeatRecord]
    seed: int
    repeats: dict[str, int]
    limit: int | None
    official: bool
    data_folder: str
    prompts_folder: str
    prompts_digest: str
    data_files: dict[str, str]
    norms: dict[str, Any]
    sociometer_version: str
    python_version: str
    platform: str
    fresh: bool = False
    command: tuple[str, ...] = ()
    given_items: bool = False
    imported: bool = False
    caps: Caps = Caps()
    in_flight: int = 0
    retries: int | None = None


class RunRecord(Struct, frozen=True):
    """A row of `sociometer runs`."""

    id: str
    instrument: str
    subject: str
    status: str
    manifest: Manifest
    created: float
    finished: float | None


class JournalEntry(Struct, frozen=True):
    """A reply to be kept, with what was asked."""

    key: bytes
    identity: Identity
    run: str
    messages: tuple[Message, ...]
    reply: bytes
    input_tokens: int | None
    output_tokens: int | None
    cost: float | None
    charged_tokens: int = 0
    """What counts against the caps beyond what was reported: the most that an unmetered reply can have been."""
    charged_cost: float = 0.0


class Spent(Struct, frozen=True):
    """What a run has paid for so far; `unpriced` and `unmetered` count replies whose price or tokens are unknown.

    An attempt to which nothing came back is a request, and neither priced nor unpriced.
    """

    requests: int
    input_tokens: int
    output_tokens: int
    cost: float
    unpriced: int
    unmetered: int
    charged_tokens: int = 0
    charged_cost: float = 0.0
    priced: int = 0


class KeptHeard(Struct, frozen=True, omit_defaults=True, tag="heard", array_like=True):
    """A request as an episode keeps it: by its journal key, or (for players that cost nothing) in full."""

    role: str
    model: str
    branch: str
    key: bytes
    messages: bytes
    reply: Reply | None


class KeptNote(Struct, frozen=True, tag="note", array_like=True):
    """A note as an episode keeps it."""

    kind: str
    facts: bytes
    branch: str
