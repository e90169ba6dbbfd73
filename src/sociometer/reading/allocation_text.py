"""Point allocations given in words, lists and tables; option names are marks in the text (see naming)."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import cache
from itertools import pairwise

from sociometer.reading.allocation_cleaning import gives_rest_nothing
from sociometer.reading.allocation_spelling import RANGE
from sociometer.reading.feeling_words import is_known_feeling
from sociometer.reading.naming import MARK, marked_index
from sociometer.reading.numbers import NUMBER, Amount, amount, total_points

__all__ = ["read_text_allocation", "read_whole_total"]

Points = tuple[float, ...]

_SCORE_WORD = (
    r"a|an|the|is|are|was|be|being|would|could|should|might|may|get|gets|got|receive|receives|has|have|"
    r"scores?|scored|points?|rating|rated|rate|of|at|as|value|weight|intensity|level|emotion|feeling|option|"
    r"with|about|around|roughly|approximately|say|assign|assigned|allocated?|given?|giving|"
    r"it|i|i'd|i'll|will|to|then|only|just|also|percent|percentage|share|all|whole|entire|full|each|both|"
    r"得分|得到|得|给出|给予|给|为|是|打分|打|分配|分值|分数|评分|评为|占比|占|大约|约|的|强度|程度|可以|应该|应|我|情绪|值|记|计|各"
)
_GAP = rf"(?>\([^()\d\n]{{0,120}}\)|[\s:=|>\-–—~→\"'()\[\]{{}}]|(?:{_SCORE_WORD})(?![A-Za-z]))"
_TO = r"to|for|on|of|in|towards?|goes|go|the|emotion|option|feeling|是|给|分给|分配给|归|的|\(?\d\)"
_NAMED = re.compile(rf"(?P<name>{MARK})(?P<gap>(?:{_GAP}){{0,40}}?)(?P<number>{NUMBER})", re.IGNORECASE)
_NAMED_COMMA = re.compile(rf"(?P<name>{MARK})(?P<gap>(?:{_GAP}|,){{0,40}}?)(?P<number>{NUMBER})", re.IGNORECASE)
_BEFORE = re.compile(
    rf"(?P<number>{NUMBER})\s*(?:points?|pts?|percent|分|点)?\s*(?:(?:{_TO})\s*){{0,6}}[\"'(\[]?(?P<name>{MARK})",
    re.IGNORECASE,
)
_EACH = r"\b(?:each|both|apiece)\b|各|均|都"
_TOGETHER = re.compile(
    rf"(?P<names>{MARK}(?:(?:[\s,/&、]|\band\b|和|与|及){{1,6}}{MARK}){{1,7}})"
    rf"(?P<gap>(?:{_GAP}|均|都){{0,40}}?)(?P<number>{NUMBER})(?P<behind>\s*(?:points?|pts?|分|点)?\s*(?:{_EACH})?)",
    re.IGNORECASE,
)
_RANGED = re.compile(
    rf"{MARK}(?:{_GAP}){{0,40}}?{RANGE}|{RANGE}\s*(?:points?|pts?|分|点)?\s*(?:(?:{_TO})\s*){{0,6}}{MARK}",
    re.IGNORECASE,
)
_BEFORE_STOP = re.compile(rf"(?P<number>{NUMBER})\s*[:=\-–—]\s*(?P<name>{MARK})", re.IGNORECASE)
_CERTAIN_MINUS = re.compile(r"[:=(|]|\bof\b|\bis\b|为|是|[A-Za-z\u4e00-\u9fff\s]-$|^-$", re.IGNORECASE)
_ROW_GAP = re.compile(r"(?:[\s,;:|/、&()\[\]\"'\-–—.=]|\band\b|和|以及|\d\s*[.):、]){0,20}", re.IGNORECASE)
_AFTER_HEADER = r"(?:\s*(?:分|points?|点)?\s*(?:[,;|/:、+\-–—&]|\band\b|和)\s*|\s+)"
_WORD = rf"([A-Za-z\u4e00-\u9fff]{{1,20}}|{MARK})"
_LABELLED = re.compile(rf"{_WORD}(?:\s*[:=]\s*|\s+[-–—]\s+)({NUMBER})", re.IGNORECASE)
_PERCENT_LABELLED = re.compile(rf"({NUMBER})\s*(?:points? |分)?(?:to |for |of )?{_WORD}", re.IGNORECASE)
_TOTAL = re.compile(r"total|sum|总(?:分|计|和)|合计|story|item", re.IGNORECASE)
_NUMBER = re.compile(NUMBER, re.IGNORECASE)
_ONE = rf"(?:{NUMBER}(?:\s*(?:points?|pts?|分|点)(?![A-Za-z]))?|{RANGE})"
_SEPARATOR = r"(?:\s*(?:[,;|、+&\t]|\band\b|和)\s*(?:and\b|和)?\s*|\s+)"
_RUN = re.compile(rf"(?<![\w.%/]){_ONE}(?:{_SEPARATOR}{_ONE})+(?!\s*[-~–]\s*\d)", re.IGNORECASE)
_HAN = "零一二三四五六七八九十"


def read_text_allocation(part: str, n: int, total: float) -> tuple[Points, str] | None:
    """Return the points of all n options with the rule that found them, trying the strongest rule first."""
    for rule, read in _RULES:
        found = total_points(read(part, n, total), n, total)
        if found is not None:
            return found, rule
    return None


def read_whole_total(text: str, n: int, total: float) -> Points | None:
    """Return the points where some options got the whole total between them, so that the others got nothing."""
    if _RANGED.search(text):
        return None
    for pattern in (_NAMED, _BEFORE, _NAMED_COMMA):
        amounts = _pairs(text, pattern)
        if len(amounts) == 1 and any(found.is_percent for found in amounts.values()):
            continue  # '100% proud' is a manner of speaking
        given = math.fsum(found.points(total) for found in amounts.values())
        if amounts and math.isclose(given, total, abs_tol=1e-9) and gives_rest_nothing(text, amounts, n):
            return tuple(amounts[at].points(total) if at in amounts else 0.0 for at in range(n))
    return None


def _header(part: str, n: int, total: float) -> dict[int, Amount]:
    """All names in a row, then as many numbers in a row: a table's head, or 'a, b, c, d: 1, 2, 3, 4'."""
    names = list(re.finditer(MARK, part))
    for first in range(len(names) - n, -1, -1):
        row = names[first : first + n]
        order = [marked_index(match[0]) for match in row]
        gaps = [part[left.end() : right.start()] for left, right in pairwise(row)]
        if len(set(order)) < n or not all(_ROW_GAP.fullmatch(gap) for gap in gaps):
            continue
        match = _header_numbers(n).match(part, row[-1].end())
        if match:
            return dict(zip(order, map(amount, match.groups()), strict=True))
    return {}


@cache
def _header_numbers(n: int) -> re.Pattern[str]:
    numbers = _AFTER_HEADER.join([f"({NUMBER})"] * n)
    return re.compile(rf"[^\d]{{0,200}}?{numbers}(?!\s*[-~–]\s*\d)", re.IGNORECASE)


def _pairs(part: str, pattern: re.Pattern[str]) -> dict[int, Amount]:
    """The last amount next to each name."""
    amounts: dict[int, Amount] = {}
    for match in pattern.finditer(part):
        found = amount(match["number"])
        if found.value < 0 and not _CERTAIN_MINUS.search(match.groupdict().get("gap") or ""):
            found = found.positive()  # in 'Surprised -3' the stroke is a dash
        amounts[marked_index(match["name"])] = found
    return amounts


def _named(part: str, n: int, total: float) -> dict[int, Amount]:
    """'Surprised: 3', '| Surprised | 3 |', 'I give Surprised a score of 3', '惊讶3分', 'Proud and Sad each get 2'."""
    return _together(part) | _pairs(part, _NAMED)


def _together(part: str) -> dict[int, Amount]:
    """What several names in a row got each."""
    amounts: dict[int, Amount] = {}
    for match in _TOGETHER.finditer(part):
        if re.search(_EACH, match["gap"] + match["behind"], re.IGNORECASE):
            amounts |= dict.fromkeys(map(marked_index, re.findall(MARK, match["names"])), amount(match["number"]))
    return amounts


def _before_name(part: str, n: int, total: float) -> dict[int, Amount]:
    """'3 points to Surprised', '30% surprised', '3分给惊讶'."""
    return _pairs(part, _BEFORE)


def _named_after_comma(part: str, n: int, total: float) -> dict[int, Amount]:
    """'Surprised, 3'."""
    return _pairs(part, _NAMED_COMMA)


def _before_name_with_stop(part: str, n: int, total: float) -> dict[int, Amount]:
    """'4: Surprised', unless the numbers only count the options."""
    amounts = _pairs(part, _BEFORE_STOP)
    return {} if all(found.value == at + 1 for at, found in amounts.items()) else amounts


def _numbered(part: str, n: int, total: float) -> dict[int, Amount]:
    """'(1) 3 points; (2) 3 points', 'A: 3, B: 3', '第一个3分', each place once and in order."""
    amounts: dict[int, Amount] = {}
    at = 0
    for place in range(n):
        match = _enumerator(place + 1).search(part, at)
        if match is None:
            return {}
        amounts[place] = amount(match[1])
        at = match.end()
    return amounts


@cache
def _enumerator(place: int) -> re.Pattern[str]:
    han = f"|第{_HAN[place]}" if place < len(_HAN) else ""
    letter = f"|{chr(64 + place)}" if place <= 26 else ""
    return re.compile(
        rf"(?<![\w.])(?:option|emotion|选项|情绪)?\s*\(?(?:{place}{letter}|第{place}{han})(?:个选项|个情绪|个|项|种)?"
        r"(?:\s*[).:、=\]]+\s*|\s*[-–—|]\s+|(?<=[个项种])\s*)"
        rf"(?:得分?|给|打|:)?\s*({NUMBER})(?!\s*[).]\s)",
        re.IGNORECASE,
    )


def _line_pairs(part: str, n: int, total: float) -> dict[int, Amount]:
    """One name and one number on a line, with any words between."""
    amounts: dict[int, Amount] = {}
    for line in re.split(r"\n|;|(?<=[a-z\u4e00-\u9fff])\.(?=\s)|。", part):
        names = set(re.findall(MARK, line))
        counted = re.sub(r"^\s*\(?\d{1,2}[.):、]\s*(?=\D)", "", line)
        numbers = [match[0] for match in _NUMBER.finditer(counted) if re.search(r"\d", match[0])]
        if len(names) == 1 and len(numbers) == 1 and RANGE not in line:
            amounts[marked_index(names.pop())] = amount(numbers[0])
    return amounts


def _in_order(part: str, n: int, total: float) -> dict[int, Amount]:
    """As many 'word: number' pairs as options, in their order, though the words are spelled otherwise."""
    pairs = _LABELLED.findall(part) or [
        (word, number) for number, word in _PERCENT_LABELLED.findall(part) if number.endswith(("%", "percent"))
    ]
    pairs = [pair for pair in pairs if not _TOTAL.fullmatch(pair[0])]
    known = [marked_index(word) if re.fullmatch(MARK, word) else place for place, (word, _) in enumerate(pairs)]
    if any(is_known_feeling(word.casefold()) for word, _ in pairs):
        return {}  # each such word would have been read as its option
    if known != list(range(n)) or any(len(word) < 3 and word.isascii() for word, _ in pairs):
        return {}
    found = {place: amount(number) for place, (_, number) in enumerate(pairs)}
    return found if math.isclose(math.fsum(each.points(total) for each in found.values()), total) else {}


def _listed(part: str, n: int, total: float) -> dict[int, Amount]:
    """The last run of as many numbers as options: '3, 3, 1, 3', with or without its sum behind it."""
    for run in reversed([match for match in _RUN.finditer(part) if RANGE not in match[0]]):
        numbers = [amount(match[0]) for match in _NUMBER.finditer(run[0])]
        points = [number.points(total) for number in numbers]
        if len(numbers) == n + 1 and math.isclose(math.fsum(points[:-1]), points[-1], abs_tol=1e-6):
            numbers.pop()
        if len(numbers) == n:
            return dict(enumerate(numbers))
    slashed = _slashed(n).findall(part)
    return dict(enumerate(map(amount, re.findall(r"\d+(?:\.\d+)?", slashed[-1])))) if slashed else {}


@cache
def _slashed(n: int) -> re.Pattern[str]:
    one = r"\d{1,9}(?:\.\d{1,9})?"
    return re.compile(rf"(?<![\d/]){one}(?:\s*[/:\-]\s*{one}){{{n - 1}}}(?![\d/])")


_RULES: tuple[tuple[str, Callable[[str, int, float], dict[int, Amount]]], ...] = (
    ("header", _header),
    ("named", _named),
    ("before name", _before_name),
    ("named", _named_after_comma),
    ("numbered", _numbered),
    ("line", _line_pairs),
    ("before name", _before_name_with_stop),
    ("in order", _in_order),
    ("list", _listed),
)
