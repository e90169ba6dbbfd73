"""Tools that a request offers, the calls in a reply, and both as the texts of messages.

A message of the speaker `calls` is a reply with calls, and one of `result` answers a call. Both are JSON, so that the
journal, recordings and bundles keep them like any other text. Ids of calls are ours: servers repeat theirs, or expect a
form of their own.
"""

from typing import Any

import msgspec
from msgspec import Struct


class Tool(Struct, frozen=True):
    """A tool that a model may call; `schema` is the JSON schema of its arguments."""

    name: str
    description: str
    schema: dict[str, Any]


class ToolCall(Struct, frozen=True, omit_defaults=True):
    """A call as the model wrote it; the arguments are the JSON text that was received."""

    name: str
    arguments: str
    id: str = ""


class CallText(Struct, frozen=True, omit_defaults=True):
    """The content of a message `calls`, or of a message `result`, which has the call that it answers."""

    text: str
    calls: tuple[ToolCall, ...] = ()
    echo: str = ""
    """What the server wants back of its reply, such as its calls and its thinking, as JSON in its own format."""

    def __str__(self) -> str:
        return msgspec.json.encode(self).decode()


read_content = msgspec.json.Decoder(CallText).decode


def shown_calls(text: str, calls: tuple[ToolCall, ...]) -> str:
    """A reply with its calls, as a transcript shows it."""
    return "\n".join(filter(None, (text, *(f"→ {call.name} {call.arguments}" for call in calls))))
