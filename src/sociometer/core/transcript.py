"""What happened in an episode, in order: who was asked what, what came back, and what was noted."""

from typing import Any

from msgspec import Struct

from sociometer.core.conversation import Message, Reply


class Exchange(Struct, frozen=True, omit_defaults=True, tag="exchange"):
    """One request and its reply."""

    role: str
    model: str
    messages: tuple[Message, ...]
    reply: Reply
    branch: str = ""
    key: bytes = b""
    """Where the journal keeps the reply; empty for players whose replies follow from the request."""


class Noted(Struct, frozen=True, omit_defaults=True, tag="noted"):
    """A fact the instrument added."""

    kind: str
    facts: dict[str, Any]
    branch: str = ""


Event = Exchange | Noted
