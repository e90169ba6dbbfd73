"""The session of one episode: asks through the reply source, splits randomness, and keeps the transcript."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, Protocol

from msgspec import Struct

from sociometer.core.answer_format import AnswerFormat, Free
from sociometer.core.conversation import Message, Reply, Request, Sampling
from sociometer.core.errors import UsageError, unknown
from sociometer.core.prompts import Prompts
from sociometer.core.settings import Settings
from sociometer.core.transcript import Event, Exchange, Noted
from sociometer.engine.draw import Draw, embed_digest, request_digest
from sociometer.engine.roles import RoleBinding

Vectors = tuple[tuple[float, ...], ...]
_FREE = Free()
_DEFAULT = Sampling()
_NO_RANDOMNESS = Random(0)


class ReplySource(Protocol):
    """Gets a reply for a request, with its journal key: from the journal, or from the player within all bounds."""

    async def reply(
        self, binding: RoleBinding, request: Request, draw: Draw, nth: int, digest: bytes
    ) -> tuple[Reply, bytes]: ...

    async def vectors(
        self, binding: RoleBinding, texts: tuple[str, ...], draw: Draw, nth: int, digest: bytes
    ) -> Vectors: ...


class DirectReplies:
    """Asks the player itself and keeps nothing."""

    async def reply(
        self, binding: RoleBinding, request: Request, draw: Draw, nth: int, digest: bytes
    ) -> tuple[Reply, bytes]:
        return await binding.player.answer(request), b""

    async def vectors(
        self, binding: RoleBinding, texts: tuple[str, ...], draw: Draw, nth: int, digest: bytes
    ) -> Vectors:
        return await binding.player.embed(texts)


class PlaySession:
    """What `play` is handed; see `core.task.Session`."""

    __slots__ = ("_asked", "_bindings", "_draw", "_replies", "_rng", "events", "prompts", "settings")

    def __init__(
        self,
        replies: ReplySource,
        bindings: Mapping[str, RoleBinding],
        draw: Draw,
        settings: Settings,
        prompts: Prompts,
        events: list[Event] | None = None,
    ) -> None:
        self._replies = replies
        self._bindings = bindings
        self._draw = draw
        self._rng: Random | None = None
        self._asked: dict[bytes | str, int] = {}
        self.settings = settings
        self.prompts = prompts
        self.events: list[Event] = [] if events is None else events

    @property
    def rng(self) -> Random:
        if self._rng is None:
            self._rng = self._draw.rng()
        return self._rng

    async def ask(
        self,
        role: str,
        messages: Sequence[Message],
        answer_format: AnswerFormat | None = None,
        *,
        sampling: Sampling | None = None,
        view: Struct | None = None,
    ) -> Reply:
        binding = self._binding(role)
        answer_format = answer_format or _FREE
        drawn = (sampling or _DEFAULT).without(binding.lacks).overridden_by(binding.sampling)
        said = tuple(messages)
        digest = request_digest(binding.player.identity, drawn, said, answer_format)
        nth = self._count(digest)
        rng = _NO_RANDOMNESS if binding.player.journaled else self._draw.rng(f"{role}/{self._count(role)}")
        request = Request(role, said, answer_format, drawn, view, rng)
        reply, key = await self._replies.reply(binding, request, self._draw, nth, digest)
        self.events.append(Exchange(role, binding.label, said, reply, self._draw.branch, key))
        return reply

    async def embed(self, role: str, texts: Sequence[str]) -> Vectors:
        binding = self._binding(role)
        wanted = tuple(texts)
        digest = embed_digest(binding.player.identity, wanted)
        return await self._replies.vectors(binding, wanted, self._draw, self._count(digest), digest)

    def note(self, kind: str, **facts: Any) -> None:
        self.events.append(Noted(kind, facts, self._draw.branch))

    def branch(self, name: str) -> "PlaySession":
        draw = self._draw.split(name)
        return PlaySession(self._replies, self._bindings, draw, self.settings, self.prompts, self.events)

    def identity_of(self, role: str) -> str:
        return self._binding(role).label

    def _binding(self, role: str) -> RoleBinding:
        if role not in self._bindings:
            if not self._bindings:
                raise UsageError(f"nobody plays the role '{role}'; bind it with --role {role}=MODEL.")
            raise unknown("role", role, self._bindings, f"Bind it with --role {role}=MODEL.")
        return self._bindings[role]

    def _count(self, asked: bytes | str) -> int:
        nth = self._asked.get(asked, 0)
        self._asked[asked] = nth + 1
        return nth
