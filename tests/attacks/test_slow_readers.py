"""Connections whose visitors never read an answer are dropped, and keep nobody else out."""

import contextlib
import socket
import time

import pytest
from aiohttp import web
from serving import Client, Served

from sociometer.web import guard, serving

LARGE = "x" * 4_000_000


def application():
    app = serving.application(lambda cookie: None)
    app[guard.HOME] = "/"

    @guard.everyone
    async def large(request):
        return web.Response(text=LARGE)

    @guard.everyone
    async def small(request):
        return web.Response(text="hello")

    app.router.add_get("/large", large)
    app.router.add_get("/small", small)
    return app


def never_reads(served, path="/large"):
    """A visitor who asks for a page and reads nothing of it."""
    opened = socket.socket()
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    opened.connect(("127.0.0.1", served.port))
    opened.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\n\r\n".encode())
    return opened


def connections(served):
    """How many connections the server has."""

    async def count():
        return len(served._server._runner.server.connections)

    return served.do(count())


@pytest.fixture
def served(monkeypatch):
    monkeypatch.setattr(serving, "READ_SECONDS", 0.5, raising=False)
    with Served(application()) as running:
        yield running


def test_who_never_reads_is_dropped(served):
    readers = [never_reads(served) for _ in range(50)]
    time.sleep(0.2)
    assert connections(served) == 50
    end = time.monotonic() + 10
    while connections(served) and time.monotonic() < end:
        time.sleep(0.05)
    assert connections(served) == 0
    for reader in readers:
        reader.close()


def test_who_reads_slowly_but_reads_gets_the_whole_answer(served):
    reader = never_reads(served)
    received = 0
    while received < len(LARGE):
        part = reader.recv(65_536)
        assert part, "the server has dropped somebody who reads"
        received += len(part)
        time.sleep(0.001)
    reader.close()


def test_honest_people_are_served_while_others_hold_all_connections(served, monkeypatch):
    monkeypatch.setattr(serving, "READ_SECONDS", 60.0, raising=False)
    monkeypatch.setattr(serving, "most_connections", lambda: 40)
    readers = []
    for nth in range(200):
        with contextlib.suppress(OSError):
            readers.append(never_reads(served, ("/large", "/small")[nth % 2]))
        if nth % 10 == 9:
            got = Client(served.url).get("/small")
            assert got.status == 200
    assert connections(served) <= 41
    for reader in readers:
        reader.close()
