"""A participant as a player: each request waits until the answer is sent as a form."""

import asyncio
from collections.abc import Sequence

from msgspec import Struct

from sociometer.core.conversation import AnswerFormat, Identity, Message, Reply, Request, Usage
from sociometer.core.errors import MachineryError
from sociometer.core.player import Player
from sociometer.web.study.records import SUBJECT


def identity_of(participant: str) -> Identity:
    """The identity of a participant in the journal."""
    return Identity(SUBJECT, SUBJECT, revision=participant)


class Question(Struct, frozen=True):
    """The current question for a participant; `number` counts the earlier answers."""

    number: int
    messages: tuple[Message, ...]
    answer_format: AnswerFormat
    since: float


class FormPlayer(Player):
    """Plays the subject with the answers of one participant."""

    def __init__(self, participant: str, answered: int) -> None:
        """`answered` is how many of this participant's answers the journal has."""
        self.identity = identity_of(participant)
        self._answered = answered
        self._reply: asyncio.Future[str] | None = None
        self._asked = asyncio.Event()
        self.question: Question | None = None

    async def answer(self, request: Request) -> Reply:
        """The answer that the participant sends."""
        loop = asyncio.get_running_loop()
        self._reply = loop.create_future()
        self.question = Question(self._answered, request.messages, request.answer_format, loop.time())
        self._asked.set()
        try:
            said = await self._reply
        finally:
            self.question = None
            self._asked.clear()
        self._answered += 1
        return Reply(said, usage=Usage(0, 0))

    def give(self, number: int, said: str) -> bool:
        """Answers the question with this number; False if it is not the current one (a form that was sent twice)."""
        if self.question is None or self._reply is None or self._reply.done() or self.question.number != number:
            return False
        self._reply.set_result(said)
        # From here on nothing waits: the next question comes when this answer is on disk.
        self.question = None
        self._asked.clear()
        return True

    async def asked(self) -> None:
        """Waits until there is a question."""
        await self._asked.wait()

    async def embed(self, texts: Sequence[str]) -> tuple[tuple[float, ...], ...]:
        """People have no embeddings."""
        raise MachineryError("a person cannot embed texts", "not supported")

    async def close(self) -> None:
        """Nothing is open."""
