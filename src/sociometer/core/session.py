"""The session of an item while it is played: it asks roles, draws random numbers and notes facts."""

import hashlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property
from random import Random
from typing import Any, Literal, Protocol, TypeVar

import msgspec
from msgspec import Struct, structs

from sociometer.core.conversation import (
    OTHER_FINISH,
    SUBJECT,
    AnswerFormat,
    Event,
    Exchange,
    Free,
    Message,
    Noted,
    Reply,
    Request,
    Sampling,
    Schema,
    user,
)
from sociometer.core.errors import MachineryError, unknown
from sociometer.core.player import Player
from sociometer.core.prompts import Prompts
from sociometer.core.settings import Settings, is_paper
from sociometer.core.tools import Tool

ToolMode = Literal["", "called", "told"]
"""How the subject uses tools: by calls of the wire format, or told in words and answered in JSON; empty without any."""
Vectors = tuple[tuple[float, ...], ...]
Answer = TypeVar("Answer")
_encode = msgspec.msgpack.Encoder().encode
_DEFAULT = Sampling()
_NO_RANDOMNESS = Random(0)


class Draw(Struct, frozen=True):
    """One play of an item, the same for every subject."""

    instrument: str
    version: str
    task: str
    item: str
    repeat: int = 0
    seed: int = 0
    branch: str = ""

    def rng(self, purpose: str = "") -> Random:
        """A generator seeded by the draw, never by the player."""
        parts = (self.instrument, self.version, self.task, self.item, self.repeat, self.seed, self.branch, purpose)
        return Random("\x1f".join(map(str, parts)))


class RoleBinding(Struct, frozen=True):
    """The player of a role, its name, and the sampling parameters that the user set for it."""

    player: Player
    spec: str
    label: str
    sampling: Sampling = Sampling()


class DrawnRequest(Struct, frozen=True):
    """A request to a role, identified by what is sent and by which draw it is."""

    binding: RoleBinding
    request: Request
    draw: Draw
    nth: int
    digest: bytes

    def key(self, scope: str) -> bytes:
        """The journal key; `scope` is empty if any run may reuse the reply, else the run's id."""
        draw = self.draw
        place = (draw.instrument, draw.task, draw.item, draw.repeat, draw.seed, draw.branch, self.nth, scope)
        return hashlib.blake2b(_encode(place), digest_size=16, key=self.digest).digest()


def request_digest(player: Player, *sent: object) -> bytes:
    """A digest of the player and of everything that is sent."""
    who = player.identity
    named = (who.wire, who.base_url, who.name, who.revision, *([who.fields] if who.fields else []))
    body = _encode((named, *sent))
    return hashlib.blake2b(body, digest_size=16).digest()


class ReplySource(Protocol):
    """Gets the reply to a request, with its journal key: from the journal, or from the player within all limits."""

    async def obtain(
        self, drawn: DrawnRequest, attempt: Callable[[], Awaitable[Answer]], kind: type[Answer]
    ) -> tuple[Answer, bytes]: ...


class DirectReplies:
    """Asks the player directly and stores nothing."""

    async def obtain(
        self, drawn: DrawnRequest, attempt: Callable[[], Awaitable[Answer]], kind: type[Answer]
    ) -> tuple[Answer, bytes]:
        return await attempt(), b""


@dataclass(eq=False)
class Session:
    """The session of one episode, or of one concurrent branch of it; keeps the transcript in `events`.

    With `official`, wording and limits are the paper's. With `base`, the subject is a base model: instruments give it a
    text to continue.
    """

    _replies: ReplySource
    _bindings: Mapping[str, RoleBinding]
    _draw: Draw
    settings: Settings
    prompts: Prompts
    events: list[Event] = field(default_factory=list)
    _: KW_ONLY
    official: bool = False
    second_question: bool = True
    base: bool = False
    tools: ToolMode = ""
    _asked: dict[bytes | str, int] = field(default_factory=dict, init=False)

    @cached_property
    def rng(self) -> Random:
        """The only randomness allowed in `play`; the same for every subject."""
        return self._draw.rng()

    async def ask(
        self,
        role: str,
        messages: Sequence[Message],
        answer_format: AnswerFormat | None = None,
        *,
        sampling: Sampling | None = None,
        view: Struct | None = None,
        tools: tuple[Tool, ...] = (),
    ) -> Reply:
        """The role's reply, written to the journal before it is returned; it may call the tools."""
        binding = self._binding(role)
        player, said = binding.player, tuple(messages)
        wanted = answer_format or Free()
        if isinstance(wanted, Schema) and player.journaled and is_paper(self.settings):
            wanted = Free()  # the authors' prompts state their own format, and no schema was sent with them
        drawn = (sampling or _DEFAULT).without(binding.player.lacks).overridden_by(binding.sampling)
        schema = wanted.schema if isinstance(wanted, Schema) else None
        digest = request_digest(player, drawn, said, schema, *((tools,) if tools else ()))
        nth = self._count(digest)
        turn = self._count(role)
        rng = _NO_RANDOMNESS if player.journaled else self._draw.rng(f"{role}/{turn}")
        request = Request(role, said, wanted, drawn, view, rng, self._draw.task, self._draw.item, turn, tools)
        numbered = DrawnRequest(binding, request, self._draw, nth, digest)
        reply, key = await self._obtain(numbered, lambda: player.answer(request), Reply)
        limit = (drawn.max_tokens or 0) if reply.finish == "length" else 0
        self.events.append(Exchange(role, binding.label, said, reply, self._draw.branch, key, limit))
        if reply.finish.startswith(OTHER_FINISH):
            self.note("unknown finish reason", role=role, reason=reply.finish.removeprefix(OTHER_FINISH))
        return reply

    async def embed(self, role: str, texts: Sequence[str]) -> Vectors:
        """A vector for each text, journaled like a reply."""
        binding = self._binding(role)
        wanted = tuple(texts)
        digest = request_digest(binding.player, "embed", wanted)
        request = Request(role, tuple(map(user, wanted)))
        numbered = DrawnRequest(binding, request, self._draw, self._count(digest), digest)
        return (await self._obtain(numbered, lambda: binding.player.embed(wanted), Vectors))[0]

    async def _obtain(
        self, numbered: DrawnRequest, attempt: Callable[[], Awaitable[Answer]], kind: type[Answer]
    ) -> tuple[Answer, bytes]:
        """The reply with its key; an error says which role failed, if it is not the subject."""
        try:
            return await self._replies.obtain(numbered, attempt, kind)
        except MachineryError as error:
            error.role = error.role or ("" if numbered.request.role == SUBJECT else numbered.request.role)
            raise

    def note(self, kind: str, **facts: Any) -> None:
        """Adds a fact to the transcript (a move, a feeling, a rule that fired)."""
        self.events.append(Noted(kind, facts, self._draw.branch))

    def branch(self, name: str) -> "Session":
        """A session for one concurrent branch, with its own random generator and draws."""
        return replace(self, _draw=structs.replace(self._draw, branch=f"{self._draw.branch}/{name}"))

    def has_role(self, role: str) -> bool:
        """Whether the role has a player."""
        return role in self._bindings

    @property
    def limit_reached(self) -> int:
        """The token limit that the last reply reached; 0 if it reached none."""
        last = next((event for event in reversed(self.events) if isinstance(event, Exchange)), None)
        return last.limit if last else 0

    def identity_of(self, role: str) -> str:
        """The name of a role's player, to record in the outcome; `play` must not depend on it."""
        return self._binding(role).label

    def _binding(self, role: str) -> RoleBinding:
        if role not in self._bindings:
            raise unknown("role", role, self._bindings, f"Choose a model with --role {role}=MODEL.")
        return self._bindings[role]

    def _count(self, asked: bytes | str) -> int:
        nth = self._asked.get(asked, 0)
        self._asked[asked] = nth + 1
        return nth
