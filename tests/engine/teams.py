"""Runs played by several real processes on a real PostgreSQL, against a server that counts what it is asked."""

import contextlib
import hashlib
import json
import os
import socket
import subprocess
import sys
import threading
import time
from urllib.parse import parse_qs, quote, urlsplit

import psutil

from servers.faults import slow
from servers.openai import OpenAIServer
from sociometer.instruments import load
from sociometer.store.store import Store
from sociometer.store.stored_run import StoredRun

LEASE_SECONDS = 2.0
STARTED = []


class CountingServer(OpenAIServer):
    """Knows when each request came and how many it answered at once."""

    def __init__(self, delay_seconds=0.02):
        super().__init__()
        self.say = say
        self.delay_seconds = delay_seconds
        self.fault_of = lambda number: slow(self.delay_seconds)
        self.times = []
        self.at_once = self.most_at_once = 0

    async def _handle(self, request):
        self.times.append(time.monotonic())
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            return await super()._handle(request)
        finally:
            self.at_once -= 1


def say(body):
    """An answer that follows from the question."""
    return "ABCD"[hashlib.sha256(body["messages"][-1]["content"].encode()).digest()[0] % 4]


def start(words, store):
    """A command in a process of its own; `end_all` ends what a failed test left behind."""
    process = subprocess.Popen(
        [sys.executable, "-m", "sociometer.cli.main", *map(str, words), "--no-project"],
        # Ray would let its workers wait for everything else on this machine.
        env={**os.environ, "SOCIOMETER_STORE": str(store), "RAY_worker_niceness": "0"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    STARTED.append(process)
    return process


def end_all():
    while STARTED:
        process = STARTED.pop()
        if process.poll() is None:
            process.kill()
        process.communicate()


def finish(process, *codes, timeout=120):
    out, err = process.communicate(timeout=timeout)
    assert process.returncode in (codes or (0,)), f"{process.returncode}\n{out}\n{err}"
    return out


def command(server, *more, limit=30, repeats=3, in_flight=8, lease=LEASE_SECONDS):
    return [
        "run", "sesi", "--model", "vllm/m", "--base-url", server.url, "--revision", "1", "--limit", limit,
        "--repeats", repeats, "--in-flight", in_flight, "--quiet", "--json", "--lease", lease, *more,
    ]  # fmt: skip


def numbers(store):
    """Every score and every measure of the only run, which must be finished."""
    with Store(store) as opened:
        (record,) = opened.runs.all()
        run = StoredRun(opened, record, load("sesi"))
        scores = [(e.item.id, e.repeat, e.outcome, e.score, e.failure) for e in run.episodes()]
        assert run.status == "finished"
        return scores, run.summary()


def workers(store):
    """The process ids of the workers that run on this machine, or did until less than a lease ago."""
    with Store(store) as opened:
        found = opened.workers.all()
    return [int(one.id.split("-")[-2]) for one in found]


def living(store):
    """The process ids of the workers that run now."""

    def runs(pid):
        with contextlib.suppress(psutil.NoSuchProcess):
            return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
        return False

    return [pid for pid in workers(store) if runs(pid)]


def wait_for(condition, seconds=120.0):
    ends = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < ends, "it did not happen"
        time.sleep(0.02)


class Gate:
    """A way to the database that can be closed: what is sent meanwhile neither arrives nor fails."""

    def __init__(self, address):
        parts = urlsplit(address)
        self._folder = parse_qs(parts.query)["host"][0]
        self._database = parts.path.strip("/")
        self._open = threading.Event()
        self._open.set()
        self._sockets = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def address(self):
        port = self._listener.getsockname()[1]
        return f"postgresql://postgres@127.0.0.1:{port}/{quote(self._database)}?sslmode=disable"

    def close(self):
        self._open.clear()

    def open(self):
        self._open.set()

    def end(self):
        self._open.set()
        for one in (self._listener, *self._sockets):
            one.close()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                far = socket.socket(socket.AF_UNIX)
                self._sockets += [near, far]
                try:
                    far.connect(f"{self._folder}/.s.PGSQL.5432")
                except OSError:
                    near.close()
                    continue
                for source, target in ((near, far), (far, near)):
                    threading.Thread(target=self._pump, args=(source, target), daemon=True).start()

    def _pump(self, source, target):
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                self._open.wait()
                target.sendall(data)
        with contextlib.suppress(OSError):
            target.shutdown(socket.SHUT_WR)


def told(out):
    return json.loads(out.splitlines()[-1])
