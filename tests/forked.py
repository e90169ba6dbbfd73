"""Python programs in processes of their own that start at once: each is forked from one that has loaded the package.

`start` takes the words that follow `python` and gives what tests use of `subprocess.Popen`. Otherwise each start would
load the package again, for most of a second. Tests of how a program starts do not use this.
"""

import atexit
import contextlib
import functools
import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import threading
import traceback
import warnings
from pathlib import Path
from subprocess import DEVNULL, PIPE

LOADED = (
    "aiohttp", "numpy", "rich.progress", "scipy.special", "uvloop", "sociometer.api", "sociometer.cli.check",
    "sociometer.cli.compare", "sociometer.cli.main", "sociometer.cli.run", "sociometer.cli.store",
    "sociometer.cli.study", "sociometer.engine.recordings", "sociometer.instruments.seceu.instrument",
    "sociometer.instruments.sesi.instrument", "sociometer.models.openai", "sociometer.reporting.page",
    "sociometer.statistics.norms", "sociometer.web.study",
)  # fmt: skip
"""What most programs load, with all that these load."""
CARELESS = ("sociometer.store.book", "sociometer.store.sqlite", "sociometer.store.studies")
"""Stores of tests need not survive a power cut; otherwise two runs wait for the disk some hundred times."""


class Forked:
    """A program that was started."""

    def __init__(self, status, stdin, stdout, stderr):
        self.stdin, self.stdout, self.stderr, self.returncode = stdin, stdout, stderr, None
        self._status, self._reading = status, threading.Lock()
        self.pid = self._number()

    def poll(self):
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout=None):
        """The exit code; several threads may wait."""
        told = select.poll()  # unlike `select`, for any number of open files
        told.register(self._status, select.POLLIN | select.POLLHUP)
        if not told.poll(None if timeout is None else 1000 * timeout):
            raise subprocess.TimeoutExpired(str(self.pid), timeout)
        with self._reading:
            if self.returncode is None:
                self.returncode = os.waitstatus_to_exitcode(self._number())
        return self.returncode

    def _number(self):
        """The next line of what the keeper tells."""
        return int(b"".join(iter(lambda: os.read(self._status, 1), b"\n")))

    def __del__(self):
        os.close(self._status)

    def send_signal(self, number):
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self):
        self.send_signal(signal.SIGTERM)

    def kill(self):
        self.send_signal(signal.SIGKILL)

    def communicate(self, told="", timeout=None):
        """What it wrote; waits for its end."""
        if self.stdin is not None and not self.stdin.closed:
            with self.stdin:
                self.stdin.write(told)
        said = {}
        readers = [
            threading.Thread(target=lambda name=name, pipe=pipe: said.update({name: pipe.read()}))
            for name, pipe in (("out", self.stdout), ("err", self.stderr))
            if pipe is not None and not pipe.closed
        ]
        for reader in readers:
            reader.start()
        self.wait(timeout)
        for reader in readers:
            reader.join(timeout)
        self._close()
        return said.get("out"), said.get("err")

    def _close(self):
        for pipe in (self.stdin, self.stdout, self.stderr):
            if pipe is not None:
                pipe.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._close()
        self.wait()


def start(words, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL, env=None, folder=None):
    """Starts `python WORDS` (a file, `-m MODULE` or `-c CODE`, and its arguments); each stream is `PIPE` or nothing.

    With `folder` it has the package of that folder instead of ours.
    """
    read, write = os.pipe()
    theirs, ours = [write], []
    for chosen, mode in ((stdin, "w"), (stdout, "r"), (stderr, "r")):
        if chosen == PIPE:
            ends = os.pipe()
            theirs.append(ends[mode == "r"])
            ours.append(os.fdopen(ends[mode == "w"], mode, encoding="utf-8"))
        else:
            theirs.append(os.open(os.devnull, os.O_RDWR))
            ours.append(None)
    asked = {"words": [str(word) for word in words], "cwd": str(Path.cwd()), "env": dict(env or os.environ)}
    with _LOCK:
        socket.send_fds(_server(folder), [json.dumps(asked).encode() + b"\n"], theirs)
    for descriptor in theirs:
        os.close(descriptor)
    return Forked(read, *ours)


_LOCK = threading.Lock()


@functools.cache
def _server(folder):
    ours, theirs = socket.socketpair()
    env = {**os.environ, "PYTHONPATH": str(folder)} if folder else None
    with theirs:
        process = subprocess.Popen([sys.executable, __file__], stdin=theirs, env=env)

    def end():
        ours.close()
        process.wait()

    atexit.register(end)
    return ours


def main():
    """The process that is forked: reads what to start from its standard input, a socket, until that is closed."""
    for name in LOADED:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    for name in CARELESS:
        sys.modules[name].SYNCHRONOUS = "OFF"
    gc.freeze()  # else each program looks through all that is loaded, and copies it
    asks = socket.socket(fileno=0)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        message, descriptors, *_ = socket.recv_fds(asks, 1 << 20, 4)
        while message and not message.endswith(b"\n"):
            message += asks.recv(1 << 20)
        if not message:
            return
        if not os.fork():
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            _keep(json.loads(message), *descriptors)
        for descriptor in descriptors:
            os.close(descriptor)


def _keep(asked, status, *streams):
    """Starts the program, tells its number, waits for its end and tells that."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # what Python does after a fork would ignore it
    program = os.fork()
    if not program:
        os.close(status)
        _play(asked, streams)
    for descriptor in (0, *streams):
        os.close(descriptor)
    os.write(status, b"%d\n" % program)
    os.write(status, b"%d\n" % os.waitpid(program, 0)[1])
    os._exit(0)


def _play(asked, streams):
    for place, descriptor in enumerate(streams):
        os.dup2(descriptor, place)
        os.close(descriptor)
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", encoding="utf-8", closefd=False, buffering=1, errors="backslashreplace")
    os.chdir(asked["cwd"])
    os.environ.clear()
    os.environ.update(asked["env"])
    warnings.simplefilter("ignore", RuntimeWarning)  # runpy says that what it runs is loaded already
    code = 0
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        _run(*asked["words"])
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        if isinstance(ended.code, str):
            print(ended.code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
        code = 1
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _run(first, *rest):
    if first == "-c":
        sys.argv, sys.path[:0] = ["-c", *rest[1:]], [""]
        exec(compile(rest[0], "<string>", "exec"), {"__name__": "__main__"})
    elif first == "-m":
        sys.argv, sys.path[:0] = list(rest), [""]
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    else:
        sys.argv, sys.path[:0] = [first, *rest], [str(Path(first).parent)]
        runpy.run_path(first, run_name="__main__")


if __name__ == "__main__":
    main()
