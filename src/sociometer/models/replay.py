"""A player that repeats recorded replies."""

from collections import deque
from collections.abc import Iterable
from typing import Protocol

from sociometer.core.conversation import EVERY_ABILITY, Exchange, Identity, Message, Reply, Request
from sociometer.core.errors import MachineryError
from sociometer.models.rule import RulePlayer


class RecordedReplies(Protocol):
    """Recorded replies, by request."""

    @property
    def name(self) -> str:
        """The id of the recorded run."""
        ...

    def take(self, role: str, messages: tuple[Message, ...]) -> Reply | None:
        """The next recorded reply to exactly these messages, each used once; None if none is left."""
        ...


class Recording:
    """Recorded replies in memory."""

    def __init__(self, name: str, asked: Iterable[Exchange]) -> None:
        self.name = name
        self._replies: dict[tuple[str, tuple[Message, ...]], deque[Reply]] = {}
        for one in asked:
            self._replies.setdefault((one.role, one.messages), deque()).append(one.reply)

    def take(self, role: str, messages: tuple[Message, ...]) -> Reply | None:
        """The next recorded reply to these messages."""
        left = self._replies.get((role, messages))
        return left.popleft() if left else None


class Replay(RulePlayer):
    """Answers each request with its recorded reply, each used once; never journaled, so that none is used twice."""

    abilities = EVERY_ABILITY

    def __init__(self, recorded: RecordedReplies) -> None:
        super().__init__(Identity("replay", recorded.name))
        self._recorded = recorded

    async def answer(self, request: Request) -> Reply:
        """The recorded reply, or an error if this request was not recorded."""
        reply = self._recorded.take(request.role, request.messages)
        if reply is None:
            last = request.messages[-1].content if request.messages else ""
            raise MachineryError(
                f"run '{self.identity.name}' has no (further) reply of role '{request.role}' to this request (last "
                f"message begins '{last[:60]}'); items, prompts and settings must be the same as in that run.",
                "not recorded",
            )
        return reply
