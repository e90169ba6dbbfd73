"""The Google wire format: generateContent and batchEmbedContents."""

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any
from urllib.parse import quote

import msgspec
from msgspec import Raw, Struct

from sociometer.core.conversation import Identity, Reply, Request, Schema, TokenLogprob, Usage
from sociometer.core.errors import MachineryError
from sociometer.core.player import BatchResult, Player, Take, ended_early
from sociometer.models.completions import counted_tokens, present
from sociometer.models.failures import UNREADABLE
from sociometer.models.finish import FILTERED, finish_of
from sociometer.models.http import Endpoint, Received, path_part
from sociometer.models.keys import Key
from sociometer.models.openai import given, refuse_error
from sociometer.models.presets import ModelOptions

_EMBEDDED_AT_ONCE = 100
_NULL = Raw(b"null")


class _Text(Struct):
    text: str


class _Content(Struct, omit_defaults=True):
    parts: tuple[_Text, ...]
    role: str = ""


class _Part(Struct, rename="camel"):
    text: str | None = None
    thought: bool = False
    function_call: Raw = _NULL


class _Said(Struct):
    parts: list[_Part] = []


class _Candidate(Struct, rename="camel"):
    content: _Said | None = None
    finish_reason: str | None = None
    logprobs_result: Raw = _NULL


class _Feedback(Struct, rename="camel"):
    block_reason: str | None = None


class _Answer(Struct, rename="camel"):
    candidates: list[_Candidate] = []
    prompt_feedback: _Feedback | None = None
    usage_metadata: Raw = _NULL
    model_version: str | None = None
    error: Raw = _NULL


class _Counted(Struct, rename="camel"):
    prompt_token_count: int | None = None
    candidates_token_count: int | None = None
    thoughts_token_count: int | None = None


class _Scored(Struct, rename="camel"):
    token: str
    log_probability: float


class _Rivals(Struct):
    candidates: list[_Scored] = []


class _Logprobs(Struct, rename="camel"):
    chosen_candidates: list[_Scored] = []
    top_candidates: list[_Rivals] = []


class _Vector(Struct):
    values: list[float]


class _Vectors(Struct):
    embeddings: list[_Vector]


_encode = msgspec.json.Encoder().encode
_answer = msgspec.json.Decoder(_Answer).decode
_counted = msgspec.json.Decoder(_Counted | None).decode
_logprobs = msgspec.json.Decoder(_Logprobs | None).decode
_vectors = msgspec.json.Decoder(_Vectors).decode


class GooglePlayer(Player):
    """A model behind a server with generateContent."""

    def __init__(self, name: str, base_url: str, key: Key, options: ModelOptions, *, certain: bool) -> None:
        self.identity = Identity("google", name, base_url, options.revision, certain)
        self._endpoint = Endpoint(base_url, key, options.timeout_seconds, _headers)
        self._model = name if "/" in name else f"models/{name}"
        self._path = f"/{quote(self._model)}:generateContent"

    async def answer(self, request: Request) -> Reply:
        return await self._endpoint.reply(self._path, content_body(request), read_answer, "generationConfig")

    async def embed(self, texts: Sequence[str]) -> tuple[tuple[float, ...], ...]:
        vectors: list[tuple[float, ...]] = []
        for start in range(0, len(texts), _EMBEDDED_AT_ONCE):
            part = texts[start : start + _EMBEDDED_AT_ONCE]
            body = {"requests": [{"model": self._model, "content": _Content((_Text(text),))} for text in part]}
            received = await self._endpoint.post(f"/{quote(self._model)}:batchEmbedContents", _encode(body))
            vectors += self._endpoint.decoded(received, partial(_read_vectors, expected=len(part)))
        return tuple(vectors)

    def batches(self) -> "GoogleBatches":
        return GoogleBatches(self._model, self._endpoint, self.identity.base_url)

    async def close(self) -> None:
        await self._endpoint.close()


def content_body(request: Request) -> dict[str, Any]:
    """The request in this format."""
    contents = [
        _Content((_Text(message.content),), "model" if message.role == "assistant" else "user")
        for message in request.messages
        if message.role != "system"
    ]
    told = tuple(_Text(message.content) for message in request.messages if message.role == "system")
    if not contents:
        contents, told = [_Content(told, "user")], ()
    system = _Content(told) if told else None
    return present({"contents": contents, "systemInstruction": system, "generationConfig": _generation_config(request)})


def read_answer(received: bytes) -> Reply:
    """The reply in a response body, which may be empty; raise a DecodeError if there is none."""
    answer = _answer(received)
    if not answer.candidates:
        refuse_error(answer.error)
        if answer.prompt_feedback and answer.prompt_feedback.block_reason:
            return Reply("", usage=_read_usage(answer.usage_metadata), finish=FILTERED)
        raise MachineryError("the server sent an answer without candidates.", "empty reply", retryable=True)
    candidate = answer.candidates[0]
    parts = candidate.content.parts if candidate.content else []
    text = "".join(part.text for part in parts if part.text and not part.thought)
    reasoning = "".join(part.text for part in parts if part.text and part.thought)
    called = any(given(part.function_call) for part in parts)
    finish = finish_of(candidate.finish_reason, called=called)
    logprobs = _read_logprobs(candidate.logprobs_result) if given(candidate.logprobs_result) else ()
    return Reply(text, reasoning, _read_usage(answer.usage_metadata), finish, answer.model_version or "", logprobs)


def _read_vectors(received: bytes, expected: int) -> list[tuple[float, ...]]:
    found = _vectors(received).embeddings
    if len(found) != expected:
        raise ValueError(f"{len(found)} vectors for {expected} texts")
    return [tuple(vector.values) for vector in found]


def _headers(key: str) -> Mapping[str, str]:
    return {"x-goog-api-key": key} if key else {}


def _generation_config(request: Request) -> dict[str, Any]:
    sampling = request.sampling
    schema = request.answer_format.schema if isinstance(request.answer_format, Schema) else None
    config = {
        "temperature": sampling.temperature,
        "topP": sampling.top_p,
        "maxOutputTokens": sampling.max_tokens,
        "seed": sampling.seed,
        "stopSequences": sampling.stop or None,
        "responseMimeType": "application/json" if schema is not None else None,
        "responseJsonSchema": schema,
        "responseLogprobs": None if sampling.logprobs is None else True,
        "logprobs": sampling.logprobs,
        "thinkingConfig": _thinking(sampling.reasoning_effort) if sampling.reasoning_effort else None,
    }
    return present(config)


def _thinking(effort: str) -> dict[str, Any]:
    """A number is a budget of tokens, `none` a budget of zero, a word a level (newer models)."""
    if effort == "none":
        return {"thinkingBudget": 0}
    if effort.isdigit():
        return {"thinkingBudget": int(effort), "includeThoughts": True}
    return {"thinkingLevel": effort, "includeThoughts": True}


def _read_usage(raw: Raw) -> Usage:
    try:
        counted = _counted(raw) or _Counted()
    except UNREADABLE:
        return Usage()
    written = counted_tokens(counted.candidates_token_count)
    if written is not None:
        written += counted_tokens(counted.thoughts_token_count) or 0
    return Usage(counted_tokens(counted.prompt_token_count), written)


def _read_logprobs(raw: Raw) -> tuple[TokenLogprob, ...]:
    try:
        found = _logprobs(raw) or _Logprobs()
    except UNREADABLE:
        return ()
    rivals = [tuple((one.token, one.log_probability) for one in step.candidates) for step in found.top_candidates]
    rivals += [()] * (len(found.chosen_candidates) - len(rivals))
    return tuple(
        TokenLogprob(one.token, one.log_probability, top)
        for one, top in zip(found.chosen_candidates, rivals, strict=False)
    )


_NAME = re.compile(r"batches/[A-Za-z0-9_\-]+")
_ENDED = ("SUCCEEDED", "FAILED", "CANCELLED", "EXPIRED")
_LARGEST_RESULTS = 1 << 30
_STATUS = {1: 499, 3: 400, 4: 504, 5: 404, 7: 403, 8: 429, 9: 400, 13: 500, 14: 503, 16: 401}
"""The HTTP status of an error's gRPC code."""


class _Named(Struct, frozen=True):
    key: str = ""


class _Inlined(Struct, frozen=True):
    metadata: _Named = _Named()
    response: Raw = _NULL
    error: Raw = _NULL


class _List(Struct, frozen=True, rename="camel"):
    inlined_responses: list[_Inlined] = []


class _Output(Struct, frozen=True, rename="camel"):
    inlined_responses: _List = _List()


class _About(Struct, frozen=True, rename="camel"):
    display_name: str = ""
    state: str = ""
    output: _Output | None = None


class _Fault(Struct, frozen=True):
    code: int = 0
    message: str = ""


class _Operation(Struct, frozen=True):
    name: str = ""
    done: bool = False
    metadata: _About = _About()
    response: _Output | None = None
    error: _Fault | None = None


class _Page(Struct, frozen=True, rename="camel"):
    operations: list[_Operation] = []
    next_page_token: str = ""


_fault = msgspec.json.Decoder(_Fault).decode


class GoogleBatches:
    """The batches of one model."""

    most_requests = 1_000
    """All results come in one response, which must fit into the memory."""
    most_bytes = 15_000_000
    """Requests inside the body may have 20 MB in all."""
    hours = 48

    def __init__(self, model: str, endpoint: Endpoint, base_url: str) -> None:
        """`model` is its resource name, `models/NAME`."""
        self._path = f"/{quote(model)}:batchGenerateContent"
        self._endpoint = endpoint
        self._base_url = base_url

    def line(self, name: str, request: Request) -> bytes:
        return _encode({"request": content_body(request), "metadata": {"key": name}})

    async def create(self, label: str, lines: Sequence[bytes]) -> str:
        named = _encode(label)
        config = b'"inputConfig":{"requests":{"requests":[' + b",".join(lines) + b"]}}"
        body = b'{"batch":{"displayName":' + named + b"," + config + b"}}"
        return self._named((await self._endpoint.fetch(self._path, _Operation, body)).name)

    async def find(self, label: str, names: frozenset[str], since: float, taken: frozenset[str]) -> str:
        after = ""
        while True:
            page = await self._endpoint.fetch(f"/batches?pageSize=100{after}", _Page)
            for one in page.operations:
                if one.metadata.display_name == label:
                    return self._named(one.name)
            if not page.next_page_token:
                return ""
            after = f"&pageToken={path_part(page.next_page_token)}"

    async def ended(self, batch: str) -> bool:
        found = await self._get(batch)
        return found.done or found.metadata.state.endswith(_ENDED)

    async def results(self, batch: str, take: Take) -> MachineryError | None:
        found = await self._get(batch)
        output = found.response or found.metadata.output
        if output is None and found.error is not None and found.metadata.state.endswith("FAILED"):
            status = _STATUS.get(found.error.code, 500)
            error = self._endpoint.refused(status, found.error.message.encode())
            error.tokens = (0, 0)
            return error
        for one in output.inlined_responses.inlined_responses if output else ():
            take(one.metadata.key, self._result(one))
        return None

    def _result(self, one: _Inlined) -> BatchResult:
        if bytes(one.response) != b"null":
            return bytes(one.response)
        if bytes(one.error) == b"null":
            return ended_early("no reason given")
        body = bytes(one.error)
        error = self._endpoint.refused(_STATUS.get(_fault(body).code, 500), body)
        error.tokens = (0, 0)
        return error

    def read(self, body: bytes, request: Request) -> Reply:
        return self._endpoint.clean(self._endpoint.decoded(Received(body, {}), read_answer))

    async def cancel(self, batch: str) -> None:
        await self._endpoint.post(f"/{self._named(batch)}:cancel", b"{}")

    async def _get(self, batch: str) -> _Operation:
        return await self._endpoint.fetch(f"/{self._named(batch)}", _Operation, largest=_LARGEST_RESULTS)

    def _named(self, name: str) -> str:
        if not _NAME.fullmatch(name):
            said = self._endpoint.shortened(name)
            raise MachineryError(f"{self._base_url} gave a batch the name '{said}'.", "malformed reply", fatal=True)
        return name
