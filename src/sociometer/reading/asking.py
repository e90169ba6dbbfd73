"""One question to a role: the reply is read, and if it has no answer, the question is asked again."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Generic, TypeVar

from msgspec import Struct, structs

from sociometer.core.conversation import AnswerFormat, Message, Reply, Sampling, assistant, user
from sociometer.core.reply_kind import Asked, ReplyKind, kind_of
from sociometer.core.session import Session

ValueT = TypeVar("ValueT")
# A reply that is shown to its author again is cut to this, so that an absurd one does not fill the context.
_LONGEST_ECHO = 1500
_ROOM = 1000  # tokens for a reply with reasons


class Reading(Struct, Generic[ValueT], frozen=True):
    """What was read from one reply: a value, or None; the rule that read it, or why none could."""

    value: ValueT | None
    rule: str
    problem: str = ""
    """What was wrong, as a sentence for the second question."""
    kind: ReplyKind = ReplyKind.UNREADABLE
    """What kind of reply it is where there is no value."""


class Answer(Struct, Generic[ValueT], frozen=True):
    """The last reading of a question, and how it was obtained."""

    value: ValueT | None
    rule: str
    asked: Asked
    text: str
    """The reply that was read last."""
    faults: tuple[str, ...] = ()
    """Why each reply that held no answer was not taken."""


async def ask(
    session: Session,
    role: str,
    messages: Sequence[Message],
    answer_format: AnswerFormat,
    read: Callable[[Reply], Reading[ValueT]],
    again: Callable[[Reading[ValueT]], str],
    *,
    times: int | None = None,
    sampling: Sampling | None = None,
    view: Struct | None = None,
    quiet: bool = False,
    facts: Mapping[str, str] = MappingProxyType({}),
) -> Answer[ValueT]:
    """Ask, read the reply, and ask again in the same conversation while it has no answer.

    `again` gives the line that asks again. It is asked at most `times` times more: once by default, or never where the
    run has no second question. The transcript notes the rule of every reading, beside `facts`; with `quiet` only of
    those that found nothing.
    """
    most = int(session.second_question) if times is None else times
    said, kinds, faults, limit = list(messages), list[ReplyKind](), list[str](), 0
    while True:
        reply = await session.ask(role, said, answer_format, sampling=sampling, view=view)
        reading = read(reply)
        kind = kind_of(reply, reading.kind if reading.value is None else ReplyKind.ANSWERED)
        if not kinds and kind is ReplyKind.CUT_OFF:
            limit = session.limit_reached
        kinds.append(kind)
        if kind is not ReplyKind.ANSWERED:
            session.note("read", **facts, rule=reading.rule, reply=kind.value)
            faults.append(reading.rule)
        elif not quiet:
            session.note("read", **facts, rule=reading.rule)
        if kind is ReplyKind.ANSWERED or len(kinds) > most:
            asked = Asked(kind, kinds[0] if len(kinds) > 1 else None, limit)
            return Answer(reading.value, reading.rule, asked, reply.text, tuple(faults))
        said = [*messages, assistant(reply.text[:_LONGEST_ECHO].strip() or "…"), user(again(reading))]


def shared_prompt(session: Session, name: str, language: str, **values: object) -> str:
    """The prompt that all instruments share, in English where the language has none."""
    return session.prompts.render(name, language if name in session.prompts.names(language) else "en", **values)


def with_room(session: Session, sampling: Sampling) -> Sampling:
    """The paper's sampling for official items; elsewhere the same with room for reasons."""
    limit = sampling.max_tokens
    short = limit is not None and limit < _ROOM
    return structs.replace(sampling, max_tokens=_ROOM) if short and not session.official else sampling
