"""Counts what is spent, and holds it within hard caps, judges and simulators included."""

import asyncio

from msgspec import Struct

from sociometer.core.config import Caps
from sociometer.core.conversation import Message, Sampling, Usage
from sociometer.core.errors import StopCause, Stopped
from sociometer.engine.prices import Price
from sociometer.store.records import Spent

_BYTES_A_TOKEN = 2.0
"""Fewer than tokenizers need, for English as for Chinese, so that a reservation is not too small."""
_UNBOUNDED_REPLY_TOKENS = 4_096
_NOTHING = Spent(0, 0, 0, 0.0, 0, 0)


class Reservation(Struct, frozen=True):
    """What one request in flight may come to at most."""

    tokens: int
    cost: float


class Settled(Struct, frozen=True):
    """What a request came to: its cost (None: unknown), and what counts against the caps beyond what was reported."""

    cost: float | None
    charged_tokens: int = 0
    charged_cost: float = 0.0


class Budget:
    """What a run has spent, and what its requests in flight may still come to."""

    def __init__(self, caps: Caps, before: Spent = _NOTHING, beside: "Budget | None" = None) -> None:
        """`before` is what this run had paid for earlier; `beside` the budget of the command's previous run."""
        self.caps = caps
        self.requests = before.requests
        self.input_tokens = before.input_tokens
        self.output_tokens = before.output_tokens
        self.cost = before.cost
        self.unpriced = before.unpriced
        self.priced = before.priced
        self.unmetered = before.unmetered
        self._charged_tokens = before.charged_tokens
        self._charged_cost = before.charged_cost
        self._reserved_tokens = 0
        self._reserved_cost = 0.0
        self._in_flight = 0
        self._settled = asyncio.Event()
        self._start = (self.requests, self._tokens(), self._spent())
        self._beside = (0, 0, 0.0) if beside is None else beside.since_start()

    def since_start(self) -> tuple[int, int, float]:
        """Requests, tokens and cost of this command so far, the runs before this one included."""
        requests, tokens, cost = self._start
        earlier = self._beside
        return (
            earlier[0] + self.requests - requests,
            earlier[1] + self._tokens() - tokens,
            earlier[2] + self._spent() - cost,
        )

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
        self.requests += 1
        self._in_flight += 1
        self._reserved_tokens += reservation.tokens
        self._reserved_cost += reservation.cost
        return reservation

    def settle(self, reservation: Reservation, usage: Usage | None, price: Price | None) -> Settled:
        """Counts what a request really used (None: nothing came back)."""
        self._in_flight -= 1
        self._reserved_tokens -= reservation.tokens
        self._reserved_cost -= reservation.cost
        self._settled.set()
        if usage is None:
            return Settled(None)
        self.input_tokens += usage.input_tokens or 0
        self.output_tokens += usage.output_tokens or 0
        charged_tokens = 0
        if usage.input_tokens is None or usage.output_tokens is None:
            self.unmetered += 1
            charged_tokens = reservation.tokens
        cost = price.of(usage) if price else None
        if cost is None:
            self.unpriced += 1
        else:
            self.priced += 1
        self.cost += cost or 0.0
        charged_cost = reservation.cost if cost is None else 0.0
        self._charged_tokens += charged_tokens
        self._charged_cost += charged_cost
        return Settled(cost, charged_tokens, charged_cost)

    def _tokens(self) -> int:
        return self.input_tokens + self.output_tokens + self._charged_tokens

    def _spent(self) -> float:
        return self.cost + self._charged_cost

    def _against(self, reservation: Reservation) -> Stopped | None:
        """The cap that the next request would break, if any."""
        caps, beside = self.caps, self._beside
        if caps.max_requests is not None and beside[0] + self.requests >= caps.max_requests:
            return Stopped(f"--max-requests {caps.max_requests} is reached", StopCause.MAX_REQUESTS)
        tokens = beside[1] + self._tokens() + self._reserved_tokens + reservation.tokens
        if caps.max_tokens is not None and tokens > caps.max_tokens:
            return Stopped(f"the next request could exceed --max-tokens {caps.max_tokens}", StopCause.MAX_TOKENS)
        cost = beside[2] + self._spent() + self._reserved_cost + reservation.cost
        if caps.max_cost is not None and cost > caps.max_cost:
            return Stopped(f"the next request could exceed --max-cost {caps.max_cost:g}", StopCause.MAX_COST)
        return None


def _largest(price: Price | None, messages: tuple[Message, ...], sampling: Sampling) -> Reservation:
    size = sum(len(message.content.encode("utf-8", "replace")) for message in messages)
    read = int(size / _BYTES_A_TOKEN) + 8 * len(messages)
    written = sampling.max_tokens or _UNBOUNDED_REPLY_TOKENS
    cost = (read * price.input + written * price.output) / 1e6 if price else 0.0
    return Reservation(read + written, cost)
