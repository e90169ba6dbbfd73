"""Official CSV and bundled items -> typed items; a bad row raises an error with file and line."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Literal, get_args

import msgspec
from msgspec import Struct

from sociometer.core.errors import DataError, UsageError
from sociometer.core.language import ENGLISH, in_language
from sociometer.core.sheets import read_rows
from sociometer.core.source import Source
from sociometer.core.task import Item
from sociometer.instruments._tables import Figures, Tables
from sociometer.instruments.sesi import conditions
from sociometer.reading import check_key, read_items

FILE = Path(__file__).parent / "data" / "readings.csv"
READING_COLUMNS = ("id", "text", "place", "word", "becomes")
_TOKEN = re.compile(r"\d+(?:-[a-z]+)+|[A-Za-zÀ-ž]+(?:[-'’](?!s\b)[A-Za-zÀ-ž]+)*(?:['’]s\b)?|\d+|[^\sA-Za-zÀ-ž\d]")
_FALLS_AWAY = "-"
_CLOSING = frozenset(",.;:?!)")


class Reading(Struct, frozen=True):
    """One word of an item and what replaces it."""

    text: int
    place: int
    word: str
    becomes: str


def applied(text: str, readings: Iterable[Reading]) -> str | None:
    """The text with its words replaced; None if a reading names a word that is not there."""
    words = list(_TOKEN.finditer(text))
    made, at = "", 0
    for reading in sorted(readings, key=lambda reading: reading.place):
        if reading.place >= len(words) or words[reading.place][0] != reading.word:
            return None
        word = words[reading.place]
        made += text[at : word.start()]
        # a word that falls away takes the space before it along, and no space is left before a comma
        made = made if reading.becomes and reading.becomes[0] not in _CLOSING else made.rstrip(" ")
        made += reading.becomes
        at = word.end()
    return made + text[at:]


def converted(texts: Sequence[str], readings: Sequence[Reading]) -> tuple[str, ...] | None:
    """An item's texts in the second person; None if the readings belong to other words."""
    made = [applied(text, [r for r in readings if r.text == number]) for number, text in enumerate(texts)]
    return None if any(text is None for text in made) else tuple(text for text in made if text is not None)


@cache
def read_readings() -> dict[str, tuple[Reading, ...]]:
    """The readings by the item's id."""
    found: dict[str, tuple[Reading, ...]] = {}
    for _, row in read_rows(FILE, READING_COLUMNS, guarded=True):
        becomes = "" if row["becomes"] == _FALLS_AWAY else row["becomes"]
        made = Reading(int(row["text"]), int(row["place"]), row["word"], becomes)
        found[row["id"]] = (*found.get(row["id"], ()), made)
    return found


TABLES = Tables(Path(__file__).with_name("tables.toml"))
FIGURES = Figures(Path(__file__).with_name("figures.toml"))
BUNDLED = Path(__file__).parent / "data" / "items.jsonl"
TWINS = Path(__file__).parent / "data" / "twins.jsonl"
OFFICIAL = "sesi/sesi.csv"
COLUMNS = ("ID", "Type", "Situation", "Question", "Option_0", "Option_1", "Option_2", "Option_3", "Answer")

Ability = Literal["empathy", "social-cognition", "self-presentation", "influence", "concern"]
ABILITIES: tuple[str, ...] = get_args(Ability)
CATEGORIES = {
    "empathy": "consciousness", "social-cognition": "consciousness",
    "self-presentation": "facility", "influence": "facility", "concern": "facility",
}  # fmt: skip


class Question(Item, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A situation, a question about it and four options; `kinds` says how each option was made, if known."""

    question: str
    options: tuple[str, str, str, str]
    ability: Ability
    situation: str
    answer: int
    kinds: tuple[str, ...] = ()
    language: str = ENGLISH
    pair: str = ""
    """The pair of twins that it belongs to, if any."""

    def __post_init__(self) -> None:
        check_key(self.answer, self.options)

    @property
    def facets(self) -> dict[str, str]:
        """Its ability and the category of the ability."""
        return {"ability": self.ability, "category": CATEGORIES[self.ability]}

    @property
    def texts(self) -> tuple[str, ...]:
        """Situation, question and options, in this order."""
        return (self.situation, self.question, *self.options)


FRIENDLY, OTHER_TWIN = "friendly", "right for the twin"


class Twins(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Two situations that differ in one fact, with the same question and options and different keys.

    `trap` is the place of an option that sounds kind and sensible: right in one situation and wrong in the other.
    """

    id: str
    ability: Ability
    language: str = ENGLISH
    question: str
    options: tuple[str, str, str, str]
    situation_a: str
    situation_b: str
    key_a: int
    key_b: int
    friendly_trap: bool = False
    trap: int | None = None

    def __post_init__(self) -> None:
        check_key(self.key_a, self.options)
        check_key(self.key_b, self.options)
        if self.key_a == self.key_b or self.situation_a == self.situation_b or len(set(self.options)) < 4:
            raise ValueError("twins need two situations, two different keys and four different options")
        if self.friendly_trap and self.trap not in (self.key_a, self.key_b):
            raise ValueError(f"trap {self.trap} is right in neither situation; allowed: {self.key_a}, {self.key_b}")

    def questions(self) -> Iterator[Question]:
        """The two items."""
        keys = {"a": (self.situation_a, self.key_a, self.key_b), "b": (self.situation_b, self.key_b, self.key_a)}
        # The default itself: msgspec leaves it out of an encoded item, and an equal text that was read it would not.
        language = ENGLISH if self.language == ENGLISH else self.language
        for name, (situation, key, other) in keys.items():
            kinds = ["neither"] * 4
            kinds[key], kinds[other] = "right", FRIENDLY if self.friendly_trap and self.trap == other else OTHER_TWIN
            yield Question(
                id=f"{self.id}{name}",
                cluster=self.id,
                pair=self.id,
                ability=self.ability,
                situation=situation,
                question=self.question,
                options=self.options,
                answer=key,
                kinds=tuple(kinds),
                language=language,
            )


@cache
def bundled(language: str = ENGLISH) -> tuple[Question, ...]:
    """Our own items in a language: single ones, then pairs of twins; a further language has files of its own.

    Read once, because a run reads its items several times.
    """
    single, twins = (in_language(path, language) for path in (BUNDLED, TWINS))
    pairs = (pair for pair in read_items(twins, Twins) if pair.language == language)
    ours = (item for item in read_items(single, Question) if item.language == language)
    return (*ours, *(question for pair in pairs for question in pair.questions()))


def questions(source: Source) -> Iterable[Question]:
    """The items of the settings: official or bundled, in the second person if the condition says so."""
    settings = source.settings
    language = str(settings.get("language") or ENGLISH)
    others = {"condition": conditions.CONTROL, "wording": conditions.COMMENT}
    if language != ENGLISH and (source.official or any(settings.text(name) != usual for name, usual in others.items())):
        raise UsageError("SESI's official items, conditions and other wordings are in English; leave out --language.")
    found = read_official(source.path(OFFICIAL)) if source.official else bundled(language)
    if not conditions.condition(source.settings.text("condition")).second_person:
        return found
    changed, left_out = in_second_person(found)
    if not changed:
        raise DataError(f"none of the {len(left_out)} items has a second-person form")
    return changed


def read_official(path: Path) -> Iterator[Question]:
    """The questions in a CSV of the released layout; a repeated id gets a number ("17abc", "17abc-2")."""
    seen: Counter[str] = Counter()
    for line, row in read_rows(path, COLUMNS, whole_rows=True):
        yield _question(row, seen, path, line)
    if not seen:
        raise DataError("the file contains no items", path)


def _question(row: dict[str, str], seen: Counter[str], path: Path, line: int) -> Question:
    name, ability, answer = row["ID"].strip(), row["Type"].strip().lower(), row["Answer"].strip()
    if not name:
        raise DataError("the ID is empty", path, line)
    if ability not in ABILITIES:
        raise DataError(f"unknown Type '{row['Type']}'; known: {', '.join(ABILITIES)}", path, line)
    if answer not in ("0", "1", "2", "3"):
        raise DataError(f"Answer '{row['Answer']}' is not the place of an option; allowed: 0 to 3", path, line)
    texts = [row[column].strip() for column in COLUMNS[2:8]]
    if not all(texts):
        raise DataError("a situation, question or option is empty", path, line)
    seen[name] += 1
    return Question(
        id=name if seen[name] == 1 else f"{name}-{seen[name]}",
        cluster=name,
        ability=ability,  # type: ignore[arg-type]
        situation=texts[0],
        question=texts[1],
        options=(texts[2], texts[3], texts[4], texts[5]),
        answer=int(answer),
    )


def contradictions(found: Sequence[Question]) -> list[tuple[Question, Question]]:
    """Pairs with the same situation, question and options whose keys name different options."""
    first: dict[tuple[str, ...], Question] = {}
    pairs = []
    for question in found:
        text = (question.situation, question.question, *sorted(question.options))
        other = first.setdefault(text, question)
        if other is not question and other.options[other.answer] != question.options[question.answer]:
            pairs.append((other, question))
    return pairs


def in_second_person(found: Iterable[Question]) -> tuple[list[Question], list[str]]:
    """The questions that have a second-person form, in that form, and the ids of the others."""
    known = read_readings()
    changed: list[Question] = []
    left_out: list[str] = []
    for question in found:
        texts = converted(question.texts, known[question.id]) if question.id in known else None
        if texts is None:
            left_out.append(question.id)
            continue
        situation, asked, *options = texts
        changed.append(msgspec.structs.replace(question, situation=situation, question=asked, options=tuple(options)))
    return changed, left_out
