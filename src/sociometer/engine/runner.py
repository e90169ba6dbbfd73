"""Plays a plan: many items at once; an item that fails does not stop the others."""

import asyncio
import contextlib
import re
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct, structs

from sociometer.core.conversation import SUBJECT, Event, Exchange, Noted, Reply
from sociometer.core.errors import FailureKind, MachineryError, StopCause, Stopped, StoreError, UsageError, failure_of
from sociometer.core.measure import Summary
from sociometer.core.reply_kind import AGAIN, ReplyKind, cut_off, cut_off_limit
from sociometer.core.session import DirectReplies, Draw, ReplySource, Session
from sociometer.core.stopping import UNDECIDED, StoppingRecord
from sociometer.core.task import Episode, Failure, Item, Task, without_message
from sociometer.core.words import in_one_line
from sociometer.engine.budget import Budget
from sociometer.engine.plan import Plan, StoredPlan
from sociometer.engine.progress import Progress, RunEvent, effort_of
from sociometer.engine.replies import RunReplies
from sociometer.store.holding import RunHold
from sociometer.store.records import RunStatus
from sociometer.store.store import Store
from sociometer.store.stored_run import StoredRun, score_safely


class PlayedEpisode(Struct, frozen=True):
    """An episode with its transcript; `error` is the cause if it has no outcome."""

    episode: Episode[Any, Any]
    events: tuple[Event, ...]
    error: Exception | None = None


async def play_episode(
    plan: Plan, task: Task[Any, Any], item: Item, repeat: int = 0, replies: ReplySource | None = None
) -> PlayedEpisode:
    """Play an item and score it; without `replies` the players are asked directly and nothing is stored.

    An error of one item becomes its failure. A stop or a store error concerns the whole run and is raised.
    """
    draw = Draw(plan.instrument.card.name, plan.draws, task.name, item.id, repeat, plan.config.seed)
    session = Session(
        replies or DirectReplies(),
        plan.bindings,
        draw,
        plan.settings,
        plan.prompts,
        official=plan.config.official,
        second_question=plan.config.asks_again(task.first_replies is not None),
        base=plan.config.base,
        tools=plan.config.tools,
    )
    try:
        outcome = await task.play(item, session)
    except Exception as raised:
        error = _cause(raised)
        if isinstance(error, Stopped | StoreError):
            raise error from None
        return PlayedEpisode(failed(item, repeat, error), tuple(session.events), error)
    scored = score_safely(task, item, outcome, official=plan.config.official)
    score, failure = (None, scored) if isinstance(scored, Failure) else (scored, None)
    return PlayedEpisode(Episode(item, repeat, outcome, score, failure), tuple(session.events))


def failed(item: Item, repeat: int, error: Exception) -> Episode[Any, Any]:
    """The episode that an error ended."""
    return Episode(item, repeat, None, None, Failure(*failure_of(error)))


def _cause(raised: Exception) -> Exception:
    """The error to report for concurrent branches: a store error, then a stop, then the first one."""
    if not isinstance(raised, ExceptionGroup):
        return raised
    causes = [_cause(error) for error in raised.exceptions]
    for kind in (StoreError, Stopped):
        for cause in causes:
            if isinstance(cause, kind):
                return cause
    return causes[0]


_FIRST = 10  # replies that are looked at
_MORE = 4  # the proposed limit as a multiple of the one that was too short
_LONGEST_SHOWN = 200
_NOT_READ = (ReplyKind.UNREADABLE, ReplyKind.TWO_ANSWERS)
_HARMONY = re.compile(r"<\|(?:channel|message)\|>|\Aanalysis.*assistantfinal", re.DOTALL)
_CALL = re.compile(r"<\|?tool_calls?\|?>|\[TOOL_CALLS\]|\{\s*\"name\"\s*:.*\"(?:arguments|parameters)\"\s*:", re.DOTALL)
_ADVICE = {
    _HARMONY: "The server sends Harmony channels instead of the answer; start it with its reasoning parser: vLLM"
    " --reasoning-parser openai_gptoss, SGLang --reasoning-parser gpt-oss, llama.cpp --jinja.",
    _CALL: "They are tool calls, and this test offers no tools; start the server without --enable-auto-tool-choice and"
    " --tool-call-parser (vLLM, SGLang).",
    re.compile(""): "For a base model add -o base; otherwise check the chat template, or what your function returns.",
}
"""What replies without an answer have in common, and what helps."""


class FirstReplies:
    """Watches the first replies of a run."""

    def __init__(self, plan: Plan) -> None:
        self._official = plan.config.official
        subject = plan.bindings[SUBJECT].player.identity if SUBJECT in plan.bindings else None
        self._real = subject is not None and not subject.stand_in and subject.wire not in ("recorded", "human")
        self._asked = 0
        self._counts: Counter[str] = Counter()
        self._unread: list[Reply] = []
        self._judged = False

    def add(self, played: PlayedEpisode, progress: Progress) -> Stopped | None:
        """The reason to stop if most first replies are cut off or unreadable; official items only get a warning.

        A resumed run was warned before, so it continues.
        """
        if self._judged or played.episode.score is None:
            return None
        replies = played.episode.score.replies
        last: dict[str, Reply] = {}
        for event in played.events:
            if isinstance(event, Exchange) and event.role == SUBJECT:
                last[event.branch] = event.reply
                self._asked += 1
            elif isinstance(event, Noted) and event.facts.get("reply") in _NOT_READ and event.branch in last:
                self._unread.append(last[event.branch])
        self._asked -= replies.get(AGAIN, 0)
        self._counts.update(replies)
        if self._asked < _FIRST:
            return None
        self._judged = True
        cut, unread = cut_off(self._counts), sum(self._counts[kind] for kind in _NOT_READ)
        if 2 * cut > self._asked:
            message, cause = self._cut_off(cut), StopCause.CUT_OFF
        elif 2 * unread > self._asked and self._real:
            message, cause = self._unreadable(unread, cut), StopCause.UNREADABLE
        else:
            return None
        if self._official or progress.done_before:
            progress.warnings.append(message)
            return None
        return Stopped(message, cause)

    def _cut_off(self, cut: int) -> str:
        limit = cut_off_limit(self._counts)
        at = f" at {limit} tokens" if limit else ""
        more = f"-o reply-tokens={_MORE * limit}" if limit else "a higher -o reply-tokens"
        cut_off_replies = f"{cut} of the first {self._asked} replies were cut off{at} before they gave an answer"
        return f"{cut_off_replies}; start a new run with {more}."

    def _unreadable(self, unread: int, cut: int) -> str:
        calls = ("<tool_call> " if reply.finish == "tool_calls" else "" for reply in self._unread)
        texts = [call + in_one_line(reply.text) for call, reply in zip(calls, self._unread, strict=True)] or [""]
        advice = next(
            said for sign, said in _ADVICE.items() if 2 * sum(map(bool, map(sign.search, texts))) >= len(texts)
        )
        shown, also = texts[0][:_LONGEST_SHOWN], f", and {cut} were cut off before they gave one" * bool(cut)
        none = f"{unread} of the first {self._asked} replies have no answer that can be read"
        return f"{none}, such as '{shown}'{also}. {advice}"


_BACKLOG = 4_000
GRACE_SECONDS = 10.0


class Ending(Struct, frozen=True):
    """How a run ended: finished (even if interrupted), stopped (it can be resumed) or failed for all items, and why."""

    status: RunStatus
    reason: str = ""
    cause: StopCause | None = None
    kept: bool = True
    """False if there was never a reply; then no run is stored."""


_Job = tuple[Task[Any, Any], int, Item, int]


class _Blocks:
    """The items of a task in blocks, after each of which a rule looks."""

    def __init__(self, stopping: StoppingRecord, left: list[int]) -> None:
        self.stopping = stopping
        self._left = left
        """How often each item is still to be played."""
        self._complete = 0
        self._looked = asyncio.Event()
        self.stopped = False
        """Whether nothing more is played for another reason."""

    async def room(self, nth: int, ahead: int) -> None:
        """Wait until the nth item is at most so many items beyond those of the next look."""
        while not (self.stopping.verdict or self.stopped) and nth >= self._next_end + ahead:
            await self._looked.wait()

    @property
    def _next_end(self) -> int:
        blocks, looks = self.stopping.blocks, len(self.stopping.looks)
        return blocks[looks] if looks < len(blocks) else len(self._left)

    def wake(self) -> None:
        """Let those that wait for room look again."""
        self._looked.set()
        self._looked = asyncio.Event()

    def completed(self, nth: int) -> Iterator[int]:
        """The ends of the blocks that the episode of an item completes, until the rule has a verdict."""
        self._left[nth] -= 1
        while self._complete < len(self._left) and not self._left[self._complete]:
            self._complete += 1
            if not self.stopping.verdict and self._complete in self.stopping.blocks[len(self.stopping.looks) :]:
                yield self._complete


class Runner:
    """Plays one run."""

    def __init__(self, plan: StoredPlan, store: Store, held: RunHold, progress: Progress, budget: Budget) -> None:
        self._plan = plan
        self._items = plan.lists
        self._rule = plan.rule
        self._record = store.runs.get(plan.run.id)  # its status is now that of a run in progress
        self._blocks: dict[str, _Blocks] = {}
        self._store = store
        self._run = run = plan.run.id
        self._progress = progress
        self._fatal = ""
        self._cut_short = False
        self.raised: BaseException | None = None
        """What a function of the user's raised last, or what stopped the run."""
        self._first_replies = FirstReplies(plan)
        self._replies = RunReplies(
            plan, store.journal, run, held, budget, progress, scope=plan.run.manifest.scope, served=plan.served
        )
        self._replies.wake.append(self._wake)

    @property
    def served(self) -> str:
        """What the server called the model of the subject; empty if it said nothing."""
        return self._replies.served.name

    async def play(self) -> Ending:
        """Play all items that are not yet played; every episode is stored when it ends."""
        jobs = self._jobs()  # what is left of them at the end was not played
        workers = [asyncio.create_task(self._work(jobs)) for _ in range(self._workers())]

        def stop() -> None:
            self._replies.stop(Stopped("interrupted", StopCause.INTERRUPTED))

        def cancel() -> None:
            stop()
            for worker in workers:
                worker.cancel()

        with graceful_stop(stop, cancel):
            results = await asyncio.gather(*workers, return_exceptions=True)
        for result in results:
            if isinstance(result, Exception) and not isinstance(result, Stopped):
                raise result
        if not self._fatal and self._replies.stopped is None and self._always_raises:
            self._fatal = self._progress.last_failure[FailureKind.PYTHON_ERROR]
        if self._fatal:
            return Ending(RunStatus.FAILED, self._fatal)
        if (stopped := self._replies.stopped) is not None:
            whole = not (any(results) or self._cut_short) and next(jobs, None) is None
            if whole and stopped.cause is StopCause.INTERRUPTED:
                return Ending(RunStatus.FINISHED, cause=StopCause.INTERRUPTED)
            return Ending(RunStatus.STOPPED, str(stopped), stopped.cause)
        return Ending(RunStatus.FINISHED)

    def _workers(self) -> int:
        players = self._plan.players
        if any(player.identity.wire == "human" for player in players):
            return 1
        throttles = self._replies.throttles.values()
        ceilings = sum(throttle.ceiling for throttle in throttles)
        if all(player.most_in_flight or not player.parallel for player in players):
            # A model in this process keeps the last prompts: it is faster if one item is played after the other.
            return max(throttle.ceiling for throttle in throttles)
        # More items than requests: the last dialogues of a run play side by side, and a server is never left waiting.
        return 4 * ceilings if ceilings > len(throttles) else 1

    @property
    def stopping(self) -> dict[str, StoppingRecord]:
        """What the rule saw of each task."""
        return {task: blocks.stopping for task, blocks in self._blocks.items() if blocks.stopping.looks}

    def _jobs(self) -> Iterator[_Job]:
        for task in self._plan.tasks:
            done = self._store.episodes.finished(self._run, task.name)
            repeats = self._plan.repeats(task.name)
            items = self._items[task.name]
            blocks = self._begin(task.name, items.count)
            shuffled = self._record.manifest.shuffled
            ordered = items.shuffled(self._plan.config.seed) if shuffled else iter(enumerate(items))
            for nth, (position, item) in enumerate(ordered):
                if blocks and blocks.stopping.verdict:
                    break
                self._store.runs.add_item(self._run, task.name, position, item)
                for repeat in range(repeats):
                    if (item.id, repeat) in done:
                        self._progress.done += 1
                        self._progress.done_before += 1
                        self._progress.end_episode(task.name)
                        self._ended(task.name, nth)
                    else:
                        yield task, nth, item, repeat

    def _begin(self, task: str, count: int) -> "_Blocks | None":
        """Follow the rule for a task; None without a rule."""
        if self._rule is None:
            return None
        repeats = self._plan.repeats(task)
        return self._blocks.setdefault(task, _Blocks(self._rule.start(task, count), [repeats] * count))

    def _wake(self, reason: Stopped) -> None:
        for blocks in self._blocks.values():
            blocks.stopped = True
            blocks.wake()

    def _ended(self, task: str, nth: int) -> None:
        """An episode of the nth item in the order of play has ended; if that completes a block of items, look."""
        blocks = self._blocks.get(task)
        if self._rule is None or blocks is None:
            return
        for count in blocks.completed(nth):
            self._store.flush()
            run = StoredRun(self._store, self._record, self._plan.instrument)
            seen = self._rule.look(blocks.stopping, task, run.first_items(task, count))
            left, ahead = seen.items - count, min(self._workers(), self._plan.config.in_flight)
            if seen.verdict == UNDECIDED and 0 < left <= ahead:  # all that is left may be in flight: it counts too
                seen = structs.replace(seen, looks=(*seen.looks[:-1], structs.replace(seen.looks[-1], verdict="")))
            blocks.stopping = seen
            # so that other processes see how far the evidence is; replaced when the run ends
            self._store.runs.set_summary(self._run, task, Summary((), stopping=blocks.stopping))
            self._progress.tell(RunEvent("look", self._run, task, stopping=blocks.stopping))
            if blocks.stopping.verdict:
                self._replies.decide(task)
            blocks.wake()

    async def _work(self, jobs: Iterator[_Job]) -> None:
        for task, nth, item, repeat in jobs:
            if (blocks := self._blocks.get(task.name)) is not None:
                await blocks.room(nth, self._plan.config.in_flight)
            if self._replies.stopped is not None:
                self._cut_short = True
                return
            try:
                await self._play(task, nth, item, repeat)
            except BaseException:
                self._replies.stop(Stopped("ended by an internal error"))  # wakes those that wait for room
                raise

    async def _play(self, task: Task[Any, Any], nth: int, item: Item, repeat: int) -> None:
        if self._store.writer.backlog > _BACKLOG:
            await asyncio.to_thread(self._store.flush)
        try:
            played = await play_episode(self._plan, task, item, repeat, self._replies.source)
        except Stopped as stopped:
            if stopped.cause is not StopCause.DECIDED:
                self._cut_short, self.raised = True, self.raised or stopped
                self._replies.stop(stopped)
            return
        except StoreError:
            self._replies.stop(Stopped("the store failed"))
            raise
        self._keep(task.name, played)
        self._ended(task.name, nth)
        await asyncio.sleep(0)

    def _keep(self, task: str, played: PlayedEpisode) -> None:
        try:
            self._store.episodes.add(self._run, task, played.episode, played.events)
        except (TypeError, ValueError) as fault:
            # The outcome or a note cannot be encoded: a fault of the instrument, and this episode's alone.
            played = PlayedEpisode(failed(played.episode.item, played.episode.repeat, fault), (), fault)
            self._store.episodes.add(self._run, task, played.episode, played.events)
        self._progress.end_episode(task, effort_of(played.events, self._plan.bindings))
        failure, error = played.episode.failure, played.error
        self._progress.tell(RunEvent("item", self._run, task, without_message(played.episode)))
        if failure is None:
            self._progress.done += 1
            if stop := self._first_replies.add(played, self._progress):
                self._replies.stop(stop)
            return
        self.raised = error.__cause__ if error and failure.kind == FailureKind.PYTHON_ERROR else None
        self._progress.failed[failure.kind] += 1
        self._progress.last_failure[failure.kind] = failure.message
        if (
            isinstance(error, UsageError)
            or (isinstance(error, MachineryError) and error.fatal)
            or (self._progress.failed[FailureKind.PYTHON_ERROR] >= max(_FIRST, self._workers()) and self._always_raises)
        ):
            self._fatal = failure.message
            self._replies.stop(Stopped(failure.message))

    @property
    def _always_raises(self) -> bool:
        """Whether a function of the user's has raised an error on every item so far."""
        return not self._progress.done and set(self._progress.failed) == {FailureKind.PYTHON_ERROR}


@contextlib.contextmanager
def graceful_stop(stop: Callable[[], None], cancel: Callable[[], None]) -> Iterator[None]:
    """On Ctrl-C or SIGTERM, calls `stop` on the first signal, and `cancel` on the second or after the grace period."""
    loop = asyncio.get_running_loop()
    signals = (signal.SIGINT, signal.SIGTERM)
    timers: list[asyncio.TimerHandle] = []

    def caught() -> None:
        if timers:
            cancel()
            return
        timers.append(loop.call_later(GRACE_SECONDS, cancel))
        stop()

    installed = []
    for number in signals:
        # Not the main thread, or a platform without signal handlers: then the default behaviour stays.
        with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
            loop.add_signal_handler(number, caught)
            installed.append(number)
    try:
        yield
    finally:
        for number in installed:
            loop.remove_signal_handler(number)
        for timer in timers:
            timer.cancel()
