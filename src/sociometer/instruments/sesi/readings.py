"""Readers' decisions: where the rules of the second person are in doubt, a reader read the item and decided.

A line holds an item's id, which of its texts is meant (0 the situation, 1 the question, 2 to 5 the options), the place
of a word among that text's words, the word, and what stands there in the second person: the word itself where it
stays, "-" where it falls away, "?" (or nothing yet) where it is open. No line holds a sentence of an item.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

from msgspec import Struct

from sociometer.core.errors import DataError
from sociometer.instruments.sesi.second_person import OPEN, Doubt
from sociometer.instruments.sesi.second_person.mentions import tokens
from sociometer.sheets import read_rows, write_sheet

FILE = Path(__file__).parent / "data" / "readings.csv"
COLUMNS = ("id", "text", "place", "word", "becomes")
_AROUND = 6
_FALLS_AWAY = "-"


class Reading(Struct, frozen=True):
    """A reader's decision on one word of an item."""

    text: int
    place: int
    word: str
    becomes: str


@cache
def read_readings(path: Path = FILE) -> dict[str, tuple[Reading, ...]]:
    """The readings in a file by the item's id."""
    found: dict[str, tuple[Reading, ...]] = {}
    for line, row in read_rows(path, COLUMNS, guarded=True):
        if not (row["text"].isdecimal() and row["place"].isdecimal() and int(row["text"]) < 6):
            raise DataError("text is a number from 0 to 5 and place a number from 0", path, line)
        becomes = "" if row["becomes"] == _FALLS_AWAY else row["becomes"] or OPEN
        reading = Reading(int(row["text"]), int(row["place"]), row["word"], becomes)
        found[row["id"]] = (*found.get(row["id"], ()), reading)
    return found


def fitting(texts: Sequence[str], readings: Iterable[Reading]) -> Mapping[tuple[int, int], str]:
    """The readings of an item by text and place; none if one names a word that is not there."""
    words = [tokens(text) for text in texts]
    found = {}
    for reading in readings:
        there = words[reading.text][reading.place : reading.place + 1] if reading.text < len(words) else []
        if [token.text for token in there] != [reading.word]:
            return {}
        found[reading.text, reading.place] = reading.becomes
    return found


def sheet(doubts: Mapping[str, tuple[Sequence[str], Sequence[Doubt]]]) -> str:
    """A file for readers: a line for each doubt about an item's texts, with the words around it, to be decided."""
    rows = []
    for item, (texts, found) in doubts.items():
        for doubt in found:
            if doubt.why == "nobody":
                continue
            words = [token.text for token in tokens(texts[doubt.text])]
            around = " ".join(words[max(0, doubt.place - _AROUND) : doubt.place + _AROUND])
            rows.append((item, doubt.text, doubt.place, words[doubt.place], OPEN, str(doubt), around))
    return write_sheet((*COLUMNS, "doubt", "around"), rows, guard_formulas=True)
