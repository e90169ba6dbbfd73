"""Asks for a move: after an illegal or unreadable reply it asks once more, then uses the default."""

import re
from collections.abc import Callable, Sequence
from typing import Generic, Literal, TypeVar

from msgspec import Struct

from sociometer.core.conversation import AnswerFormat, Message, Reply, Sampling
from sociometer.core.errors import UsageError
from sociometer.core.reply_kind import Asked, ReplyKind
from sociometer.core.session import Session
from sociometer.reading import Reading, ask, with_room

T = TypeVar("T")
MoveT = TypeVar("MoveT", covariant=True)
Problem = Literal["", "illegal", "unreadable", "incomplete"]
SAMPLING = Sampling(temperature=0, max_tokens=400)
STEADY = "steady"
"""The name of the player that follows a rule in number guessing and a trained network in hold'em."""


class Read(Struct, Generic[MoveT], frozen=True):
    """What was read from one reply: a legal move, or why there is none and what is missing."""

    move: MoveT | None
    problem: Problem = ""
    missing: tuple[str, ...] = ()


class Faults(Struct, frozen=True):
    """How a move was obtained: illegal or unreadable replies, and whether the default was used."""

    illegal: int = 0
    unreadable: int = 0
    defaulted: bool = False
    asked: tuple[Asked, ...] = ()
    """How each answer that needed more than one reply was obtained."""

    @property
    def count(self) -> int:
        """The number of unusable replies."""
        return self.illegal + self.unreadable

    def __add__(self, other: "Faults") -> "Faults":
        return Faults(
            self.illegal + other.illegal,
            self.unreadable + other.unreadable,
            self.defaulted or other.defaulted,
            self.asked + other.asked,
        )


def refuse_other_opponents(session: Session) -> None:
    """Raise a UsageError if another model is the opponent: what subjects say of it could not be compared or scored."""
    label = session.identity_of("opponent")
    if label.rpartition("/")[2] != STEADY:
        raise UsageError(f"the opponent is the same for all subjects, not '{label}'; leave out --role opponent.")


async def ask_move(
    session: Session,
    role: str,
    messages: Sequence[Message],
    answer_format: AnswerFormat,
    read: Callable[[Reply], Read[T]],
    *,
    legal: str,
    default: T | None,
    view: Struct | None = None,
    sampling: Sampling = SAMPLING,
) -> tuple[T | None, Faults]:
    """Return the move, and how it was obtained."""
    answer = await ask(
        session,
        role,
        messages,
        answer_format,
        lambda reply: _reading(read(reply)),
        lambda reading: session.prompts.render(f"games/retry-{reading.rule}", legal=legal, missing=reading.problem),
        sampling=with_room(session, sampling),
        view=view,
        quiet=True,
        facts={"role": role},
    )
    hard = () if answer.asked == Asked() else (answer.asked,)
    illegal = answer.faults.count("illegal")
    faults = Faults(illegal, len(answer.faults) - illegal, asked=hard)
    if answer.value is not None:
        return answer.value, faults
    if default is not None:
        session.note("default", role=role, move=str(default))
    return default, faults + Faults(defaulted=True)


def _reading(read: Read[T]) -> Reading[T]:
    kind = ReplyKind.ILLEGAL if read.problem == "illegal" else ReplyKind.UNREADABLE
    return Reading(read.move, read.problem, ", ".join(read.missing), kind=kind)


_DENIED = (
    r"\b(?:not|never|no|cannot|can't|don't|won't|wouldn't|shouldn't|couldn't|without|instead of|rather than)\b"
    r"[^.;,:!?]{0,30}"
)
_LONGEST_PART = 10_000


def one_move(text: str, moves: Sequence[str]) -> str:
    """Return the move that a text names; empty if it names none or several, or says what it will not do.

    Of a text beyond 20,000 characters, the first and last 10,000 are searched.
    """
    searched = text if len(text) <= 2 * _LONGEST_PART else f"{text[:_LONGEST_PART]}\n{text[-_LONGEST_PART:]}"
    any_move = f"\\b({'|'.join(moves)})\\b"
    found = {word.lower() for word in re.findall(any_move, searched, re.IGNORECASE)}
    denied = re.search(_DENIED + any_move, searched.replace("’", "'"), re.IGNORECASE)
    return found.pop() if len(found) == 1 and not denied else ""
