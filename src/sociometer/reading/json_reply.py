"""A reply in JSON, read strictly and asked for again; a reply that stays unreadable is a failure."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from msgspec import Struct

from sociometer.core.conversation import Message, Reply, Sampling, Schema
from sociometer.core.errors import UnreadableRole
from sociometer.core.session import Session
from sociometer.core.words import in_one_line
from sociometer.reading import Reading, ask, read_json, shared_prompt

ReplyT = TypeVar("ReplyT")


async def ask_json(
    session: Session,
    role: str,
    messages: Sequence[Message],
    schema: Schema,
    kind: type[ReplyT],
    language: str,
    *,
    sampling: Sampling,
    view: Struct | None = None,
    problem: Callable[[ReplyT], str] = lambda reply: "",
    partial: bool = False,
    read_as: Mapping[str, Any] | None = None,
    **noted: str,
) -> tuple[ReplyT, int]:
    """The role's reply, and how often it was asked again; a reply that stays unreadable is a failure, never a guess.

    `problem` says what is wrong with a reply that fits the schema. `noted` are facts for the transcript, beside the
    reason why a reply was not taken. With `partial`, labels that the schema does not allow are left out and noted.
    `read_as` is the schema that the reply is read by, where it is not the one that is sent.
    """
    dropped: list[int] = []

    def read(reply: Reply) -> Reading[ReplyT]:
        reading = read_json(reply.text, kind, read_as or schema.schema, partial=partial, language=language)
        dropped.append(reading.dropped)
        if reading.value is None:
            return Reading(None, reading.rule, reading.problem)
        wrong = problem(reading.value)
        if wrong:
            return Reading(None, wrong, f"{wrong[0].upper()}{wrong[1:]}.")
        return Reading(reading.value, reading.rule)

    def again(reading: Reading[ReplyT]) -> str:
        keys = ", ".join(schema.schema["required"])
        return shared_prompt(session, "again-json", language, problem=reading.problem, keys=keys)

    most = session.settings.whole("rereads")
    answer = await ask(
        session, role, messages, schema, read, again, times=most, sampling=sampling, view=view, quiet=True, facts=noted
    )
    if answer.value is None:
        raise UnreadableRole(
            f"the {role}'s {schema.name} was still unreadable after {most + 1} answers ({answer.rule}), the last:"
            f" '{in_one_line(answer.text)[:80]}'",
            role,
        )
    if dropped[-1]:
        session.note("labels left out", **noted, count=dropped[-1])
    return answer.value, len(answer.faults)


def texts(*names: str) -> dict[str, Any]:
    """Properties that are texts."""
    return {name: {"type": "string"} for name in names}
