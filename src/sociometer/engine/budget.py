"""Counts requests, tokens and cost of all roles, and enforces the hard caps.

The worst case of a request is reserved on disk before it is sent, and counts as spent until the server reports its
actual usage. So a cap holds even if the process is killed, provided that servers respect the reply limit. Whether they
do is tried with one request, then two, four and so on in flight, as many as leave room under the cap if each used
eight times its worst case. After a reply above its limit, requests to the model reserve the longest reply seen; after
one that used more than its whole request could, nothing more is sent.
"""

import asyncio
from collections.abc import Awaitable, Callable
from operator import gt

import msgspec
from msgspec import Struct

from sociometer.core.config import Caps
from sociometer.core.conversation import Request, Schema, Usage
from sociometer.core.errors import StopCause, Stopped, UsageError, hint
from sociometer.engine.prices import Price
from sociometer.store.records import Charge, Spent

_TOKENS_A_MESSAGE = 32
"""The maximum number of tokens that a chat template adds to a message; a text has at most one token for each byte."""
_TOKENS_OF_TOOLS = 1024
"""More than a server adds to explain tools to its model, besides their definitions."""
_AHEAD, _SHARE = 8, 32
"""How many further requests are reserved on disk at once, which a killed run is charged for: at most the first number,
and at most one of so many that still fit under the cap."""

_MARGIN = 8
"""How many times its worst case each of several requests in flight could use before a cap is exceeded."""


class Reservation(Struct, frozen=True):
    """The worst case of requests."""

    tokens: int = 0
    cost: float = 0.0
    model: str = ""
    written: int = 0
    """The limit of the reply, as far as the model keeps to it; 0 if it writes none."""

    def plus(self, other: "Reservation", times: int = 1) -> "Reservation":
        """The sum of both."""
        return Reservation(self.tokens + times * other.tokens, self.cost + times * other.cost)


class Budget:
    """What a run has spent, and the worst case of its requests in flight."""

    def __init__(
        self,
        caps: Caps,
        spent: Spent | None = None,
        beside: tuple[int, int, float] = (0, 0, 0.0),
        allow: Callable[[int, int, float], Awaitable[object]] | None = None,
    ) -> None:
        """`spent` is what this run had paid for earlier; `beside` what the other runs of the command have spent.

        `allow` writes the worst case of the whole run to disk.
        """
        self.caps = caps
        self.spent = spent or Spent()
        self.written_before = self.spent.output_tokens
        self.exceeded: Stopped | None = None
        """Set when a reply used more than was reserved for it."""
        self._allow = allow if caps != Caps() else None
        self._allowed = (0, 0, 0.0)
        self._allowing = asyncio.Lock()
        self._reserved = Reservation()
        self._in_flight: dict[str, int] = {}
        self._most_in_flight: dict[str, int] = {}
        self._longest_reply: dict[str, int] = {}
        self._settled = asyncio.Event()
        self._beside = beside

    async def reserve(self, model: str, request: Request, price: Price | None, *, writes: bool = True) -> Reservation:
        """Reserve the worst case of a request; if it does not fit, wait for requests in flight to end.

        Raises Stopped, before anything is sent, if nothing is in flight and it still does not fit.
        """
        while True:
            reservation = Reservation(model=model)
            if self._is_metered():
                reservation = worst_case(model, request, price, writes, self._longest_reply.get(model, 0))
            stop = self._against(reservation)
            if self.exceeded is not None:
                raise self.exceeded
            if stop is None and self._may_join(reservation):
                break
            if stop is not None and (not self._in_flight or stop.cause is StopCause.MAX_REQUESTS):
                self._refuse_a_cap_below_one_request(reservation, request, price)
                raise stop
            self._settled.clear()
            await self._settled.wait()
        self.spent.requests += 1
        self._in_flight[model] = self._in_flight.get(model, 0) + 1
        self._reserved = self._reserved.plus(reservation)
        try:
            await self._write_down(reservation)
        except BaseException:
            self.withdraw(reservation)
            raise
        return reservation

    @property
    def settled_requests(self) -> int:
        """How many requests of the run were sent and have ended."""
        return self.spent.requests - sum(self._in_flight.values())

    def withdraw(self, reservation: Reservation) -> None:
        """End a reservation without a charge: the request was not sent."""
        self._give_back(reservation)
        self.spent.requests -= 1

    def settle(self, reservation: Reservation, usage: Usage | None, price: Price | None) -> Charge:
        """Count the actual usage of a request.

        If the server did not report all of it, the worst case counts, or what it did report if that is more.
        """
        self._give_back(reservation)
        spent, used = self.spent, usage or Usage()
        known = Usage(used.input_tokens or 0, used.output_tokens or 0)
        total = (known.input_tokens or 0) + (known.output_tokens or 0)
        spent.input_tokens += known.input_tokens or 0
        spent.output_tokens += known.output_tokens or 0
        unmetered = used.input_tokens is None or used.output_tokens is None
        cost = price.of(used) if price else None
        least = price.of(known) if price and self._is_metered() else None
        charge = Charge(
            cost,
            max(0, reservation.tokens - total) if unmetered else 0,
            max(reservation.cost, least or 0.0) if cost is None else 0.0,
        )
        if usage not in (None, Usage(0, 0)):
            spent.unmetered += unmetered
            spent.unpriced += cost is None
            spent.priced += cost is not None
        spent.cost += cost or 0.0
        spent.charged_tokens += charge.charged_tokens
        spent.charged_cost += charge.charged_cost
        if self._is_metered() and total > reservation.tokens:
            cause = StopCause.MAX_TOKENS if self.caps.max_tokens is not None else StopCause.MAX_COST
            self.exceeded = Stopped(
                f"{reservation.model} used {total:,} tokens for a request limited to {reservation.tokens:,}:"
                f" it ignores its reply limit, so {cause} cannot be guaranteed",
                cause,
            )
        elif not unmetered:
            self._learn(reservation, used.output_tokens or 0, cost or 0.0)
        return charge

    def _learn(self, reservation: Reservation, written: int, cost: float) -> None:
        """One more request may be in flight after a reply within its limit; only one after any other."""
        model = reservation.model
        if reservation.written and (written > reservation.written or cost > reservation.cost):
            self._longest_reply[model] = max(self._longest_reply.get(model, 0), written)
            self._most_in_flight[model] = 1
        else:
            self._most_in_flight[model] = self._most_in_flight.get(model, 1) + 1

    def _is_metered(self) -> bool:
        return self.caps.max_tokens is not None or self.caps.max_cost is not None

    def _may_join(self, reservation: Reservation) -> bool:
        """Whether one more request may be in flight: the model has respected its reply limit, and enough is left."""
        model = reservation.model
        most, in_flight = self._most_in_flight.get(model, 1), self._in_flight.get(model, 0)
        if not self._is_metered():
            return True
        return in_flight < most and (not self._in_flight or self._leaves_room(self._reserved.plus(reservation)))

    def _leaves_room(self, in_flight: Reservation) -> bool:
        """Whether the caps hold even if requests in flight use several times their worst case, as a server may turn."""
        caps, (_, tokens, cost) = self.caps, self.spent.against_caps
        tokens, cost = tokens + self._beside[1], cost + self._beside[2]
        return (caps.max_tokens is None or tokens + _MARGIN * in_flight.tokens <= caps.max_tokens) and (
            caps.max_cost is None or cost + _MARGIN * in_flight.cost <= caps.max_cost
        )

    def _give_back(self, reservation: Reservation) -> None:
        self._in_flight[reservation.model] -= 1
        if not self._in_flight[reservation.model]:
            del self._in_flight[reservation.model]
        self._reserved = self._reserved.plus(reservation, -1)
        self._settled.set()

    def _at_most(self) -> tuple[int, int, float]:
        requests, tokens, cost = self.spent.against_caps
        return requests, tokens + self._reserved.tokens, cost + self._reserved.cost

    async def _write_down(self, reservation: Reservation) -> None:
        """Make sure that the worst case is on disk before the request is sent."""
        if self._allow is None or not any(map(gt, self._at_most(), self._allowed)):
            return
        async with self._allowing:
            most = self._at_most()
            if any(map(gt, most, self._allowed)):
                ahead = self._ahead(most, reservation)
                allowed = most[0] + ahead, most[1] + ahead * reservation.tokens, most[2] + ahead * reservation.cost
                await self._allow(*allowed)
                self._allowed = allowed

    def _ahead(self, most: tuple[int, int, float], reservation: Reservation) -> int:
        """The number of further requests to reserve on disk with one that is about to be sent."""
        caps, one = (self.caps.max_requests, self.caps.max_tokens, self.caps.max_cost), (1, reservation.tokens)
        fit = [
            (cap - beside - now) / size
            for cap, beside, now, size in zip(caps, self._beside, most, (*one, reservation.cost), strict=True)
            if cap is not None and size
        ]
        return max(0, int(min([_AHEAD, *(room / _SHARE for room in fit)])))

    def _against(self, reservation: Reservation) -> Stopped | None:
        """The cap that the next request could exceed, if any."""
        caps = self.caps
        requests, tokens, cost = (one + other for one, other in zip(self._beside, self._at_most(), strict=True))
        if caps.max_requests is not None and requests >= caps.max_requests:
            return Stopped(f"--max-requests {caps.max_requests} is reached", StopCause.MAX_REQUESTS)
        if caps.max_tokens is not None and tokens + reservation.tokens > caps.max_tokens:
            return Stopped(f"the next request could exceed --max-tokens {caps.max_tokens}", StopCause.MAX_TOKENS)
        if caps.max_cost is not None and cost + reservation.cost > caps.max_cost:
            return Stopped(f"the next request could exceed --max-cost {caps.max_cost:g}", StopCause.MAX_COST)
        return None

    def _refuse_a_cap_below_one_request(self, reservation: Reservation, request: Request, price: Price | None) -> None:
        """Raise a UsageError, before anything is sent, if a cap is too small for a single request."""
        caps = self.caps
        if self.spent.requests or self._beside[0] or not self._is_metered():
            return
        read = _read_at_most(request)
        room = float("inf") if caps.max_tokens is None else float(caps.max_tokens - read)
        if caps.max_cost is not None and price is not None and price.output:
            room = min(room, (caps.max_cost * 1e6 - read * price.input) / price.output)
        cap = f"--max-tokens {caps.max_tokens}" if caps.max_cost is None else f"--max-cost {caps.max_cost:g}"
        needed = f"{reservation.tokens:,} tokens" + (f", ${reservation.cost:.4f}" if reservation.cost else "")
        advice = f"give -o reply-tokens={int(room)} or less, or raise the cap" if room >= 1 else "raise the cap"
        raise UsageError(f"{cap} is less than one request to {reservation.model} can use ({needed}); {advice}.")


def _read_at_most(request: Request) -> int:
    """The maximum number of tokens of a prompt: one per byte, plus those of the chat template."""
    size = sum(len(message.content.encode("utf-8", "replace")) for message in request.messages)
    if isinstance(request.answer_format, Schema):
        size += len(msgspec.json.encode(request.answer_format.schema))
    if request.tools:
        # A template may write the definitions with spaces and line breaks.
        size += _TOKENS_OF_TOOLS + 2 * len(msgspec.json.encode(request.tools))
    return size + _TOKENS_A_MESSAGE * (len(request.messages) + 1)


def worst_case(model: str, request: Request, price: Price | None, writes: bool, longest: int) -> Reservation:
    """The most that a request can use, also if the model writes its longest reply again.

    Raises a UsageError if its reply has no limit.
    """
    read = _read_at_most(request)
    written = (request.sampling.max_tokens or (price.max_output if price else None)) if writes else 0
    if written is None:
        raise UsageError(
            f"replies of {model} (role '{request.role}') have no length limit, so a cap on tokens or cost cannot be"
            " guaranteed; give -o reply-tokens=N for the subject, or add max_output to the model's entry in your price"
            f" list ('{hint('check')}' prints its path)."
        )
    written = max(written, longest) if writes else 0
    cost = (read * price.input + written * price.output) / 1e6 if price else 0.0
    return Reservation(read + written, cost, model, written)
