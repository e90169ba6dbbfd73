"""Gets the reply to a request from the journal, or from the player within all limits; stores it before use."""

import asyncio
import contextlib
import itertools
import random
from collections.abc import Awaitable, Callable
from typing import TypeVar, cast

import msgspec
from msgspec import Struct

from sociometer.core.config import RunConfig
from sociometer.core.conversation import Identity, Reply, Usage
from sociometer.core.errors import UNREACHABLE, MachineryError, StopCause, Stopped
from sociometer.core.session import DrawnRequest, RoleBinding
from sociometer.engine.batches.batches import MOST_WAITING, Batches
from sociometer.engine.batches.lane import Lane
from sociometer.engine.budget import Budget
from sociometer.engine.plan import Plan
from sociometer.engine.prices import Price, price_of
from sociometer.engine.progress import Progress
from sociometer.engine.throttle import Throttle, ceiling_of
from sociometer.engine.workers.shared_run import SharedRun
from sociometer.store.journal import Journal
from sociometer.store.records import Charge, JournalEntry

_encode = msgspec.msgpack.Encoder().encode
_LONGEST_WAIT_SECONDS = 60.0
_MOST_TOKENS = 10**9
_TRIES_BEFORE_THE_FIRST_ANSWER = 2
Answer = TypeVar("Answer")


class RetryPolicy(Struct, frozen=True):
    """How often and for how long a request is retried."""

    retries: int = 8
    first_wait_seconds: float = 0.5

    def wait_seconds(self, attempt: int, retry_after_seconds: float | None) -> float:
        """Exponential backoff with full jitter, never before the server's own Retry-After."""
        return (retry_after_seconds or 0.0) + random.uniform(0.0, self._backoff(attempt))

    def batch_wait_seconds(self, attempt: int, retry_after_seconds: float | None) -> float:
        """The same without jitter, so that requests of one batch that failed together are sent again together."""
        return (retry_after_seconds or 0.0) + self._backoff(attempt)

    def _backoff(self, attempt: int) -> float:
        return min(_LONGEST_WAIT_SECONDS, self.first_wait_seconds * 2.0**attempt)


class JournalReplies:
    """The reply source of one run; see `core.session.ReplySource`."""

    def __init__(
        self,
        plan: Plan,
        journal: Journal,
        run: str,
        budget: Budget,
        progress: Progress,
        shared: SharedRun | None = None,
        batches: Batches | None = None,
    ) -> None:
        """`shared` is given if other processes play the run too, `batches` if requests go out in batches."""
        config, bindings = plan.config, plan.bindings.values()
        self._journal = journal
        self._run = run
        self._budget = budget
        self._progress = progress
        self._fresh = config.fresh
        self._retry_policy = RetryPolicy() if config.retries is None else RetryPolicy(config.retries)
        self._prices = {one.spec: price_of(plan.prices, one.player.identity, one.spec) for one in bindings}
        self._shared = shared
        self._batches = batches
        self.throttles = (
            {one.player.identity.endpoint: Throttle(self._ceiling(one, config)) for one in bindings}
            if shared is None
            else shared.throttles
        )
        self._known: dict[Identity, bool] = {}
        self._reached: set[str] = set()
        self.stopping: Stopped | None = None
        self._interrupted = False
        self._stop = asyncio.Event()

    async def obtain(
        self, drawn: DrawnRequest, attempt: Callable[[], Awaitable[Answer]], kind: type[Answer]
    ) -> tuple[Answer, bytes]:
        """The reply and its journal key (empty for players whose replies follow from the request)."""
        player = drawn.binding.player
        if not player.journaled:
            return await attempt(), b""
        # Where new weights may be behind a name, only this run may reuse the reply.
        key = drawn.key("" if player.identity.certain and not self._fresh else self._run)
        kept = await self._lookup(player.identity, key)
        if kept is None:
            answer, kept = await self._send(drawn, key, attempt, writes=kind is Reply)
            if kept is None:
                return answer, key
        return msgspec.msgpack.decode(kept, type=kind), key

    def stop(self, reason: Stopped) -> None:
        """Send nothing more; replies to requests in flight are still stored."""
        if self.stopping is None:
            self.stopping = reason
        self._interrupted |= reason.cause is StopCause.INTERRUPTED
        self._stop.set()
        if self._batches is not None:
            self._batches.stop(reason)
        for throttle in self.throttles.values():
            throttle.open()

    async def close(self) -> None:
        """End all waiting for batches."""
        if self._batches is not None:
            await self._batches.close(self._interrupted)

    def _ceiling(self, binding: RoleBinding, config: RunConfig) -> int:
        if self._batches is not None and self._batches.serves(binding):
            return MOST_WAITING
        return ceiling_of(binding, config.in_flight)

    async def _lookup(self, identity: Identity, key: bytes) -> bytes | None:
        known = self._known.get(identity)
        if known is None:
            # Other workers may store replies at any time, and leave them behind.
            known = self._known[identity] = self._shared is not None or self._journal.knows(identity)
        kept = await self._journal.find(key) if known else None
        if kept is not None:
            self._progress.from_journal += 1
        return kept

    async def _send(
        self, drawn: DrawnRequest, key: bytes, attempt: Callable[[], Awaitable[Answer]], *, writes: bool
    ) -> tuple[Answer, bytes | None]:
        """The reply once it is on disk, or the one that another process has stored for this draw."""
        endpoint = drawn.binding.player.identity.endpoint
        throttle = self.throttles[endpoint]
        for tried in itertools.count():
            epoch = await throttle.acquire()
            try:
                answer, usage, charge = await self._attempt(drawn, key, attempt, writes=writes)
                self._reached.add(endpoint)
                throttle.recover()
                identity, messages = drawn.binding.player.identity, drawn.request.messages
                entry = JournalEntry(key, identity, self._run, messages, _encode(answer), usage, charge)
                # The write is queued at once: a reply that was paid for is kept even when the episode is cancelled.
                kept = self._journal.keep(entry)
                if self._batches is not None:
                    self._batches.stored(drawn, key)
                return answer, await kept
            except MachineryError as error:
                failure = error
                if self._batches is not None:
                    self._batches.stored(drawn, key)
                if failure.slow_down:
                    # Before the place is given back: the next in line must find the gate closed.
                    throttle.slow_down(epoch, failure.retry_after_seconds)
                    self._progress.wait(failure.retry_after_seconds or 0.0)
            finally:
                # The place in flight is given back only when the reply is on disk: a process that is killed
                # loses no more replies than it may have requests in flight.
                throttle.release()
            last = not failure.retryable or tried >= self._retry_policy.retries
            never = failure.kind == UNREACHABLE and endpoint not in self._reached
            if never and (last or tried >= _TRIES_BEFORE_THE_FIRST_ANSWER):
                raise MachineryError(str(failure), failure.kind, fatal=True)
            if last:
                raise failure
            self._progress.retries += 1
            together = self._batches is not None and self._batches.serves(drawn.binding)
            policy = self._retry_policy
            wait = policy.batch_wait_seconds if together else policy.wait_seconds
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(wait(tried, failure.retry_after_seconds)):
                    await self._stop.wait()
        raise AssertionError("unreachable")

    async def _attempt(
        self, drawn: DrawnRequest, key: bytes, attempt: Callable[[], Awaitable[Answer]], *, writes: bool
    ) -> tuple[Answer, Usage, Charge]:
        talks = writes and not drawn.request.continuations and drawn.request.plain_text is None
        if self._batches is None or not talks:
            return await self._ask(drawn, attempt, self._prices.get(drawn.binding.spec), writes=writes)
        lane = await self._batches.lane(drawn, key)
        price = self._prices.get(drawn.binding.spec)
        if lane is None:
            answered = False
            try:
                found = await self._ask(drawn, attempt, price, writes=writes)
                answered = True
                return found
            finally:
                self._batches.tried(drawn, answered)
        self._batches.release(key)
        price = price.batched() if price else None
        return await self._ask(drawn, attempt, price, writes=writes, lane=lane, key=key)

    async def _ask(
        self,
        drawn: DrawnRequest,
        attempt: Callable[[], Awaitable[Answer]],
        price: Price | None,
        *,
        writes: bool,
        lane: Lane | None = None,
        key: bytes = b"",
    ) -> tuple[Answer, Usage, Charge]:
        if self.stopping is not None:
            raise self.stopping
        if self._shared is not None:
            self._shared.check()
        try:
            reservation = await self._budget.reserve(drawn.binding.label, drawn.request, price, writes=writes)
        except Stopped as limit:
            self.stop(limit)
            raise
        self._progress.sent += 1
        self._progress.in_flight += 1
        usage: Usage | None = None
        answered = waits = False
        try:
            if lane is None:
                answer = await attempt()
            else:
                # The answer to a request that writes is a reply.
                answer = cast(Answer, await lane.ask(key, drawn.request, reservation))
            answered = True
            usage = _countable(answer.usage) if isinstance(answer, Reply) else Usage()
        except MachineryError as error:
            # A request that reached no server used nothing; for others without a report the usage is unknown.
            tokens = (0, 0) if error.kind == UNREACHABLE else error.tokens
            usage = None if tokens is None else _countable(Usage(*tokens))
            raise
        except BaseException:
            waits = lane is not None
            raise
        finally:
            self._progress.in_flight -= 1
            if waits:
                self._budget.withdraw(reservation)
            else:
                charge = self._budget.settle(reservation, usage, price)
            if self._budget.exceeded is not None:
                self.stop(self._budget.exceeded)
            if not answered and not waits:
                self._journal.count_attempt(self._run, usage, charge)
        self._progress.answered += 1
        return answer, usage, charge


def _countable(usage: Usage) -> Usage:
    """The usage; impossible numbers count as not reported."""
    counts = (usage.input_tokens, usage.output_tokens)
    return Usage(*(count if count is not None and 0 <= count < _MOST_TOKENS else None for count in counts))
