"""The session of one episode: asks through the desk, splits randomness, and keeps the transcript."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, Protocol

from msgspec import Struct

from sociometer.core.conversation import Message, Player, Reply, Request, Sampling
from sociometer.core.errors import UsageError, unknown
from sociometer.core.forms import Form, Free
from sociometer.core.prompts import Prompts
from sociometer.core.settings import Settings
from sociometer.core.transcript import Noted
from sociometer.engine.draw import Draw, embed_digest, request_digest

_FREE = Free()
_DEFAULT = Sampling()
_NO_RANDOMNESS = Random(0)


class Seat(Struct, frozen=True):
    """Who plays a role, and the sampling parameters that the user set for it."""

    player: Player
    label: str
    sampling: Sampling = Sampling()
    lacks: frozenset[str] = frozenset()
    """The sampling parameters that the player has no place for; an instrument's wish for one is left out."""


class Heard(Struct, frozen=True):
    """One request with its reply, as the session keeps it until the episode is stored."""

    role: str
    model: str
    messages: tuple[Message, ...]
    reply: Reply
    branch: str = ""
    key: bytes = b""


class Desk(Protocol):
    """Gets a reply for a request: from the journal, or from the player within all bounds."""

    async def reply(self, seat: Seat, request: Request, draw: Draw, nth: int, digest: bytes) -> tuple[Reply, bytes]: ...

    async def vectors(
        self, seat: Seat, texts: tuple[str, ...], draw: Draw, nth: int, digest: bytes
    ) -> tuple[tuple[float, ...], ...]: ...


class PlaySession:
    """What `play` is handed; see `core.task.Session`."""

    __slots__ = ("_asked", "_desk", "_draw", "_rng", "_seats", "events", "prompts", "settings")

    def __init__(
        self,
        desk: Desk,
        seats: Mapping[str, Seat],
        draw: Draw,
        settings: Settings,
        prompts: Prompts,
        events: list[Heard | Noted] | None = None,
    ) -> None:
        self._desk = desk
        self._seats = seats
        self._draw = draw
        self._rng: Random | None = None
        self._asked: dict[bytes | str, int] = {}
        self.settings = settings
        self.prompts = prompts
        self.events: list[Heard | Noted] = [] if events is None else events

    @property
    def rng(self) -> Random:
        if self._rng is None:
            self._rng = self._draw.rng()
        return self._rng

    async def ask(
        self,
        role: str,
        messages: Sequence[Message],
        form: Form | None = None,
        *,
        sampling: Sampling | None = None,
        view: Struct | None = None,
    ) -> Reply:
        seat = self._seat(role)
        form = form or _FREE
        drawn = (sampling or _DEFAULT).without(seat.lacks).overridden_by(seat.sampling)
        said = tuple(messages)
        digest = request_digest(seat.player.identity, drawn, said, form)
        nth = self._count(digest)
        rng = _NO_RANDOMNESS if seat.player.journaled else self._draw.rng(f"{role}/{self._count(role)}")
        request = Request(role, said, form, drawn, view, rng)
        reply, key = await self._desk.reply(seat, request, self._draw, nth, digest)
        self.events.append(Heard(role, seat.label, said, reply, self._draw.branch, key))
        return reply

    async def embed(self, role: str, texts: Sequence[str]) -> tuple[tuple[float, ...], ...]:
        seat = self._seat(role)
        wanted = tuple(texts)
        digest = embed_digest(seat.player.identity, wanted)
        return await self._desk.vectors(seat, wanted, self._draw, self._count(digest), digest)

    def note(self, kind: str, **facts: Any) -> None:
        self.events.append(Noted(kind, facts, self._draw.branch))

    def branch(self, name: str) -> "PlaySession":
        return PlaySession(self._desk, self._seats, self._draw.split(name), self.settings, self.prompts, self.events)

    def identity_of(self, role: str) -> str:
        return self._seat(role).label

    def _seat(self, role: str) -> Seat:
        if role not in self._seats:
            if not self._seats:
                raise UsageError(f"nobody plays the role '{role}'; bind it with --role {role}=MODEL.")
            raise unknown("role", role, self._seats, f"Bind it with --role {role}=MODEL.")
        return self._seats[role]

    def _count(self, asked: bytes | str) -> int:
        nth = self._asked.get(asked, 0)
        self._asked[asked] = nth + 1
        return nth
