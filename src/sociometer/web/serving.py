"""Starts a web server and runs it until it is stopped."""

import asyncio
import contextlib
import ipaddress
import signal
import socket
from collections.abc import Awaitable, Callable

from aiohttp import web
from msgspec import Struct

from sociometer.core.errors import SociometerError, UsageError
from sociometer.web.guard import ADDRESS, SESSIONS, Address, Sessions, add_headers, guard
from sociometer.web.language import owner_page
from sociometer.web.rendering import static_file

MOST_BYTES = 256 * 1024
LOOPBACK = "127.0.0.1"


class Place(Struct, frozen=True):
    """Where to listen; `public_url` is the address of a reverse proxy in front of the server."""

    host: str = LOOPBACK
    port: int = 0
    public_url: str = ""

    def __post_init__(self) -> None:
        if self.public_url and not self.public_url.startswith(("http://", "https://")):
            raise UsageError(f"--public-url must begin with https:// or http://, not '{self.public_url}'.")
        if _is_wildcard(self.host) and not self.public_url:
            raise UsageError(
                f"--host {self.host} listens on every address of this machine; give --public-url URL too, the address"
                " that browsers use."
            )


def _is_wildcard(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return False


def application(sessions: Sessions) -> web.Application:
    """An application with the guard before every page and the security headers on every response."""
    app = web.Application(middlewares=[errors_as_pages, guard], client_max_size=MOST_BYTES)
    app[SESSIONS] = sessions
    app.on_response_prepare.append(add_headers)
    app.router.add_get("/static/{name}", static_file)
    return app


@web.middleware
async def errors_as_pages(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    """Shows an error as a page: a wrong link, or a request that the guard rejected."""
    try:
        return await handler(request)
    except web.HTTPException as error:
        if error.status < 400:
            raise
        said = error.text if error.text and not error.text.startswith(str(error.status)) else error.reason
        made = owner_page(request, "error.html", status=error.status, title=error.reason, message=said)
        if "Retry-After" in error.headers:
            made.headers["Retry-After"] = error.headers["Retry-After"]
        return made
    except SociometerError as error:
        return owner_page(request, "error.html", status=404, title="Not found", message=str(error))


class Server:
    """An application that listens."""

    def __init__(self, app: web.Application, place: Place) -> None:
        try:
            family = socket.AF_INET6 if ":" in place.host else socket.AF_INET
            self._socket = socket.create_server((place.host, place.port), family=family)
        except OSError as error:
            raise UsageError(
                f"cannot listen on {place.host}, port {place.port} ({error.strerror or error}); give another --port."
            ) from None
        self.address = app[ADDRESS] = Address.at(place.host, int(self._socket.getsockname()[1]), place.public_url)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=2.0)

    async def start(self) -> None:
        """Starts to answer requests."""
        await self._runner.setup()
        await web.SockSite(self._runner, self._socket).start()

    async def stop(self) -> None:
        """Ends all connections."""
        await self._runner.cleanup()
        self._socket.close()


async def until_stopped() -> None:
    """Waits for Ctrl-C or SIGTERM."""
    stopped, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        # Not the main thread, or a platform without signal handlers: the default behaviour stays.
        with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
            loop.add_signal_handler(number, stopped.set)
    await stopped.wait()
