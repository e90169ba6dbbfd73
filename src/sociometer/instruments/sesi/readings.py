"""The second-person forms of items, stored as edits: which words change if the central person is "you".

A line has an item's id, which of its texts is meant (0 the situation, 1 the question, 2 to 5 the options), the place
of a word or mark in that text, the word, and what replaces it ("-": nothing). No line contains a sentence of an
item. A review sheet of `convert` contains whole texts instead, because a reviewer has to read them.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path

from msgspec import Struct

from sociometer.core.errors import DataError, unknown
from sociometer.core.sheets import parse_sheet, write_sheet

FILE = Path(__file__).parent / "data" / "readings.csv"
COLUMNS = ("id", "text", "place", "word", "becomes")
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
    optional = tuple(dict.fromkeys((*COLUMNS[2:], *REVIEW_COLUMNS[2:])))
    sheet = parse_sheet(content, COLUMNS[:2], optional=optional, path=path, guarded=True)
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
    missing = [column for column in COLUMNS if column not in row]
    if missing:
        raise DataError(f"columns missing: {', '.join(missing)}", path)
    if not row["place"].isdecimal():
        raise DataError("place is a number from 0", path, line)
    becomes = "" if row["becomes"] == _FALLS_AWAY else row["becomes"]
    return Reading(int(row["text"]), int(row["place"]), row["word"], becomes)


def readings_file(found: Mapping[str, Sequence[Reading]]) -> str:
    """The readings of some items as a file."""
    rows = [
        (name, reading.text, reading.place, reading.word, reading.becomes or _FALLS_AWAY)
        for name, made in found.items()
        for reading in made
    ]
    return write_sheet(COLUMNS, rows)


def review_sheet(found: Mapping[str, tuple[Sequence[str], Sequence[str], str]]) -> str:
    """A sheet for reviewers: every text that changes, before and after, to be kept or rejected."""
    rows = [
        (name, number, old, new, flags, "")
        for name, (before, after, flags) in found.items()
        for number, (old, new) in enumerate(zip(before, after, strict=True))
        if old != new
    ]
    return write_sheet(REVIEW_COLUMNS, rows, guard_formulas=True)
