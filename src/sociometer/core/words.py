"""Small parts of sentences: counts, lists and names."""

from collections.abc import Sequence

NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def counted(number: int, one: str, many: str = "") -> str:
    """A number with its noun: “1 reply”, “2 replies”; without `many`, the plural adds an s."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def spelled(number: int, one: str, many: str = "") -> str:
    """The same with small numbers in words: “five instruments”."""
    if number >= len(NUMBERS):
        return counted(number, one, many)
    return f"{NUMBERS[number]} {one if number == 1 else many or one + 's'}"


def listed(names: Sequence[str], most: int = 0) -> str:
    """Names as “a, b and c”; with `most`, at most so many and then “and 3 others”."""
    if most and len(names) > most:
        return f"{', '.join(names[:most])} and {counted(len(names) - most, 'other')}"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else ""


def first_of(names: Sequence[str], most: int) -> str:
    """At most so many names, and how many there are beyond them: “a, b and 3 more”."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def lowered(title: str) -> str:
    """A title inside a sentence: its first letter is small, unless it begins with an abbreviation."""
    return title if title[1:2].isupper() or not title else title[0].lower() + title[1:]


def sentence(text: str, names: Sequence[str] = ()) -> str:
    """A text with a capital letter at its start and a full stop at its end; a name at its start stays as it is."""
    text = text.strip()
    if not text:
        return ""
    start = text[0] if text.startswith(tuple(names)) else text[0].upper()
    return start + text[1:] + ("" if text[-1] in ".!?…" else ".")


def visible(text: str) -> str:
    """The text with a mark in place of characters that would control a terminal or change the direction of text."""
    return "".join(letter if letter.isprintable() or letter in "\n\t" else "\ufffd" for letter in text)
