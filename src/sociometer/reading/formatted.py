"""Answers in a place made for one: JSON with an answer key, a LaTeX box, an answer tag."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from sociometer.reading.marks import ANY, CLASH, index_of
from sociometer.reading.mentions import Marker
from sociometer.reading.normal import squeeze

__all__ = ["formatted"]

_KEYS = {"answer", "choice", "option", "selected", "selection", "final", "final answer", "response", "pick", "label"}
_KEYS |= {"letter", "result", "selected option", "best option", "correct answer", "correct option", "decision"}
_KEYS |= {"action", "move", "my answer", "my choice", "verdict", "best"}
_KEYS |= {"行动", "动作", "我的答案", "我的选择", "答案", "选项", "选择", "回答", "最终答案", "選項", "選擇"}
_BRACES = re.compile(r"\{[^{}]*\}")
_BOX = re.compile(
    r"\\(?:boxed|fbox)\s*\{([^{}]{0,500})\}|<(?:final_?)?(?:answer|choice|option|final)>([^<]{0,500})</", re.IGNORECASE
)


def formatted(text: str, marker: Marker) -> Iterator[tuple[int | None, str]]:
    """Yield each formatted answer with its rule; None where it names two options or clashes with itself."""
    for match in _BRACES.finditer(text):
        yield from _from_json(match[0], marker)
    for match in _BOX.finditer(text):
        for index in _named(match[1] or match[2] or "", marker):
            yield index, "box"


def _from_json(text: str, marker: Marker) -> Iterator[tuple[int | None, str]]:
    try:
        value = msgspec.json.decode(text)
    except msgspec.DecodeError:
        return
    for key, answer in value.items():
        if squeeze(str(key)) in _KEYS:
            for index in _from_value(answer, marker):
                yield index, "json"


def _from_value(answer: Any, marker: Marker) -> Iterator[int | None]:
    parts = answer if isinstance(answer, list) else [answer]
    for part in parts:
        if isinstance(part, (str, int)) and not isinstance(part, bool):
            yield from _named(str(part), marker)


def _named(text: str, marker: Marker) -> Iterator[int | None]:
    """The option that a short text names."""
    index = marker.whole(text)
    if index is not None:
        yield index
        return
    marks = set(re.findall(ANY, marker.mark(text)))
    if len(marks) == 1:
        mark = marks.pop()
        yield None if mark == CLASH else index_of(mark)
    elif marks:
        yield None
