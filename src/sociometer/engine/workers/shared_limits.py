"""Limits that hold for all workers of a run together: spending, and requests in flight to a server."""

import asyncio

from sociometer.core.config import Caps
from sociometer.core.conversation import Request, Usage
from sociometer.core.errors import StopCause, Stopped
from sociometer.engine.budget import Budget, Reservation, worst_case
from sociometer.engine.prices import Price
from sociometer.engine.throttle import Throttle
from sociometer.store.records import Charge, Spent
from sociometer.store.workers import Amount, EndpointState, LostLeases, Worker

_BLOCK = 8
"""The number of further requests that are reserved at once."""
_WAIT_SECONDS = 0.25
_NOTHING: Amount = (0, 0, 0.0)


class Lost(Stopped):
    """The leases of this worker have expired: it must join again."""


class SharedBudget(Budget):
    """A worker's part of a run's budget: it reserves from the run's row before a request, in blocks."""

    def __init__(self, caps: Caps, spent: Spent, beside: Budget | None, worker: Worker) -> None:
        """`caps` are those of the run's row: the command's caps minus what its earlier runs have spent."""
        super().__init__(caps, spent, beside)
        self._worker = worker
        self._free: Amount = _NOTHING
        self._asking = asyncio.Lock()

    async def reserve(self, model: str, request: Request, price: Price | None, *, writes: bool = True) -> Reservation:
        if self.caps == Caps():
            return await super().reserve(model, request, price, writes=writes)
        metered = self._is_metered()
        reservation = worst_case(model, request, price, writes) if metered else Reservation(model=model)
        need: Amount = (1, reservation.tokens, reservation.cost)
        while True:
            if self.exceeded is not None:
                raise self.exceeded
            if not self._may_join(model):
                await self._next_settled()
            elif self._covers(need):
                break
            elif not await self._ask(need):
                await self._wait_or_stop(need, reservation, request, price)
        self._free = _plus(self._free, need, -1)
        self._count(reservation)
        return reservation

    def settle(self, reservation: Reservation, usage: Usage | None, price: Price | None) -> Charge:
        charge = super().settle(reservation, usage, price)
        used = usage or Usage()
        tokens = (used.input_tokens or 0) + (used.output_tokens or 0) + charge.charged_tokens
        cost = (charge.cost or 0.0) + charge.charged_cost
        self._free = _plus(self._free, (0, reservation.tokens - tokens, reservation.cost - cost))
        return charge

    async def give_back(self, *, everything: bool = False) -> None:
        """Return what is reserved and not needed: everything, or only if no request is in flight."""
        if self.caps != Caps() and self._free != _NOTHING and (everything or not self._in_flight):
            async with self._asking:
                await self._return_free()

    def _covers(self, need: Amount) -> bool:
        return all(free >= part for free, part in zip(self._free, need, strict=True))

    async def _ask(self, need: Amount) -> bool:
        """Reserve a block of requests, or only this one; whatever is free is used first."""
        async with self._asking:
            if self._covers(need):
                return True
            for times in (_BLOCK, 1):
                more = [max(0, times * part - free) for part, free in zip(need, self._free, strict=True)]
                if await self._change((int(more[0]), int(more[1]), float(more[2]))):
                    return True
            # What is free of one kind may be what another worker lacks.
            await self._return_free()
            return await self._change(need)

    async def _change(self, more: Amount) -> bool:
        """Reserve more, if the caps allow it."""
        done = await self._tell(more, self._free[0] + more[0])
        if done:
            self._free = _plus(self._free, more)
        return done

    async def _return_free(self) -> None:
        """Release everything that is free; it is removed first, so that no request can use it meanwhile."""
        free, self._free = self._free, _NOTHING
        await self._tell(_plus(_NOTHING, free, -1), 0, within_caps=False)

    async def _tell(self, more: Amount, free: int, *, within_caps: bool = True) -> bool:
        reserved = max(0, sum(self._in_flight.values()) + free)
        try:
            return await asyncio.to_thread(self._worker.reserve, more, reserved, within_caps=within_caps)
        except LostLeases as lost:
            raise Lost(str(lost)) from None

    async def _wait_or_stop(
        self, need: Amount, reservation: Reservation, request: Request, price: Price | None
    ) -> None:
        """Wait until requests in flight release something; if there are none, raise Stopped with the reached cap."""
        reached = self._reached(await asyncio.to_thread(self._worker.at_most), need)
        if self._in_flight and (reached is None or reached.cause is not StopCause.MAX_REQUESTS):
            await self._next_settled()
        elif await asyncio.to_thread(self._worker.others_reserve):
            await asyncio.sleep(_WAIT_SECONDS)
        elif reached is not None:
            self._refuse_a_cap_below_one_request(reservation, request, price)
            raise reached

    def _reached(self, most: Amount, need: Amount) -> Stopped | None:
        caps = self.caps
        if caps.max_requests is not None and most[0] + need[0] > caps.max_requests:
            return Stopped(f"--max-requests {caps.max_requests} is reached", StopCause.MAX_REQUESTS)
        if caps.max_tokens is not None and most[1] + need[1] > caps.max_tokens:
            return Stopped(f"the next request could exceed --max-tokens {caps.max_tokens}", StopCause.MAX_TOKENS)
        if caps.max_cost is not None and most[2] + need[2] > caps.max_cost:
            return Stopped(f"the next request could exceed --max-cost {caps.max_cost:g}", StopCause.MAX_COST)
        return None


def _plus(one: Amount, other: Amount, times: int = 1) -> Amount:
    return one[0] + times * other[0], one[1] + times * other[1], one[2] + times * other[2]


class SharedThrottle(Throttle):
    """A worker's places in flight to one server; `balance` takes and returns them as the workers come and go."""

    def __init__(self, endpoint: str, ceiling: int, worker: Worker, urgent: asyncio.Event) -> None:
        """`urgent` is set when `balance` should not wait: a server asked to slow down, or places are missing."""
        super().__init__(ceiling)
        self.limit = 0.0
        self._endpoint = endpoint
        self._worker = worker
        self._urgent = urgent
        self._replies = 0
        self._held = 0
        self._share = ceiling
        self._known_epoch = 0
        self._told: list[tuple[int, float]] = []

    @property
    def places(self) -> int:
        return self._share

    async def acquire(self) -> int:
        if self._held < self._share and not self._may_send():
            self._urgent.set()
        return await super().acquire()

    def slow_down(self, sent_in: int, retry_after_seconds: float | None = None) -> None:
        super().slow_down(sent_in, retry_after_seconds)
        self._told.append((self._known_epoch, retry_after_seconds or 0.0))
        self._urgent.set()

    def recover(self) -> None:
        self._replies += 1

    async def balance(self, state: EndpointState | None, live: int) -> None:
        """Exchange the server's messages with the other workers, and hold a fair share of the places."""
        told, self._told = self._told, []
        for epoch, wait in told:
            await asyncio.to_thread(self._worker.slow_down, self._endpoint, epoch, wait)
        if state is None or told:
            # The next pulse brings the new limit.
            return
        if state.epoch != self._known_epoch:
            self._known_epoch = state.epoch
            self._epoch += 1
        if state.wait_seconds > 0:
            loop = asyncio.get_running_loop()
            self._open_at = max(self._open_at, loop.time() + state.wait_seconds)
        replies, self._replies = self._replies, 0
        if replies and state.bound < self.ceiling:
            await asyncio.to_thread(self._worker.recover, self._endpoint, replies)
        self._share = share = max(1, -(-int(state.bound) // max(1, live)))
        # All of the share while something waits, and only what is in flight while nothing does.
        needed = min(self.in_flight, self._held)
        wanted = max(needed, share if self._waiters else min(share, needed + 1))
        if wanted != self._held:
            self._held = await asyncio.to_thread(self._worker.slots, self._endpoint, wanted)
        self.limit = float(min(self._held, share))
        self._wake()
