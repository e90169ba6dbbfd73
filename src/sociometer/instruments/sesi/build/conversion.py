"""A builder rewrites a user's own items in the second person; reviewers decide which of them are used."""

import re
from typing import Any

from msgspec import Struct

from sociometer.core.conversation import Choice, Sampling, Schema, user
from sociometer.core.measure import Summary
from sociometer.core.session import Session
from sociometer.core.task import RunView, Score
from sociometer.instruments.sesi.items import Question
from sociometer.reading import read_json, render_options
from sociometer.statistics.measures import grouped_measures

_SAMPLING = Sampling(temperature=0, top_p=1, max_tokens=1500, seed=42)
_TEXT: dict[str, Any] = {"type": "string"}
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"situation": _TEXT, "question": _TEXT, "options": {"type": "array", "items": _TEXT}},
    "required": ["situation", "question", "options"],
}
_YOU = re.compile(r"\b(?:you|your|yours|yourself|yourselves)\b", re.IGNORECASE)


class _Rewritten(Struct, frozen=True):
    situation: str
    question: str
    options: tuple[str, ...]


class Conversion(Struct, frozen=True):
    """An item's texts in the second person, as the builder wrote them; `problem` says why there are none."""

    texts: tuple[str, ...] = ()
    problem: str = ""


async def convert(item: Question, session: Session) -> Conversion:
    """Asks the builder once for all six texts."""
    options = render_options(Choice(item.options))
    prompt = session.prompts.render(
        "build/second-person", "en", situation=item.situation, question=item.question, options=options
    )
    reply = await session.ask("builder", [user(prompt)], Schema(_SCHEMA, name="texts"), sampling=_SAMPLING)
    found = read_json(reply.text, _Rewritten).value
    if found is None or len(found.options) != len(item.options):
        return Conversion(problem="the reply has no situation, question and four options")
    texts = tuple(text.strip() for text in (found.situation, found.question, *found.options))
    return Conversion(texts) if all(texts) else Conversion(problem="a text is empty")


def score(item: Question, outcome: Conversion) -> Score:
    """Whether the item could be rewritten."""
    return Score(values={"complete": float(not outcome.problem)}, unreadable=int(bool(outcome.problem)))


def summarise(run: RunView[Question, Conversion]) -> Summary:
    """The share of items that the builder rewrote."""
    return Summary(grouped_measures(run, "complete"))


def flags(item: Question, conversion: Conversion) -> str:
    """What a reviewer should look at first: nobody is addressed, the key may have changed, or a text grew."""
    found = []
    if not _YOU.search(conversion.texts[0]) and not _YOU.search(conversion.texts[1]):
        found.append("nobody is addressed")
    if conversion.texts == item.texts:
        found.append("nothing changed")
    for old, new in zip(item.texts, conversion.texts, strict=True):
        if abs(len(new.split()) - len(old.split())) > max(4, len(old.split()) // 5):
            found.append("a text is much longer or shorter")
            break
    return "; ".join(found)
