"""JSON replies: the one object in a reply, decoded strictly into a typed record."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Generic, TypeVar

import msgspec

__all__ = ["StructuredReading", "find_json", "read_json"]

T = TypeVar("T")
_FENCE = re.compile(r"```[\w+-]*[ \t]*\n?(.*?)```", re.DOTALL)
_THINK = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_CLOSING = {"{": "}", "[": "]"}
_MOST_STARTS = 200  # a hostile reply of opening brackets alone must not cost quadratic time


class StructuredReading(msgspec.Struct, Generic[T], frozen=True):
    """The record a reply held, or None; and the rule that read it, or the reason that none could."""

    value: T | None
    rule: str


def read_json(text: str, type: type[T]) -> StructuredReading[T]:
    """Return the reply's JSON object as this type; none, a misfit or several different ones are unreadable."""
    text = _THINK.sub("\n", text).strip()
    if not text:
        return StructuredReading(None, "empty")
    try:
        return StructuredReading(msgspec.json.decode(text.encode(), type=type), "whole")
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        pass
    fenced = [part for block in _FENCE.findall(text) for part in find_json(block)]
    parts = fenced or list(find_json(text))
    if not parts:
        return StructuredReading(None, "none")
    values: list[T] = []
    reason = "misfit"
    for part in parts:
        try:
            value = msgspec.json.decode(part.encode(), type=type)
        except (msgspec.ValidationError, RecursionError) as error:
            reason = f"misfit: {error}"
            continue
        if value not in values:
            values.append(value)
    if len(values) > 1:
        return StructuredReading(None, "several")
    return (
        StructuredReading(values[0], "fence" if fenced else "embedded") if values else StructuredReading(None, reason)
    )


def find_json(text: str) -> Iterator[str]:
    """Yield each outermost JSON object or list that stands in the text, in order."""
    at = starts = 0
    while at < len(text) and starts < _MOST_STARTS:
        if text[at] not in _CLOSING:
            at += 1
            continue
        starts += 1
        end = _balanced_end(text, at)
        if end is not None and _decodes(text[at:end]):
            yield text[at:end]
            at = end
        else:
            at += 1


def _balanced_end(text: str, start: int) -> int | None:
    stack: list[str] = []
    in_string = False
    at = start
    while at < len(text):
        mark = text[at]
        if in_string:
            if mark == "\\":
                at += 1
            elif mark == '"':
                in_string = False
        elif mark == '"':
            in_string = True
        elif mark in _CLOSING:
            stack.append(_CLOSING[mark])
        elif mark in "}]":
            if stack.pop() != mark:
                return None
            if not stack:
                return at + 1
        at += 1
    return None


def _decodes(part: str) -> bool:
    try:
        decoded: Any = msgspec.json.decode(part.encode())
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return False
    return isinstance(decoded, dict | list)
