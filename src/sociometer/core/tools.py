"""Tools that a request offers, the calls in a reply, and both as the texts of messages.

A message of the speaker `calls` is a reply with calls, and one of `result` answers a call. Both are JSON, so that the
journal, recordings and bundles keep them like any other text. A call has the id that the session gave it: servers
repeat ids, or expect a form of their own.
"""

from typing import Any

import msgspec
from msgspec import Struct

_encode = msgspec.json.Encoder().encode


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


class SaidWithCalls(Struct, frozen=True, omit_defaults=True):
    """The content of a message `calls`."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    echo: str = ""
    """What the server wants back of its reply, such as thinking blocks, as JSON in its own format."""


class ToolResult(Struct, frozen=True):
    """The content of a message `result`: the answer to the call with this id."""

    id: str
    name: str
    text: str


def as_text(content: SaidWithCalls | ToolResult) -> str:
    """The content as a message has it."""
    return _encode(content).decode()


read_calls = msgspec.json.Decoder(SaidWithCalls).decode
read_result = msgspec.json.Decoder(ToolResult).decode


def shown_calls(text: str, calls: tuple[ToolCall, ...]) -> str:
    """A reply with its calls, as a transcript shows it."""
    return "\n".join(filter(None, (text, *(f"→ {call.name} {call.arguments}" for call in calls))))
