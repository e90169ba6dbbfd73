"""What happened in an episode, in order: who was asked what, what came back, and what was noted."""

from typing import Any

from msgspec import Struct

from sociometer.core.conversation import Message, Reply


class Asked(Struct, frozen=True, omit_defaults=True, tag="asked"):
    """One request and its reply."""

    role: str
    model: str
    messages: tuple[Message, ...]
    reply: Reply
    branch: str = ""


class Noted(Struct, frozen=True, omit_defaults=True, tag="noted"):
    """A fact the instrument added."""

    kind: str
    facts: dict[str, Any]
    branch: str = ""


Event = Asked | Noted
