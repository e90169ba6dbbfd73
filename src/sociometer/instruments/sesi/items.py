"""Official CSV and bundled items -> typed items; a bad row raises an error with file and line."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal, get_args

import msgspec
from msgspec import Struct

from sociometer.core.errors import DataError
from sociometer.core.sheets import read_rows
from sociometer.core.source import Source
from sociometer.core.task import Item
from sociometer.instruments.sesi import conditions, readings
from sociometer.reading import check_key, read_items

BUNDLED = Path(__file__).parent / "data" / "items.jsonl"
OFFICIAL = "sesi/sesi.csv"
COLUMNS = ("ID", "Type", "Situation", "Question", "Option_0", "Option_1", "Option_2", "Option_3", "Answer")

Ability = Literal["empathy", "social-cognition", "self-presentation", "influence", "concern"]
ABILITIES: tuple[str, ...] = get_args(Ability)
CATEGORIES = {
    "empathy": "consciousness",
    "social-cognition": "consciousness",
    "self-presentation": "facility",
    "influence": "facility",
    "concern": "facility",
}


class Question(Item, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A situation, a question about it and four options; `kinds` says how each option was made, if known."""

    ability: Ability
    situation: str
    question: str
    options: tuple[str, str, str, str]
    answer: int
    kinds: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_key(self.answer, self.options)

    @property
    def texts(self) -> tuple[str, ...]:
        """Situation, question and options, in this order."""
        return (self.situation, self.question, *self.options)


class Contradiction(Struct, frozen=True):
    """Two rows with the same text and different keys."""

    first: str
    second: str
    keys: tuple[int, int]


class Conversions(Struct, frozen=True):
    """Questions in the second person, and those without a second-person form."""

    converted: tuple[Question, ...]
    left_out: tuple[str, ...]
    misfits: tuple[str, ...] = ()
    """Items named in the user's readings whose text differs here."""


def questions(source: Source) -> Iterable[Question]:
    """The items of the settings: official or bundled, in the second person if the condition says so."""
    found = read_official(source.path(OFFICIAL)) if source.official else read_items(BUNDLED, Question)
    if not conditions.condition(source.settings.text("condition")).second_person:
        return found
    conversions = in_second_person(found, source.settings.text("readings"))
    if not conversions.converted:
        raise DataError(
            f"none of the {len(conversions.left_out)} items has a second-person form; let a builder write them with "
            "'sociometer convert sesi --role builder=MODEL --sheet FILE', review the sheet, then pass it with "
            "--readings FILE"
        )
    return conversions.converted


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


def contradictions(found: Sequence[Question]) -> list[Contradiction]:
    """Pairs with the same situation, question and options whose keys name different options."""
    first: dict[tuple[str, ...], Question] = {}
    pairs = []
    for question in found:
        text = (question.situation, question.question, *sorted(question.options))
        other = first.setdefault(text, question)
        if other is not question and other.options[other.answer] != question.options[question.answer]:
            pairs.append(Contradiction(other.id, question.id, (other.answer, question.answer)))
    return pairs


def in_second_person(found: Iterable[Question], more_readings: str = "") -> Conversions:
    """The questions that have a second-person form, in that form; the user's readings go before the bundled ones."""
    more = readings.read_readings(Path(more_readings)) if more_readings else {}
    known = readings.read_readings()
    converted, left_out, misfits = [], [], set(more)
    for question in found:
        texts = None
        for given in (more, known):
            if texts is None and question.id in given:
                texts = readings.converted(question.texts, given[question.id])
                misfits -= {question.id} if given is more and texts is not None else set()
        if texts is None:
            left_out.append(question.id)
            continue
        situation, asked, *options = texts
        converted.append(msgspec.structs.replace(question, situation=situation, question=asked, options=tuple(options)))
    return Conversions(tuple(converted), tuple(left_out), tuple(sorted(misfits)))
