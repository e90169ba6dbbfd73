"""The engine that commands and the Python API use: play, continue and open runs."""

import asyncio
import contextlib
import gc
import shlex
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Coroutine, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial
from typing import Any, Protocol, TypeVar

from msgspec import Struct, structs

from sociometer.core.config import Caps, RunConfig
from sociometer.core.conversation import SUBJECT
from sociometer.core.errors import NeverAnswered, NotFound, StopCause, StoreError, UsageError
from sociometer.core.form import differs
from sociometer.core.hints import IN_SCRIPT, in_python
from sociometer.core.instrument import Instrument
from sociometer.core.measure import Summary
from sociometer.core.player import Player
from sociometer.core.server_fields import NONE, ServerFields
from sociometer.core.stopping import StoppingRecord
from sociometer.core.subject import subject_of
from sociometer.core.task import Item, StoppingRule
from sociometer.core.words import listed, visible
from sociometer.engine.budget import Budget
from sociometer.engine.estimate import work_of
from sociometer.engine.naming import NamedSubject, Naming
from sociometer.engine.plan import Plan, ReadLists, ReadPlan, StoredPlan, make_plan
from sociometer.engine.progress import Callback, Progress, RunEvent
from sociometer.engine.run_options import model_spec
from sociometer.engine.runner import Ending, Runner
from sociometer.models.keys import KeyPolicy
from sociometer.models.python import Function, PythonPlayer
from sociometer.store.holding import LostRun, RunHold
from sociometer.store.past import present_settings
from sociometer.store.records import Manifest, RunRecord, RunStatus, present_prompts
from sociometer.store.resolver import Resolver
from sociometer.store.store import Store
from sociometer.store.stored_run import StoredRun, state_of

Value = TypeVar("Value")


class Listener(Protocol):
    """A progress display."""

    def started(self, run: str, progress: Progress) -> None: ...

    def ended(self, run: str, ending: Ending) -> None: ...


MakeRule = Callable[[Manifest, Instrument, Callable[[str], StoredRun]], StoppingRule]


class PlayedRun(Struct, frozen=True):
    """A run with the way it ended."""

    run: StoredRun
    ending: Ending
    progress: Progress


class Engine:
    """Plays runs and stores them; gets instruments from a loader and imports none.

    `load` gives the instrument of a name; for an imported benchmark it also gets the card stored with the run.
    """

    def __init__(
        self,
        store: Store,
        load: Callable[..., Instrument],
        listener: Listener | None = None,
        rules: MakeRule | None = None,
        callback: Callback | None = None,
    ) -> None:
        """`rules` makes the stopping rule of a manifest; `callback` hears of items, looks and ends."""
        self.store = store
        self._rules = rules
        self.listener = listener
        self._callback = callback
        self._spent: dict[str, tuple[int, int, float]] = {}
        """What the runs of this command have spent, also in earlier starts: a limit holds for all of them together."""
        self._kept: list[Player] = []
        """Open players of the next run, whose weights are those of the last one."""
        self._load = load
        self.naming = Naming(store, load)

    @property
    def resolver(self) -> Resolver:
        """What words mean in the store now."""
        return Resolver(self.store, self._load)

    def plan(
        self,
        config: RunConfig,
        items: Iterable[Item] | None = None,
        *,
        players: Mapping[str, Player] | None = None,
        sends: bool = True,
        read: ReadLists | None = None,
    ) -> ReadPlan:
        """The plan of a run, with its items; without `sends` no key is needed. `read` has lists that plans share."""
        instrument = self._load(config.instrument)
        try:
            plan = make_plan(config, instrument, items=items, players=players, sends=sends)
        except NotFound as error:
            raise self._or_own_name(config.subject, error) from error
        if config.until is not None:
            reference = self._reference(plan, config.until.against)
            until = structs.replace(config.until, against=reference.id)
            plan = structs.replace(plan, config=structs.replace(plan.config, until=until))
        planned = plan.with_items(plan.item_lists(read))
        binding = planned.bindings.get(SUBJECT)
        if config.name and binding is not None and not config.of_people:
            self.naming.name(planned, subject_of(config, binding.player.identity), only_planned=True)
        return planned

    def _or_own_name(self, word: str, error: NotFound) -> UsageError:
        """What to type for the model that has this name in the store; the error itself if none has."""
        parts = self.store.runs.of_subject(word) if self.store.path.exists() else []
        if not parts:
            return error
        spec = parts[0].manifest.config.subject
        return UsageError(
            f"'{word}' is the name of a stored model; to play it, give the model: --model {shlex.quote(spec)} --name"
            f" {shlex.quote(word)}"
        )

    def _reference(self, plan: Plan, word: str) -> StoredRun:
        """The result that a run is compared with: of several, the one that was asked the same."""
        results = self.resolver.results(word, [plan.config.instrument])
        manifest = plan.described()
        card = plan.instrument.card

        def is_asked_the_same(result: StoredRun) -> bool:
            tasks = [task for task in plan.config.tasks if task in result.tasks]
            forms = [(result.form(task), manifest.form(task, card, "")) for task in tasks]
            return bool(tasks) and not any(differs(one, other, "table") for one, other in forms)

        same = [result for result in results if is_asked_the_same(result)]
        return same[0] if len(same) == 1 else self.resolver.one(word, [plan.config.instrument])

    def plans(self, configs: Iterable[RunConfig], *, sends: bool = True) -> list[ReadPlan]:
        """The plans of several runs; what they have in common is read once."""
        read: ReadLists = {}
        return [self.plan(config, sends=sends, read=read) for config in configs]

    def prepare(self, plan: ReadPlan, *, continue_unfinished: bool = False) -> StoredPlan:
        """Prepare a run; repeating a command continues its run, or shows it if nothing is left to play.

        If the weights behind a name may have changed, an earlier run is continued only with `continue_unfinished`.
        """
        record = self.earlier(plan, continue_unfinished)
        if record is not None:
            rule = self._rule(record.manifest, plan.instrument)
            return StoredPlan(**structs.asdict(plan), run=record, rule=rule, served=self._served_before(record))
        named = self._named_subject(plan)
        manifest = plan.manifest
        if named is not None:
            manifest = structs.replace(manifest, subject=named.name, key=named.key, scope=named.scope)
        rule = self._rule(manifest, plan.instrument)
        made = self.store.runs.create(manifest, plan.config_hash, only=plan.reusable())
        return StoredPlan(
            **structs.asdict(structs.replace(plan, manifest=manifest)),
            run=made,
            new=True,
            rule=rule,
            served=self._served_before(made),
            note=named.note if named is not None else "",
        )

    def _served_before(self, record: RunRecord) -> str:
        """What the server called the model of the subject in its first reply; empty if it never answered."""
        if not record.manifest.key:
            return record.manifest.served
        parts = self.store.runs.of_subject(record.subject)
        return next((part.manifest.served for part in parts if part.manifest.served), "")

    def _named_subject(self, plan: ReadPlan) -> NamedSubject | None:
        """The subject of a plan with its name; None for a person, and where nobody is measured."""
        binding = plan.bindings.get(SUBJECT)
        if plan.config.of_people or binding is None:
            return None
        return self.naming.name(plan, subject_of(plan.config, binding.player.identity))

    def require_playable(self, plans: Sequence[ReadPlan]) -> None:
        """Raise a UsageError before anything is sent if one of the runs of a command cannot be played."""
        for plan in plans:
            if self.earlier(plan) is None:
                self._named_subject(plan)

    def share_limits(self, plans: Sequence[ReadPlan]) -> None:
        """Count what these runs have spent in earlier starts against the limits of each of them."""
        if len(plans) > 1 and any(plan.config.caps != Caps() for plan in plans):
            earlier = filter(None, map(self.earlier, plans))
            self._spent |= {record.id: self.store.journal.spent_at_most(record.id) for record in earlier}

    def earlier(self, plan: ReadPlan, continue_unfinished: bool = False) -> RunRecord | None:
        """The earlier run that a plan continues; None for a new run.

        An unfinished run of a model whose weights may have changed is refused with the line that continues it.
        """
        if not self.store.path.exists():
            return None
        record = self.store.runs.with_config(plan.config_hash)
        if record is None or plan.reusable():
            return record
        if plan.config.fresh or not self._has_more(record):
            return None
        if continue_unfinished:
            return record
        if plan.config.of_people or record.manifest.given_items:
            return None
        anew = "--fresh and another --name" if plan.config.name else "--fresh"
        raise UsageError(
            f"this command was not finished: {record.reference} ({state_of(self.store, record)}). To continue it:"
            f" {record.manifest.config.resume_command(record.id)}. To measure {record.subject} anew, add {anew}."
        )

    def _rule(self, manifest: Manifest, instrument: Instrument) -> StoppingRule | None:
        """The stopping rule of a run; a UsageError if it cannot be followed."""
        if manifest.config.until is None:
            return None
        if self._rules is None or not manifest.shuffled:
            raise UsageError("--against works with 'run' and models only: people and other commands play all items.")
        return self._rules(manifest, instrument, self.stored)

    def _has_more(self, record: RunRecord) -> bool:
        """Whether items of a run are left to play, or failed."""
        return record.status is not RunStatus.FINISHED or self.store.totals(record).failed > 0

    def prepare_resume(
        self,
        reference: str,
        caps: Caps | None = None,
        in_flight: int | None = None,
        *,
        key_variables: Mapping[str, str] | None = None,
        insecure_http: bool = False,
        code: Collection[str | Function] = (),
        fields: Mapping[str, ServerFields] | None = None,
    ) -> StoredPlan:
        """Prepare the rest of a stopped or killed run; caps replace those given last, `in_flight` that of its start.

        `key_variables` names, by role, the variables whose keys may be sent to servers that only the store names;
        `insecure_http` allows keys over plain HTTP. `code` gives again the functions that the run may call, or their
        names (`python/MODULE:FUNCTION`): a store may come from somebody else. `fields` has headers: none is stored.
        """
        record = self.resolver.to_resume(reference)
        manifest = record.manifest
        if manifest.imported:
            raise UsageError(f"run {record.reference} was imported, so it cannot be resumed.")
        instrument = self._load(record.instrument)
        if why := next(iter(StoredRun(self.store, record, instrument).past.values()), ""):
            raise UsageError(
                f"run {record.reference} cannot be resumed: it was {why}. Resume it with that version, or start a new"
                " run, which uses the stored replies."
            )
        if manifest.given_items:
            command = shlex.join(manifest.config.command)
            raise UsageError(
                f"run {record.reference} belongs to a command; to continue it, repeat the command: {command}"
            )
        if manifest.config.of_people:
            study = manifest.config.resume_command(record.reference)
            raise UsageError(f"run {record.reference} belongs to a study, where people go on in the browser: {study}")
        if instrument.card.version != manifest.instrument_version:
            raise UsageError(
                f"run {record.reference} was made with {record.instrument} version {manifest.instrument_version}, but"
                f" version {instrument.card.version} is installed; a run cannot change version. Start a new run."
            )
        functions = {model_spec(one): one for one in code}
        wrong = [f"'{one}'" for one in functions if one not in manifest.config.code]
        if wrong and not manifest.config.code:
            raise UsageError(f"run {record.reference} runs no code of yours, so leave out {listed(wrong)}.")
        for spec in manifest.config.code:
            if spec not in functions or (IN_SCRIPT.match(spec) and not in_python()):
                why = f"not {listed(wrong)}" if wrong else "which its store only names"
                raise UsageError(
                    f"run {record.reference} runs the code '{spec}', {why}. If it is yours, name it again:"
                    f" {manifest.config.resume_command(record.reference)}"
                )
        before, given = manifest.config.server_fields, fields or {}
        again = {role: before.get(role, NONE).again(given.get(role, NONE), role) for role in {**before, **given}}
        config = structs.replace(
            present_settings(manifest.config, instrument.card),
            server_fields=again,
            caps=(caps or Caps()).or_else(manifest.later_caps or manifest.config.caps),
            in_flight=in_flight or manifest.config.in_flight,
            insecure_http=insecure_http,
        )
        keys = KeyPolicy.of_stored_run(config, key_variables or {})
        players = {spec: PythonPlayer(one, config.revision) for spec, one in functions.items() if callable(one)}
        plan = make_plan(config, instrument, players=players, keys=keys).with_items()
        _refuse_changes(record, plan)
        rule = self._rule(manifest, instrument)
        return StoredPlan(**structs.asdict(plan), run=record, rule=rule, served=self._served_before(record))

    async def play(self, plan: StoredPlan, following: Plan | None = None) -> PlayedRun:
        """Play a run to its end and summarise it; one process at a time plays a run.

        What the players take is freed at the end, except weights that the `following` run uses too.
        """
        with self.store.hold(plan.run.id) as held:
            async with AsyncExitStack() as opened:
                for player in plan.players:
                    await opened.enter_async_context(player)
                await self._release()
                try:
                    return await self._play_alone(plan, held)
                finally:
                    weights = {one.identity for one in plan.players if not one.identity.base_url}
                    for player in following.players if following else ():
                        if player.identity in weights:
                            self._kept.append(await player.__aenter__())

    async def _release(self) -> None:
        """Free what was kept for the next run."""
        while self._kept:
            await self._kept.pop().__aexit__()

    async def _play_alone(self, plan: StoredPlan, held: RunHold) -> PlayedRun:
        record, journal = plan.run, self.store.journal
        journal.charge_allowance(record.id)
        allow = partial(journal.allow, record.id)
        self._spent.pop(record.id, None)
        requests, tokens, cost = ([part[kind] for part in self._spent.values()] for kind in range(3))
        beside = sum(map(int, requests)), sum(map(int, tokens)), sum(cost)
        budget = Budget(plan.config.caps, journal.spent(record.id), beside, allow)
        progress = _progress(plan, budget)
        progress.work = await work_of(plan) if self.listener else {}
        progress.started = time.monotonic()
        progress.callback = self._callback
        if plan.note:
            progress.warnings.append(plan.note)
        manifest, roles = record.manifest, dict(record.manifest.roles)
        for role, then in roles.items():
            now, known = plan.manifest.roles[role].code_digest, (then.code_digest, *then.later_code)
            if then.code_digest and now != known[-1] and progress.done < progress.total:
                progress.warnings.append(f"the file of {then.label} changed after this run was planned.")
                roles[role] = structs.replace(then, later_code=(*then.later_code, now))
        later = plan.config.caps if plan.config.caps != manifest.config.caps else None
        if (now_played := structs.replace(manifest, later_caps=later, roles=roles)) != manifest:
            self.store.runs.update(structs.replace(record, manifest=now_played))
        decided = self.store.runs.stopping(record)
        self.store.runs.set_status(record.id, RunStatus.PLAYING)
        for task, seen in decided.items():
            self.store.runs.set_summary(record.id, task, Summary((), stopping=seen))
        if self.listener:
            self.listener.started(record.id, progress)
        ending, status = Ending(RunStatus.STOPPED, "ended by an internal error"), None
        is_held = True
        runner = Runner(plan, self.store, held, progress, budget)
        try:
            try:
                ending = await runner.play()
            except asyncio.CancelledError:
                ending = Ending(RunStatus.STOPPED, "interrupted", StopCause.INTERRUPTED)
                raise
            except LostRun as lost:
                # Another process may hold the run now: then its status and its summaries are not ours to write.
                ending = Ending(RunStatus.STOPPED, str(lost), StopCause.LOST)
                is_held = False
                raise
            away = ending.cause is StopCause.UNREACHABLE and not progress.failed
            silent = ending.status is RunStatus.FAILED or away
            if plan.new and silent and not progress.ever_answered:
                # Nothing was ever answered or paid for: what was asked for cannot be had, and no run is kept of it.
                self.store.runs.delete(record.id)
                ending = structs.replace(ending, kept=False)
                raise NeverAnswered(ending.reason) from runner.raised
            journal.end_allowance(record.id)
            await _in_thread(self.store.flush)
            if decided and ending.status is not RunStatus.FINISHED:  # the retry failed; the verdict of the rule stays
                status = RunStatus.FINISHED
            await _in_thread(self.summarise, plan, decided if status else runner.stopping)
            if runner.stopping and ending.status is RunStatus.FINISHED:  # failures that do not count are not told
                ended = structs.replace(record, status=ending.status)
                progress.failed = Counter(self.store.episodes.failures(record.id, self.store.runs.uncounted(ended)))
            progress.tell(RunEvent("end", record.id, status=ending.status))
        finally:
            if is_held:
                self._store_served(record, runner.served)
            progress.status = ending.status
            self._spent[record.id] = budget.spent.against_caps
            if self.listener:
                self.listener.ended(record.id, ending)
            # After the summaries, so that a run that is killed before has none that could be out of date.
            with contextlib.suppress(StoreError):
                if is_held:
                    self.store.runs.set_status(record.id, status or ending.status, why=ending.reason)
        await _in_thread(self.store.flush)
        return PlayedRun(self.stored(record.id), ending, progress)

    def _store_served(self, record: RunRecord, served: str) -> None:
        """Store what the server called the model of the subject, if the run is still there and nothing was known."""
        with contextlib.suppress(StoreError, UsageError):
            present = self.store.runs.get(record.id)
            if served and not present.manifest.served:
                manifest = structs.replace(present.manifest, served=served)
                self.store.runs.update(structs.replace(present, manifest=manifest))

    def summarise(self, plan: StoredPlan, stopping: Mapping[str, StoppingRecord]) -> None:
        """Compute the summaries of a run and store them; the caller must hold the run."""
        for task in plan.tasks:
            self.stored(plan.run.id).keep_summary(task.name, stopping.get(task.name))

    def run(
        self,
        config: RunConfig,
        items: Iterable[Item] | None = None,
        *,
        players: Mapping[str, Player] | None = None,
        **options: Any,
    ) -> PlayedRun:
        """Plan and play one run; `options` are those of `prepare`."""
        return self.play_plan(self.plan(config, items, players=players), **options)

    def play_plan(self, plan: ReadPlan, following: Plan | None = None, **options: Any) -> PlayedRun:
        """Prepare a planned run and play it; `options` are those of `prepare`."""
        return run_loop(self.play(self.prepare(plan, **options), following))

    def close(self) -> None:
        """Free what was kept for a run that was not played."""
        if self._kept:
            run_loop(self._release())

    def resume(self, reference: str, *given: Any, **options: Any) -> PlayedRun:
        """Continue a stopped or killed run; takes what `prepare_resume` takes."""
        return run_loop(self.play(self.prepare_resume(reference, *given, **options)))

    def stored(self, reference: str, instruments: Sequence[str] = ()) -> StoredRun:
        """The one stored result that a word means."""
        return self.resolver.one(reference, instruments)


async def _in_thread(call: Callable[..., object], *given: object) -> None:
    """Makes a call in another thread, so that other runs go on; it ends before this does, also if this is cancelled."""
    calling = asyncio.ensure_future(asyncio.to_thread(call, *given))
    try:
        await asyncio.shield(calling)
    except asyncio.CancelledError:
        await asyncio.wait((calling,))
        raise


def _progress(plan: StoredPlan, budget: Budget) -> Progress:
    """The counters of a run, at its start."""
    record = plan.run
    return Progress(
        visible(f"{record.instrument} · {record.tested}"),
        budget,
        plan.total,
        resume=None if record.manifest.given_items else partial(plan.config.resume_command, record.reference),
        replicas=max((player.replicas for player in plan.players), default=1),
    )


def _refuse_changes(record: RunRecord, plan: ReadPlan) -> None:
    """Raise a UsageError if prompts, data or models have changed since the run was started."""
    now, then = plan.manifest, record.manifest
    before, after = ({role: one.identity for role, one in manifest.roles.items()} for manifest in (then, now))
    changed = {
        "prompts": present_prompts(then.prompts_digest) != present_prompts(now.prompts_digest),
        "data files": then.data_files != now.data_files,
    }
    changed |= {f"model in the role '{role}'": before.get(role) != after.get(role) for role in {**before, **after}}
    for what in (what for what, has_changed in changed.items() if has_changed):
        raise UsageError(
            f"run {record.reference} cannot be continued: its {what} changed since it was started. Start a new run."
        )


def run_loop(coroutine: Coroutine[Any, Any, Value]) -> Value:
    """Run a coroutine to its end; inside a running event loop, in a separate thread."""
    # A run makes many short-lived objects and few cycles; looking for these less often saves a tenth of its time.
    before = gc.get_threshold()
    gc.set_threshold(50_000, 20, 100)
    gc.freeze()
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        with asyncio.Runner(loop_factory=_new_loop) as runner:
            return runner.run(coroutine)
    else:
        return _run_in_thread(coroutine)
    finally:
        gc.unfreeze()
        gc.set_threshold(*before)


def _new_loop() -> asyncio.AbstractEventLoop:
    """An event loop; uvloop's if it is installed, which halves the cost of a request."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


def _run_in_thread(coroutine: Coroutine[Any, Any, Value]) -> Value:
    ended = threading.Event()

    async def watched() -> Value:
        try:
            return await coroutine
        finally:
            ended.set()

    loop = _new_loop()
    thread = threading.Thread(target=loop.run_forever, name="sociometer-run", daemon=True)
    thread.start()
    future = asyncio.run_coroutine_threadsafe(watched(), loop)
    try:
        return future.result()
    except KeyboardInterrupt:
        future.cancel()
        ended.wait()
        raise
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
