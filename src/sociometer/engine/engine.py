"""The engine as commands use it: play, continue, rescore, import."""

import asyncio
import contextlib
import gc
import shlex
from collections.abc import Callable, Coroutine, Iterable
from pathlib import Path
from typing import Any, Protocol, TypeVar

from msgspec import Struct

from sociometer.core.caps import Caps
from sociometer.core.conversation import Sampling
from sociometer.core.errors import NeverAnswered, StoreError, UsageError
from sociometer.core.task import Instrument, Item
from sociometer.engine.budget import Budget
from sociometer.engine.config import RunConfig
from sociometer.engine.plan import Plan, make_plan
from sociometer.engine.recorded import recorded_replies
from sociometer.engine.roster import Roster
from sociometer.engine.runner import Ending, Runner
from sociometer.engine.stored import Stored
from sociometer.engine.tally import Tally
from sociometer.engine.throttle import DEFAULT_IN_FLIGHT
from sociometer.store.lock import RunLock
from sociometer.store.records import RunRecord
from sociometer.store.store import Store

Given = TypeVar("Given")
InstrumentLoader = Callable[[str], tuple[Instrument, Path]]


class Listener(Protocol):
    """Whoever shows progress."""

    def started(self, run: str, tally: Tally) -> None: ...

    def ended(self, run: str, ending: Ending) -> None: ...


class Played(Struct, frozen=True):
    """A run with how its playing ended."""

    run: Stored
    ending: Ending
    tally: Tally


class Engine:
    """Plays runs into a store; is handed instruments and imports none."""

    def __init__(self, store: Store, load: InstrumentLoader, listener: Listener | None = None) -> None:
        self.store = store
        self._load = load
        self._listener = listener
        self._budget: Budget | None = None

    def plan(self, config: RunConfig, given: Iterable[Item] | None = None) -> Plan:
        """What would be played."""
        instrument, folder = self._load(config.instrument)
        return make_plan(
            config, instrument, folder, given=given, recorded=recorded_replies(self.stored, _specs(config))
        )

    def run(
        self, config: RunConfig, given: Iterable[Item] | None = None, *, continue_unfinished: bool = False
    ) -> Played:
        """Plays a run; the same command again continues it, or shows it where nothing is left to play.

        Where new weights may stand behind a name, an earlier run is continued only with `continue_unfinished`.
        """
        plan = self.plan(config, given)
        rosters = plan.rosters()
        manifest = plan.manifest()
        config_hash = plan.config_hash(manifest)
        record = self.store.runs.with_config(config_hash)
        if record is not None and not plan.reusable():
            unfinished = record.status != "finished" and not config.fresh
            record = record if continue_unfinished and unfinished else None
        if record is not None:
            return self._play(plan, rosters, record)
        made = self.store.runs.create(manifest, config.subject, config_hash, only=plan.reusable())
        return self._play(plan, rosters, made, new=True)

    def resume(self, reference: str, caps: Caps | None = None, in_flight: int | None = None) -> Played:
        """Plays on what a stopped or killed run had left."""
        record = self.store.runs.get(reference)
        manifest = record.manifest
        if manifest.imported:
            raise UsageError(f"run {record.id} was imported; there is nothing to play.")
        if manifest.given_items:
            raise UsageError(
                f"run {record.id} was played by a command; run it again to play on: {shlex.join(manifest.command)}"
            )
        instrument, folder = self._load(record.instrument)
        if instrument.card.version != manifest.instrument_version:
            raise UsageError(
                f"run {record.id} was made with {record.instrument} version {manifest.instrument_version}, this is"
                f" {instrument.card.version}; a run is not continued across versions. Start a new one."
            )
        config = _config_of(record, caps or Caps(), in_flight)
        if any(spec.startswith("replay/") for spec in _specs(config)):
            raise UsageError(f"run {record.id} replays another one, which costs nothing: run the command again.")
        plan = make_plan(config, instrument, folder, recorded=recorded_replies(self.stored, _specs(config)))
        _refuse_changes(record, plan)
        return self._play(plan, plan.rosters(), record)

    def stored(self, reference: str) -> Stored:
        """The stored run of that id, unique beginning, or `last`; a mistyped path makes no new store."""
        if not self.store.path.exists():
            raise UsageError(f"{self.store.path}: there is no store here, and so no run '{reference}'.")
        record = self.store.runs.get(reference)
        return Stored(self.store, record, self._load(record.instrument)[0])

    def _play(self, plan: Plan, rosters: dict[str, Roster], record: RunRecord, *, new: bool = False) -> Played:
        budget = Budget(plan.config.caps, self.store.journal.spent(record.id), self._budget)
        self._budget = budget
        total = sum(roster.count * plan.repeats(task) for task, roster in rosters.items())
        people = any(seat.player.identity.wire == "human" for seat in plan.seats.values())
        tally = Tally(f"{record.instrument} · {record.subject}", budget, total, people)
        with RunLock(self.store.path, record.id):
            self.store.runs.set_status(record.id, "playing")
            if self._listener:
                self._listener.started(record.id, tally)
            ending = Ending("stopped", "ended by an error of the program")
            try:
                ending = run_loop(_play_to_the_end(plan, rosters, self.store, record.id, tally, budget))
                if new and ending.status == "failed" and not (tally.answered or tally.done or budget.input_tokens):
                    # Nothing was ever answered or paid for: what was asked for cannot be had, and no run is kept of it.
                    self.store.runs.delete(record.id)
                    ending = Ending("gone", ending.reason)
                    raise NeverAnswered(ending.reason)
            finally:
                tally.state = ending.status
                if self._listener:
                    self._listener.ended(record.id, ending)
                with contextlib.suppress(StoreError):
                    self.store.runs.set_status(record.id, ending.status)
            self.store.flush()
            stored = self.stored(record.id)
            for task in plan.tasks:
                stored.summarise(task.name)
        return Played(stored, ending, tally)


async def _play_to_the_end(
    plan: Plan, rosters: dict[str, Roster], store: Store, run: str, tally: Tally, budget: Budget
) -> Ending:
    return await Runner(plan, rosters, store, run, tally, budget).play()


def _specs(config: RunConfig) -> tuple[str, ...]:
    return (config.subject, *config.roles.values())


def _config_of(record: RunRecord, caps: Caps, in_flight: int | None) -> RunConfig:
    """What the user asked for when the run was started; caps are given anew."""
    manifest = record.manifest
    subject = manifest.seats.get("subject")
    repeats = set(manifest.repeats.values())
    return RunConfig(
        instrument=record.instrument,
        subject=record.subject,
        tasks=manifest.tasks,
        roles={role: seat.spec for role, seat in manifest.seats.items() if role != "subject"},
        settings=manifest.settings,
        seed=manifest.seed,
        repeats=repeats.pop() if len(repeats) == 1 else None,
        limit=manifest.limit,
        official=manifest.official,
        data_folder=manifest.data_folder,
        prompts_folder=manifest.prompts_folder,
        base_url=subject.base_url if subject else "",
        revision=subject.revision if subject else "",
        key_variable=subject.key_variable if subject else "",
        timeout_seconds=subject.timeout_seconds if subject else 300.0,
        sampling=subject.sampling if subject else Sampling(),
        caps=caps.or_else(manifest.caps),
        fresh=manifest.fresh,
        in_flight=(manifest.in_flight or DEFAULT_IN_FLIGHT) if in_flight is None else in_flight,
        retries=manifest.retries,
        command=manifest.command,
    )


def _refuse_changes(record: RunRecord, plan: Plan) -> None:
    """A run is continued only with the prompts, data and models it was begun with."""
    now = plan.manifest()
    then = record.manifest
    for what, before, after in (
        ("prompts", then.prompts_digest, now.prompts_digest),
        ("data files", then.data_files, now.data_files),
        *(
            (f"model in the role '{role}'", seat.identity, now.seats[role].identity)
            for role, seat in then.seats.items()
            if role in now.seats
        ),
    ):
        if before != after:
            raise UsageError(f"run {record.id} cannot be continued: its {what} changed since. Start a new run.")


def run_loop(coroutine: Coroutine[Any, Any, Given]) -> Given:
    """Runs the one event loop, on uvloop where there is one: it halves the cost of a request."""
    # A run makes many short-lived objects and few cycles; looking for these less often saves a tenth of its time.
    before = gc.get_threshold()
    gc.set_threshold(50_000, 20, 100)
    try:
        try:
            import uvloop
        except ImportError:
            return asyncio.run(coroutine)
        return uvloop.run(coroutine)
    finally:
        gc.set_threshold(*before)
