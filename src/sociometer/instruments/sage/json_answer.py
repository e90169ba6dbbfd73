"""One JSON object from a role: asked again a bounded number of times while it cannot be read."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from msgspec import Struct

from sociometer.core.answer_format import Schema
from sociometer.core.conversation import Message, Sampling, assistant, user
from sociometer.core.errors import MachineryError
from sociometer.core.task import Session
from sociometer.elicit import read_json

ReplyT = TypeVar("ReplyT", bound=Struct)


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
    **noted: str,
) -> tuple[ReplyT, int]:
    """The role's reply, and how often it was asked again; a reply that stays unreadable is a failure, never a guess.

    `problem` says what is wrong with a reply that fits the schema. `noted` are facts for the transcript, beside the
    reason why a reply was not taken. With `partial`, labels that the schema does not allow are left out and noted.
    """
    most = session.settings.whole("rereads")
    said, reason = list(messages), ""
    for again in range(most + 1):
        reply = await session.ask(role, said, schema, sampling=sampling, view=view)
        reading = read_json(reply.text, kind, schema.schema, partial=partial)
        reason = reading.rule if reading.value is None else problem(reading.value)
        if reading.value is not None and not reason:
            if reading.dropped:
                session.note("labels left out", **noted, count=reading.dropped)
            return reading.value, again
        session.note("unreadable", **noted, reason=reason)
        reminder = session.prompts.render("again", language, keys=", ".join(schema.schema["required"]))
        said = [*messages, assistant(reply.text or "…"), user(reminder)]
    raise MachineryError(
        f"the {role}'s {schema.name} stayed unreadable after {most + 1} answers ({reason})", f"unreadable {role}"
    )
