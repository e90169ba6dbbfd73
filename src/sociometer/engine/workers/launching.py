"""Starts workers for a run and watches them: replaces those that were killed, drains them on Ctrl-C."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import IO, TYPE_CHECKING, Any, Protocol

import msgspec
from msgspec import Struct, structs

from sociometer.core.config import RunConfig
from sociometer.core.errors import NeverAnswered, StopCause, UsageError
from sociometer.engine.budget import Budget
from sociometer.engine.progress import Progress
from sociometer.engine.runner import Ending
from sociometer.engine.workers.together import Together
from sociometer.store.place import StorePlace, StoreUrl
from sociometer.store.records import RunStatus

if TYPE_CHECKING:
    from sociometer.engine.engine import Engine, PreparedRun

_LOOK_SECONDS = 0.5
_SUM_SECONDS = 10.0
_REPLACED = 3
"""How often each worker is replaced after it was killed."""
_MOST_SAID = 100_000
_ALONE = ("human", "replay")


class Order(Struct, frozen=True):
    """What a worker needs: the run, the options of the command that started it, and how long its leases last."""

    run: str
    config: RunConfig
    lease_seconds: float
    key_variables: dict[str, str] | None = None
    """For a resumed run: the variables that the user named again, by role; others get no key."""


class Report(Struct, frozen=True):
    """How a worker ended."""

    ending: Ending | None
    """None if it was killed."""
    said: str = ""


class Crew(Protocol):
    """Workers that were started, here or elsewhere."""

    def start(self, order: Order) -> None:
        """Start all workers."""
        ...

    def running(self) -> bool:
        """Whether any worker still works; those that were killed are replaced."""
        ...

    def stop(self) -> None:
        """Let the workers finish the requests in flight; on the second call, end them immediately."""
        ...

    def reports(self) -> list[Report]:
        """How the workers ended."""
        ...


class _Interrupted:
    """Stops a crew on Ctrl-C, and records that it did."""

    def __init__(self, crew: Crew) -> None:
        self._crew = crew
        self.at_all = False

    def __call__(self) -> None:
        self.at_all = True
        self._crew.stop()


def play_with_crew(engine: "Engine", prepared: "PreparedRun", crew: Crew) -> tuple[Ending, Progress]:
    """Play a run by the workers of a crew, and summarise it if they did not."""
    workers, run = engine.store.workers, prepared.record.id
    if workers is None:
        raise UsageError(
            "--workers needs a store that several processes can share: give --store postgresql://USER@HOST/DATABASE."
        )
    for role, binding in prepared.plan.bindings.items():
        if binding.player.identity.wire in _ALONE:
            raise UsageError(f"{binding.label} (role '{role}') cannot be shared by workers; leave out --workers.")
    journal, config = engine.store.journal, prepared.plan.config
    together = Together(engine, prepared, workers)
    effective = structs.replace(config, caps=together.caps())
    budget = Budget(config.caps, journal.spent(run), engine.budget)
    progress = prepared.progress(budget)
    ending = Ending(RunStatus.STOPPED, "ended by an internal error")
    try:
        named = None if prepared.key_variables is None else dict(prepared.key_variables)
        crew.start(Order(run, effective, engine.lease_seconds, named))
        progress.done = progress.done_before = engine.store.episodes.counts(run)[0]
        if engine.listener:
            engine.listener.started(run, progress)
        interrupted = _Interrupted(crew)
        with _forwarded(interrupted):
            _watch(engine, run, crew, progress)
        budget.spent = journal.spent(run)
        engine.budget = budget
        stopped = Ending(RunStatus.STOPPED, "interrupted", StopCause.INTERRUPTED)
        ending = stopped if interrupted.at_all else _ending(crew.reports())
        if engine.store.runs.get(run).status is RunStatus.FINISHED:
            ending = Ending(RunStatus.FINISHED)
        elif prepared.new and ending.status is RunStatus.FAILED and not progress.ever_answered:
            engine.store.runs.delete(run)
            ending = structs.replace(ending, kept=False)
            raise NeverAnswered(ending.reason)
        else:
            ending = together.finish(ending, progress)
        return ending, progress
    finally:
        progress.status = ending.status
        if engine.listener:
            engine.listener.ended(run, ending)


def _watch(engine: "Engine", run: str, crew: Crew, progress: Progress) -> None:
    """Count what all workers do, until the last has ended."""
    workers, store, summed = engine.store.workers, engine.store, time.monotonic()
    assert workers is not None
    while crew.running():
        began = time.monotonic()
        mine = [json.loads(one.facts) for one in workers.all() if one.run == run]
        for name in ("in_flight", "sent", "retries", "from_journal"):
            setattr(progress, name, sum(facts.get(name, 0) for facts in mine))
        progress.failed = Counter(store.episodes.failures(run))
        progress.done = max(progress.done_before, store.episodes.counts(run)[0])
        if time.monotonic() - summed > _SUM_SECONDS:
            progress.budget.spent, summed = store.journal.spent(run), time.monotonic()
        # Counting takes longer the longer a run is: it must not become the database's main work.
        time.sleep(max(_LOOK_SECONDS, 10 * (time.monotonic() - began)))
    progress.failed, progress.in_flight = Counter(store.episodes.failures(run)), 0
    progress.done = store.episodes.counts(run)[0]


def _ending(reports: list[Report]) -> Ending:
    """The most informative ending: a cap, then a failure, then any other."""
    endings = [one.ending for one in reports if one.ending is not None]
    for wanted in (
        lambda one: one.cause is not None and one.cause is not StopCause.ERROR,
        lambda one: one.status is RunStatus.FAILED,
        lambda one: one.status is RunStatus.STOPPED,
    ):
        if found := next(filter(wanted, endings), None):
            return found
    said = next((one.said for one in reports if one.said), "")
    return Ending(RunStatus.STOPPED, "its workers ended" + (f": {said}" if said else ""))


@contextlib.contextmanager
def _forwarded(stop: Callable[[], None]) -> Iterator[None]:
    """Ctrl-C and SIGTERM drain the workers instead of ending this process."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, lambda *_: stop()) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class LocalCrew:
    """Workers as processes on this machine; each ends when this process ends."""

    def __init__(self, place: StorePlace, count: int) -> None:
        self._place = place
        self._count = count
        self._order = b""
        self._workers: list[_Worker] = []
        self._ended: list[_Worker] = []
        self._replaced = 0
        self._stopping = False

    def start(self, order: Order) -> None:
        self._order = msgspec.json.encode(order) + b"\n"
        self._workers = [self._one() for _ in range(self._count)]

    def running(self) -> bool:
        for worker in [one for one in self._workers if one.process.poll() is not None]:
            self._workers.remove(worker)
            self._ended.append(worker)
            if worker.process.returncode < 0 and not self._stopping and self._replaced < _REPLACED * self._count:
                self._replaced += 1
                self._workers.append(self._one())
        return bool(self._workers)

    def stop(self) -> None:
        self._stopping = True
        for worker in self._workers:
            with contextlib.suppress(OSError):
                worker.process.send_signal(signal.SIGINT)

    def reports(self) -> list[Report]:
        return [worker.report() for worker in self._ended]

    @property
    def pids(self) -> list[int]:
        """The processes that work now."""
        return [worker.process.pid for worker in self._workers]

    def _one(self) -> "_Worker":
        # The address may have a password: it is passed where other users of this machine cannot see it.
        place = self._place.url if isinstance(self._place, StoreUrl) else str(self._place)
        # Files: a pipe that nobody reads before the end would stop a worker that says much.
        out, err = tempfile.TemporaryFile(), tempfile.TemporaryFile()  # noqa: SIM115
        process = subprocess.Popen(
            [sys.executable, "-m", "sociometer.cli.main", "work", "--order", "-", "--no-project", "--quiet"],
            env={**os.environ, "SOCIOMETER_STORE": place},
            stdin=subprocess.PIPE,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(self._order)
            process.stdin.flush()
        return _Worker(process, out, err)


class _Worker(Struct, frozen=True, eq=False):
    """A process that works, and what it prints."""

    process: "subprocess.Popen[bytes]"
    out: IO[bytes]
    err: IO[bytes]

    def report(self) -> Report:
        """How it ended."""
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        return read_report(_said(self.out), _said(self.err).decode("utf-8", "replace"))


def _said(file: IO[bytes]) -> bytes:
    """The last part of what was written."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _MOST_SAID))
    return file.read()


def read_report(out: bytes, said: str) -> Report:
    """The ending that a worker printed last, or what it said instead."""
    lines = out.strip().splitlines()
    with contextlib.suppress(msgspec.DecodeError):
        return Report(msgspec.json.decode(lines[-1] if lines else b"", type=Ending))
    last: list[Any] = said.strip().splitlines()[-1:]
    return Report(None, last[0] if last else "")
