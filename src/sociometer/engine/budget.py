"""Counts what is spent, and holds it within hard caps, judges and simulators included."""

import asyncio

from msgspec import Struct

from sociometer.core.config import Caps
from sociometer.core.conversation import Message, Sampling, Usage
from sociometer.core.errors import StopCause, Stopped
from sociometer.engine.prices import Price
from sociometer.store.records import Charge, Spent

_BYTES_A_TOKEN = 2.0
"""Fewer than tokenizers need, for English as for Chinese, so that a reservation is not too small."""
_UNBOUNDED_REPLY_TOKENS = 4_096


class Reservation(Struct, frozen=True):
    """What one request in flight may come to at most."""

    tokens: int
    cost: float

    def plus(self, other: "Reservation", times: int = 1) -> "Reservation":
        """The sum of both."""
        return Reservation(self.tokens + times * other.tokens, self.cost + times * other.cost)


class Budget:
    """What a run has spent, and what its requests in flight may still come to."""

    def __init__(self, caps: Caps, spent: Spent | None = None, beside: "Budget | None" = None) -> None:
        """`spent` is what this run had paid for earlier; `beside` the budget of the command's previous run."""
        self.caps = caps
        self.spent = spent or Spent()
        self._reserved = Reservation(0, 0.0)
        self._in_flight = 0
        self._settled = asyncio.Event()
        self._start = self.spent.against_caps
        self._beside = (0, 0, 0.0) if beside is None else beside.since_start()

    def since_start(self) -> tuple[int, int, float]:
        """Requests, tokens and cost of this command so far, the runs before this one included."""
        earlier, now, start = self._beside, self.spent.against_caps, self._start
        return earlier[0] + now[0] - start[0], earlier[1] + now[1] - start[1], earlier[2] + now[2] - start[2]

    async def reserve(self, price: Price | None, messages: tuple[Message, ...], sampling: Sampling) -> Reservation:
        """Sets aside what a request may come to; where that does not fit, waits for others in flight to come to less.

        Raises Stopped, before anything is sent, once nothing is in flight and it still does not fit.
        """
        reservation = Reservation(0, 0.0)
        if self.caps.max_tokens is not None or self.caps.max_cost is not None:
            reservation = _largest(price, messages, sampling)
        while (stop := self._against(reservation)) is not None:
            if not self._in_flight or stop.cause is StopCause.MAX_REQUESTS:
                raise stop
            self._settled.clear()
            await self._settled.wait()
        self.spent.requests += 1
        self._in_flight += 1
        self._reserved = self._reserved.plus(reservation)
        return reservation

    def settle(self, reservation: Reservation, usage: Usage | None, price: Price | None) -> Charge:
        """Counts what a request really used (None: nothing came back)."""
        self._in_flight -= 1
        self._reserved = self._reserved.plus(reservation, -1)
        self._settled.set()
        if usage is None:
            return Charge(None)
        spent = self.spent
        spent.input_tokens += usage.input_tokens or 0
        spent.output_tokens += usage.output_tokens or 0
        unmetered = usage.input_tokens is None or usage.output_tokens is None
        cost = price.of(usage) if price else None
        charge = Charge(cost, reservation.tokens * unmetered, reservation.cost if cost is None else 0.0)
        spent.unmetered += unmetered
        spent.unpriced += cost is None
        spent.priced += cost is not None
        spent.cost += cost or 0.0
        spent.charged_tokens += charge.charged_tokens
        spent.charged_cost += charge.charged_cost
        return charge

    def _against(self, reservation: Reservation) -> Stopped | None:
        """The cap that the next request would break, if any."""
        caps = self.caps
        requests, tokens, cost = (one + other for one, other in zip(self._beside, self.spent.against_caps, strict=True))
        most = self._reserved.plus(reservation)
        if caps.max_requests is not None and requests >= caps.max_requests:
            return Stopped(f"--max-requests {caps.max_requests} is reached", StopCause.MAX_REQUESTS)
        if caps.max_tokens is not None and tokens + most.tokens > caps.max_tokens:
            return Stopped(f"the next request could exceed --max-tokens {caps.max_tokens}", StopCause.MAX_TOKENS)
        if caps.max_cost is not None and cost + most.cost > caps.max_cost:
            return Stopped(f"the next request could exceed --max-cost {caps.max_cost:g}", StopCause.MAX_COST)
        return None


def _largest(price: Price | None, messages: tuple[Message, ...], sampling: Sampling) -> Reservation:
    size = sum(len(message.content.encode("utf-8", "replace")) for message in messages)
    read = int(size / _BYTES_A_TOKEN) + 8 * len(messages)
    written = sampling.max_tokens or _UNBOUNDED_REPLY_TOKENS
    cost = (read * price.input + written * price.output) / 1e6 if price else 0.0
    return Reservation(read + written, cost)
