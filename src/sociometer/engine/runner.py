"""Plays a plan: many items at once, each on its own; one that fails never stops the rest."""

import asyncio
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from sociometer.core.errors import MachineryError, SociometerError, Stopped, StoreError, UsageError
from sociometer.core.task import Episode, Failure, Item, Task
from sociometer.core.transcript import Noted
from sociometer.engine.budget import Budget
from sociometer.engine.desk import JournalDesk, Patience
from sociometer.engine.draw import Draw
from sociometer.engine.interrupt import graceful_stop
from sociometer.engine.plan import Plan
from sociometer.engine.roster import Roster
from sociometer.engine.seating import is_remote
from sociometer.engine.session import PlaySession
from sociometer.engine.stored import score_safely
from sociometer.engine.tally import Tally
from sociometer.engine.throttle import Throttle
from sociometer.store.store import Store

_BACKLOG = 4_000


class Job(Struct, frozen=True):
    """One item to be played once."""

    task: Task[Any, Any]
    item: Item
    repeat: int


class Ending(Struct, frozen=True):
    """How the playing ended: finished, stopped (resumable, with the reason), or failed for everyone."""

    status: str
    reason: str = ""


class Runner:
    """The playing of one run."""

    def __init__(
        self, plan: Plan, rosters: dict[str, Roster], store: Store, run: str, tally: Tally, budget: Budget
    ) -> None:
        self._plan = plan
        self._rosters = rosters
        self._store = store
        self._run = run
        self._tally = tally
        self._fatal = ""
        config = plan.config
        seats = plan.seats
        self._throttles = {
            seat.player.identity.endpoint: Throttle(config.in_flight if is_remote(seat.player.identity) else 1)
            for seat in seats.values()
        }
        self._desk = JournalDesk(
            store.journal,
            run,
            scope_of=lambda identity: "" if identity.certain and not config.fresh else run,
            throttles=self._throttles,
            prices={seat.label: plan.prices.of(seat.player.identity, seat.label) for seat in seats.values()},
            budget=budget,
            tally=tally,
            patience=Patience() if config.retries is None else Patience(config.retries),
        )

    async def play(self) -> Ending:
        """Plays all that is not yet played; every episode is stored as it ends."""
        jobs = self._jobs()
        workers = [asyncio.create_task(self._work(jobs)) for _ in range(self._workers())]

        def cancel() -> None:
            self._desk.stop(Stopped("interrupted"))
            for worker in workers:
                worker.cancel()

        try:
            with graceful_stop(lambda: self._desk.stop(Stopped("interrupted")), cancel):
                results = await asyncio.gather(*workers, return_exceptions=True)
        finally:
            for seat in self._plan.seats.values():
                await seat.player.close()
        for result in results:
            if isinstance(result, Exception) and not isinstance(result, Stopped):
                raise result
        if self._fatal:
            return Ending("failed", self._fatal)
        return Ending("stopped", str(self._desk.stopping)) if self._desk.stopping else Ending("finished")

    def _workers(self) -> int:
        if any(seat.player.identity.wire == "human" for seat in self._plan.seats.values()):
            return 1
        ceilings = sum(throttle.ceiling for throttle in self._throttles.values())
        # A few more items than requests: while one waits for its reply to be stored, another can be sent.
        return ceilings + ceilings // 4 if ceilings > len(self._throttles) else 1

    def _jobs(self) -> Iterator[Job]:
        for task in self._plan.tasks:
            done = self._store.episodes.finished(self._run, task.name)
            repeats = self._plan.repeats(task.name)
            for position, item in enumerate(self._rosters[task.name]):
                self._store.runs.add_item(self._run, task.name, position, item)
                for repeat in range(repeats):
                    if (item.id, repeat) in done:
                        self._tally.done += 1
                        self._tally.done_before += 1
                    else:
                        yield Job(task, item, repeat)

    async def _work(self, jobs: Iterator[Job]) -> None:
        for job in jobs:
            if self._desk.stopping is not None:
                return
            if self._store.backlog > _BACKLOG:
                await asyncio.to_thread(self._store.flush)
            await self._play_job(job)
            await asyncio.sleep(0)

    async def _play_job(self, job: Job) -> None:
        card = self._plan.instrument.card
        draw = Draw(card.name, card.version, job.task.name, job.item.id, job.repeat, self._plan.config.seed)
        session = PlaySession(self._desk, self._plan.seats, draw, self._plan.settings, self._plan.prompts)
        try:
            outcome = await job.task.play(job.item, session)
        except Exception as raised:
            error = _cause(raised)
            if isinstance(error, StoreError):
                self._desk.stop(Stopped("the store failed"))
                raise error from None
            if isinstance(error, Stopped):
                self._desk.stop(error)
            else:
                self._fail(job, session, error)
        else:
            self._finish(job, session, outcome)

    def _finish(self, job: Job, session: PlaySession, outcome: Any) -> None:
        scored = score_safely(job.task, job.item, outcome)
        score = None if isinstance(scored, Failure) else scored
        failure = scored if isinstance(scored, Failure) else None
        try:
            self._keep(job, session, Episode(job.item, job.repeat, outcome, score, failure))
        except (TypeError, ValueError) as error:
            session.events.clear()
            self._fail(job, session, error)
            return
        if failure:
            self._tally.failed[failure.kind] += 1
        else:
            self._tally.done += 1

    def _fail(self, job: Job, session: PlaySession, error: Exception) -> None:
        kind = error.kind if isinstance(error, MachineryError) else "instrument error"
        message = str(error) if isinstance(error, SociometerError) else f"{type(error).__name__}: {error}"
        message = message.encode("utf-8", "replace").decode()
        if isinstance(error, UsageError) or (isinstance(error, MachineryError) and error.fatal):
            self._fatal = message
            self._desk.stop(Stopped(message))
        self._keep(job, session, Episode(job.item, job.repeat, None, None, Failure(kind, message)))
        self._tally.failed[kind] += 1
        self._tally.last_failure[kind] = message

    def _keep(self, job: Job, session: PlaySession, episode: Episode[Any, Any]) -> None:
        self._store.episodes.add(
            self._run,
            job.task.name,
            episode,
            [
                event
                if isinstance(event, Noted)
                else (event.role, event.model, event.branch, event.key, event.messages, event.reply)
                for event in session.events
            ],
        )


def _cause(raised: Exception) -> Exception:
    """The error that counts among those of concurrent branches: a broken store, then a stop, then the first."""
    if not isinstance(raised, ExceptionGroup):
        return raised
    causes = [_cause(error) for error in raised.exceptions]
    for kind in (StoreError, Stopped):
        for cause in causes:
            if isinstance(cause, kind):
                return cause
    return causes[0]
