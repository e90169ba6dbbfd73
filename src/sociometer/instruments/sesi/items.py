"""Official CSV and bundled items -> typed items; a bad row raises an error with file and line."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path
from typing import Literal, get_args

import msgspec
from msgspec import Struct

from sociometer.core.errors import DataError, UsageError, unknown
from sociometer.core.sheets import parse_sheet, read_rows, write_sheet
from sociometer.core.source import Source
from sociometer.instruments._blind.control import Asked, with_blind
from sociometer.instruments.sesi import conditions
from sociometer.reading import check_key, read_items

FILE = Path(__file__).parent / "data" / "readings.csv"
READING_COLUMNS = ("id", "text", "place", "word", "becomes")
REVIEW_COLUMNS = ("id", "text", "original", "becomes", "flags", "decision")
DECISIONS = ("keep", "reject")
_TOKEN = re.compile(r"\d+(?:-[a-z]+)+|[A-Za-zÀ-ž]+(?:[-'’](?!s\b)[A-Za-zÀ-ž]+)*(?:['’]s\b)?|\d+|[^\sA-Za-zÀ-ž\d]")
_FALLS_AWAY = "-"
_CLOSING = frozenset(",.;:?!)")


class Reading(Struct, frozen=True):
    """One word of an item and what replaces it."""

    text: int
    place: int
    word: str
    becomes: str


WHOLE = -1
"""The place of a reading that replaces a whole text, from a review sheet."""


def edits(text: int, before: str, after: str) -> list[Reading]:
    """The readings that turn one text into another; their order is that of the words."""
    old, new = list(_TOKEN.finditer(before)), list(_TOKEN.finditer(after))
    matcher = SequenceMatcher(None, [word[0] for word in old], [word[0] for word in new], autojunk=False)
    found: dict[int, str] = {}
    for kind, first, last, start, end in matcher.get_opcodes():
        if kind == "equal":
            continue
        said = after[new[start].start() : new[end - 1].end()] if end > start else ""
        if kind == "insert" and first:
            # what is inserted goes with the word before it, with the space between them as it is
            gap = after[new[start - 1].end() : new[start].start()] if start else ""
            found[first - 1] = found.get(first - 1, old[first - 1][0]) + gap + said
        elif kind == "insert":
            found[0] = f"{said} {old[0][0]}"
        else:
            found |= {first: said} | dict.fromkeys(range(first + 1, last), "")
    made = [Reading(text, place, old[place][0], becomes) for place, becomes in sorted(found.items())]
    if applied(before, made) != after:
        raise ValueError(f"the words cannot be replaced one by one: {before!r} -> {after!r}")
    return made


def applied(text: str, readings: Iterable[Reading]) -> str | None:
    """The text with its words replaced; None if a reading names a word that is not there."""
    readings = sorted(readings, key=lambda reading: reading.place)
    if readings and readings[0].place == WHOLE:
        return readings[0].becomes if readings[0].word == text else None
    words = list(_TOKEN.finditer(text))
    made, at = "", 0
    for reading in readings:
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
def read_readings(path: Path = FILE) -> dict[str, tuple[Reading, ...]]:
    """The readings in a file by the item's id; from a review sheet, those that a reviewer keeps."""
    try:
        content = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot be read: {getattr(error, 'strerror', '') or 'not UTF-8'}", path) from None
    optional = tuple(dict.fromkeys((*READING_COLUMNS[2:], *REVIEW_COLUMNS[2:])))
    sheet = parse_sheet(content, READING_COLUMNS[:2], optional=optional, path=path, guarded=True)
    found: dict[str, tuple[Reading, ...]] = {}
    rejected = set()
    for line, row in sheet.rows:
        if not (row["text"].isdecimal() and int(row["text"]) < 6):
            raise DataError("text is a number from 0 to 5", path, line)
        if "original" in row:
            decision = row.get("decision", "").strip().lower()
            if decision and decision not in DECISIONS:
                raise DataError(str(unknown("decision", decision, DECISIONS)), path, line)
            if decision != "keep":
                rejected.add(row["id"])
            made = Reading(int(row["text"]), WHOLE, row["original"], row["becomes"])
        else:
            made = _reading(row, path, line)
        found[row["id"]] = (*found.get(row["id"], ()), made)
    return {name: made for name, made in found.items() if name not in rejected}


def _reading(row: Mapping[str, str], path: Path, line: int) -> Reading:
    missing = [column for column in READING_COLUMNS if column not in row]
    if missing:
        raise DataError(f"columns missing: {', '.join(missing)}", path)
    if not row["place"].isdecimal():
        raise DataError("place is a number from 0", path, line)
    becomes = "" if row["becomes"] == _FALLS_AWAY else row["becomes"]
    return Reading(int(row["text"]), int(row["place"]), row["word"], becomes)


def review_sheet(found: Mapping[str, tuple[Sequence[str], Sequence[str], str]]) -> str:
    """A sheet for reviewers: every text that changes, before and after, to be kept or rejected."""
    rows = [
        (name, number, old, new, flags, "")
        for name, (before, after, flags) in found.items()
        for number, (old, new) in enumerate(zip(before, after, strict=True))
        if old != new
    ]
    return write_sheet(REVIEW_COLUMNS, rows, guard_formulas=True)


BUNDLED = Path(__file__).parent / "data" / "items.jsonl"
TWINS = Path(__file__).parent / "data" / "twins.jsonl"
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


class Question(Asked, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A situation, a question about it and four options; `kinds` says how each option was made, if known."""

    ability: Ability
    situation: str
    options: tuple[str, str, str, str]
    answer: int
    kinds: tuple[str, ...] = ()
    language: str = "en"
    pair: str = ""
    """The pair of twins that it belongs to, if any."""

    def __post_init__(self) -> None:
        check_key(self.answer, self.options)

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
    language: Literal["en", "zh"] = "en"
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
        for name, (situation, key, other) in keys.items():
            kinds = ["neither"] * 4
            kinds[key], kinds[other] = "right", FRIENDLY if self.friendly_trap and self.trap == other else OTHER_TWIN
            yield Question(
                id=f"{self.id}{name}", cluster=self.id, pair=self.id, ability=self.ability, situation=situation,
                question=self.question, options=self.options, answer=key, kinds=tuple(kinds), language=self.language,
            )  # fmt: skip


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


def bundled(language: str = "en") -> Iterator[Question]:
    """Our own items in a language: single ones, which are in English, then pairs of twins."""
    if language == "en":
        yield from read_items(BUNDLED, Question)
    for twins in read_items(TWINS, Twins):
        if twins.language == language:
            yield from twins.questions()


def questions(source: Source) -> Iterable[Question]:
    """The items of the settings: official or bundled, in the second person if the condition says so.

    With the setting `blind`, each question follows once more without its situation.
    """
    found = _in_person(source)
    return hidden(found) if source.settings.get("blind") else found


def hidden(found: Iterable[Question]) -> Iterator[Question]:
    """The items, each followed by its question without the situation; twins share one."""
    return with_blind(
        found,
        lambda item: (item.question, item.options),
        lambda item: item.answer,
        lambda item: msgspec.structs.replace(item, situation="", pair=""),
    )


def _in_person(source: Source) -> Iterable[Question]:
    settings = source.settings
    language = str(settings.get("language") or "en")
    others = {"condition": conditions.CONTROL, "wording": conditions.COMMENT}
    if language != "en" and (source.official or any(settings.text(name) != usual for name, usual in others.items())):
        raise UsageError("official items, conditions and other wordings are in English; leave out --language.")
    found = read_official(source.path(OFFICIAL)) if source.official else bundled(language)
    if not conditions.condition(source.settings.text("condition")).second_person:
        return found
    conversions = in_second_person(found, source.settings.text("readings"))
    if not conversions.converted:
        raise DataError(
            f"none of the {len(conversions.left_out)} items has a second-person form; let a builder write them with "
            "'sociometer sesi convert --role builder=MODEL --sheet FILE', review the sheet, then pass it with "
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
    more = read_readings(Path(more_readings)) if more_readings else {}
    known = read_readings()
    changed, left_out, misfits = [], [], set(more)
    for question in found:
        texts = None
        for given in (more, known):
            if texts is None and question.id in given:
                texts = converted(question.texts, given[question.id])
                misfits -= {question.id} if given is more and texts is not None else set()
        if texts is None:
            left_out.append(question.id)
            continue
        situation, asked, *options = texts
        changed.append(msgspec.structs.replace(question, situation=situation, question=asked, options=tuple(options)))
    return Conversions(tuple(changed), tuple(left_out), tuple(sorted(misfits)))
