"""The Anthropic wire format: messages."""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import msgspec
from msgspec import Raw, Struct, structs

from sociometer.core.conversation import Identity, Message, Reply, Request, Schema, Usage
from sociometer.core.player import Abilities, Player
from sociometer.core.tools import CallText, ToolCall, read_content
from sociometer.models.finish import STOP, TOOL_CALLS, finish_of
from sociometer.models.http import Endpoint
from sociometer.models.keys import Key
from sociometer.models.openai import NULL, present, refuse_error
from sociometer.models.presets import ModelOptions
from sociometer.models.usage import reported_usage

_VERSION = "2023-06-01"
_BUDGET = re.compile("[0-9]{1,9}")
_MOST_TOKENS = 4096
"""The default limit; the format requires one."""
_OFF = {"type": "disabled"}


class _Block(Struct):
    type: str
    text: str | None = None
    thinking: str | None = None
    name: str | None = None
    input: Raw = NULL
    id: str | None = None


class _Answer(Struct):
    content: list[_Block]
    stop_reason: str | None = None
    model: str | None = None
    error: Raw = NULL


class _Content(Struct):
    content: Raw


_encode = msgspec.json.Encoder().encode
_answer = msgspec.json.Decoder(_Answer).decode
_content = msgspec.json.Decoder(_Content).decode


class AnthropicPlayer(Player):
    """A model behind an Anthropic-compatible server."""

    lacks = frozenset({"seed"})
    abilities = Abilities(calls_tools=True)

    def __init__(self, name: str, base_url: str, key: Key, options: ModelOptions, *, certain: bool) -> None:
        self.identity = Identity("anthropic", name, base_url, options.revision, certain, fields=options.fields.digest)
        bare = base_url.removesuffix("/v1")
        self._endpoint = Endpoint(bare, key, options.timeout_seconds, _headers, options.fields)

    async def answer(self, request: Request) -> Reply:
        body = messages_body(self.identity.name, request)
        return await self._endpoint.reply("/v1/messages", body, _reader(request))

    async def close(self) -> None:
        await self._endpoint.close()


def messages_body(name: str, request: Request) -> dict[str, Any]:
    """The request in this format: system text separate, a schema as a required tool."""
    sampling = request.sampling
    spoken = _spoken(message for message in request.messages if message.role != "system")
    told = "\n\n".join(message.content for message in request.messages if message.role == "system")
    if not spoken:
        spoken, told = [Message("user", told)], ""
    body = {
        "model": name,
        "messages": spoken,
        "max_tokens": sampling.max_tokens or _MOST_TOKENS,
        "system": told or None,
        "temperature": sampling.temperature,
        # Newer models refuse both together; a top-p of 1 changes nothing.
        "top_p": None if sampling.top_p == 1 and sampling.temperature is not None else sampling.top_p,
        "stop_sequences": sampling.stop or None,
        **_thinking(sampling.reasoning_effort or ""),
    }
    if isinstance(request.answer_format, Schema):
        wanted, thinks = request.answer_format, body.get("thinking", _OFF) != _OFF
        tool = {"name": wanted.name, "description": "Gives the answer.", "input_schema": wanted.schema}
        # A model that thinks may not be forced to use a tool.
        choice = {"type": "auto"} if thinks else {"type": "tool", "name": wanted.name}
        body |= {"tools": [tool], "tool_choice": choice}
    elif request.tools:
        tools = [
            {"name": one.name, "description": one.description, "input_schema": one.schema} for one in request.tools
        ]
        body |= {"tools": tools, "tool_choice": {"type": "auto", "disable_parallel_tool_use": True}}
    return present(body)


def _spoken(messages: Iterable[Message]) -> list[Message | dict[str, Any]]:
    """The messages; the results of one reply's calls are one message."""
    made: list[Message | dict[str, Any]] = []
    for message in messages:
        if message.role == "calls":
            made.append({"role": "assistant", "content": _blocks(read_content(message.content))})
        elif message.role == "result":
            said = read_content(message.content)
            block = {"type": "tool_result", "tool_use_id": said.calls[0].id, "content": said.text}
            if isinstance(last := made[-1], dict) and last["role"] == "user":
                last["content"].append(block)
            else:
                made.append({"role": "user", "content": [block]})
        else:
            made.append(message)
    return made


def _blocks(said: CallText) -> list[dict[str, Any]]:
    """The blocks of a reply as they were received, thinking with its signature; a call has our id and an object."""
    ids = iter(call.id for call in said.calls)
    kept = [
        {**block, "id": next(ids), "input": found if isinstance(found := block.get("input"), dict) else {}}
        if block["type"] == "tool_use"
        else block
        for block in msgspec.json.decode(said.echo)
        if block["type"] != "text" or block.get("text")
    ]
    thought = all("thinking" in block["type"] for block in kept)
    return [*kept, {"type": "text", "text": said.text}] if thought else kept


def _reader(request: Request) -> Callable[[bytes], Reply]:
    tool = request.answer_format.name if isinstance(request.answer_format, Schema) else ""
    return partial(read_answer, tool=tool, tools=bool(request.tools))


def read_answer(received: bytes, tool: str = "", *, tools: bool = False) -> Reply:
    """The reply in a response body, which may be empty; raise a DecodeError if there is none.

    The input of `tool`, which requests a schema, is the answer. Other calls count only if the request offered `tools`.
    """
    answer = _answer(received)
    refuse_error(answer.error)
    text = "".join(block.text or "" for block in answer.content if block.type == "text")
    calls = [block for block in answer.content if block.type == "tool_use"]
    filled = next((bytes(block.input).decode() for block in calls if tool and block.name == tool), "")
    finish = finish_of(answer.stop_reason, text, called=bool(calls))
    if filled and finish == TOOL_CALLS:
        finish = STOP
    reasoning = "\n".join(block.thinking for block in answer.content if block.type == "thinking" and block.thinking)
    made = Reply(filled or text, reasoning, reported_usage(received) or Usage(), finish, answer.model or "")
    if not tools:
        return made
    called = tuple(ToolCall(block.name or "", bytes(block.input).decode(), block.id or "") for block in calls)
    kept = called or any("thinking" in block.type for block in answer.content)
    return structs.replace(made, calls=called, echo=bytes(_content(received).content).decode() if kept else "")


def _headers(key: str) -> Mapping[str, str]:
    return {"anthropic-version": _VERSION, "x-api-key": key} if key else {"anthropic-version": _VERSION}


def _thinking(effort: str) -> dict[str, Any]:
    """A number is a budget of tokens (older models), `none` turns thinking off, a word is an effort (newer models)."""
    if not effort:
        return {}
    if _BUDGET.fullmatch(effort):
        return {"thinking": {"type": "enabled", "budget_tokens": int(effort)}}
    if effort == "none":
        return {"thinking": _OFF}
    return {"thinking": {"type": "adaptive"}, "output_config": {"effort": effort}}
