"""How the analyses ask their judge: quoted material in, one strict JSON object out, a bounded number of tries."""

from collections.abc import Callable
from typing import Any, TypeVar

from msgspec import Struct

from sociometer.core.answer_format import Schema
from sociometer.core.conversation import Sampling, assistant, user
from sociometer.core.errors import MachineryError
from sociometer.core.task import RunView, Session
from sociometer.elicit import read_json
from sociometer.instruments.sage.analyses.views import JudgeView
from sociometer.instruments.sage.dialogue import StoredDialogue
from sociometer.instruments.sage.quoting import Talk, quote

SAMPLING = Sampling(temperature=0, max_tokens=1000)
ValueT = TypeVar("ValueT", bound=Struct)


def rendered(talk: Talk, mark: str, session: Session, language: str) -> str:
    """A talk as a judge reads it, all of it quoted."""
    heads = {who: session.prompts.render(name, language) for who, name in (("person", "teller"), ("subject", "helper"))}
    return "\n\n".join(f"{heads[who]}\n{quote(words, mark)}" for who, words in talk)


async def ask_judge(
    session: Session,
    prompt: str,
    schema: dict[str, Any],
    kind: type[ValueT],
    view: JudgeView,
    *,
    sampling: Sampling = SAMPLING,
    lacks: Callable[[ValueT], str] = lambda value: "",
) -> ValueT:
    """The judge's answer; one that stays unreadable is an error of the machinery, never a guess."""
    most = session.settings.whole("rereads")
    messages = [user(prompt)]
    said = list(messages)
    reason = ""
    for _ in range(most + 1):
        reply = await session.ask("judge", said, Schema(schema, view.task), sampling=sampling, view=view)
        reading = read_json(reply.text, kind)
        reason = reading.rule if reading.value is None else lacks(reading.value)
        if reading.value is not None and not reason:
            return reading.value
        session.note("unreadable", task=view.task, reason=reason)
        reminder = session.prompts.render("again", view.language, keys=", ".join(schema["required"]))
        said = [*messages, assistant(reply.text or "…"), user(reminder)]
    raise MachineryError(
        f"the judge's {view.task} stayed unreadable after {most + 1} answers ({reason})", "unreadable judge"
    )


def stand_in_notes(run: RunView[Any, Any]) -> tuple[str, ...]:
    """What must be said where a rule stood in for the judge or the simulator."""
    named = ", ".join(run.stand_ins)
    return (f"A stand-in took part ({named}): these numbers show that the machinery runs.",) if named else ()


def simulators_met(run: RunView[StoredDialogue, Any]) -> list[str]:
    """Who simulated the person of the dialogues: emotions of two simulators are not on one scale."""
    return sorted({item.dialogue.simulator for item, _, _ in run.scored()} - {""})


def whole_numbers(names: tuple[str, ...], low: int, high: int) -> dict[str, Any]:
    """The schema of an object of whole numbers within bounds."""
    number = {"type": "integer", "minimum": low, "maximum": high}
    return {
        "type": "object",
        "properties": dict.fromkeys(names, number),
        "required": list(names),
        "additionalProperties": False,
    }
