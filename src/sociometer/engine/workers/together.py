"""Plays a run together with other processes that share its store: joins, works, leaves; the last one summarises it."""

import asyncio
import contextlib
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec import structs

from sociometer.core.config import Caps
from sociometer.core.errors import NeverAnswered, StopCause, UsageError
from sociometer.engine.budget import Budget
from sociometer.engine.progress import Progress
from sociometer.engine.runner import Ending, Runner
from sociometer.engine.workers.shared_run import SharedRun
from sociometer.store.records import RunStatus
from sociometer.store.workers import Job, RunHeld, Setup, Worker, Workers

if TYPE_CHECKING:
    from sociometer.engine.engine import Engine, PreparedRun

_WAIT_SECONDS = 0.3


class Together:
    """One process's part in playing a run, from joining it to its end."""

    def __init__(self, engine: "Engine", prepared: "PreparedRun", workers: Workers) -> None:
        self._engine = engine
        self._prepared = prepared
        self._workers = workers
        self._store = engine.store
        self._run = prepared.record.id

    async def play(self) -> tuple[Ending, Progress]:
        """Play until no episode is left for any process, or until this process is stopped."""
        engine, ending = self._engine, Ending(RunStatus.STOPPED, "ended by an internal error")
        progress: Progress | None = None
        try:
            while True:
                worker = await self._join()
                if worker is None:
                    # Another process has just ended the run.
                    progress = progress or self._prepared.progress(Budget(Caps()))
                    ending = Ending(self._store.runs.get(self._run).status)
                    break
                progress, ending = await self._work(worker, progress)
                if not ending.lost:
                    ending = await self._end(ending, progress)
                    break
        finally:
            if progress is not None:
                progress.status = ending.status
                if engine.listener:
                    engine.listener.ended(self._run, ending)
        return ending, progress

    async def _work(self, worker: Worker, before: Progress | None) -> tuple[Progress, Ending]:
        """Play as a worker, and leave."""
        try:
            shared = SharedRun(worker, self._prepared.plan)
            spent = self._store.journal.spent(self._run)
            budget = await shared.start(spent, self._engine.budget)
            self._engine.budget = budget
            progress = self._progress(budget, await shared.left(), before)
            plan, items = self._prepared.plan, self._prepared.items
            ending = await Runner(plan, items, self._store, self._run, progress, budget, shared).play()
            if ending.cause is StopCause.CUT_OFF or budget.exceeded is not None:
                # What this worker has seen concerns all: the others stop when they read the status.
                self._store.runs.set_status(self._run, RunStatus.STOPPED)
            # Everything is on disk before others may take this for played.
            await asyncio.to_thread(self._store.flush)
            if not ending.lost:
                await shared.give_back()
                await asyncio.to_thread(worker.leave)
            return progress, ending
        finally:
            worker.close()

    def _progress(self, budget: Budget, left: int, before: Progress | None) -> Progress:
        if before is not None:
            before.budget = budget
            return before
        progress = self._prepared.progress(budget)
        progress.done = progress.done_before = max(0, progress.total - left)
        if self._engine.listener:
            self._engine.listener.started(self._run, progress)
        return progress

    async def _join(self) -> Worker | None:
        """This process as a worker; None if the run ended while another process held it exclusively."""
        worker = Worker(self._store.database, self._run, self._engine.lease_seconds)
        given = self._prepared.plan.config.caps
        gives_up = time.monotonic() + 2 * self._engine.lease_seconds
        while True:
            try:
                first = await asyncio.to_thread(worker.join, first=self._set_up)
                break
            except RunHeld:
                if time.monotonic() > gives_up:
                    worker.close()
                    raise
            except BaseException:
                worker.close()
                raise
            await asyncio.sleep(_WAIT_SECONDS)
            if self._store.runs.get(self._run).status is RunStatus.FINISHED:
                worker.close()
                return None
        changed = given != self._prepared.record.manifest.config.caps
        if not first and changed and await asyncio.to_thread(worker.caps) != self._written_caps():
            await asyncio.to_thread(worker.leave)
            worker.close()
            raise UsageError(
                f"run {self._run} is in progress with other caps; stop its workers first, or give the same caps."
            )
        return worker

    def _set_up(self) -> Setup:
        """What the first worker stores for all; items are stored before anybody plays them."""
        for task in self._prepared.plan.tasks:
            for position, item in enumerate(self._prepared.items[task.name]):
                self._store.runs.add_item(self._run, task.name, position, item)
        self._store.flush()
        self._store.journal.charge_allowance(self._run)
        return Setup(self._jobs(), self._store.journal.spent(self._run).against_caps, self._written_caps())

    def caps(self) -> Caps:
        """The caps of this run: those of the command minus what its earlier runs have spent."""
        caps = self._prepared.plan.config.caps
        requests, tokens, cost = self._engine.budget.since_start() if self._engine.budget else (0, 0, 0.0)
        return Caps(
            None if caps.max_cost is None else max(0.0, caps.max_cost - cost),
            None if caps.max_requests is None else max(0, caps.max_requests - requests),
            None if caps.max_tokens is None else max(0, caps.max_tokens - tokens),
        )

    def _written_caps(self) -> tuple[int | None, int | None, float | None]:
        caps = self.caps()
        return caps.max_requests, caps.max_tokens, caps.max_cost

    def finish(self, ending: Ending, progress: Progress) -> Ending:
        """Summarise a run that all workers have left; raises a RunHeld error if one has not."""
        with self._workers.hold(self._run, self._engine.lease_seconds):
            return self._summarise(ending, progress)

    def _jobs(self) -> Iterator[Job]:
        for task in self._prepared.plan.tasks:
            done = self._store.episodes.finished(self._run, task.name)
            for item in self._prepared.items[task.name]:
                for repeat in range(self._prepared.plan.repeats(task.name)):
                    if (item.id, repeat) not in done:
                        yield task.name, item.id, repeat

    async def _end(self, ending: Ending, progress: Progress) -> Ending:
        """Summarise the run if no other process plays it any more; otherwise the last one does it."""
        while True:
            with contextlib.suppress(RunHeld), self._workers.hold(self._run, self._engine.lease_seconds):
                if self._store.runs.get(self._run).status is RunStatus.FINISHED:
                    return ending
                return self._summarise(ending, progress)
            if ending.status is not RunStatus.FINISHED:
                return ending
            await asyncio.sleep(_WAIT_SECONDS)
            if self._store.runs.get(self._run).status is not RunStatus.PLAYING:
                return ending

    def _summarise(self, ending: Ending, progress: Progress) -> Ending:
        store = self._store
        if self._prepared.new and ending.status is RunStatus.FAILED and not progress.ever_answered:
            store.runs.delete(self._run)
            raise NeverAnswered(ending.reason)
        if not self._workers.left(self._run):
            ending = structs.replace(ending, status=RunStatus.FINISHED)
        elif ending.status is RunStatus.FINISHED:
            ending = Ending(RunStatus.STOPPED, "some episodes were not played")
        store.journal.charge_allowance(self._run)
        self._workers.refresh_statistics()
        self._engine.summarise(self._prepared)
        store.runs.set_status(self._run, ending.status)
        store.flush()
        return ending
