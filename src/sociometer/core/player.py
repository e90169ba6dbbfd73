"""A player: anything that can answer (a model, a rule, a person), and what it says it can do."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Protocol, Self

from msgspec import Struct

from sociometer.core.conversation import Identity, Reply, Request
from sociometer.core.errors import FailureKind, MachineryError, Unreachable


class Abilities(Struct, frozen=True):
    """The abilities that only some players have; a run that needs one is refused before anything is sent."""

    continues_text: bool = False
    """Whether it continues a plain text, as base models do."""
    calls_tools: bool = False
    """Whether it calls the tools of a request; others are told of them in words."""


BatchResult = bytes | MachineryError
"""The body of a reply, or why there is none."""
Take = Callable[[str, BatchResult], None]
"""Receives the name of a request and its result."""


class BatchEndpoint(Protocol):
    """The batches of one model at its provider: many requests in one file, answered within a day at a lower price."""

    most_requests: int
    """The maximum number of requests in one batch."""
    most_bytes: int
    hours: int
    """The time after which the provider ends a batch, even if it is not finished."""

    def line(self, name: str, request: Request) -> bytes:
        """A request as it is written into the batch, under a name of at most 64 letters and digits."""

    async def create(self, label: str, lines: Sequence[bytes]) -> str:
        """Create a batch and return its id. `certainly_not_created` tells which errors leave no batch behind."""

    async def find(self, label: str, names: frozenset[str], since: float, taken: frozenset[str]) -> str:
        """The id of the batch that was created under this label; empty if there is none.

        `names` are those of its requests, `since` is the time before which it cannot have been created, and `taken`
        are the ids of other batches.
        """

    async def ended(self, batch: str) -> bool:
        """Whether the batch has ended."""

    async def results(self, batch: str, take: Take) -> MachineryError | None:
        """Give all results of a batch that ended; return the reason if the whole batch failed."""

    def read(self, body: bytes, request: Request) -> Reply:
        """The reply in the body of a result."""

    async def cancel(self, batch: str) -> None:
        """Ask the provider to answer no more of a batch."""


class Player(ABC):
    """Anything that can answer; a subclass gives `identity` and `answer`, and says what else it can.

    It holds nothing when it is made. `open` takes weights, actors or connections and `close` gives them back, both
    called once by `async with`, however many runs and roles have opened the same player.
    """

    identity: Identity
    """What identifies it in the journal."""
    code_digest: str = ""
    """The SHA-256 of the file of its function; empty if it is none, or has no file."""
    journaled: bool = True
    """Whether its replies are stored in the journal; false if they follow from the request alone."""
    abilities: Abilities = Abilities()
    lacks: frozenset[str] = frozenset()
    """The sampling parameters that it does not support; they are not sent."""
    most_in_flight: int = 0
    """The most requests that one replica answers at once; 0 if only the run limits them."""
    replicas: int = 1
    """How many copies of the model answer; each has its own limit of requests in flight."""

    _holders = 0

    async def __aenter__(self) -> Self:
        self._holders += 1
        if self._holders == 1:
            try:
                await self.open()
            except BaseException:
                self._holders = 0
                raise
        return self

    async def __aexit__(self, *_: object) -> None:
        self._holders -= 1
        if not self._holders:
            await self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.identity.wire}/{self.identity.name})"

    @property
    def parallel(self) -> bool:
        """Whether it can answer several requests at once."""
        return bool(self.identity.base_url)

    @abstractmethod
    async def answer(self, request: Request) -> Reply:
        """The reply to a request."""

    async def embed(self, texts: Sequence[str]) -> tuple[tuple[float, ...], ...]:
        """A vector for each text; an error if it gives none."""
        raise MachineryError(
            f"'{self.identity.wire}/{self.identity.name}' gives no embeddings; for this role use an"
            " OpenAI-compatible server: --role ROLE=vllm/NAME@URL.",
            FailureKind.NO_EMBEDDINGS,
            fatal=True,
        )

    def batches(self) -> BatchEndpoint | None:
        """Its batches; None if its provider has none."""
        return None

    def reply_stored(self) -> None:
        """Called each time that a reply is on disk, before it is used."""
        return

    async def open(self) -> None:
        """Take what the answers need: weights, actors, connections."""
        return

    async def close(self) -> None:
        """Give back what it holds."""
        return


class RulePlayer(Player):
    """A player that is a program: its replies follow from the request; subclasses add `answer`."""

    journaled = False

    def __init__(self, identity: Identity) -> None:
        self.identity = identity


class WrappedPlayer(Player):
    """A player around another one, which answers for it; subclasses change what passes through."""

    def __init__(self, player: Player) -> None:
        self._player = player
        self.identity, self.journaled, self.abilities = player.identity, player.journaled, player.abilities
        self.lacks, self.most_in_flight, self.replicas = player.lacks, player.most_in_flight, player.replicas

    @property
    def parallel(self) -> bool:
        return self._player.parallel

    async def answer(self, request: Request) -> Reply:
        return await self._player.answer(request)

    async def embed(self, texts: Sequence[str]) -> tuple[tuple[float, ...], ...]:
        return await self._player.embed(texts)

    async def open(self) -> None:
        await self._player.open()

    async def close(self) -> None:
        await self._player.close()


def certainly_not_created(error: MachineryError) -> bool:
    """Whether an error of `create` means that there is no batch: the server was not reached, or it refused."""
    return isinstance(error, Unreachable) or error.tokens == (0, 0)


def ended_early(why: str) -> MachineryError:
    """The error for a request that a batch left unanswered; such requests cost nothing."""
    message = f"the batch ended without an answer: {why}."
    return MachineryError(message, FailureKind.BATCH_ENDED, retryable=True, tokens=(0, 0))
