"""The HTTP client: one session per event loop, and endpoints that make single attempts."""

import asyncio
import json
import os
import socket
import ssl
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeVar
from urllib.request import getproxies, proxy_bypass
from weakref import WeakKeyDictionary

import aiohttp
import msgspec
from msgspec import Struct
from yarl import URL

from sociometer.core.conversation import Reply
from sociometer.core.errors import FailureKind, Filtered, MachineryError, Unauthorised, UnknownToServer, Unreachable
from sociometer.core.server_fields import NONE, ServerFields
from sociometer.core.words import first_of, in_one_line
from sociometer.models import failures
from sociometer.models.finish import filtered_reply
from sociometer.models.keys import Key, is_loopback, read_key
from sociometer.models.usage import possible_usage, with_reported_usage

_LARGEST_REPLY = 64 * 1024 * 1024
_MOST_INTERIM = 16
_MOST_NAMED = 20
_CONNECT_SECONDS = 30.0
_AGENT = "sociometer"
_IS_IT_RUNNING = "Is the server running? If it has another address, write it after the model's name: NAME@URL."
_SMALL = -1e9
_NOTHING: Mapping[str, Any] = MappingProxyType({})

Found = TypeVar("Found")
MakeHeaders = Callable[[str], Mapping[str, str]]
"""The headers of a request, from the key (empty if there is none)."""


class Received(Struct, frozen=True):
    """A successful response: its body and headers."""

    body: bytes
    headers: Mapping[str, str]


class _Response(aiohttp.ClientResponse):
    """A response after at most a few interim ones (100 Continue); aiohttp itself would read them without end."""

    async def start(self, connection: Any) -> aiohttp.ClientResponse:
        protocol, left = connection.protocol, _MOST_INTERIM
        read = protocol.read

        async def read_few() -> Any:
            nonlocal left
            left -= 1
            if left < 0:
                raise aiohttp.ClientPayloadError(f"more than {_MOST_INTERIM} interim responses")
            return await read()

        protocol.read = read_few
        try:
            return await super().start(connection)
        finally:
            del protocol.read


class _Shared:
    """The session of one event loop, and how many endpoints use it."""

    __slots__ = ("session", "users")

    def __init__(self) -> None:
        # No bound here: the engine bounds requests in flight for each endpoint, and adapts that bound.
        connector = aiohttp.TCPConnector(limit=0, ttl_dns_cache=300)
        self.session = aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            response_class=_Response,
            headers={"User-Agent": _AGENT, "Content-Type": "application/json", "Accept": "application/json"},
        )
        self.users = 0


_SHARED: WeakKeyDictionary[asyncio.AbstractEventLoop, _Shared] = WeakKeyDictionary()


class _Named(Struct):
    id: str


class _ListedModels(Struct):
    data: list[_Named]


class Endpoint:
    """A base URL with the name of the variable that holds its key; the key itself is read when a request is sent."""

    def __init__(
        self, base_url: str, key: Key, timeout_seconds: float, headers: MakeHeaders, fields: ServerFields = NONE
    ) -> None:
        self._base = base_url
        self._fields = fields
        self._key_variable = key.variable
        self._advice = key.advice
        self._headers = headers
        self._timeout = aiohttp.ClientTimeout(
            total=timeout_seconds, sock_connect=min(_CONNECT_SECONDS, timeout_seconds)
        )
        self._proxy = proxy_for(URL(base_url))
        self._urls: dict[str, URL] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._shared: _Shared | None = None

    async def request(
        self, method: str, path: str, body: bytes | None = None, sent: Mapping[str, Any] = _NOTHING
    ) -> Received:
        """Return a successful response, or raise a MachineryError. `sent` has the options in the body."""
        key = read_key(self._key_variable)
        url = self._urls.get(path)
        if url is None:
            url = self._urls[path] = URL(self._base + path).extend_query(self._fields.query)
        try:
            async with self._session().request(
                method,
                url,
                data=body,
                headers={**self._fields.headers, **self._headers(key)},
                timeout=self._timeout,
                proxy=self._proxy,
                allow_redirects=False,
            ) as response:
                received = await self._read(response)
                if not 200 <= response.status < 300:
                    raise self.refused(response.status, received, response.headers, sent)
                return Received(strict(received), response.headers)
        except TimeoutError as error:
            raise self._timed_out(error) from None
        except (aiohttp.ClientError, OSError) as error:
            raise self._broken(error) from None

    async def reply(self, path: str, body: Mapping[str, Any], read: Callable[[bytes], Reply]) -> Reply:
        """One attempt at a reply; one that the provider's content filter rejected is empty."""
        try:
            whole = {**body, **self._fields.body}
            received = await self.request("POST", path, msgspec.json.encode(whole), whole)
        except Filtered as error:
            return filtered_reply(error)
        except UnknownToServer as error:
            error.args = (f"{error}{await self._models_beside(path)}",)
            raise
        return self.clean(self.decoded(received, read))

    async def _models_beside(self, path: str) -> str:
        """The models that the server lists, as a sentence; empty if it lists none."""
        try:
            listed = await self.fetch("/v1/models" if path.startswith("/v1/") else "/models", _ListedModels)
        except MachineryError:
            return ""
        names = [self.shortened(in_one_line(one.id)) for one in listed.data]
        return f" This server has: {first_of(names, _MOST_NAMED)}." if names else ""

    def malformed(self, received: Received, why: Exception) -> MachineryError:
        """The error for a malformed response whose status is that of a success."""
        body = received.body
        if failures.speaks_html(body):
            return failures.wrong_server(self._base, 200)
        status = failures.status_within(body)
        if status is not None:
            return self.refused(status, body, received.headers)
        if not body:
            return MachineryError(f"{self._base} sent nothing.", FailureKind.MALFORMED_REPLY, retryable=True)
        begins = self.shortened(body[:200].decode("utf-8", "replace"))[:120]
        said = f"{self._base} sent a reply that cannot be read ({self.shortened(str(why))})"
        error = MachineryError(f"{said}; it begins '{begins}'.", FailureKind.MALFORMED_REPLY, retryable=True)
        return with_reported_usage(self._without_headers(error), body)

    def decoded(self, received: Received, decode: Callable[[bytes], Found]) -> Found:
        """The content of a response; a MachineryError if it cannot be read."""
        try:
            return decode(received.body)
        except MachineryError as error:
            raise with_reported_usage(error, received.body) from None
        except failures.UNREADABLE as error:
            raise self.malformed(received, error) from None

    async def fetch(self, path: str, kind: type[Found]) -> Found:
        """The record in a response to a GET request."""
        received = await self.request("GET", path)
        return self.decoded(received, lambda content: msgspec.json.decode(content, type=kind))

    def refused(
        self, status: int, body: bytes, headers: Mapping[str, str] = _NOTHING, sent: Mapping[str, Any] = _NOTHING
    ) -> MachineryError:
        """The error for a response with this status; `sent` has the options of the request."""
        key, name = read_key(self._key_variable), self._key_variable
        error = with_reported_usage(failures.refused(self._base, status, headers, body, sent, key), body)
        error = self._without_headers(error)
        if isinstance(error, Unauthorised):
            check = f"Check the key in {name} and its permissions." if key else f"No key was sent: {name} is empty."
            error.args = (f"{error} {f'In this case {self._advice}' if self._advice else check}",)
        return error

    def shortened(self, text: str) -> str:
        """What the server says in one line, without the key."""
        return failures.shortened(text, read_key(self._key_variable))

    def clean(self, reply: Reply) -> Reply:
        """The reply without the key, if the server repeats it, and with a usage only as far as it is possible."""
        for secret in (read_key(self._key_variable), *self._fields.headers.values()):
            reply = failures.reply_without_key(reply, secret)
        return possible_usage(reply)

    async def close(self) -> None:
        """Leave the shared session, which closes after its last user."""
        shared, self._shared = self._shared, None
        if shared is None:
            return
        shared.users -= 1
        if shared.users == 0 and self._loop is asyncio.get_running_loop():
            _SHARED.pop(self._loop, None)
            await shared.session.close()

    def _session(self) -> aiohttp.ClientSession:
        loop = asyncio.get_running_loop()
        if self._shared is None or self._loop is not loop:
            shared = _SHARED.get(loop)
            if shared is None:
                shared = _SHARED[loop] = _Shared()
            shared.users += 1
            self._shared, self._loop = shared, loop
        return self._shared.session

    async def _read(self, response: aiohttp.ClientResponse) -> bytes:
        received = bytearray()
        async for part in response.content.iter_any():
            received += part
            if len(received) > _LARGEST_REPLY:
                said = f"{self._base} sent more than {_LARGEST_REPLY >> 20} MB in one reply."
                raise MachineryError(said, FailureKind.MALFORMED_REPLY)
        return bytes(received)

    def _without_headers(self, error: MachineryError) -> MachineryError:
        for value in self._fields.headers.values():
            error.args = (failures.without_key(str(error), value),)
        return error

    def _timed_out(self, error: TimeoutError) -> MachineryError:
        if isinstance(error, aiohttp.ConnectionTimeoutError):
            waited = f"{self._timeout.sock_connect:g} s"
            said = f"{self._base} did not accept a connection within {waited}. {_IS_IT_RUNNING}"
            return Unreachable(said, retryable=True)
        said = f"{self._base} did not answer within {self._timeout.total:g} s."
        return MachineryError(said, FailureKind.TIMEOUT, retryable=True)

    def _broken(self, error: Exception) -> MachineryError:
        said = self.shortened(str(error) or type(error).__name__)
        if isinstance(error, aiohttp.ClientSSLError):
            said = f"{_not_secure(self._base, error)} No key was sent."
            return MachineryError(said, FailureKind.CONNECTION, fatal=True)
        if isinstance(error, aiohttp.ClientConnectorError):
            why = self.shortened(_reason(error.os_error))
            return Unreachable(f"cannot reach {self._base}: {why}. {_IS_IT_RUNNING}", retryable=True)
        how = " before its reply ended." if said.startswith("Response payload is not completed") else f": {said}"
        return MachineryError(f"{self._base} closed the connection{how}", FailureKind.CONNECTION, retryable=True)


def strict(body: bytes) -> bytes:
    """The body as strict JSON: NaN and Infinity, which servers written in Python send, become null, -Infinity small."""
    if b"NaN" not in body and b"Infinity" not in body:
        return body
    try:
        return msgspec.json.encode(json.loads(body, parse_constant={"-Infinity": _SMALL}.get))
    except (ValueError, RecursionError, OverflowError):
        return body


def _not_secure(base_url: str, error: aiohttp.ClientSSLError) -> str:
    cause = error.certificate_error if isinstance(error, aiohttp.ClientConnectorCertificateError) else error.os_error
    if isinstance(cause, ssl.SSLCertVerificationError):
        why = f"{cause.verify_message.rstrip('.')}. If you trust it, set SSL_CERT_FILE to a file with its certificate."
    else:
        why = f"{getattr(cause, 'reason', None) or cause}. If it is your own server without TLS, use http://."
    return f"no secure connection to {base_url}: {why}"


def _reason(error: OSError) -> str:
    """Why a connection failed, without the address, which the message has already."""
    if isinstance(error, socket.gaierror) or error.errno is None:
        return error.strerror or str(error)
    return os.strerror(error.errno)


def proxy_for(url: URL) -> str | None:
    """The proxy for this host from the environment; looked up once, because it is too slow for each request."""
    host = url.host or ""
    if is_loopback(host) or proxy_bypass(host):
        return None
    proxies = getproxies()
    return proxies.get(url.scheme) or proxies.get("all")
