"""Asks a judge about a dialogue, all of it quoted."""

from typing import Any

from sociometer.core.conversation import Sampling, Schema, user
from sociometer.core.session import Session
from sociometer.core.task import RunView
from sociometer.reading.json_reply import ReplyT, ask_json
from sociometer.reading.quotation import Talk, quote

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
    task: str,
    language: str,
    *,
    sampling: Sampling = SAMPLING,
    partial: bool = False,
) -> ReplyT:
    """The judge's answer; an answer that stays unreadable is an error, never a guess."""
    value, _ = await ask_json(
        session,
        "judge",
        [user(prompt)],
        Schema(schema, task),
        kind,
        language,
        sampling=sampling,
        partial=partial,
        task=task,
    )
    return value


def simulators_met(run: RunView[Any, Any]) -> list[str]:
    """The simulator of the dialogues; emotions from different simulators are on different scales."""
    return sorted({item.dialogue.simulator for item, _, _ in run.scored()} - {""})
