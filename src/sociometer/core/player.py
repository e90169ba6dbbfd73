"""A player: anything that can answer (a model, a rule, a person), and what it says it can do."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Self

from msgspec import Struct

from sociometer.core.conversation import Identity, Reply, Request
from sociometer.core.errors import FailureKind, MachineryError


class Abilities(Struct, frozen=True):
    """The abilities that only some players have; a run that needs one is refused before anything is sent."""

    continues_text: bool = False
    """Whether it continues a plain text, as base models do."""
    calls_tools: bool = False
    """Whether it calls the tools of a request; others are told of them in words."""


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
