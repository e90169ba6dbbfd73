"""A player that answers from recorded replies: what was said then, said again."""

from collections import deque
from collections.abc import Iterable
from typing import Protocol

from sociometer.core.conversation import Exchange, Identity, Message, Reply, Request
from sociometer.core.errors import MachineryError
from sociometer.models.rule import RulePlayer


class RecordedReplies(Protocol):
    """Replies that were once given, by what was asked."""

    @property
    def name(self) -> str:
        """What was recorded: a run's id."""
        ...

    def take(self, role: str, messages: tuple[Message, ...]) -> Reply | None:
        """The next recorded reply to these very messages, each given once; None where none is left."""
        ...


class Recording:
    """Recorded replies held in memory."""

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
    """Answers each request with its recorded reply, each once; never journaled, so that none serves twice."""

    def __init__(self, recorded: RecordedReplies) -> None:
        super().__init__(Identity("replay", recorded.name))
        self._recorded = recorded

    async def answer(self, request: Request) -> Reply:
        """The recorded reply, or an error where this was never asked."""
        reply = self._recorded.take(request.role, request.messages)
        if reply is None:
            last = request.messages[-1].content if request.messages else ""
            raise MachineryError(
                f"run '{self.identity.name}' has no (further) reply of role '{request.role}' to this request (last "
                f"message begins '{last[:60]}'); items, prompts and settings must be the same as in that run.",
                "not recorded",
            )
        return reply
