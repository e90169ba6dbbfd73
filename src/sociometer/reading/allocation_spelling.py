"""Numbers of a reply respelled so that each means one thing: decimal commas become points, ranges are removed."""

from __future__ import annotations

import re

from sociometer.reading.naming import MARK

__all__ = ["RANGE", "decimal_point", "respelled", "without_ranges"]

RANGE = "\ue200"
"""Replaces '2-3' and '2 to 3', which are not one amount; replies do not contain this character."""

_COMMA = re.compile(r"(?<![\d.,])(?<!\d, )(\d{1,9}),(\d{1,3})(?!\d|\.\d|\s*(?:,|、|&|\band\b|和)\s*-?\.?\d)")
_ONE = r"\d{1,9}(?:\.\d{1,9})?(?:\s*%)?"
_RANGE = re.compile(
    rf"(?<![\d.\-–—~/]){_ONE}(?:\s*[分点])?(?:[-–—~]|\s+(?:to|or)\s+|\s*[到至或]\s*){_ONE}(?!\.?\d|\s*[-–—~/]\s*\d)",
    re.IGNORECASE,
)
_SPACED_RANGE = re.compile(
    rf"({MARK}[\s:=(|\"']*){_ONE}\s+[-–—~]\s+{_ONE}(?=\s*(?:points?|pts?|分|点)?\s*(?:$|[\n,;)|]))",
    re.IGNORECASE,
)


def respelled(marked: str, n: int) -> str:
    """Return a text with marked names in which decimals have points, and ranges of numbers have no digits."""
    return without_ranges(marked if _only_lists(marked, n) else decimal_point(marked))


def without_ranges(marked: str) -> str:
    """Return a text with marked names in which ranges of numbers have no digits."""
    return _SPACED_RANGE.sub(rf"\1{RANGE}", _RANGE.sub(RANGE, marked))


def decimal_point(text: str) -> str:
    """Return the text with '2.5' for '2,5'; in '4,3,1,2' and '4, 3,1, 2' the commas part a list and stay."""
    return _COMMA.sub(r"\1.\2", text)


def _only_lists(text: str, n: int) -> bool:
    """Whether the commas part '7,3' of two options, or a count from its points ('1,4', '2,3', '3,1', '4,2')."""
    before = [int(match[1]) for match in _COMMA.finditer(text)]
    return (n == 2 and len(before) == 1) or before == list(range(1, n + 1))
