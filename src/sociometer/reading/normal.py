"""One plain spelling for replies, so that reading rules meet no full-width letters, circled digits or markdown."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

__all__ = ["plain", "squeeze", "tidy"]

_THINK = re.compile(r"<think(?:ing)?>", re.IGNORECASE)
_THINK_END = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_LATEX_WRAP = re.compile(r"\\(?:text|textbf|mathbf|mathrm|mathit|bold)\s*\{([^{}]*)\}")
_VULGAR = {mark: f" {unicodedata.normalize('NFKC', mark).replace(chr(0x2044), '/')}" for mark in "½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞⅒"}
_CIRCLED = {chr(first + step): f" ({step + 1}) " for first in (0x2460, 0x2474, 0x2776) for step in range(10)}
_MARKS = {"“": '"', "”": '"', "‘": "'", "’": "'", "「": '"', "」": '"', "『": '"', "』": '"', "【": "[", "】": "]"}
_MINUS = {"−": "-", "﹣": "-", "－": "-"}
_TABLE = str.maketrans({**_VULGAR, **_CIRCLED, **_MARKS, **_MINUS, "*": "", "`": "", "\u200b": "", "\ufeff": ""})
_SPACES = re.compile(r"[^\S\n]+")
_LONG_RUN = re.compile(r"[^\w\n]{60,}")
_NOT_PLAIN = re.compile(r"[<\\$*`\x00-\x08\x0b-\x1f\x7f]")
"""What an ASCII text may hold that has to be taken out; most replies hold none of it."""


def plain(text: str) -> str:
    """Return the reply without reasoning tags and emphasis, in half-width letters, digits and punctuation."""
    if text.isascii() and not _NOT_PLAIN.search(text):
        return text.strip()
    text = _without_thoughts(text)
    text = unicodedata.normalize("NFKC", text.translate(_TABLE))
    text = _LATEX_WRAP.sub(r"\1", text).replace("$", "")
    if not text.replace("\n", "").replace("\t", "").isprintable():
        text = "".join(mark for mark in text if mark in "\n\t" or unicodedata.category(mark)[0] != "C")
    return text.strip()


def _without_thoughts(text: str) -> str:
    """The text with each thought, closed or not, made one line feed; one pass, however many thoughts are opened."""
    kept, at = [], 0
    while opened := _THINK.search(text, at):
        kept.append(text[at : opened.start()])
        closed = _THINK_END.search(text, opened.end())
        if closed is None:
            return "\n".join([*kept, ""])
        at = closed.end()
    return "\n".join([*kept, text[at:]])


def tidy(text: str) -> str:
    """Return the text without runs of spaces, of empty lines and of signs, over which patterns would take long."""
    lines = (_SPACES.sub(" ", line).strip() for line in text.split("\n"))
    kept: list[str] = []
    for line in lines:
        if line or (kept and kept[-1]):
            kept.append(_LONG_RUN.sub(lambda run: run[0][:30] + run[0][-30:], line))
    return "\n".join(kept).strip()


@lru_cache(maxsize=4096)
def squeeze(text: str) -> str:
    """Return the text folded to lower case with runs of spaces and punctuation made one space."""
    return re.sub(r"[\W_]+", " ", plain(text).casefold()).strip()
