"""Amounts as replies write them: digits, percentages, fractions, and number words in English and Chinese."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

import msgspec

__all__ = ["NUMBER", "Amount", "amount", "total_points"]

_LARGEST = 1e6

_WORDS = {
    word: value
    for value, words in enumerate(
        ["zero none nothing", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    )
    for word in words.split()
}
_HAN = {
    "零": 0,
    "〇": 0,
    "一": 1,
    "二": 2,
    "两": 2,
    "三": 3,
    "四": 4,
    "五": 5,
    "六": 6,
    "七": 7,
    "八": 8,
    "九": 9,
    "十": 10,
}
_DIGITS = r"-?(?:\d{1,9}(?:\.\d{1,20})?|\.\d{1,20})"

NUMBER = (
    r"(?:"
    r"\d+\s+\d{1,3}\s*/\s*\d{1,3}(?![\d/])|"
    rf"{_DIGITS}\s*(?:/\s*\d{{1,3}}(?![\d/])|out of \d{{1,3}}|%|percent\b)?(?!\d|e[+-]?\d)"
    r"(?!\s*(?:[~–—]|-(?=\d)|\bto\b\s*(?=\d))\s*\d)(?!\s*[/]\s*\d)|"
    rf"\b(?:{'|'.join(_WORDS)})\b(?!\s+(?:of|more|who|that))|"
    r"[零〇一二两三四五六七八九](?=\s*(?:分|点|[,;、\s。]|$))|十(?=分\s*(?:[,;、。.)\s]|$)|\s*$)|"
    r"百分之(?:\d{1,3}|[一二三四五六七八九]?十[一二三四五六七八九]?|[零一二三四五六七八九])|"
    r"[一二三四五六七八九十]成|十分之[零一二三四五六七八九十]"
    r")"
)


class Amount(msgspec.Struct, frozen=True):
    """One amount as written, and what it is a share of: '3' of nothing, '30%' of 100, '3/10' of 10, '1/2' of 1."""

    value: float
    per: float | None = None

    @property
    def is_percent(self) -> bool:
        """Return whether the amount can only be a share of the total."""
        return self.per == 100

    def positive(self) -> Amount:
        """Return the amount without its sign."""
        return Amount(abs(self.value), self.per)

    def points(self, total: float) -> float:
        """Return the amount in points out of the total."""
        return self.value if self.per is None else self.value * total / self.per


def amount(text: str) -> Amount:
    """Return the amount that a match of NUMBER spells."""
    text = text.strip().casefold()
    if text in _WORDS:
        return Amount(float(_WORDS[text]))
    if text[0] in _HAN or text.startswith("百分之"):
        return _han(text)
    mixed = re.fullmatch(r"(\d+)\s+(\d+)\s*/\s*(\d+)", text)
    if mixed:
        return Amount(int(mixed[1]) + (int(mixed[2]) / int(mixed[3]) if int(mixed[3]) else 0.0))
    parts = re.fullmatch(rf"({_DIGITS})\s*(?:(?:/|out of)\s*(\d+)|(%|percent))?", text)
    if parts is None:
        raise ValueError(f"{text!r} is no amount; give a match of NUMBER")
    value = float(parts[1])
    if parts[3]:
        return Amount(value, per=100)
    below = int(parts[2] or 0)
    if below == 0:
        return Amount(value)
    return Amount(value, per=below) if below >= 10 else Amount(value / below, per=1)


def total_points(amounts: Mapping[int, Amount], n: int, total: float) -> tuple[float, ...] | None:
    """Return the points of options 0 to n-1, or None where one has no amount or an absurd one."""
    if len(amounts) != n:
        return None
    written = tuple(amounts[at].value for at in range(n))
    if any(abs(value) > _LARGEST for value in written):
        return None
    if not any(found.is_percent for found in amounts.values()) and math.isclose(math.fsum(written), total):
        return written  # '3½, 3, ½, 3' are halves of a point, not of the total
    return tuple(amounts[at].points(total) for at in range(n))


def _han(text: str) -> Amount:
    if text.startswith("百分之"):
        return Amount(_han_value(text[3:]), per=100)
    if text.startswith("十分之"):
        return Amount(_han_value(text[3:]), per=10)
    if text.endswith("成"):
        return Amount(_han_value(text[:-1]), per=10)
    return Amount(_han_value(text))


def _han_value(text: str) -> float:
    if text.isascii():
        return float(text)
    tens, ten, units = text.rpartition("十")
    if ten:
        return float((_HAN[tens] if tens else 1) * 10 + (_HAN[units] if units else 0))
    return float(_HAN[text])
