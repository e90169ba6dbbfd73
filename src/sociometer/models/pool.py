"""Several copies of one model as one player: servers with the same weights, or replicas on a cluster."""

import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from msgspec import structs

from sociometer.core.conversation import Identity, Message, Reply, Request
from sociometer.core.errors import MachineryError, Unreachable
from sociometer.core.player import Player

_FIRST_REST_SECONDS = 1.0
_LONGEST_REST_SECONDS = 60.0
_MOST_DIALOGUES = 10_000


class Member:
    """One copy of the model, with its load; after a failure it rests, and then gets one request at a time."""

    def __init__(self, target: Any) -> None:
        """`target` is what answers: the player of a server, or an actor."""
        self.target = target
        self.in_flight = 0
        self.sent = 0
        self.failures = 0
        """How often it failed since it last worked."""
        self.rests_until = 0.0
        self._rested_at = 0.0
        self._trials = 0

    def rest(self, sent_at: float, seconds: float | None = None, trials: int = 1) -> None:
        """Leave it out for this long, by default for a time that doubles with each failure.

        A failure of a request that was sent before the last rest is not counted again. The member works again when it
        has answered `trials` requests.
        """
        now = time.monotonic()
        if sent_at >= self._rested_at:
            self.failures += 1
            self.rests_until = now + min(_LONGEST_REST_SECONDS, _FIRST_REST_SECONDS * 2.0 ** (self.failures - 1))
            self._rested_at, self._trials = now, trials
        if seconds:
            self.rests_until = now + seconds

    def answered(self) -> None:
        self._trials -= 1
        if self._trials <= 0:
            self._trials = self.failures = 0

    def is_ready(self) -> bool:
        return time.monotonic() >= self.rests_until and not (self.failures and self.in_flight)


class Pool(Player):
    """Spreads requests over its members by their load; a subclass gives `answer`."""

    def __init__(self, members: Sequence[Member]) -> None:
        self.members = members
        self.replicas = len(members)
        self._homes: OrderedDict[int, Member] = OrderedDict()

    async def ask(self, send: Callable[[Member], Awaitable[Any]], messages: tuple[Message, ...] = ()) -> Any:
        """One attempt at an answer."""
        while True:
            member = await self.choose(messages)
            sent_at = time.monotonic()
            member.in_flight += 1
            member.sent += 1
            try:
                answer = await send(member)
            except MachineryError as error:
                if not error.retryable:
                    raise
                member.rest(sent_at, error.retry_after_seconds)
                failure = error
            else:
                member.answered()
                return answer
            finally:
                member.in_flight -= 1
            wait = min(one.rests_until for one in self.members) - time.monotonic()
            if wait <= 0 and isinstance(failure, Unreachable):
                continue  # it reached no server and used nothing; any other attempt is counted before the next one
            # While one member is ready, the wait that another asked for concerns that one alone.
            failure.slow_down &= wait > 0
            failure.retry_after_seconds = wait if wait > 0 else None
            raise failure

    async def choose(self, messages: tuple[Message, ...]) -> Member:
        """The least busy member, or the one that answered the turn before and still has it in its cache.

        If all rest, it is the one that is ready first.
        """
        ready = [one for one in self.members if one.is_ready()]
        if not ready:
            return min(self.members, key=lambda one: one.rests_until)
        least = min(ready, key=lambda one: one.in_flight)
        home = self._homes.get(hash(messages[:-2])) if len(messages) > 2 else None
        if home is None or not home.is_ready() or 3 * home.in_flight > 4 * least.in_flight:
            home = least
        if messages:
            self._homes[hash(messages)] = home
            if len(self._homes) > _MOST_DIALOGUES:
                self._homes.popitem(last=False)
        return home


class Servers(Pool):
    """A model that several servers serve; one that fails is left out for a while, and the others get its requests."""

    def __init__(self, players: Sequence[Player]) -> None:
        super().__init__([Member(player) for player in players])
        first = players[0]
        addresses = ",".join(sorted(player.identity.base_url for player in players))
        self.identity: Identity = structs.replace(first.identity, base_url=addresses)
        self.abilities = first.abilities
        self.lacks = first.lacks

    async def answer(self, request: Request) -> Reply:
        reply: Reply = await self.ask(lambda server: server.target.answer(request), request.messages)
        return reply

    async def embed(self, texts: Sequence[str]) -> tuple[tuple[float, ...], ...]:
        vectors: tuple[tuple[float, ...], ...] = await self.ask(lambda server: server.target.embed(texts))
        return vectors

    async def open(self) -> None:
        for server in self.members:
            await server.target.open()

    async def close(self) -> None:
        for server in self.members:
            await server.target.close()
