"""Allocations in free sentences: names and numbers that pair off one after the other and share out the total."""

from __future__ import annotations

import math
import re

from sociometer.reading.allocation_cleaning import gives_rest_nothing
from sociometer.reading.allocation_spelling import RANGE
from sociometer.reading.naming import MARK, marked_index
from sociometer.reading.numbers import NUMBER, Amount, amount

__all__ = ["read_sentences"]

_TOKEN = re.compile(
    rf"(?P<names>{MARK}(?:(?:\s*[,、&/]\s*(?:and\s+)?|\s+and\s+|\s*[和与及]\s*){MARK})*)|(?P<number>{NUMBER})",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[^\d])[.!?](?=\s|$)|(?<=\d)\.(?=\s+\D)|[。!?\n;]")
_EACH = re.compile(r"\b(?:each|both|apiece)\b|各|均|都", re.IGNORECASE)
_ORDINAL = re.compile(
    rf"第\s*\d|\b\d(?:st|nd|rd|th)\b|#\s*\d|\brank|\b(?:first|second|third|fourth)\s*[:,]|(?:^|[\n;,.(])\s*\(?\d\s*[.)、]\s*{MARK}",
    re.IGNORECASE,
)
_MOST_TOKENS = 40


def read_sentences(text: str, n: int, total: float) -> tuple[float, ...] | None:
    """Return the points where each option has exactly one number beside it and all of them make up the total."""
    if RANGE in text or _ORDINAL.search(text):
        return None
    amounts: dict[int, Amount] = {}
    for sentence in _SENTENCE.split(text):
        found = _pairs_off(sentence)
        if found is None or set(found) & set(amounts):
            return None
        amounts |= found
    if len(amounts) < min(n, 2) or not gives_rest_nothing(text, amounts, n):
        return None
    points = tuple(amounts[place].points(total) if place in amounts else 0.0 for place in range(n))
    return points if math.isclose(math.fsum(points), total, abs_tol=1e-9) else None


def _pairs_off(sentence: str) -> dict[int, Amount] | None:
    """What each name of a sentence gets; None where its names and numbers do not pair off."""
    tokens = list(_TOKEN.finditer(sentence))
    if len(tokens) > _MOST_TOKENS:
        return None
    if not any(token["number"] for token in tokens) or not any(token["names"] for token in tokens):
        return None if any(token["number"] for token in tokens) else {}
    if len(tokens) % 2:
        return None
    found: dict[int, Amount] = {}
    for first, second in zip(tokens[::2], tokens[1::2], strict=True):
        if bool(first["names"]) == bool(second["names"]):
            return None
        names = [marked_index(mark) for mark in re.findall(MARK, first["names"] or second["names"])]
        around = sentence[first.start() : second.end() + 8]
        if len(names) > 1 and not _EACH.search(around):
            return None
        if set(names) & set(found):
            return None
        found |= dict.fromkeys(names, amount(first["number"] or second["number"]))
    return found
