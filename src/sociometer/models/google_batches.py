"""Google's batches: batchGenerateContent with the requests in its body, and the results in the operation."""

import re
from collections.abc import Sequence
from urllib.parse import quote

import msgspec
from msgspec import Raw, Struct

from sociometer.core.conversation import Reply, Request
from sociometer.core.errors import MachineryError
from sociometer.models import failures
from sociometer.models.batch_endpoint import Result, Take, ended_early, path_part
from sociometer.models.google import content_body, read_answer
from sociometer.models.http import Endpoint, Received

_NULL = Raw(b"null")
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


_encode = msgspec.json.Encoder().encode
_operation = msgspec.json.Decoder(_Operation).decode
_page = msgspec.json.Decoder(_Page).decode
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
        return self._named(self._endpoint.decoded(await self._endpoint.post(self._path, body), _operation).name)

    async def find(self, label: str, names: frozenset[str], since: float, taken: frozenset[str]) -> str:
        after = ""
        while True:
            page = self._endpoint.decoded(await self._endpoint.get(f"/batches?pageSize=100{after}"), _page)
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
            error = failures.refused(self._base_url, status, {}, found.error.message.encode())
            error.tokens = (0, 0)
            return error
        for one in output.inlined_responses.inlined_responses if output else ():
            take(one.metadata.key, self._result(one))
        return None

    def _result(self, one: _Inlined) -> Result:
        if bytes(one.response) != b"null":
            return bytes(one.response)
        if bytes(one.error) == b"null":
            return ended_early("no reason given")
        body = bytes(one.error)
        error = failures.refused(self._base_url, _STATUS.get(_fault(body).code, 500), {}, body)
        error.tokens = (0, 0)
        return error

    def read(self, body: bytes, request: Request) -> Reply:
        return self._endpoint.clean(self._endpoint.decoded(Received(body, {}), read_answer))

    async def cancel(self, batch: str) -> None:
        await self._endpoint.post(f"/{self._named(batch)}:cancel", b"{}")

    async def _get(self, batch: str) -> _Operation:
        return self._endpoint.decoded(
            await self._endpoint.get(f"/{self._named(batch)}", largest=_LARGEST_RESULTS), _operation
        )

    def _named(self, name: str) -> str:
        if not _NAME.fullmatch(name):
            said = failures.shortened(name)
            raise MachineryError(f"{self._base_url} gave a batch the name '{said}'.", "malformed reply", fatal=True)
        return name
