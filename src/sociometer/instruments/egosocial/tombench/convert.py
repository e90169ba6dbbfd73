"""Conversion to the first person by a builder model: what it is asked, what it gave, and what is wrong with it."""

import re
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from pathlib import Path

import msgspec
from msgspec import Struct

from sociometer.core.conversation import Sampling, user
from sociometer.core.errors import DataError
from sociometer.core.forms import Schema
from sociometer.core.task import Item, Session
from sociometer.elicit import read_json
from sociometer.instruments.egosocial.tombench.characters import naming, role_of
from sociometer.instruments.egosocial.tombench.release import TomBenchQuestion, Wording

_PRONOUNS = re.compile(r"\b(?:he|she|him|her|his|hers|they|them|their|himself|herself)\b|[他她]", re.IGNORECASE)
_YOU = {"en": re.compile(r"\byou\b", re.IGNORECASE), "zh": re.compile("你")}


class Order(Item, frozen=True, kw_only=True):
    """One conversion to be made: the question as released, and who in it becomes "you"."""

    language: str
    ego: str
    order: int
    measures: str
    others: tuple[str, ...]
    third: Wording
    answer: int


class Conversion(Struct, frozen=True):
    """What the builder gave, and the names of the checks it failed; without `first` its reply was unreadable."""

    first: Wording | None
    failed: tuple[str, ...]


class Converted(Struct, frozen=True, forbid_unknown_fields=True):
    """One line of a file of conversions, as `build` writes it and the task `tombench` reads it."""

    id: str
    language: str
    ego: str
    measures: str
    story: str
    question: str
    options: tuple[str, ...]


def orders(questions: Iterable[TomBenchQuestion], language: str) -> Iterator[Order]:
    """The conversions to be made: every question that names somebody of its story."""
    for question in questions:
        role = role_of(question, language)
        if role.ego:
            yield Order(
                id=question.id,
                cluster=question.cluster,
                language=language,
                ego=role.ego,
                order=role.order,
                measures=role.measures,
                others=role.others,
                third=question.wording(language),
                answer=question.answer,
            )


async def convert(item: Order, session: Session) -> Conversion:
    """Asks the builder for the first-person wording and checks what it gives."""
    prompt = session.prompts.render(
        "convert",
        item.language,
        person=item.ego,
        story=item.third.story,
        question=item.third.question,
        options="\n".join(f"{number}. {option}" for number, option in enumerate(item.third.options, 1)),
        count=len(item.third.options),
    )
    form = Schema(_schema(len(item.third.options)), name="conversion")
    reply = await session.ask("builder", [user(prompt)], form, sampling=Sampling(temperature=0, max_tokens=2000))
    first = read_json(reply.text, Wording).value
    return Conversion(first, ("unreadable",) if first is None else tuple(failures(item, first)))


def _schema(options: int) -> dict[str, object]:
    text = {"type": "string", "minLength": 1}
    listed = {"type": "array", "items": text, "minItems": options, "maxItems": options}
    return {
        "type": "object",
        "properties": {"story": text, "question": text, "options": listed},
        "required": ["story", "question", "options"],
        "additionalProperties": False,
    }


def failures(item: Order, first: Wording) -> Iterator[str]:
    """The names of the automatic checks that a conversion fails."""
    third = item.third
    if len(first.options) != len(third.options):
        yield "number of options"
        return
    if _count(_whole(first), item.ego, item.language):
        yield "name still there"
    if not _YOU[item.language].search(first.story + first.question):
        yield "nobody is you"
    if any(_count(_whole(first), name, item.language) != count for name, count in _others(item).items()):
        yield "somebody else changed"
    if len(set(first.options)) != len(first.options):
        yield "options alike"
    if not _same_order(third.options, first.options):
        yield "options moved"
    changed = [old for old, new in zip(third.options, first.options, strict=True) if _bare(old) != _bare(new)]
    if any(_untouched(old, item) for old in changed):
        yield "option changed without need"
    if sorted(re.findall(r"\d+", _whole(first))) != sorted(re.findall(r"\d+", _whole(third))):
        yield "numbers changed"
    if not 0.6 <= len(first.story) / len(third.story) <= 1.5:
        yield "story shortened or padded"


def _whole(words: Wording) -> str:
    return "\n".join((words.story, words.question, *words.options))


def _count(text: str, name: str, language: str) -> int:
    return len(naming(name, language).findall(text))


def _others(item: Order) -> dict[str, int]:
    """How often everybody else is named; a name that is part of the one who becomes "you" cannot be counted."""
    text = naming(item.ego, item.language).sub(" ", _whole(item.third))
    return {name: _count(text, name, item.language) for name in item.others if name not in item.ego}


def _untouched(option: str, item: Order) -> bool:
    """Whether an option speaks of nobody who becomes "I", so that it must stay as it is."""
    return not _count(option, item.ego, item.language) and not _PRONOUNS.search(option)


def _bare(option: str) -> str:
    return option.strip().rstrip(".。").strip().lower()


def _same_order(old: tuple[str, ...], new: tuple[str, ...]) -> bool:
    """Whether each option is still most like the one that stood in its place: then the answer is kept too."""
    for place, option in enumerate(new):
        likeness = [SequenceMatcher(None, option, other, autojunk=False).ratio() for other in old]
        if likeness[place] < max(likeness):
            return False
    return True


def read_conversions(path: Path) -> dict[tuple[str, str], Converted]:
    """A file of conversions by id and language; a bad line is refused naming file and line."""
    found: dict[tuple[str, str], Converted] = {}
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            try:
                converted = msgspec.json.decode(line, type=Converted)
            except msgspec.DecodeError as error:
                raise DataError(str(error), path, number) from None
            found[converted.id, converted.language] = converted
    return found
