"""This process's part in a run that several processes play: its leases, its share of the limits, and their renewal."""

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Callable

import msgspec

from sociometer.core.config import Caps
from sociometer.core.errors import Stopped
from sociometer.engine.budget import Budget
from sociometer.engine.plan import Plan
from sociometer.engine.progress import Progress
from sociometer.engine.throttle import Throttle, ceiling_of
from sociometer.engine.workers.shared_limits import Lost, SharedBudget, SharedThrottle
from sociometer.store.records import RunStatus, Spent
from sociometer.store.workers import Job, LostLeases, Pulse, Worker

_PULSE_SECONDS = 1.0
_SHORTEST_PAUSE_SECONDS = 0.2
_AT_ONCE = 500
_SOON_SECONDS = 0.25
_MOST_AHEAD = 256
_EMPTY_SECONDS = 0.5


class SharedRun:
    """A worker of a run: takes episodes, and stays within limits that hold for all workers."""

    def __init__(self, worker: Worker, plan: Plan) -> None:
        self._worker = worker
        self._urgent = asyncio.Event()
        self._budget: SharedBudget | None = None
        self._valid_until = _now() + worker.seconds
        self.throttles: dict[str, Throttle] = {}
        for binding in plan.bindings.values():
            identity = binding.player.identity
            ceiling = ceiling_of(binding, plan.config.in_flight)
            # A player inside this process has a limit of its own; a server has one for all workers.
            self.throttles[identity.endpoint] = (
                SharedThrottle(identity.endpoint, ceiling, worker, self._urgent)
                if identity.base_url
                else Throttle(ceiling)
            )

    async def start(self, spent: Spent, beside: Budget | None) -> SharedBudget:
        """Store the servers for all workers, take the first places, and return the budget."""
        for name, throttle in self._shared():
            await asyncio.to_thread(self._worker.open_endpoint, name, throttle.ceiling)
        requests, tokens, cost = await asyncio.to_thread(self._worker.caps)
        self._budget = SharedBudget(Caps(cost, requests, tokens), spent, beside, self._worker)
        await self._balance(await asyncio.to_thread(self._worker.pulse))
        return self._budget

    def check(self) -> None:
        """Raise `Lost` if the leases may have expired, by this machine's clock; called before each request."""
        if _now() > self._valid_until:
            raise Lost("the leases of this worker have expired")

    async def take(self, count: int) -> list[Job]:
        """Leases on episodes that nobody plays."""
        return await asyncio.to_thread(self._worker.take, min(count, _AT_ONCE))

    async def left(self) -> int:
        """The number of episodes left to play, by any worker; called when this one plays none.

        A lease whose confirmation was lost with a connection is released first: nobody else would play it.
        """
        await asyncio.to_thread(self._worker.give_back)
        return await asyncio.to_thread(self._worker.left)

    async def live(self, progress: Progress, stop: Callable[[Stopped], None]) -> None:
        """Renew the leases and balance the limits until cancelled; `stop` gets the reason to send nothing more."""
        while True:
            try:
                began = _now()
                pulse = await asyncio.to_thread(self._worker.pulse, _facts(progress))
                self._valid_until = began + self._worker.seconds
            except LostLeases as lost:
                self._valid_until = 0.0
                stop(Lost(str(lost)))
                return
            if pulse.status != RunStatus.PLAYING:
                stop(Stopped("another process stopped the run"))
            self._urgent.clear()
            await self._balance(pulse)
            await asyncio.sleep(_SHORTEST_PAUSE_SECONDS)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_PULSE_SECONDS):
                    await self._urgent.wait()

    async def give_back(self) -> None:
        """Release everything that is reserved and was not used; if the leases are lost, it was charged already."""
        if self._budget is not None:
            with contextlib.suppress(Lost):
                await self._budget.give_back(everything=True)

    async def _balance(self, pulse: Pulse) -> None:
        for name, throttle in self._shared():
            await throttle.balance(pulse.endpoints.get(name), pulse.live)
        if self._budget is not None:
            with contextlib.suppress(Lost):
                await self._budget.give_back()

    def _shared(self) -> list[tuple[str, SharedThrottle]]:
        return [(name, one) for name, one in self.throttles.items() if isinstance(one, SharedThrottle)]


class Leases:
    """Takes leases in advance: more if episodes are fast, one by one if they are slow."""

    def __init__(self, shared: SharedRun) -> None:
        self._shared = shared
        self._ready: deque[Job] = deque()
        self._ahead = 0
        self._taken_at = 0.0
        self._empty_until = 0.0

    @property
    def empty(self) -> bool:
        """Whether the last attempt found nothing to take."""
        return time.monotonic() < self._empty_until

    async def take(self, room: int) -> list[Job]:
        """At most so many episodes to play now."""
        now = time.monotonic()
        if room > len(self._ready) and not self.empty:
            fast = now - self._taken_at < _SOON_SECONDS
            self._ahead = min(_MOST_AHEAD, 2 * self._ahead + 1) if fast else self._ahead // 2
            taken = await self._shared.take(room - len(self._ready) + self._ahead)
            self._taken_at = time.monotonic()
            self._ready.extend(taken)
            if not taken:
                self._empty_until = time.monotonic() + _EMPTY_SECONDS
        return [self._ready.popleft() for _ in range(min(room, len(self._ready)))]


def _now() -> float:
    """A clock in seconds that also runs while the machine sleeps, if the system supports it."""
    # On macOS CLOCK_MONOTONIC goes on while the machine sleeps, and time.monotonic() does not.
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


def _facts(progress: Progress) -> str:
    """The counters that `runs --watch` shows."""
    spent = progress.budget.spent
    told = {
        "done": progress.done - progress.done_before,
        "failed": sum(progress.failed.values()),
        "in_flight": progress.in_flight,
        "sent": progress.sent,
        "retries": progress.retries,
        "from_journal": progress.from_journal,
        "seconds": round(progress.elapsed_seconds, 1),
        "tokens": spent.input_tokens + spent.output_tokens,
    }
    return msgspec.json.encode(told).decode()
