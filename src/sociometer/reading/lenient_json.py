"""A tolerant JSON parser: reads what models write for JSON, and says whether its end was cut off."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any

import msgspec

__all__ = ["Bare", "Budget", "Parsed", "Twice", "parse_all", "parse_strictly"]

_OPEN, _CLOSE = {"{": "}", "｛": "}", "[": "]", "［": "]"}, {"}": "}", "｝": "}", "]": "]", "］": "]"}
_START = re.compile(r"[{｛\[［]")
_STRICT_START = re.compile(r"[{\[]")
_QUOTES = {'"': '"“”＂', "“": '”"“', "”": '”"“', "＂": '＂"', "'": "'’", "‘": "’'", "’": "’'", "「": "」", "`": "`"}
_SPACE = re.compile(r"[\s\u200b\ufeff]*")
_BARE = re.compile(r"[^,，{}\[\]｛｝［］\"“\n]{1,200}")
_BARE_KEY = re.compile(r"[\w][\w .\-]{0,60}")
_LITERALS = {"true": True, "false": False, "null": None, "none": None}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_COMMENT = r"//|#|/\*"
_QUOTED_KEY = r"[\"'“”‘＂`][^\"'“”‘’＂`\n:：]{1,60}[\"'“”’＂`]\s*[:：]"
_VALUE_START = r"[\"'“‘{\[｛［+\-\d]|(?:true|false|null|none)\b"
_AFTER_VALUE = re.compile(
    rf"\s*(?:$|```|</|[}}｝\]］]|[,，;；]?\s*(?:{_COMMENT}|{_QUOTED_KEY})|[,，;；]\s*(?:$|[}}｝\]］]))", re.IGNORECASE
)
_AFTER_VALUE_BARE = re.compile(
    rf"\s*(?:$|```|</|[}}｝\]］]|[,，]?\s*(?:{_COMMENT})|[,，\n]\s*(?:$|[}}｝\]］]|\w[\w\-]{{0,40}}\s*[:：]))",
    re.IGNORECASE,
)
_AFTER_ITEM = re.compile(
    rf"\s*(?:$|[}}｝\]］]|[,，、]?\s*(?:{_COMMENT})|[,，、]\s*(?:$|[\]］}}]|{_VALUE_START}))", re.IGNORECASE
)
_AFTER_KEY = re.compile(r"\s*[:：]|\s*=\s")
_STRICT_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_DEEPEST = 40
_MOST_STARTS = 200


class Bare(str):
    """A value without quotation marks, as it was written."""

    __slots__ = ()


class Twice:
    """The value of a key that an object gives twice with different values."""


class Parsed(msgspec.Struct, frozen=True):
    """A value found in a text with its place; `complete` is false where the text ended inside something that counts."""

    value: Any
    start: int
    end: int
    complete: bool


class Budget:
    """The steps that a reading may still take; hostile texts use them up and are then unreadable."""

    def __init__(self, steps: int) -> None:
        self.left = steps

    def take(self) -> None:
        """Count one step."""
        self.left -= 1
        if self.left < 0:
            raise _Unreadable


class _Unreadable(Exception):
    """The text at this place is not JSON."""


def parse_all(text: str, budget: Budget) -> Iterator[Parsed]:
    """Yield each outermost object or list in the text, in order."""
    at = failures = 0
    while failures < _MOST_STARTS and (match := _START.search(text, at)):
        strict = _strict(text, match.start())
        if strict is not None:
            yield strict
            at = strict.end
            continue
        parser = _Parser(text, match.start(), budget)
        try:
            value = parser.value(0)
        except _Unreadable:
            failures += 1
            at = match.end()
            continue
        yield Parsed(value, match.start(), parser.at, not parser.cut)
        at = max(parser.at, match.end())


def parse_strictly(text: str) -> Iterator[Parsed]:
    """Yield each outermost object or list that is JSON without any repair, in order."""
    at = failures = 0
    while failures < _MOST_STARTS and (match := _STRICT_START.search(text, at)):
        found = _strict(text, match.start())
        if found is not None:
            yield found
        failures += found is None
        at = match.end() if found is None else found.end


def _strict(text: str, at: int) -> Parsed | None:
    try:
        value, end = _DECODER.raw_decode(text, at)
    except (ValueError, RecursionError):
        return None
    return Parsed(value, at, end, complete=True)


def _number(written: str) -> int | float | Bare:
    if len(written) > 20:
        return Bare(written)
    value = float(written)
    if not math.isfinite(value):
        return Bare(written)
    return value if set(written) & set(".eE") else int(written)


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        found[key] = value if key not in found or found[key] == value else Twice
    return found


_DECODER = json.JSONDecoder(
    object_pairs_hook=_pairs, parse_int=_number, parse_float=_number, parse_constant=Bare, strict=False
)


class _Parser:
    def __init__(self, text: str, at: int, budget: Budget) -> None:
        self.text = text
        self.at = at
        self.cut = False
        self._budget = budget

    def value(self, depth: int, after: re.Pattern[str] = _AFTER_VALUE) -> Any:
        self._budget.take()
        if depth > _DEEPEST:
            raise _Unreadable
        mark = self.text[self.at : self.at + 1]
        if mark in _OPEN and mark:
            self.at += 1
            return self._object(depth) if _OPEN[mark] == "}" else self._list(depth)
        if mark in _QUOTES and mark:
            return self._string(after)
        return self._bare()

    def _object(self, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while True:
            self._skip(",，;；")
            if self._ended():
                return found
            mark = self.text[self.at]
            if mark in _CLOSE:
                if _CLOSE[mark] == "}":
                    self.at += 1
                elif depth == 0:
                    raise _Unreadable
                return found  # where it is a bracket, the closing brace is missing
            if found and self.text.startswith(("```", "</"), self.at):
                return found
            bare = mark not in _QUOTES
            key = self._key(bare)
            self._skip("")
            if self._ended():
                return found
            value = self.value(depth + 1, _AFTER_VALUE_BARE if bare else _AFTER_VALUE)
            if self.cut:
                return found  # what was cut off is left out, with all that holds it
            found[key] = value if key not in found or found[key] == value else Twice

    def _key(self, bare: bool) -> str:
        if not bare:
            key = self._string(_AFTER_KEY)
        else:
            match = _BARE_KEY.match(self.text, self.at)
            if match is None:
                raise _Unreadable
            key, self.at = match[0].strip(), match.end()
        if self.cut:
            return str(key)
        colon = _AFTER_KEY.match(self.text, self.at)
        if colon is None:
            raise _Unreadable
        self.at = colon.end()
        return str(key)

    def _list(self, depth: int) -> list[Any]:
        found: list[Any] = []
        while True:
            self._skip(",，、;；")
            if self._ended():
                self.cut = True
                return found
            if self.text[self.at] in _CLOSE:
                if _CLOSE[self.text[self.at]] == "]":
                    self.at += 1
                elif depth == 0:
                    raise _Unreadable
                return found
            value = self.value(depth + 1, _AFTER_ITEM)
            found.append(value)
            if self.cut:
                return found

    def _string(self, after: re.Pattern[str]) -> str:
        """A string up to the first mark after which the object or list goes on; marks before it belong to it."""
        marks = _QUOTES[self.text[self.at]]
        pieces: list[str] = []
        stop = _stop(marks)
        at = begun = self.at + 1
        while True:
            self._budget.take()
            match = stop.search(self.text, at)
            if match is None:
                self.cut, self.at = True, len(self.text)
                return "".join(pieces) + self.text[begun:]
            if match[0] == "\\":
                pieces.append(self.text[begun : match.start()])
                piece, at = _escaped(self.text, match.end())
                pieces.append(piece)
                begun = at
            elif after.match(self.text, match.end()):
                self.at = match.end()
                return "".join(pieces) + self.text[begun : match.start()]
            else:
                at = match.end()

    def _bare(self) -> Any:
        match = _BARE.match(self.text, self.at)
        if match is None:
            raise _Unreadable
        written = re.split(r"\s+(?://|#|/\*)", match[0])[0]
        self.at += len(written)
        written = written.strip().rstrip(";；")
        if not written:
            raise _Unreadable
        if written.casefold() in _LITERALS:
            return _LITERALS[written.casefold()]
        if self.at >= len(self.text):
            self.cut = True  # more digits may have followed
        return _number(written) if _STRICT_NUMBER.fullmatch(written) else Bare(written)

    def _skip(self, separators: str) -> None:
        """Move over spaces, comments and these separators."""
        while True:
            self._budget.take()
            found = _SPACE.match(self.text, self.at)
            self.at = found.end() if found else self.at
            if self.text.startswith(("//", "#"), self.at):
                end = self.text.find("\n", self.at)
            elif self.text.startswith("/*", self.at):
                end = self.text.find("*/", self.at) + 1
                end = end if end else -1
            elif self.at < len(self.text) and self.text[self.at] in separators:
                end = self.at
            else:
                return
            self.at = len(self.text) if end < 0 else end + 1

    def _ended(self) -> bool:
        return self.cut or self.at >= len(self.text)


_STOPS: dict[str, re.Pattern[str]] = {}


def _stop(marks: str) -> re.Pattern[str]:
    return _STOPS.setdefault(marks, re.compile(rf"[\\{marks}]"))


def _escaped(text: str, at: int) -> tuple[str, int]:
    """What the escape whose backslash is before `at` means, and where the text continues."""
    mark = text[at : at + 1]
    if mark == "u" and re.fullmatch(r"[0-9a-fA-F]{4}", text[at + 1 : at + 5]):
        code, end = int(text[at + 1 : at + 5], 16), at + 5
        low = re.match(r"\\u([dD][c-fC-F][0-9a-fA-F]{2})", text[end : end + 6])
        if 0xD800 <= code < 0xDC00 and low:
            return chr(0x10000 + ((code - 0xD800) << 10) + int(low[1], 16) - 0xDC00), end + 6
        return ("\ufffd" if 0xD800 <= code < 0xE000 else chr(code)), end
    if mark in _ESCAPES and mark:
        return _ESCAPES[mark], at + 1
    return mark, at + 1
