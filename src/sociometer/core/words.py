"""Small parts of sentences and tables: counts, groups, lists, names, numbers and cells."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")

NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
PART = "independent item"
"""What is counted where the items of a task share nothing, or of several tasks that share different things."""


def counted(number: int, one: str, many: str = "") -> str:
    """A number with its noun: “1 reply”, “2 replies”; without `many`, its `plural`."""
    return f"{number:,} {one if number == 1 else many or plural(one)}"


def plural(noun: str) -> str:
    """Several of a noun: “stories”, “people”, “matches”."""
    if noun == "person":
        return "people"
    return f"{noun[:-1]}ies" if noun.endswith("y") else noun + ("es" if noun.endswith(("ch", "s", "x")) else "s")


def grouped(pairs: Iterable[tuple[Key, Value]]) -> dict[Key, list[Value]]:
    """The values of each key, in the order in which they come."""
    found: dict[Key, list[Value]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


def spelled(number: int, one: str) -> str:
    """The same with small numbers in words: “five instruments”."""
    return f"{NUMBERS[number]} {one}{'s' * (number != 1)}" if number < len(NUMBERS) else counted(number, one)


def listed(names: Sequence[str], most: int = 0) -> str:
    """Names as “a, b and c”; with `most`, so many and then “and 3 others”, of which there are at least two."""
    if most and len(names) > most + 1:
        return f"{', '.join(names[:most])} and {counted(len(names) - most, 'other')}"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else ""


def first_of(names: Sequence[str], most: int) -> str:
    """At most so many names, and how many there are beyond them: “a, b and 3 more”."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def lowered(title: str) -> str:
    """A title inside a sentence: its first letter is small, unless it begins with an abbreviation."""
    return title if title[1:2].isupper() or not title else title[0].lower() + title[1:]


def levels_of(group: Mapping[str, str]) -> Iterator[str]:
    """The levels of a group; a number or a code has the name of its facet with it: “order 2”, “language zh”."""
    for facet, level in group.items():
        yield level if len(level) > 2 and any(map(str.isalpha, level)) else f"{facet} {level}"


def verb_of(subject: str) -> str:
    """“are” after the people of a study, “is” after any other subject."""
    return "are" if subject.startswith("people (") else "is"


def sentence(text: str, names: Sequence[str] = ()) -> str:
    """A text with a capital letter at its start and a full stop at its end; a name at its start stays as it is."""
    text = text.strip()
    if not text:
        return ""
    start = text[0] if text.startswith(tuple(names)) else text[0].upper()
    return start + text[1:] + ("" if text[-1] in ".!?…" else ".")


def visible(text: str, mark: str = "\ufffd", kept: str = "\n\t") -> str:
    """The text with a mark in place of characters that would control a terminal or change the direction of text."""
    return "".join(letter if letter.isprintable() or letter in kept else mark for letter in text)


def in_one_line(text: str) -> str:
    """The text with spaces in place of such characters and of line ends."""
    return visible(text, " ", "")


def first_line(error: Exception) -> str:
    """What an error of another library says, as the start of a sentence."""
    return (str(error).strip() or type(error).__name__).splitlines()[0][:300].rstrip(".")


_LARGE = 1e12
"""From here on a number has no decimals worth rounding."""


def rounded(value: float, digits: int = 1) -> float:
    """A number with so many decimals as tables print it: a half is rounded away from 0."""
    return float(Decimal(repr(round(value, 9))).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))


def plain_number(value: float, digits: int | None = None, usual: int = 2) -> str:
    """A number with a true minus sign and `digits` decimals; without them, `usual` ones, or none if it is whole.

    From 100 on, every further digit before the point takes the place of one of two usual decimals.
    """
    if not math.isfinite(value):
        return str(value)
    if digits is None and usual > 1:
        usual = max(0, usual - max(0, len(str(int(abs(value)))) - 2))
    places = usual if digits is None else digits
    text = f"{rounded(value, places) if abs(value) < _LARGE else value:,.{places}f}"
    if digits is None:
        whole, _, fraction = text.partition(".")
        text = whole if not fraction.strip("0") else text
    return ("−" + text[1:] if text.startswith("-") else text) if text.strip("-0.,") else text.removeprefix("-")


def cell_text(cell: str | int | float | bool | None) -> str:
    """A cell of a table as text: numbers in one format, booleans as yes and no, nothing as a dash."""
    if cell is None:
        return "–"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, float):
        text = plain_number(cell, 3 if abs(cell) < 0.1 else 2)
        return text.rstrip("0").rstrip(".") if "." in text else text
    if isinstance(cell, int):
        return f"{cell:,}" if abs(cell) >= 10_000 else str(cell)
    return cell


def texts_in_item(value: Any, *without: str) -> Iterator[str]:
    """All texts of an item that was decoded from JSON, in their order, but for those of these fields."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, part in value.items():
            if name not in without:
                yield from texts_in_item(part, *without)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from texts_in_item(part, *without)
