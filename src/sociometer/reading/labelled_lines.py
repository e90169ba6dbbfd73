"""Answers without JSON: one 'key: value' per line, a table of two columns, tags or a numbered list."""

from __future__ import annotations

import re
from collections.abc import Callable

from sociometer.reading.lenient_json import Twice

__all__ = ["numbered_lines", "read_labelled"]

_MARKS = r"[\s\-*•>_`\"'“”#]{0,20}"
_LINE = re.compile(
    rf"^{_MARKS}(?:\d{{1,2}}[.)、]\s*)?{_MARKS}(?P<key>[^\W_][\w .\-]{{0,40}}?(?:\s?[(（][^()（）\n]{{0,40}}[)）])?)"
    r"[\s*_`\"'“”]{0,6}(?:[:：=])[ \t*_`]{0,6}(?P<value>.*)$"
)
_ROW = re.compile(
    r"^\s{0,4}\|[\s*`_]{0,6}(?P<key>[^|\n]{1,60}?)[\s*`_]{0,6}\|[\s*`_]{0,6}(?P<value>[^|\n]{1,400}?)[\s*`_]{0,6}\|.*$"
)
_TAG = re.compile(r"<(?P<key>[A-Za-z_][\w\-]{0,40})>(?P<value>[^<]{0,5000})</(?P=key)>")
_NUMBERED = re.compile(r"^[\s\-*>]{0,8}[(（]?(?P<place>\d{1,3})[.)）、:：][\s*]{0,6}(?P<value>\S.*)$")
_LONGEST = 50_000


def read_labelled(text: str, known: Callable[[str], str | None]) -> dict[str, object]:
    """Return the values of the lines whose keys are known; a line without a key continues the value before it."""
    text = text[-_LONGEST:]
    tags = [(match["key"], match["value"].strip()) for match in _TAG.finditer(text)]
    found = _collected([(key, value) for key, value in tags if known(key)], known)
    return found or _collected(_pairs(text, known), known)


def _pairs(text: str, known: Callable[[str], str | None]) -> list[tuple[str, str]]:
    pairs: list[tuple[str, str]] = []
    open_value = False
    for line in text.splitlines():
        match = _ROW.match(line) or _LINE.match(line)
        if match and known(match["key"]):
            pairs.append((match["key"], _clean(match["value"])))
            open_value = "|" not in line[:5]
        elif not line.strip() or line.strip().startswith("```"):
            open_value = open_value and bool(pairs) and not pairs[-1][1]
        elif open_value and pairs:
            pairs[-1] = (pairs[-1][0], f"{pairs[-1][1]}\n{line.strip()}".strip())
    return pairs


def _clean(value: str) -> str:
    value = value.strip().rstrip(",").strip()
    value = re.sub(r"[*_`]+$", "", value).strip()
    marks = re.fullmatch(r"\"([^\"]*)\"|'([^']*)'|“([^“”]*)”", value)
    return next(part for part in marks.groups() if part is not None) if marks else value


def _collected(pairs: list[tuple[str, str]], known: Callable[[str], str | None]) -> dict[str, object]:
    found: dict[str, object] = {}
    for written, value in pairs:
        key = known(written) or written
        found[key] = value if key not in found or found[key] == value else Twice
    return found


def numbered_lines(text: str) -> list[str] | None:
    """Return the entries of the one list in the text that is numbered 1, 2, 3 and so on; None where there is none."""
    matches = [match for line in text[-_LONGEST:].splitlines() if (match := _NUMBERED.match(line))]
    if len(matches) < 2 or [int(match["place"]) for match in matches] != list(range(1, len(matches) + 1)):
        return None
    return [match["value"].strip() for match in matches]
