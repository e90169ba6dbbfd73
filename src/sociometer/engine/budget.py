"""Hard caps on what a run may spend, judges and simulators included."""

from msgspec import Struct

from sociometer.core.conversation import Message, Sampling, Usage
from sociometer.core.errors import LimitReached, UsageError
from sociometer.engine.prices import Price
from sociometer.store.records import Spent

_CHARACTERS_A_TOKEN = 2.0
"""Fewer than any tokenizer of a hosted model needs for English, so that a reservation is never too small there."""
_UNBOUNDED_REPLY_TOKENS = 4_096


class Caps(Struct, frozen=True, omit_defaults=True):
    """What the user allows; None means no cap."""

    max_cost: float | None = None
    max_requests: int | None = None
    max_tokens: int | None = None

    def __post_init__(self) -> None:
        for name in ("max_cost", "max_requests", "max_tokens"):
            value = getattr(self, name)
            if value is not None and value < 0:
                raise UsageError(f"--{name.replace('_', '-')} must not be negative, not {value}.")


class Reservation(Struct, frozen=True):
    """What one request in flight may come to at most."""

    tokens: int
    cost: float


class Budget:
    """Counts what was spent, and what the requests in flight may still come to."""

    def __init__(self, caps: Caps, before: Spent | None = None) -> None:
        """`before` is what this run had already paid for when it was stopped."""
        self.caps = caps
        self.requests = before.requests if before else 0
        self.input_tokens = before.input_tokens if before else 0
        self.output_tokens = before.output_tokens if before else 0
        self.cost = before.cost if before else 0.0
        self.unpriced = before.unpriced if before else 0
        self.unmetered = before.unmetered if before else 0
        self._reserved_tokens = 0
        self._reserved_cost = 0.0

    def reserve(self, price: Price | None, messages: tuple[Message, ...], sampling: Sampling) -> Reservation:
        """Sets aside what a request may cost, or raises LimitReached before it is sent."""
        caps = self.caps
        if caps.max_requests is not None and self.requests >= caps.max_requests:
            raise LimitReached(f"--max-requests {caps.max_requests} is reached")
        reservation = Reservation(0, 0.0)
        if caps.max_tokens is not None or caps.max_cost is not None:
            reservation = _largest(price, messages, sampling)
            self._refuse_beyond(reservation)
        self.requests += 1
        self._reserved_tokens += reservation.tokens
        self._reserved_cost += reservation.cost
        return reservation

    def settle(self, reservation: Reservation, usage: Usage | None, price: Price | None) -> float | None:
        """Counts what a request really used (None: no reply came); gives its cost, None where unknown."""
        self._reserved_tokens -= reservation.tokens
        self._reserved_cost -= reservation.cost
        if usage is None:
            return None
        self.input_tokens += usage.input_tokens or 0
        self.output_tokens += usage.output_tokens or 0
        if usage.input_tokens is None or usage.output_tokens is None:
            self.unmetered += 1
            # An unreported reply still counts against the cap, at the most it can have been.
            self.output_tokens += reservation.tokens
        cost = price.of(usage) if price else None
        if cost is None:
            self.unpriced += 1
            self.cost += reservation.cost
        else:
            self.cost += cost
        return cost

    def _refuse_beyond(self, reservation: Reservation) -> None:
        caps = self.caps
        tokens = self.input_tokens + self.output_tokens + self._reserved_tokens + reservation.tokens
        if caps.max_tokens is not None and tokens > caps.max_tokens:
            raise LimitReached(f"--max-tokens {caps.max_tokens} would be passed by the next request")
        if caps.max_cost is not None and self.cost + self._reserved_cost + reservation.cost > caps.max_cost:
            raise LimitReached(f"--max-cost {caps.max_cost:g} would be passed by the next request")


def _largest(price: Price | None, messages: tuple[Message, ...], sampling: Sampling) -> Reservation:
    characters = sum(len(message.content) for message in messages)
    read = int(characters / _CHARACTERS_A_TOKEN) + 8 * len(messages)
    written = sampling.max_tokens or _UNBOUNDED_REPLY_TOKENS
    cost = (read * price.input + written * price.output) / 1e6 if price else 0.0
    return Reservation(read + written, cost)
