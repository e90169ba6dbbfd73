"""Asks for a move by the stated rule: an illegal or unreadable one is asked for once more, then the default stands."""

from collections.abc import Callable, Sequence
from typing import Generic, Literal, TypeVar

from msgspec import Struct

from sociometer.core.answer_format import AnswerFormat
from sociometer.core.conversation import Message, Sampling, assistant, user
from sociometer.core.task import Session

T = TypeVar("T")
MoveT = TypeVar("MoveT", covariant=True)
Problem = Literal["", "illegal", "unreadable"]
SAMPLING = Sampling(temperature=0, max_tokens=400)
# A reply that is put back before the player is cut to this, so that an absurd one does not fill the context.
LONGEST_ECHO = 1500


class Read(Struct, Generic[MoveT], frozen=True):
    """What was read from one reply: a legal move, or why there is none."""

    move: MoveT | None
    problem: Problem = ""


class Faults(Struct, frozen=True):
    """How a move came about: replies that were illegal or unreadable, and whether the default had to stand."""

    illegal: int = 0
    unreadable: int = 0
    defaulted: bool = False

    @property
    def count(self) -> int:
        """How many replies could not be used."""
        return self.illegal + self.unreadable

    def __add__(self, other: "Faults") -> "Faults":
        return Faults(
            self.illegal + other.illegal, self.unreadable + other.unreadable, self.defaulted or other.defaulted
        )


async def ask_move(
    session: Session,
    role: str,
    messages: Sequence[Message],
    answer_format: AnswerFormat,
    read: Callable[[str], Read[T]],
    *,
    legal: str,
    default: T | None,
    view: Struct | None = None,
) -> tuple[T | None, Faults, str]:
    """Return the move, how it came about, and the text it was read from (of the last reply)."""
    said = list(messages)
    faults = Faults()
    for attempt in (1, 2):
        reply = await session.ask(role, said, answer_format, sampling=SAMPLING, view=view)
        reading = read(reply.text)
        if reading.move is not None:
            return reading.move, faults, reply.text
        faults += Faults(illegal=int(reading.problem == "illegal"), unreadable=int(reading.problem != "illegal"))
        session.note("fault", role=role, problem=reading.problem, attempt=attempt, legal=legal)
        again = session.prompts.render(f"games/retry-{reading.problem or 'unreadable'}", legal=legal)
        said += [assistant(reply.text[:LONGEST_ECHO]), user(again)]
    if default is not None:
        session.note("default", role=role, move=str(default))
    return default, faults + Faults(defaulted=True), reply.text
