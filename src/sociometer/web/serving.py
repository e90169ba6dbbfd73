"""Starts a web server and runs it until it is stopped."""

import asyncio
import errno
import ipaddress
import logging
import os
import re
import signal
import socket
import threading
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any

from aiohttp import web
from msgspec import Struct

from sociometer.core.errors import SociometerError, UsageError
from sociometer.core.words import visible
from sociometer.web import guard
from sociometer.web.errors import told_of
from sociometer.web.rendering import PREFIX, Words, add_owner, owner_page, static_file, texts, words_for

_LOG = logging.getLogger(__name__)
MOST_BYTES = 256 * 1024
_LAST_PORT = 65_535
HEAD_SECONDS, BODY_SECONDS, IDLE_SECONDS = 10.0, 20.0, 20.0
"""How long a connection may take for the head and for the body of a request, and wait between two requests."""
READ_SECONDS, LEAST_READ = 15.0, 16 * 1024
"""How often it is looked whether a visitor reads an answer, and the fewest bytes of a long one to read meanwhile."""
_BUFFERED = 64 * 1024
_FILES_OF_OURS = 96
"""Open files that are not connections: stores, locks, libraries."""
_AT_ONCE, _WAITING = 32, 1024
"""Connections that are accepted before the first of them is counted, and those that wait to be accepted."""
_THREADS = 16
LOOPBACK = "127.0.0.1"
_PUBLIC = re.compile(r"https?://(\[[\da-f:]+\]|[^\s/:?#@]+)(:\d{1,5})?(/\S*)?", re.IGNORECASE)


class Place(Struct, frozen=True):
    """Where to listen; `public_url` is the address of a reverse proxy in front of the server."""

    host: str = LOOPBACK
    port: int = 0
    public_url: str = ""

    def __post_init__(self) -> None:
        if not 0 <= self.port <= _LAST_PORT:
            raise UsageError(f"--port must be between 0 and {_LAST_PORT}, not {self.port}.")
        if self.public_url and not _PUBLIC.fullmatch(self.public_url):
            raise UsageError(f"--public-url must be like https://study.example.org, not '{self.public_url}'.")
        if (address := _ip(self.host)) and address.is_unspecified and not self.public_url:
            raise UsageError(
                f"--host {self.host} listens on every address of this machine; give --public-url URL too, the address"
                " that browsers use."
            )

    @property
    def is_local(self) -> bool:
        """Whether only this machine reaches the pages."""
        address = _ip(self.host)
        return not self.public_url and (address.is_loopback if address else self.host == "localhost")


def _ip(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def application(find: guard.FindSession) -> web.Application:
    """An application with the guard before every page and the security headers on every response."""
    app = web.Application(middlewares=[errors_as_pages, guard.guard], client_max_size=MOST_BYTES)
    app[guard.SESSIONS] = find
    app.on_response_prepare.append(guard.add_headers)
    app.router.add_get("/static/{name}", static_file)
    return app


def guest_application(find: Callable[[str], str | None], language: str) -> web.Application:
    """Pages for participants, whom `find` knows by their cookies, and for the owner, whose page is /owner."""
    owners = guard.SessionsInMemory()

    def session(cookie: str) -> tuple[str, str] | None:
        who = find(cookie)
        return owners.find(cookie) or ((guard.PARTICIPANT, who) if who else None)

    app = application(session)
    app[guard.LANGUAGE], app[guard.CODES] = language, guard.RateLimit(10, 60.0)
    add_owner(app, owners, "/owner")
    return app


@web.middleware
async def errors_as_pages(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    """Shows an error as a page: a wrong link, or a request that the guard rejected."""
    PREFIX.set(request.app[guard.ADDRESS].path)
    connection = request.protocol
    if isinstance(connection, HurriedHandler):
        connection.head_is_there()
    try:
        if request.can_read_body:
            async with asyncio.timeout(BODY_SECONDS):
                await request.read()
        return await handler(request)
    except TimeoutError:
        return web.Response(status=408, text="The form did not arrive in time.", headers={"Connection": "close"})
    except web.HTTPException as error:
        if error.status < 400:
            raise
        own = error.text if error.text and not error.text.startswith(str(error.status)) else ""
        said = own or ("There is no such page." if error.status == 404 else error.reason)
        return _error_page(request, error.status, said, error.headers.get("Retry-After", ""))
    except Exception as error:
        return _error_page(request, error=error)
    finally:
        if isinstance(connection, HurriedHandler):
            connection.is_answered()


def _error_page(
    request: web.Request, status: int = 0, message: str = "", retry: str = "", error: Exception | None = None
) -> web.Response:
    """The error, and a link to where the visitor may go, if the browser has a session; guests read their language."""
    known = guard.known_visitors(request) if request.host.lower() in request.app[guard.ADDRESS].hosts else []
    homes = {guard.OWNER: request.app.get(guard.HOME, "/"), guard.PARTICIPANT: "/take"}
    home = homes[known[0].role] if known and known[0].role in homes else ""
    guest = guard.LANGUAGE in request.app and not any(visitor.role == guard.OWNER for visitor in known)
    words = Words(request.app[guard.LANGUAGE]) if guest else words_for(request)
    if error is not None:
        ours, (status, key, seconds) = isinstance(error, SociometerError), told_of(error, guest=guest)
        retry, message = str(seconds or ""), texts("errors", words.language)[key] if guest or not ours else str(error)
        if status >= 500:
            if not guest and not ours:
                what = visible(f"{type(error).__name__}: {error}") if known else type(error).__name__
                message = words("This page failed: {error}. The terminal shows the details.", error=what)
            said = visible(f"{request.method} {request.path}: {error if ours else 'internal error'}")
            _LOG.error("%s", said, exc_info=None if ours else error)
    owner = None if guest else next((visitor for visitor in known if visitor.role == guard.OWNER), None)
    context = {"message": message, "home": home, "again": retry, "visitor": owner}
    made = owner_page(request, "error.html", words, status=status, **context)
    made.headers.update({"Retry-After": retry} if retry else {})
    return made


class Connections:
    """The open connections that wait for their visitor, those that have waited longest first."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[HurriedHandler, None] = OrderedDict()

    def add(self, connection: "HurriedHandler") -> None:
        """A connection waits from now on: for a request, or until its answer is read."""
        self._waiting[connection] = None
        self._waiting.move_to_end(connection)

    def remove(self, connection: "HurriedHandler") -> None:
        """A connection is closed, or a page is being made for it."""
        self._waiting.pop(connection, None)

    def drop_one(self) -> None:
        """Make room by closing the connection that has waited longest."""
        if self._waiting:
            connection, _ = self._waiting.popitem(last=False)
            connection.drop()


class HurriedHandler(web.RequestHandler):
    """One connection; it is dropped if its visitor sends no request in time, or does not read the answer.

    If there are too many connections, the one that has waited longest for its visitor is dropped.
    """

    def __init__(self, manager: web.Server, connections: Connections, **options: Any) -> None:
        super().__init__(manager, **options)
        self._connections = connections
        self._late: asyncio.TimerHandle | None = None
        self._watch: asyncio.TimerHandle | None = None
        self._unread = 0
        """The bytes of the answer that the visitor had not read when it was last looked at."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        assert isinstance(transport, asyncio.Transport)
        # With a large buffer of the system nobody would see whether a visitor reads.
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _BUFFERED)
        loop = asyncio.get_running_loop()
        self._connections.add(self)
        if self._manager is not None and len(self._manager.connections) > most_connections():
            self._connections.drop_one()
        self._late = loop.call_later(HEAD_SECONDS, transport.abort)
        self._watch = loop.call_later(READ_SECONDS, self._require_reader, transport)

    def connection_lost(self, exc: BaseException | None) -> None:
        self.head_is_there()
        if self._watch is not None:
            self._watch.cancel()
        super().connection_lost(exc)

    def head_is_there(self) -> None:
        """A whole request has come."""
        self._connections.remove(self)
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def is_answered(self) -> None:
        """The page is made; now it is the visitor's turn."""
        if self.transport is not None:
            self._connections.add(self)

    def drop(self) -> None:
        """Close the connection at once."""
        if self.transport is not None:
            self.transport.abort()

    def _require_reader(self, transport: asyncio.Transport) -> None:
        """Drop a visitor who has read almost nothing since the last look."""
        unread = transport.get_write_buffer_size()
        if self._unread and unread > self._unread - LEAST_READ:
            transport.abort()
            return
        self._unread = unread
        self._watch = asyncio.get_running_loop().call_later(READ_SECONDS, self._require_reader, transport)


def most_connections() -> int:
    """As many connections as there can be open files, less those that the server itself needs."""
    try:
        import resource
    except ImportError:  # Windows
        return 2_000
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return max(8, (soft if soft != resource.RLIM_INFINITY else 10_000) - _FILES_OF_OURS - 2 * _AT_ONCE)


class Server:
    """An application that listens."""

    def __init__(self, app: web.Application, place: Place) -> None:
        try:
            family = socket.AF_INET6 if ":" in place.host else socket.AF_INET
            self._socket = socket.create_server((place.host, place.port), family=family)
        except OSError as error:
            why, instead = os.strerror(error.errno) if error.errno else str(error), "change --host or --port"
            if error.errno == errno.EADDRINUSE:
                with socket.create_server((place.host, 0), family=family) as free:
                    instead = f"this port is free: --port {free.getsockname()[1]}"
            raise UsageError(f"cannot listen on {place.host} port {place.port} ({why}); {instead}.") from None
        port = int(self._socket.getsockname()[1])
        self.address = app[guard.ADDRESS] = guard.Address.at(place.host, port, place.public_url)
        self._runner = web.AppRunner(app, shutdown_timeout=2.0)
        self._listening: asyncio.Server | None = None

    async def start(self) -> None:
        await self._runner.setup()
        manager, loop = self._runner.server, asyncio.get_running_loop()
        assert manager is not None

        connections = Connections()

        def handler() -> HurriedHandler:
            return HurriedHandler(
                manager, connections, loop=loop, access_log=None, keepalive_timeout=IDLE_SECONDS, lingering_time=1.0
            )

        self._listening = await loop.create_server(handler, sock=self._socket, backlog=_AT_ONCE)
        self._socket.listen(_WAITING)

    async def stop(self) -> None:
        if self._listening is not None:
            self._listening.close()
        await self._runner.cleanup()
        self._socket.close()


def serve(
    app: web.Application, place: Place, tell: Callable[[str], None], prepare: Callable[[], object] = lambda: None
) -> None:
    """Serves pages until Ctrl-C or SIGTERM; `prepare` comes before.

    `tell` gets a link for the owner that works once, and another one each time it was used. The pages have their own
    thread: a run that they play would otherwise handle Ctrl-C itself.
    """
    stopped = threading.Event()

    def tell_link() -> None:
        tell(f"{app[guard.ADDRESS].url}/enter?token={app[guard.TOKENS].make()}")

    app[guard.USED] = tell_link

    async def serving() -> None:
        # Most threads wait for the disk, and one for the end.
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(_THREADS))
        server = Server(app, place)
        await asyncio.to_thread(prepare)
        await server.start()
        try:
            tell_link()
            await asyncio.to_thread(stopped.wait)
        finally:
            await server.stop()

    def handle(*_: object) -> None:
        stopped.set()

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        with ThreadPoolExecutor(1) as pool:
            # With the context of the command: what pages tell the owner to type names the same store.
            served = pool.submit(copy_context().run, asyncio.run, serving())
            served.add_done_callback(handle)
            # A wait without an end would keep the signals waiting too.
            while not stopped.wait(0.5):
                pass
            served.result()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
