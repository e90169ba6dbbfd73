"""A real HTTP server on loopback, in a thread of its own, that counts what it is asked and fails as told."""

import asyncio
import json
import ssl
import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from aiohttp import web

from servers.faults import Fault

_GOOD = Fault()
CERTIFICATES = Path(__file__).with_name("certificates")


class Received(NamedTuple):
    path: str
    headers: dict
    body: dict
    query: dict = {}


class LoopbackServer:
    """Speaks one wire format; subclasses say how a reply and an error look in it.

    `faults` are used up one a request; `fault_of`, where set, gives the fault for the nth request instead. `say` gives
    the text of a good answer.
    """

    base_path = ""

    def __init__(self, certificate: str = "") -> None:
        """With a certificate (a name in `certificates/`) the server speaks TLS."""
        self.certificate = certificate
        self.handshakes = 0
        self.faults: deque[Fault] = deque()
        self.fault_of: Callable[[int], Fault | None] | None = None
        self.say: Callable[[dict], str] = lambda body: "B"
        self.calls: Callable[[dict], list[tuple[str, str, Any]]] = lambda body: []
        """The tools that an answer calls, where the request offers some: (id, name, arguments)."""
        self.reasoning = ""
        self.received: list[Received] = []
        self.served = 0
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.port = 0

    @property
    def url(self) -> str:
        """The base URL."""
        return f"http{'s' if self.certificate else ''}://127.0.0.1:{self.port}{self.base_path}"

    @property
    def last(self) -> Received:
        return self.received[-1]

    def good(self, path: str, body: dict, fault: Fault) -> dict[str, Any]:
        raise NotImplementedError

    def error(self, fault: Fault, key: str) -> dict[str, Any]:
        raise NotImplementedError

    def __enter__(self):
        self._thread.start()
        self._ready.wait(10)
        return self

    def __exit__(self, *_):
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        app = web.Application(client_max_size=1 << 26)
        app.router.add_route("*", "/{path:.*}", self._handle)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        self._loop.run_until_complete(runner.setup())
        site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=self._tls())
        self._loop.run_until_complete(site.start())
        self.port = runner.addresses[0][1]
        self._ready.set()
        try:
            self._loop.run_forever()
        finally:
            self._loop.run_until_complete(runner.cleanup())
            left = asyncio.all_tasks(self._loop)
            for task in left:
                task.cancel()
            self._loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
            self._loop.close()

    def _tls(self) -> ssl.SSLContext | None:
        if not self.certificate:
            return None
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(CERTIFICATES / f"{self.certificate}.pem")
        context.sni_callback = self._count_handshake
        return context

    def _count_handshake(self, *_: object) -> None:
        self.handshakes += 1

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        body = json.loads(raw) if raw else {}
        number = len(self.received)
        self.received.append(Received(request.path, dict(request.headers), body, dict(request.query)))
        fault = self._fault(number)
        if fault.delay_seconds:
            await asyncio.sleep(fault.delay_seconds)
        if fault.drop:
            request.transport.close()
            return web.Response()
        if fault.echo is not None:
            return self._repeat_key(request, body, fault)
        if fault.raw is not None:
            return web.Response(
                status=fault.status, body=fault.raw, content_type=fault.content_type, headers=fault.headers
            )
        if fault.status != 200:
            return web.json_response(self.error(fault, _key(request)), status=fault.status, headers=fault.headers)
        answer = json.dumps(self.good(request.path, body, fault), ensure_ascii=False).encode()
        if fault.cut:
            return await self._cut_short(request, answer[: -fault.cut])
        self.served += 1
        return web.Response(body=answer, content_type="application/json", headers=fault.headers)

    def _repeat_key(self, request: web.Request, body: dict, fault: Fault) -> web.Response:
        key = _key(request).removeprefix("Bearer ")
        good = fault.status == 200 and not fault.raw
        said = json.dumps(self.good(request.path, body, fault) if good else self.error(fault, "{key}"))
        whole = json.dumps(fault.echo(key))[1:-1]
        # What a model says holds the key whole, `{said}`; a server's own fields hold it in any form.
        answer = said.replace("{key}", whole).replace("{said}", key)
        headers = {name: value.replace("{key}", key) for name, value in fault.headers.items()}
        return web.Response(body=answer.encode(), status=fault.status, content_type="application/json", headers=headers)

    async def _cut_short(self, request: web.Request, part: bytes) -> web.StreamResponse:
        # Without a length the end of the connection ends the body: only the JSON shows that something is missing.
        response = web.StreamResponse(headers={"Content-Type": "application/json", "Connection": "close"})
        response.force_close()
        await response.prepare(request)
        await response.write(part)
        return response

    def _fault(self, number: int) -> Fault:
        if self.fault_of is not None:
            return self.fault_of(number) or _GOOD
        return self.faults.popleft() if self.faults else _GOOD


def _key(request: web.Request) -> str:
    return "".join(request.headers.get(name, "") for name in ("Authorization", "x-api-key", "x-goog-api-key"))
