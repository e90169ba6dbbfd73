"""OpenAI's batches: a file of requests is uploaded, a batch is created from it, and its results are two files."""

from collections.abc import Sequence

import msgspec
from msgspec import Raw, Struct

from sociometer.core.conversation import Reply, Request
from sociometer.core.errors import MachineryError
from sociometer.models import failures
from sociometer.models.batch_endpoint import Take, ended_early, path_part
from sociometer.models.failures import UNREADABLE
from sociometer.models.http import Endpoint, Received
from sociometer.models.openai import chat_body, read_completion
from sociometer.models.presets import Preset

_NULL = Raw(b"null")
_URL = "/v1/chat/completions"
_LABEL = "sociometer"
"""The key of our label in the metadata of a batch."""
_ENDED = ("completed", "expired", "cancelled", "failed")
_FULL = "token_limit_exceeded"
_FULL_SECONDS = 600.0
_SKEW_SECONDS = 3600.0
"""How much the clocks may differ."""


class _File(Struct, frozen=True):
    id: str


class _Fault(Struct, frozen=True):
    code: str | None = None
    message: str | None = None


class _Faults(Struct, frozen=True):
    data: list[_Fault] | None = None


class _Batch(Struct, frozen=True):
    id: str
    status: str = ""
    created_at: float = 0.0
    output_file_id: str | None = None
    error_file_id: str | None = None
    errors: _Faults | None = None
    metadata: dict[str, str] | None = None


class _Page(Struct, frozen=True):
    data: list[_Batch]
    has_more: bool = False


class _Answered(Struct, frozen=True):
    status_code: int = 0
    body: Raw = _NULL


class _Line(Struct, frozen=True):
    custom_id: str
    response: _Answered | None = None
    error: _Fault | None = None


_encode = msgspec.json.Encoder().encode
_file = msgspec.json.Decoder(_File).decode
_batch = msgspec.json.Decoder(_Batch).decode
_page = msgspec.json.Decoder(_Page).decode
_line = msgspec.json.Decoder(_Line).decode


class OpenAIBatches:
    """The batches of one model."""

    most_requests = 50_000
    most_bytes = 200_000_000
    hours = 24

    def __init__(self, model: str, endpoint: Endpoint, preset: Preset, base_url: str) -> None:
        self._model = model
        self._endpoint = endpoint
        self._preset = preset
        self._base_url = base_url

    def line(self, name: str, request: Request) -> bytes:
        body = chat_body(self._model, request, self._preset)
        return _encode({"custom_id": name, "method": "POST", "url": _URL, "body": body})

    async def create(self, label: str, lines: Sequence[bytes]) -> str:
        content = b"\n".join(lines) + b"\n"
        try:
            uploaded = await self._endpoint.upload("/files", {"purpose": "batch"}, f"{label}.jsonl", content)
        except MachineryError as error:
            # A file alone costs nothing and starts nothing.
            error.tokens = (0, 0)
            raise
        body = {
            "input_file_id": self._endpoint.decoded(uploaded, _file).id,
            "endpoint": _URL,
            "completion_window": "24h",
            "metadata": {_LABEL: label},
        }
        return self._endpoint.decoded(await self._endpoint.post("/batches", _encode(body)), _batch).id

    async def find(self, label: str, names: frozenset[str], since: float, taken: frozenset[str]) -> str:
        after = ""
        while True:
            page = self._endpoint.decoded(await self._endpoint.get(f"/batches?limit=100{after}"), _page)
            for batch in page.data:
                if (batch.metadata or {}).get(_LABEL) == label:
                    return batch.id
            if not page.has_more or not page.data or page.data[-1].created_at < since - _SKEW_SECONDS:
                return ""
            after = f"&after={path_part(page.data[-1].id)}"

    async def ended(self, batch: str) -> bool:
        return (await self._get(batch)).status in _ENDED

    async def results(self, batch: str, take: Take) -> MachineryError | None:
        found = await self._get(batch)
        if found.status == "failed":
            return self._whole_failure(found)

        def taken(line: bytes) -> None:
            answer = _line(line)
            if answer.response is None:
                said = answer.error.message or answer.error.code if answer.error else None
                take(answer.custom_id, ended_early(failures.shortened(said or found.status)))
            elif answer.response.status_code == 200:
                take(answer.custom_id, bytes(answer.response.body))
            else:
                body = bytes(answer.response.body)
                take(answer.custom_id, failures.refused(self._base_url, answer.response.status_code, {}, body))

        for file in filter(None, (found.output_file_id, found.error_file_id)):
            try:
                await self._endpoint.lines(f"/files/{path_part(file)}/content", taken)
            except UNREADABLE as error:
                raise self._endpoint.malformed(Received(b"", {}), error) from None
        return None

    def read(self, body: bytes, request: Request) -> Reply:
        return self._endpoint.clean(self._endpoint.decoded(Received(body, {}), read_completion))

    async def cancel(self, batch: str) -> None:
        await self._endpoint.post(f"/batches/{path_part(batch)}/cancel", b"{}")

    async def _get(self, batch: str) -> _Batch:
        return self._endpoint.decoded(await self._endpoint.get(f"/batches/{path_part(batch)}"), _batch)

    def _whole_failure(self, batch: _Batch) -> MachineryError:
        faults = (batch.errors.data if batch.errors else None) or [_Fault()]
        said = failures.shortened("; ".join(fault.message or fault.code or "no reason given" for fault in faults[:3]))
        message = f"{self._base_url} did not accept the batch: {said}"
        if any(fault.code == _FULL for fault in faults):
            # The account's limit on waiting tokens: there is room again when other batches end.
            return MachineryError(
                message, "batch limit", retryable=True, retry_after_seconds=_FULL_SECONDS, tokens=(0, 0)
            )
        return MachineryError(message, "refused request", fatal=True, tokens=(0, 0))
