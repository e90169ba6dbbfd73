"""Limits the requests in flight at one endpoint: halves the limit if the server is overloaded, then raises it again."""

import asyncio
from collections import deque

from sociometer.core.errors import MachineryError, Stopped
from sociometer.core.player import Player
from sociometer.engine.progress import Progress

_LONGEST_WAIT_SECONDS = 600.0
_YEAR_SECONDS = 365 * 86_400.0


class Throttle:
    """An adaptive limit on requests in flight; waiters are served in order.

    Additive increase, multiplicative decrease. Replies to requests that were sent before the last halving do not halve
    it again, so a burst of 429s counts once.
    """

    def __init__(self, ceiling: int, *, first_alone: bool = False) -> None:
        """With `first_alone`, one request at a time is in flight until `begin`."""
        self.ceiling = ceiling
        self.first_alone = first_alone
        self.limit = 1.0 if first_alone else float(ceiling)
        self.in_flight = 0
        self._waiters: deque[asyncio.Future[None]] = deque()
        self._epoch = 0
        self._opened = False
        self._open_at = 0.0
        self._timer: asyncio.TimerHandle | None = None

    async def acquire(self) -> int:
        """Take a slot when one is free; return the token for `slow_down`. `release` frees the slot."""
        if self._may_send() and not self._waiters:
            self.in_flight += 1
            return self._epoch
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.append(future)
        self._wake()
        try:
            await future
        except asyncio.CancelledError:
            if future.done() and not future.cancelled():
                self.release()
            raise
        return self._epoch

    def release(self) -> None:
        """Free a slot."""
        self.in_flight -= 1
        self._wake()

    def begin(self) -> None:
        """Let others follow the first request, which the server answered."""
        if self.first_alone:
            self.first_alone, self.limit = False, float(self.ceiling)

    def slow_down(self, sent_in: int, retry_after_seconds: float | None = None) -> None:
        """Halve the limit, and send nothing until the time that the server asked for."""
        if sent_in == self._epoch:
            self._epoch += 1
            self.limit = max(1.0, self.limit / 2)
        if retry_after_seconds:
            self._open_at = max(self._open_at, asyncio.get_running_loop().time() + retry_after_seconds)

    def recover(self) -> None:
        """Raise the limit after a reply, by one request for each full round."""
        if self.limit < self.ceiling:
            self.limit = min(float(self.ceiling), self.limit + 1 / self.limit)

    def open(self) -> None:
        """Wake all waiters, because nothing more will be sent; each of them then raises an error."""
        self._opened = True
        self._wake()

    def _may_send(self) -> bool:
        if self._opened:
            return True
        if self.in_flight >= int(self.limit):
            return False
        return not self._open_at or asyncio.get_running_loop().time() >= self._open_at

    def _wake(self) -> None:
        while self._waiters and self._may_send():
            future = self._waiters.popleft()
            if not future.done():
                self.in_flight += 1
                future.set_result(None)
        if self._waiters and self._timer is None and self.in_flight < int(self.limit):
            loop = asyncio.get_running_loop()
            self._timer = loop.call_at(max(self._open_at, loop.time()), self._timer_fired)

    def _timer_fired(self) -> None:
        self._timer = None
        self._wake()


def ceiling_of(player: Player, in_flight: int) -> int:
    """The limit of requests in flight: for each replica that of the run, or less if it answers fewer at once."""
    return player.replicas * (min(in_flight, player.most_in_flight or in_flight) if player.parallel else 1)


def wait_asked(failure: MachineryError, server: str, progress: Progress) -> float:
    """The seconds that a server asks to wait, which the progress shows; Stopped if they are more than ten minutes."""
    seconds = failure.retry_after_seconds or 0.0
    if seconds > _LONGEST_WAIT_SECONDS:
        minutes = min(seconds, _YEAR_SECONDS) / 60
        raise Stopped(f"{server} asks to wait {minutes:,.0f} min, and a run waits at most 10 min ({failure})")
    progress.wait(seconds, server)
    return seconds
