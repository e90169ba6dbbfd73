"""Anthropic's message batches: all requests in one body, the results line by line."""

import asyncio
from collections.abc import Sequence
from datetime import datetime
from functools import partial

import msgspec
from msgspec import Raw, Struct

from sociometer.core.answer_format import Schema
from sociometer.core.conversation import Reply, Request
from sociometer.core.errors import MachineryError
from sociometer.models import failures
from sociometer.models.anthropic import messages_body, read_answer
from sociometer.models.batch_endpoint import Result, Take, ended_early, path_part
from sociometer.models.failures import UNREADABLE
from sociometer.models.http import Endpoint, Received

_NULL = Raw(b"null")
_PATH = "/v1/messages/batches"
_SKEW_SECONDS = 3600.0
"""How much the clocks may differ."""
_POLL_SECONDS = 30.0
_STATUS = {
    "invalid_request_error": 400, "authentication_error": 401, "billing_error": 402, "permission_error": 403,
    "not_found_error": 404, "request_too_large": 413, "rate_limit_error": 429, "api_error": 500, "timeout_error": 504,
    "overloaded_error": 529,
}  # fmt: skip
"""The status that a single request would have had."""


class _Batch(Struct, frozen=True):
    id: str
    processing_status: str = ""
    created_at: datetime | None = None
    request_counts: dict[str, int] = {}


class _Page(Struct, frozen=True):
    data: list[_Batch]
    has_more: bool = False


class _Fault(Struct, frozen=True):
    type: str = ""


class _Failed(Struct, frozen=True):
    error: _Fault = _Fault()


class _Outcome(Struct, frozen=True):
    type: str
    message: Raw = _NULL
    error: Raw = _NULL


class _Line(Struct, frozen=True):
    custom_id: str
    result: _Outcome


_encode = msgspec.json.Encoder().encode
_batch = msgspec.json.Decoder(_Batch).decode
_page = msgspec.json.Decoder(_Page).decode
_line = msgspec.json.Decoder(_Line).decode
_failed = msgspec.json.Decoder(_Failed).decode


class AnthropicBatches:
    """The batches of one model."""

    most_requests = 10_000
    most_bytes = 200_000_000
    hours = 24

    def __init__(self, model: str, endpoint: Endpoint, base_url: str) -> None:
        self._model = model
        self._endpoint = endpoint
        self._base_url = base_url

    def line(self, name: str, request: Request) -> bytes:
        return _encode({"custom_id": name, "params": messages_body(self._model, request)})

    async def create(self, label: str, lines: Sequence[bytes]) -> str:
        body = b'{"requests":[' + b",".join(lines) + b"]}"
        return self._endpoint.decoded(await self._endpoint.post(_PATH, body), _batch).id

    async def find(self, label: str, names: frozenset[str], since: float, taken: frozenset[str]) -> str:
        """The format stores no label: a batch of the same size is ours if, after it ended, it answers our requests."""
        for candidate in await self._candidates(len(names), since, taken):
            while not await self.ended(candidate):  # noqa: ASYNC110  (the server cannot call us)
                await asyncio.sleep(_POLL_SECONDS)
            found: set[str] = set()

            def note(name: str, result: Result, into: set[str] = found) -> None:
                into.add(name)

            await self.results(candidate, note)
            if found & names:
                return candidate
        return ""

    async def _candidates(self, size: int, since: float, taken: frozenset[str]) -> list[str]:
        found: list[str] = []
        after = ""
        while True:
            page = self._endpoint.decoded(await self._endpoint.get(f"{_PATH}?limit=100{after}"), _page)
            recent = [
                one for one in page.data if one.created_at is None or one.created_at.timestamp() > since - _SKEW_SECONDS
            ]
            found += [one.id for one in recent if sum(one.request_counts.values()) == size and one.id not in taken]
            if not page.has_more or len(recent) < len(page.data) or not page.data:
                return found
            after = f"&after_id={path_part(page.data[-1].id)}"

    async def ended(self, batch: str) -> bool:
        received = await self._endpoint.get(f"{_PATH}/{path_part(batch)}")
        return self._endpoint.decoded(received, _batch).processing_status == "ended"

    async def results(self, batch: str, take: Take) -> MachineryError | None:
        def taken(line: bytes) -> None:
            answer = _line(line)
            take(answer.custom_id, self._result(answer.result))

        try:
            # Not from `results_url`: the key goes nowhere but to the server that the user named.
            await self._endpoint.lines(f"{_PATH}/{path_part(batch)}/results", taken)
        except UNREADABLE as error:
            raise self._endpoint.malformed(Received(b"", {}), error) from None
        return None

    def _result(self, outcome: _Outcome) -> Result:
        if outcome.type == "succeeded":
            return bytes(outcome.message)
        if outcome.type != "errored":
            return ended_early("it expired" if outcome.type == "expired" else "it was cancelled")
        body = bytes(outcome.error)
        error = failures.refused(self._base_url, _STATUS.get(_failed(body).error.type, 500), {}, body)
        # A request in a batch that ends with an error is not billed, whatever the error is.
        error.tokens = (0, 0)
        return error

    def read(self, body: bytes, request: Request) -> Reply:
        tool = request.answer_format.name if isinstance(request.answer_format, Schema) else ""
        return self._endpoint.clean(self._endpoint.decoded(Received(body, {}), partial(read_answer, tool=tool)))

    async def cancel(self, batch: str) -> None:
        await self._endpoint.post(f"{_PATH}/{path_part(batch)}/cancel", b"{}")
