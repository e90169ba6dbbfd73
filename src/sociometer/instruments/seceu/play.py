"""The conversation: one story, ten points, one reply, read and repaired by the paper's rules."""

import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct, structs

from sociometer.core.conversation import Allocation, Reply, Sampling, text, user
from sociometer.core.errors import DataError, UsageError
from sociometer.core.language import ENGLISH, language_of, texts_in
from sociometer.core.reply_kind import Asked, ReplyKind
from sociometer.core.session import Session
from sociometer.core.settings import PAPER, Settings, is_paper
from sociometer.core.source import AuthorsPrompt
from sociometer.instruments.seceu.items import TOTAL, Scenario, prompting_methods, read_paragraphs
from sociometer.reading import Reading, arrange, ask, read_allocation, repair, shared_prompt, shuffled, undo, with_room

DIRECT = Sampling(temperature=0.1, top_p=1.0, max_tokens=512)
PROMPTED = Sampling(temperature=0.0, top_p=0.9, max_tokens=2048)
CONTINUING = Sampling(temperature=0.0, max_tokens=80, stop=("\n",))
"""The sampling of a base model, which writes one line of points after the text with examples."""


Points = Annotated[tuple[float, ...], Meta(min_length=4, max_length=4)]


class Allocated(Struct, frozen=True, omit_defaults=True):
    """The outcome of a scenario, in the item's own order of options."""

    points: Points
    """Points after repair; all zero if nothing could be read."""
    written: Points | None
    """Points as the reply gave them; None if it was unreadable."""
    rule: str
    """The rule that read the reply, or why none could."""
    repair: str
    order: Annotated[tuple[int, ...], Meta(min_length=4, max_length=4)]
    """Entry i is the option that was shown at position i."""
    asked: Asked = Asked()

    def first_replies(self) -> "Allocated":
        """The outcome before any second question."""
        if not self.asked.again:
            return self
        return structs.replace(self, points=repair(None, len(self.points), TOTAL).values, written=None)


_WORDS = Path(__file__).parent / "words"


async def ask_points(item: Scenario, session: Session) -> Allocated:
    """Ask for the ten points with the item's prompting method."""
    if session.base and item.prompting != "direct":
        raise UsageError("-o base has one text for base models; leave out --prompting.")
    count = len(item.options)
    order = shuffled(count, session.rng) if session.settings.flag("shuffle") else tuple(range(count))
    options = arrange(item.options, order)
    name = "base" if session.base else f"{PAPER}/{item.prompting}" if is_paper(session.settings) else item.prompting
    shown = {"story": item.story, "options": listed(options, item.language)}
    prompt = session.prompts.render(name, item.language, **shown)
    answer_format = Allocation(options, TOTAL, arrange(item.standard, order))
    sampling = with_room(session, DIRECT if item.prompting == "direct" else PROMPTED)
    words = texts_in(_WORDS, item.language)

    def read(reply: Reply) -> Reading[tuple[float, ...]]:
        reading = read_allocation(reply.text, options, TOTAL, item.language)
        problem = words["several" if reading.rule == "several" else "unreadable"]
        kind = ReplyKind.TWO_ANSWERS if reading.rule == "several" else ReplyKind.UNREADABLE
        return Reading(reading.values, reading.rule, problem, kind)

    answer = await ask(
        session,
        "subject",
        [text(prompt) if session.base else user(prompt)],
        answer_format,
        read,
        lambda reading: shared_prompt(session, "again-points", item.language, problem=reading.problem, total=TOTAL),
        sampling=CONTINUING if session.base else sampling,
    )
    repaired = repair(answer.value, count, TOTAL)
    if repaired.repair != "none":
        session.note("repaired", repair=repaired.repair)
    written = None if answer.value is None else undo(answer.value, order)
    return Allocated(undo(repaired.values, order), written, answer.rule, repaired.repair, order, answer.asked)


def listed(options: tuple[str, ...], language: str) -> str:
    """Return the options in one line, numbered."""
    signs = language_of(language)
    return signs.semicolon.join(
        signs.numbered.format(number=place, text=option) for place, option in enumerate(options, 1)
    )


FILE = "seceu/Prompts.docx"
_HEADINGS = {"zero-shot": 0, "zero-shot-steps": 1, "two-shot": 2, "two-shot-steps": 3}
"""The methods in the order of the headings of the file."""
_HEADING = re.compile(r"\s*(?:zero|two)[- ]shot\b[^.:]{0,60}", re.IGNORECASE)
_QUESTION = re.compile(r"(?P<before>Q:\s*).+?(?P<between>\s*\bOptions:\s*).+?(?P<after>\.\s.*|\.?\s*)", re.DOTALL)
_SHOWN = frozenset(("story", "options"))


def authors_prompts(settings: Settings, tasks: Sequence[str]) -> Iterator[AuthorsPrompt]:
    """Yield the prompts of the methods that the settings ask for."""
    if settings.text("language") != ENGLISH:
        raise UsageError("the authors' prompts are in English; --wording paper needs --language en.")
    for method in prompting_methods(settings.text("prompting")):
        name = f"{PAPER}/{method}"
        if method in _HEADINGS:
            yield AuthorsPrompt(name, _SHOWN, FILE, partial(read_method, method=method))
        else:
            released = f"without it, you can play --prompting {', '.join(_HEADINGS)}"
            printed = f"the paper's methods, section 'The SECEU test for LLMs' ({released})"
            yield AuthorsPrompt(name, _SHOWN, printed=printed)


def read_method(path: Path, *, method: str) -> str:
    """Return the text of one method with placeholders in place of the file's own question, which comes last."""
    sections: list[list[str]] = []
    for paragraph in read_paragraphs(path):
        if _HEADING.fullmatch(paragraph):
            sections.append([])
        elif sections and paragraph.strip():
            sections[-1].append(paragraph.strip())
    if len(sections) != len(_HEADINGS):
        raise DataError(
            f"expected {len(_HEADINGS)} prompting methods, found {len(sections)}; fetch the file again", path
        )
    lines = sections[_HEADINGS[method]]
    asked = [at for at, line in enumerate(lines) if line.startswith("Q:")]
    question = _QUESTION.fullmatch(lines[asked[-1]]) if asked else None
    if question is None:
        raise DataError(f"the method '{method}' has no question of the form 'Q: … Options: …'", path)
    shown = f"{question['before']}{{story}}{question['between']}{{options}}{question['after']}"
    return "\n".join([*lines[: asked[-1]], shown, *lines[asked[-1] + 1 :]])
