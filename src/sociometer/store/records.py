"""The records that go into the store and come out of it."""

from enum import StrEnum
from typing import Any

from msgspec import Struct

from sociometer.core.card import Card
from sociometer.core.config import RunConfig
from sociometer.core.conversation import Identity, Message, Usage


class RunStatus(StrEnum):
    """How far a run got: it is being played, ended early, cannot go on, or is complete."""

    PLAYING = "playing"
    STOPPED = "stopped"
    FAILED = "failed"
    FINISHED = "finished"


class RoleRecord(Struct, frozen=True, omit_defaults=True):
    """Who played a role: the model as it was given, its name in tables, and its identity; keys are never part of it."""

    spec: str
    identity: Identity
    label: str


class Manifest(Struct, frozen=True, omit_defaults=True):
    """What makes a run repeatable: the user's choices, with tasks and settings in full, and what they led to."""

    config: RunConfig
    instrument_version: str
    roles: dict[str, RoleRecord]
    repeats: dict[str, int]
    prompts_digest: str
    data_files: dict[str, str]
    norms: dict[str, Any]
    sociometer_version: str
    python_version: str
    platform: str
    episodes: int = 0
    """How many episodes were planned; 0 where that is not known."""
    given_items: bool = False
    """Whether a command handed the items over."""
    imported: bool = False
    card: Card | None = None
    """The card of a benchmark that another tool ran; None where an instrument here was played."""


class RunRecord(Struct, frozen=True):
    """A row of `sociometer runs`."""

    id: str
    instrument: str
    subject: str
    """The subject's label."""
    status: RunStatus
    manifest: Manifest
    created: float
    finished: float | None
    name: str = ""


class Charge(Struct, frozen=True):
    """What a request came to: its cost (None: unknown), and what counts against the caps beyond what was reported."""

    cost: float | None
    charged_tokens: int = 0
    """The most that an unmetered reply can have been."""
    charged_cost: float = 0.0


class JournalEntry(Struct, frozen=True):
    """A reply to be kept, with what was asked."""

    key: bytes
    identity: Identity
    run: str
    messages: tuple[Message, ...]
    reply: bytes
    usage: Usage
    charge: Charge


class Spent(Struct):
    """What a run has paid for so far; `unpriced` and `unmetered` count replies whose price or tokens are unknown.

    An attempt to which nothing came back is a request, and neither priced nor unpriced. What is charged counts against
    the caps beyond what was reported.
    """

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0
    unpriced: int = 0
    unmetered: int = 0
    charged_tokens: int = 0
    charged_cost: float = 0.0
    priced: int = 0

    @property
    def against_caps(self) -> tuple[int, int, float]:
        """Requests, tokens and cost as caps count them."""
        tokens = self.input_tokens + self.output_tokens + self.charged_tokens
        return self.requests, tokens, self.cost + self.charged_cost
