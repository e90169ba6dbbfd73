"""The view of a program in the judge's role; never sent to a model."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from msgspec import Struct

from sociometer.core.conversation import Sampling, Schema, user
from sociometer.core.session import Session
from sociometer.core.task import RunView
from sociometer.instruments.sage.person.asked import ReplyT, Talk, ask_json, quote


class JudgeView(Struct, frozen=True):
    """The analysis, and the subject's replies to analyse."""

    task: str
    language: str
    replies: tuple[str, ...]


SAMPLING = Sampling(temperature=0, max_tokens=1000)


def rendered(talk: Talk, mark: str, session: Session, language: str) -> str:
    """A dialogue as a judge reads it, all of it quoted."""
    heads = {who: session.prompts.render(name, language) for who, name in (("person", "teller"), ("subject", "helper"))}
    return "\n\n".join(f"{heads[who]}\n{quote(words, mark)}" for who, words in talk)


async def ask_judge(
    session: Session,
    prompt: str,
    schema: dict[str, Any],
    kind: type[ReplyT],
    view: JudgeView,
    *,
    sampling: Sampling = SAMPLING,
    lacks: Callable[[ReplyT], str] = lambda value: "",
    partial: bool = False,
) -> ReplyT:
    """The judge's answer; an answer that stays unreadable is an error, never a guess."""
    value, _ = await ask_json(
        session, "judge", [user(prompt)], Schema(schema, view.task), kind, view.language, sampling=sampling, view=view,
        problem=lacks, partial=partial, task=view.task,
    )  # fmt: skip
    return value


def stand_in_notes(run: RunView[Any, Any]) -> tuple[str, ...]:
    """The note for results in which a rule stood in for the judge or the simulator."""
    return (stand_in_caveat(run.stand_ins),) if run.stand_ins else ()


def stand_in_caveat(names: Iterable[str]) -> str:
    """What is said next to numbers of stand-ins, which are named with their roles; empty without any."""
    named = ", ".join(dict.fromkeys(names))
    return f"A stand-in took part ({named}): these numbers only show that the software works." if named else ""


def dialogues_by_stand_ins(names: Sequence[str]) -> str:
    """The note for dialogues that a stand-in took part in."""
    return (
        f"A stand-in took part in the dialogues ({', '.join(names)}); their emotions only show that the software works."
    )


def simulators_met(run: RunView[Any, Any]) -> list[str]:
    """The simulator of the dialogues; emotions from different simulators are on different scales."""
    return sorted({item.dialogue.simulator for item, _, _ in run.scored()} - {""})
