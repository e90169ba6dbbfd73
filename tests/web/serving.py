"""A server of pages in a thread of its own, and a client that sends exactly the headers it is told."""

import asyncio
import http.client
import threading
from typing import NamedTuple
from urllib.parse import urlencode, urlsplit

from sociometer.web.serving import Place, Server


class Got(NamedTuple):
    status: int
    headers: http.client.HTTPMessage
    text: str
    body: bytes

    @property
    def cookie(self):
        return (self.headers.get("Set-Cookie") or "").split(";")[0]


class Served:
    """Listens on loopback until the context ends."""

    def __init__(self, app, place=None):
        self.app = app
        self._server = Server(app, place or Place())
        self.address = self._server.address
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    @property
    def port(self):
        return int(self.address.cookie.rpartition("-")[2])

    def __enter__(self):
        self._thread.start()
        self.do(self._server.start())
        return self

    def __exit__(self, *_):
        self.do(self._server.stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.run_until_complete(self._loop.shutdown_default_executor())
        self._loop.close()

    def do(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(30)


class Client:
    """A browser without a screen: keeps its cookie, and names its origin with each form."""

    def __init__(self, url, cookie=""):
        self.url, self.cookie = url, cookie

    def get(self, path, **headers):
        return self.send("GET", path, None, headers)

    def post(self, path, fields, **headers):
        return self.send("POST", path, urlencode(fields), {"Origin": self.url, **headers})

    def send(self, method, path, body, headers):
        place = urlsplit(self.url)
        connection = http.client.HTTPConnection(place.hostname, place.port, timeout=30)
        sent = {name.replace("_", "-"): value for name, value in headers.items() if value is not None}
        if body is not None:
            sent.setdefault("Content-Type", "application/x-www-form-urlencoded")
        if self.cookie:
            sent.setdefault("Cookie", self.cookie)
        try:
            connection.request(method, path, body, sent)
            answer = connection.getresponse()
            read = answer.read()
            got = Got(answer.status, answer.headers, read.decode(errors="replace"), read)
        finally:
            connection.close()
        if got.cookie:
            self.cookie = got.cookie
        return got
