"""How a run gets a reply: small layers around each other, each with one duty.

    Journaled( Retried( Throttled( Kept( Budgeted ))))

`Journaled` looks for a stored reply. `Retried` sends again what failed. `Throttled` limits the requests in flight.
`Kept` stores a reply before it is used. `Budgeted` reserves the worst case, asks the player and settles the
actual usage.
"""

import asyncio
import contextlib
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any, Protocol, TypeVar

import msgspec
from msgspec import Struct, structs

from sociometer.core.conversation import SUBJECT, Identity, Reply, Usage, token_count
from sociometer.core.errors import FailureKind, MachineryError, StopCause, Stopped, Unreachable
from sociometer.core.session import DrawnRequest
from sociometer.core.words import visible
from sociometer.engine.budget import Budget, Reservation
from sociometer.engine.fence import Fence
from sociometer.engine.plan import Plan
from sociometer.engine.prices import Price, price_of
from sociometer.engine.progress import Progress
from sociometer.engine.throttle import Throttle, ceiling_of, wait_asked
from sociometer.store.holding import RunHold
from sociometer.store.journal import Journal
from sociometer.store.records import Charge, JournalEntry

_encode = msgspec.msgpack.Encoder().encode
_LONGEST_WAIT_SECONDS = 60.0
_GIVEN_UP_WITHOUT_AN_ANSWER = 3
_TRIES_BEFORE_THE_FIRST_ANSWER = 2
Answer = TypeVar("Answer")


class PendingRequest(Struct, frozen=True):
    """A request on its way to the player; `attempt` sends it once, `writes` says whether the answer is a reply."""

    drawn: DrawnRequest
    key: bytes
    attempt: Callable[[], Awaitable[Any]]
    writes: bool

    @property
    def endpoint(self) -> str:
        """The server that gets it."""
        return self.drawn.binding.player.identity.endpoint


class Answered(Struct, frozen=True):
    """An answer with its usage and what it is charged; `stored` is the reply that another process had stored before."""

    answer: Any
    usage: Usage
    charge: Charge
    stored: bytes | None = None


class ReplyLayer(Protocol):
    """One duty on the way to a reply; it passes the request on to the layer inside."""

    async def send(self, asked: PendingRequest) -> Answered: ...


class StopSwitch:
    """Whether the run is being stopped, and why; what waits is woken."""

    def __init__(self) -> None:
        self.reason: Stopped | None = None
        self.event = asyncio.Event()
        self.wake: list[Callable[[Stopped], None]] = []
        self.decided: set[str] = set()
        """The tasks whose stopping rule has a verdict."""

    def check(self, task: str) -> None:
        """Raise the reason why nothing more is sent for a task, if there is one."""
        if self.reason is not None:
            raise self.reason
        if task in self.decided:
            raise Stopped("decided", StopCause.DECIDED)

    def stop(self, reason: Stopped) -> None:
        """Send nothing more; replies to requests in flight are still stored."""
        self.reason = self.reason or reason
        self.event.set()
        for wake in self.wake:
            wake(reason)


class Budgeted:
    """Reserves the worst case of a request, asks the player, and settles what the request really used.

    Nothing is sent unless this process still holds the run (`Fence`).
    """

    def __init__(
        self,
        plan: Plan,
        budget: Budget,
        fence: Fence,
        journal: Journal,
        run: str,
        progress: Progress,
        switch: StopSwitch,
    ) -> None:
        self._budget = budget
        self._fence = fence
        self._journal = journal
        self._run = run
        self._progress = progress
        self._switch = switch
        bindings = plan.bindings.values()
        self._prices = {one.spec: price_of(plan.prices, one) for one in bindings}

    async def send(self, asked: PendingRequest) -> Answered:
        """The answer with its charge; an attempt without an answer is charged too."""
        price = self._prices.get(asked.drawn.binding.spec)
        reservation = await self._reserve(asked, price)
        self._progress.sent += 1
        self._progress.in_flight += 1
        usage: Usage | None = None
        answered = left = False
        try:
            answer = await _answer(asked)
            answered = True
            if isinstance(answer, Reply):
                # Impossible numbers are not kept: the store could not hold some of them, and the reply was paid for.
                usage = _countable(answer.usage)
                answer = answer if usage == answer.usage else structs.replace(answer, usage=usage)
                is_known = usage.input_tokens is not None and usage.output_tokens is not None
                if asked.drawn.binding.player.identity.base_url and not is_known:
                    self._progress.without_usage += 1
            else:
                usage = Usage()
        except MachineryError as error:
            # A request that reached no server used nothing; for others without a report the usage is unknown.
            tokens = (0, 0) if isinstance(error, Unreachable) else error.tokens
            usage = None if tokens is None else _countable(Usage(*tokens))
            raise
        except BaseException as raised:
            left = isinstance(raised, Stopped) and raised.cause is StopCause.INTERRUPTED  # a person, before the answer
            raise
        finally:
            self._progress.in_flight -= 1
            if left:
                self._budget.withdraw(reservation)
            else:
                charge = self._budget.settle(reservation, usage, price)
            if self._budget.exceeded is not None:
                self._switch.stop(self._budget.exceeded)
            if not answered and not left:
                self._journal.count_attempt(self._run, usage, charge)
        self._progress.answer(asked.drawn.request.messages)
        return Answered(answer, usage, charge)

    async def _reserve(self, asked: PendingRequest, price: Price | None) -> Reservation:
        drawn = asked.drawn
        self._switch.check(drawn.draw.task)
        try:
            reservation = await self._budget.reserve(drawn.binding.label, drawn.request, price, writes=asked.writes)
        except Stopped as limit:
            self._switch.stop(limit)
            raise
        try:
            await self._fence.check()
        except BaseException:
            self._budget.withdraw(reservation)
            raise
        return reservation


async def _answer(asked: PendingRequest) -> Any:
    """The player's answer; a reply says how it was sampled and how long it took."""
    started = time.monotonic()
    answer = await asked.attempt()
    if not isinstance(answer, Reply):
        return answer
    seconds = round(time.monotonic() - started, 3)
    return structs.replace(answer, sampling=asked.drawn.request.sampling, seconds=seconds)


class Kept:
    """Stores a reply before it is used."""

    def __init__(self, inside: ReplyLayer, journal: Journal, run: str, served: "ServedModel") -> None:
        self._inside = inside
        self._journal = journal
        self._run = run
        self._served = served

    async def send(self, asked: PendingRequest) -> Answered:
        """The answer once it is on disk, or the one that another process has stored for this draw.

        The reply of another model than before is paid for and is no reply of this subject: only its cost is stored.
        """
        found = await self._inside.send(asked)
        if isinstance(found.answer, Reply) and asked.drawn.request.role == SUBJECT:
            try:
                self._served.check(found.answer)
            except Stopped:
                self._journal.count_attempt(self._run, found.usage, found.charge)
                raise
        entry = JournalEntry(
            asked.key,
            asked.drawn.binding.player.identity,
            self._run,
            asked.drawn.request.messages,
            _encode(found.answer),
            found.usage,
            found.charge,
        )
        # The write is queued at once: a reply that was paid for is kept even when the episode is cancelled.
        stored = await self._journal.keep(entry)
        asked.drawn.binding.player.reply_stored()
        return structs.replace(found, stored=stored)


class Throttled:
    """Limits the requests in flight at each server, and slows down where a server asks for it.

    The first request to a server goes alone: after one that means that all would fail, nothing more is sent.
    """

    def __init__(self, inside: ReplyLayer, plan: Plan, progress: Progress, switch: StopSwitch) -> None:
        self._inside = inside
        self._progress = progress
        self._switch = switch
        self.throttles = {
            player.identity.endpoint: Throttle(
                ceiling_of(player, plan.config.in_flight), first_alone=bool(player.identity.base_url)
            )
            for player in plan.players
        }

    async def send(self, asked: PendingRequest) -> Answered:
        """The answer, asked for when a place in flight is free.

        The place is given back only when the reply is on disk: a process that is killed loses no more replies than it
        may have requests in flight.
        """
        throttle = self.throttles[asked.endpoint]
        epoch = await throttle.acquire()
        try:
            found = await self._inside.send(asked)
            throttle.begin()
            throttle.recover()
            return found
        except MachineryError as failure:
            if failure.fatal and throttle.first_alone:
                self._switch.stop(Stopped(str(failure)))
            throttle.begin()
            # Before the place is given back: the next in line must find the gate closed or the run stopped.
            try:
                seconds = wait_asked(failure, asked.endpoint, self._progress)
            except Stopped as too_long:
                self._switch.stop(too_long)
                raise
            if failure.slow_down:
                throttle.slow_down(epoch, seconds)
            raise
        finally:
            throttle.release()

    def open(self, reason: Stopped) -> None:
        """Wake all that wait for a place, because nothing more will be sent."""
        for throttle in self.throttles.values():
            throttle.open()


class RetryPolicy(Struct, frozen=True):
    """How often and for how long a request is retried."""

    retries: int = 8
    first_wait_seconds: float = 0.5

    def wait_seconds(self, attempt: int, retry_after_seconds: float | None) -> float:
        """Exponential backoff with full jitter, never before the server's own Retry-After."""
        backoff = min(_LONGEST_WAIT_SECONDS, self.first_wait_seconds * 2.0**attempt)
        return (retry_after_seconds or 0.0) + random.uniform(0.0, backoff)


class Retried:
    """Sends again what failed for a reason that may pass: a timeout, a rate limit, a lost connection."""

    def __init__(self, inside: ReplyLayer, policy: RetryPolicy, progress: Progress, switch: StopSwitch) -> None:
        self._inside = inside
        self._policy = policy
        self._progress = progress
        self._switch = switch
        self._answers: Counter[str] = Counter()
        self._given_up: Counter[str] = Counter()

    async def send(self, asked: PendingRequest) -> Answered:
        """The answer, after as many attempts as the policy allows.

        A server that cannot be reached, and has answered nobody since the attempt before, stops the run. So does one
        that has never answered, when a few requests have used all their attempts.
        """
        before = tried = 0
        while True:
            try:
                found = await self._inside.send(asked)
                self._answers[asked.endpoint] += 1
                return found
            except MachineryError as error:
                failure = error
            answers = self._answers[asked.endpoint]
            last = not failure.retryable or tried >= self._policy.retries
            away = isinstance(failure, Unreachable) and (not tried or answers == before)
            if away and (last or (not answers and tried >= _TRIES_BEFORE_THE_FIRST_ANSWER)):
                raise Stopped(str(failure), StopCause.UNREACHABLE)
            self._given_up[asked.endpoint] += last and failure.kind is FailureKind.SERVER_ERROR
            if not answers and self._given_up[asked.endpoint] >= _GIVEN_UP_WITHOUT_AN_ANSWER:
                raise Stopped(f"no request was answered: {failure}", StopCause.UNREACHABLE)
            if last:
                raise failure
            self._progress.retries += 1
            self._progress.retrying += 1
            try:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(self._policy.wait_seconds(tried, failure.retry_after_seconds)):
                        await self._switch.event.wait()
            finally:
                self._progress.retrying -= 1
            before, tried = answers, tried + 1


class ServedModel:
    """The model that a server answers with under the name of the subject; its first reply fixes it."""

    def __init__(self, subject: str, name: str) -> None:
        """`name` is what earlier replies were served by; empty if there are none."""
        self._subject = subject
        self.name = name

    def check(self, reply: Reply) -> None:
        """Raise Stopped if another model answered than before: its answers are not those of the subject."""
        served = reply.served_model
        if not served or served == self.name:
            return
        if self.name:
            raise Stopped(
                f"the server now answers with '{visible(served)}' and answered with '{visible(self.name)}' before, so"
                f" this is no longer {self._subject}; measure the new model with --fresh --name NAME, or wait until the"
                " old one is back",
                StopCause.OTHER_MODEL,
            )
        self.name = served


class Journaled:
    """The reply source of a run (`core.session.ReplySource`): a stored reply is used, and nothing is sent for it."""

    def __init__(
        self,
        inside: ReplyLayer,
        journal: Journal,
        run: str,
        progress: Progress,
        switch: StopSwitch,
        *,
        fresh: bool,
        scope: str = "",
        served: ServedModel,
    ) -> None:
        """`scope` is the run whose replies this one uses as its own; empty means itself."""
        self._served = served
        self._inside = inside
        self._switch = switch
        self._journal = journal
        self._run = run
        self._progress = progress
        self._fresh = fresh
        self._scope = scope or run
        self._known: dict[Identity, bool] = {}

    async def obtain(
        self, drawn: DrawnRequest, attempt: Callable[[], Awaitable[Answer]], kind: type[Answer]
    ) -> tuple[Answer, bytes]:
        """The reply and its journal key (empty for players whose replies follow from the request)."""
        answer, key = await self._obtained(drawn, attempt, kind)
        if isinstance(answer, Reply) and drawn.request.role == SUBJECT:
            try:
                self._served.check(answer)
            except Stopped as stopped:
                self._switch.stop(stopped)
                raise
        return answer, key

    async def _obtained(
        self, drawn: DrawnRequest, attempt: Callable[[], Awaitable[Answer]], kind: type[Answer]
    ) -> tuple[Answer, bytes]:
        player = drawn.binding.player
        if drawn.draw.task in self._switch.decided:
            self._switch.check(drawn.draw.task)
        if not player.journaled:
            return await attempt(), b""
        # Where new weights may be behind a name, only this measurement of it may reuse the reply.
        key = drawn.key("" if player.identity.certain and not self._fresh else self._scope)
        kept = await self._lookup(player.identity, key)
        if kept is None:
            found = await self._inside.send(PendingRequest(drawn, key, attempt, kind is Reply))
            if found.stored is None:
                answer: Answer = found.answer
                return answer, key
            kept = found.stored
        return msgspec.msgpack.decode(kept, type=kind), key

    async def _lookup(self, identity: Identity, key: bytes) -> bytes | None:
        known = self._known.get(identity)
        if known is None:
            known = self._known[identity] = self._journal.knows(identity)
        kept = await self._journal.find(key, self._run) if known else None
        if kept is not None:
            self._progress.from_journal += 1
        return kept


class RunReplies:
    """The sources of one run, put together, and how they are stopped and closed."""

    def __init__(
        self,
        plan: Plan,
        journal: Journal,
        run: str,
        held: RunHold,
        budget: Budget,
        progress: Progress,
        *,
        scope: str = "",
        served: str = "",
    ) -> None:
        self.served = ServedModel(plan.config.subject_label, served)
        config = plan.config
        self._switch = switch = StopSwitch()
        fence = Fence(held, journal, run, budget)
        budgeted = Budgeted(plan, budget, fence, journal, run, progress, switch)
        throttled = Throttled(Kept(budgeted, journal, run, self.served), plan, progress, switch)
        switch.wake.append(throttled.open)
        policy = RetryPolicy() if config.retries is None else RetryPolicy(config.retries)
        retried = Retried(throttled, policy, progress, switch)
        self.source = Journaled(
            retried, journal, run, progress, switch, fresh=config.fresh, scope=scope, served=self.served
        )
        self.throttles = throttled.throttles
        self.stop = switch.stop
        self.decide = switch.decided.add
        self.wake = switch.wake

    @property
    def stopped(self) -> Stopped | None:
        """Why nothing more is sent; None while the run goes on."""
        return self._switch.reason


def _countable(usage: Usage) -> Usage:
    """The usage; impossible numbers count as not reported."""
    return Usage(token_count(usage.input_tokens), token_count(usage.output_tokens))
