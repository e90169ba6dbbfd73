"""The OpenAI wire format, used by hosted and local servers: chat and text completions, embeddings."""

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import Raw, Struct, structs

from sociometer.core.conversation import Identity, Message, Reply, Request, Schema, Usage
from sociometer.core.errors import FailureKind, MachineryError
from sociometer.core.player import Abilities, Player
from sociometer.core.tools import ToolCall, read_content
from sociometer.models.finish import REFUSAL, finish_of, split_reasoning
from sociometer.models.http import Endpoint
from sociometer.models.keys import Key
from sociometer.models.presets import ModelOptions, Preset
from sociometer.models.usage import reported_usage

NULL = Raw(b"null")


class _Option(Struct, kw_only=True):
    """What a choice has in either kind of completion."""

    finish_reason: str | None = None
    error: Raw = NULL


class _TextOption(_Option):
    text: str


_OptionT = TypeVar("_OptionT", bound=_Option)


class _Completion(Struct, Generic[_OptionT]):
    choices: list[_OptionT]
    model: str | None = None
    error: Raw = NULL
    system_fingerprint: Any = None


_text_completion = msgspec.json.Decoder(_Completion[_TextOption]).decode


def present(body: dict[str, Any]) -> dict[str, Any]:
    """The options that have a value; missing ones mean the server's default."""
    return {name: value for name, value in body.items() if value is not None}


def text_body(name: str, request: Request) -> dict[str, Any]:
    """A request to continue a text."""
    sampling = request.sampling
    chosen = {option: getattr(sampling, option) for option in ("temperature", "top_p", "max_tokens", "seed")}
    return present({"model": name, "prompt": request.plain_text or "", "stop": sampling.stop or None, **chosen})


def read_text(received: bytes) -> Reply:
    """The reply in a text completion; raise a DecodeError if there is none."""
    completion = _text_completion(received)
    refuse_error(completion.error, *(option.error for option in completion.choices))
    if not completion.choices:
        raise MachineryError("the server sent a completion without choices.", FailureKind.EMPTY_REPLY, retryable=True)
    option = completion.choices[0]
    finish, served = finish_of(option.finish_reason, option.text), completion.model or ""
    return Reply(option.text, "", reported_usage(received) or Usage(), finish, served)


_EMBEDDED_AT_ONCE = 256


class _Part(Struct):
    type: str = ""
    text: str | None = None
    thinking: str | list["_Part"] | None = None


class _Function(Struct):
    name: str | None = None
    arguments: Raw = Raw(b'""')


class _Call(Struct):
    function: _Function
    id: str | None = None


class _Said(Struct):
    content: str | list[_Part] | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    reasoning_details: Raw = NULL
    refusal: str | None = None
    tool_calls: Raw = NULL
    function_call: Raw = NULL


class _ChatOption(_Option):
    message: _Said


class _Vector(Struct):
    embedding: list[float]
    index: int | None = None


class _Vectors(Struct):
    data: list[_Vector]


_encode = msgspec.json.Encoder().encode
_completion = msgspec.json.Decoder(_Completion[_ChatOption]).decode
_calls = msgspec.json.Decoder(list[_Call]).decode
_vectors = msgspec.json.Decoder(_Vectors).decode
_NOTHING = (b"null", b"[]", b"{}", b'""', b"false")
_O_MODEL = re.compile(r"(?:openai/)?o\d")


class OpenAIPlayer(Player):
    """A model behind an OpenAI-compatible server."""

    def __init__(
        self, name: str, base_url: str, key: Key, options: ModelOptions, preset: Preset, *, certain: bool
    ) -> None:
        self.identity = Identity("openai", name, base_url, options.revision, certain, fields=options.fields.digest)
        self._preset = preset
        # A server at a user's own address may continue a text; its first reply decides.
        elsewhere = bool(options.base_url and preset.base_url) and not preset.own
        self.abilities = Abilities(continues_text=preset.continues_text or elsewhere, calls_tools=True)
        self._endpoint = Endpoint(
            base_url, key, options.timeout_seconds, partial(_headers, name=preset.key_header), options.fields
        )

    async def answer(self, request: Request) -> Reply:
        """One attempt at a reply."""
        if request.plain_text is not None:
            return await self._endpoint.reply("/completions", text_body(self.identity.name, request), read_text)
        body = chat_body(self.identity.name, request, self._preset)
        read = partial(read_completion, tools=bool(request.tools))
        return await self._endpoint.reply("/chat/completions", body, read)

    async def embed(self, texts: Sequence[str]) -> tuple[tuple[float, ...], ...]:
        vectors: list[tuple[float, ...]] = []
        for start in range(0, len(texts), _EMBEDDED_AT_ONCE):
            part = list(texts[start : start + _EMBEDDED_AT_ONCE])
            body = _encode({"model": self.identity.name, "input": part})
            received = await self._endpoint.request("POST", "/embeddings", body)
            vectors += self._endpoint.decoded(received, partial(read_vectors, expected=len(part)))
        return tuple(vectors)

    async def close(self) -> None:
        await self._endpoint.close()


def chat_body(name: str, request: Request, preset: Preset) -> dict[str, Any]:
    """The request in the format of this server."""
    sampling, wanted = request.sampling, None
    if isinstance(request.answer_format, Schema):
        wanted = response_format(request.answer_format) if preset.json_schema else {"type": "json_object"}
    body = {
        "model": name,
        **talk_body(request),
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "max_completion_tokens" if preset.renamed_limit else "max_tokens": sampling.max_tokens,
        "random_seed" if preset.random_seed else "seed": sampling.seed,
        "stop": sampling.stop or None,
        "reasoning_effort": sampling.reasoning_effort,
        "response_format": wanted,
        # Without it some servers send several calls at once, which are all answered; OpenAI's o models refuse it.
        "parallel_tool_calls": False if request.tools and preset.one_call and not _O_MODEL.match(name) else None,
    }
    return present(body)


def talk_body(request: Request) -> dict[str, Any]:
    """The messages in this format, with calls and results as OpenAI has them, and the tools."""
    messages = [_with_calls(one) if one.role in ("calls", "result") else one for one in request.messages]
    functions = ({"name": one.name, "description": one.description, "parameters": one.schema} for one in request.tools)
    tools = [{"type": "function", "function": function} for function in functions]
    return {"messages": messages, **({"tools": tools} if tools else {})}


def _with_calls(message: Message) -> dict[str, Any]:
    said = read_content(message.content)
    if message.role == "result":
        return {"role": "tool", "tool_call_id": said.calls[0].id, "content": said.text}
    kept = msgspec.json.decode(said.echo)
    calls = [{**call, "id": ours.id} for call, ours in zip(kept.pop("tool_calls", ()), said.calls, strict=True)]
    return {"role": "assistant", "content": said.text or None, **kept, **({"tool_calls": calls} if calls else {})}


def response_format(answer_format: Schema) -> dict[str, Any]:
    """The schema as an option; `strict` only if the schema meets the requirements of strict mode."""
    named: dict[str, Any] = {"name": answer_format.name, "schema": answer_format.schema}
    if _strict(answer_format.schema):
        named["strict"] = True
    return {"type": "json_schema", "json_schema": named}


def read_completion(received: bytes, *, tools: bool = False) -> Reply:
    """The reply in a chat completion, which may be empty, with its calls if the request offered tools.

    Raise a DecodeError if there is none.
    """
    completion = _completion(received)
    refuse_error(completion.error, *(option.error for option in completion.choices))
    if not completion.choices:
        raise MachineryError("the server sent a completion without choices.", FailureKind.EMPTY_REPLY, retryable=True)
    option = completion.choices[0]
    said = option.message
    text, thought = _spoken(said)
    called = given(said.tool_calls) or given(said.function_call)
    finish = finish_of(option.finish_reason, text or said.refusal or "", called=called)
    reasoning = said.reasoning_content or said.reasoning or thought
    if not reasoning:
        text, reasoning = split_reasoning(text)
    if said.refusal and not text.strip():
        text, finish = said.refusal, REFUSAL
    made = Reply(text, reasoning, reported_usage(received) or Usage(), finish, completion.model or "")
    if tools:
        made = structs.replace(made, **_called(said))
    version = completion.system_fingerprint
    return structs.replace(made, served_version=version) if isinstance(version, str) else made


def _called(said: _Said) -> dict[str, Any]:
    """The calls of a message, and what the server wants back: them, and the thinking or its signature."""
    calls = tuple(
        ToolCall(call.function.name or "", _arguments(bytes(call.function.arguments)), call.id or "")
        for call in (_calls(said.tool_calls) if given(said.tool_calls) else ())
    )
    kept: dict[str, Any] = present({"reasoning_content": said.reasoning_content})
    kept |= {name: part for name in ("reasoning_details", "tool_calls") if given(part := getattr(said, name))}
    return {"calls": calls, "echo": _encode(kept).decode() if kept else ""}


def _arguments(received: bytes) -> str:
    """The arguments as a text; most servers send one, some an object."""
    return str(msgspec.json.decode(received)) if received.startswith(b'"') else received.decode()


def given(part: Raw) -> bool:
    """Whether an undecoded part of a response has content."""
    return bytes(part) not in _NOTHING


def refuse_error(*errors: Raw) -> None:
    """Raise a ValueError if a response, or a choice in it, has an error."""
    if any(map(given, errors)):
        raise ValueError("an error in place of an answer")


def read_vectors(received: bytes, expected: int) -> list[tuple[float, ...]]:
    """The vectors in the order of their texts; raise a ValueError if some are missing."""
    found = _vectors(received).data
    if len(found) != expected:
        raise ValueError(f"{len(found)} vectors for {expected} texts")
    if all(vector.index is not None for vector in found):
        found = sorted(found, key=lambda vector: vector.index or 0)
    return [tuple(vector.embedding) for vector in found]


def _headers(key: str, name: str = "") -> Mapping[str, str]:
    if name and key:
        return {name: key}
    return {"Authorization": f"Bearer {key}"} if key else {}


def _spoken(said: _Said) -> tuple[str, str]:
    if isinstance(said.content, str):
        return said.content, ""
    parts = said.content or []
    text = "".join(part.text or "" for part in parts if part.type in ("text", "output_text", ""))
    return text, "".join(_thought(part) for part in parts)


def _thought(part: _Part) -> str:
    if isinstance(part.thinking, list):
        return "".join(inner.text or "" for inner in part.thinking)
    return part.thinking or ""


def _strict(schema: Any) -> bool:
    if isinstance(schema, list):
        return all(_strict(part) for part in schema)
    if not isinstance(schema, dict):
        return True
    if schema.get("type") == "object":
        properties = schema.get("properties", {})
        if schema.get("additionalProperties") is not False or set(schema.get("required", ())) != set(properties):
            return False
    return all(_strict(part) for part in schema.values())
