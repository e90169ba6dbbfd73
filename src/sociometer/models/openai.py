"""The OpenAI wire format: chat completions and embeddings, used by hosted and local servers."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Raw, Struct, structs

from sociometer.core.answer_format import Schema
from sociometer.core.conversation import Identity, Message, Reply, Request, Sampling, TokenLogprob, Usage
from sociometer.core.errors import MachineryError
from sociometer.models.completions import (
    TextBody,
    echo_body,
    first_token_likelihoods,
    read_echo,
    read_text,
    text_body,
)
from sociometer.models.failures import UNREADABLE
from sociometer.models.finish import FILTERED, REFUSAL, filtered_reply, finish_of
from sociometer.models.http import Endpoint
from sociometer.models.keys import Key
from sociometer.models.options import ModelOptions
from sociometer.models.presets import UNKNOWN_SERVER, Preset
from sociometer.models.reasoning import split_reasoning

if TYPE_CHECKING:
    from sociometer.models.batch_endpoint import BatchEndpoint

_EMBEDDED_AT_ONCE = 256
_NULL = Raw(b"null")


class ChatBody(Struct, omit_defaults=True):
    """The request body; missing options mean the server's default."""

    model: str
    messages: tuple[Message, ...]
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    seed: int | None = None
    random_seed: int | None = None
    stop: tuple[str, ...] | None = None
    reasoning_effort: str | None = None
    logprobs: bool | None = None
    top_logprobs: int | None = None
    response_format: dict[str, Any] | None = None


class _Part(Struct):
    type: str = ""
    text: str | None = None
    thinking: str | list["_Part"] | None = None


class _Said(Struct):
    content: str | list[_Part] | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    refusal: str | None = None
    tool_calls: Raw = _NULL
    function_call: Raw = _NULL


class _Option(Struct):
    message: _Said
    finish_reason: str | None = None
    logprobs: Raw = _NULL


class _Completion(Struct):
    choices: list[_Option]
    usage: Raw = _NULL
    model: str | None = None
    error: Raw = _NULL


class _Counted(Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class _Rival(Struct):
    token: str
    logprob: float


class _Token(Struct):
    token: str
    logprob: float
    top_logprobs: list[_Rival] = []


class _Tokens(Struct):
    content: list[_Token] | None = None


class _Vector(Struct):
    embedding: list[float]
    index: int | None = None


class _Vectors(Struct):
    data: list[_Vector]


_encode = msgspec.json.Encoder().encode
_completion = msgspec.json.Decoder(_Completion).decode
_counted = msgspec.json.Decoder(_Counted | None).decode
_tokens = msgspec.json.Decoder(_Tokens | None).decode
_vectors = msgspec.json.Decoder(_Vectors).decode
_NOTHING = (b"null", b"[]", b"{}")
_UNKNOWN_USAGE = Usage()
_DEFAULT = Sampling()


class OpenAIPlayer:
    """A model behind an OpenAI-compatible server."""

    journaled = True

    def __init__(
        self, name: str, base_url: str, key: Key, options: ModelOptions, preset: Preset, *, certain: bool
    ) -> None:
        self._identity = Identity("openai", name, base_url, options.revision, certain)
        self._preset = preset
        self._extras = UNKNOWN_SERVER if options.base_url and not preset.own else preset.extras
        self.abilities = self._extras.abilities
        self._endpoint = Endpoint(base_url, key, options.timeout_seconds, _headers)

    @property
    def identity(self) -> Identity:
        return self._identity

    def __repr__(self) -> str:
        return f"OpenAIPlayer({self._identity.name} at {self._identity.base_url})"

    async def answer(self, request: Request) -> Reply:
        """One attempt at a reply; to a request with continuations, the likelihood of each."""
        plain, scored = request.plain_text is not None, request.continuations
        if scored and plain and self.abilities.scores_text == "text":
            return await self._scored_texts(request)
        listed = (self._extras.text_lists if plain else self._extras.lists) if scored else request.sampling.logprobs
        asked = structs.replace(request, sampling=structs.replace(request.sampling, logprobs=listed))
        if plain:
            reply = await self._posted("/completions", text_body(self._identity.name, asked), read_text)
        else:
            body = chat_body(self._identity.name, asked, self._preset)
            reply = await self._posted("/chat/completions", body, read_completion)
        if not scored or reply.finish == FILTERED:
            return reply
        return structs.replace(reply, text="", likelihoods=first_token_likelihoods(reply.logprobs, scored), logprobs=())

    async def _posted(self, path: str, body: ChatBody | TextBody, read: Callable[[bytes], Reply]) -> Reply:
        try:
            received = await self._endpoint.post(path, _encode(body), body)
        except MachineryError as error:
            return filtered_reply(error)
        try:
            return self._endpoint.clean(read(received.body))
        except UNREADABLE as error:
            raise self._endpoint.malformed(received, error) from None

    async def _scored_texts(self, request: Request) -> Reply:
        """The likelihood of each continuation; one request, in which the server reads the text once for each."""
        body = echo_body(self._identity.name, request)
        return await self._posted("/completions", body, lambda received: read_echo(received, request))

    async def embed(self, texts: Sequence[str]) -> tuple[tuple[float, ...], ...]:
        """A vector for each text."""
        vectors: list[tuple[float, ...]] = []
        for start in range(0, len(texts), _EMBEDDED_AT_ONCE):
            part = list(texts[start : start + _EMBEDDED_AT_ONCE])
            body = _encode({"model": self._identity.name, "input": part})
            received = await self._endpoint.post("/embeddings", body)
            try:
                vectors.extend(read_vectors(received.body, len(part)))
            except UNREADABLE as error:
                raise self._endpoint.malformed(received, error) from None
        return tuple(vectors)

    def batches(self) -> "BatchEndpoint | None":
        """The batches of this model; None if its provider has none."""
        from sociometer.models.openai_batches import OpenAIBatches

        return (
            OpenAIBatches(self._identity.name, self._endpoint, self._preset, self._identity.base_url)
            if self._preset.batch
            else None
        )

    async def close(self) -> None:
        """Close the connection."""
        await self._endpoint.close()


def chat_body(name: str, request: Request, preset: Preset) -> ChatBody:
    """The request in the format of this server."""
    sampling = request.sampling
    body = ChatBody(name, request.messages)
    if sampling != _DEFAULT:
        body.temperature = sampling.temperature
        body.top_p = sampling.top_p
        if preset.renamed_limit:
            body.max_completion_tokens = sampling.max_tokens
        else:
            body.max_tokens = sampling.max_tokens
        if preset.random_seed:
            body.random_seed = sampling.seed
        else:
            body.seed = sampling.seed
        body.stop = sampling.stop or None
        body.reasoning_effort = sampling.reasoning_effort
        if sampling.logprobs is not None:
            body.logprobs = True
            body.top_logprobs = sampling.logprobs
    if isinstance(request.answer_format, Schema):
        body.response_format = response_format(request.answer_format) if preset.json_schema else {"type": "json_object"}
    return body


def response_format(answer_format: Schema) -> dict[str, Any]:
    """The schema as an option; `strict` only if the schema meets the requirements of strict mode."""
    named: dict[str, Any] = {"name": answer_format.name, "schema": answer_format.schema}
    if _strict(answer_format.schema):
        named["strict"] = True
    return {"type": "json_schema", "json_schema": named}


def read_completion(received: bytes) -> Reply:
    """The reply in a chat completion, which may be empty; raise a DecodeError if there is none."""
    completion = _completion(received)
    if not completion.choices:
        refuse_error(completion.error)
        raise MachineryError("the server sent a completion without choices.", "empty reply", retryable=True)
    option = completion.choices[0]
    said = option.message
    finish = finish_of(option.finish_reason, called=given(said.tool_calls) or given(said.function_call))
    text, thought = _spoken(said)
    reasoning = said.reasoning_content or said.reasoning or thought
    if not reasoning:
        text, reasoning = split_reasoning(text)
    if said.refusal and not text.strip():
        text, finish = said.refusal, REFUSAL
    logprobs = _read_logprobs(option.logprobs) if given(option.logprobs) else ()
    return Reply(text, reasoning, _read_usage(completion.usage), finish, completion.model or "", logprobs)


def given(part: Raw) -> bool:
    """Whether an undecoded part of a response has content."""
    return bytes(part) not in _NOTHING


def refuse_error(error: Raw) -> None:
    """Raise a ValueError if a response without content has an error object."""
    if given(error):
        raise ValueError("an error in place of an answer")


def read_vectors(received: bytes, expected: int) -> list[tuple[float, ...]]:
    """The vectors in the order of their texts; raise a ValueError if some are missing."""
    found = _vectors(received).data
    if len(found) != expected:
        raise ValueError(f"{len(found)} vectors for {expected} texts")
    if all(vector.index is not None for vector in found):
        found = sorted(found, key=lambda vector: vector.index or 0)
    return [tuple(vector.embedding) for vector in found]


def _headers(key: str) -> Mapping[str, str]:
    return {"Authorization": f"Bearer {key}"} if key else {}


def _spoken(said: _Said) -> tuple[str, str]:
    content = said.content
    if isinstance(content, str):
        return content, ""
    if not content:
        return "", ""
    text = "".join(part.text or "" for part in content if part.type in ("text", "output_text", ""))
    return text, "".join(_thought(part) for part in content)


def _thought(part: _Part) -> str:
    if isinstance(part.thinking, list):
        return "".join(inner.text or "" for inner in part.thinking)
    return part.thinking or ""


def _read_usage(raw: Raw) -> Usage:
    try:
        counted = _counted(raw)
    except UNREADABLE:
        return _UNKNOWN_USAGE
    if counted is None:
        return _UNKNOWN_USAGE
    read, written = counted.prompt_tokens, counted.completion_tokens
    return Usage(
        read if read is not None and read >= 0 else None, written if written is not None and written >= 0 else None
    )


def counted_tokens(count: int | None) -> int | None:
    """The count, or None if the server's figure is impossible."""
    return count if count is not None and count >= 0 else None


def _read_logprobs(raw: Raw) -> tuple[TokenLogprob, ...]:
    try:
        tokens = _tokens(raw)
    except UNREADABLE:
        return ()
    if tokens is None or tokens.content is None:
        return ()
    return tuple(
        TokenLogprob(token.token, token.logprob, tuple((rival.token, rival.logprob) for rival in token.top_logprobs))
        for token in tokens.content
    )


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
