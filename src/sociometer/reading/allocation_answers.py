"""Whole allocations in a reply, and whether it gives two different ones without saying which is its answer."""

from __future__ import annotations

import math
import re

import msgspec

from sociometer.reading.allocation_corrections import says_change, says_swap, swapped, with_changes
from sociometer.reading.naming import MARK, marked_index
from sociometer.reading.numbers import NUMBER, amount

__all__ = ["Answer", "final_answer", "final_word", "whole_answers"]

_GAP = r"[\s:=|(\[>\-–—→+★█]{0,12}(?:(?:a|is|gets?|got|at|of|points?|得|给|打|为|占|是|有|约)\s*){0,4}[\s:=]{0,3}"
_PAIR = re.compile(rf"(?P<name>{MARK}){_GAP}(?P<number>{NUMBER})", re.IGNORECASE)
_LIST = re.compile(rf"(?<![\w.%/+\-]){NUMBER}(?:\s*[,、;/|]\s*{NUMBER}){{1,20}}(?![\w%])", re.IGNORECASE)
_ROW = re.compile(rf"{MARK}[\s:=,|]{{0,6}}$")
_LATER = re.compile(
    r"\b(?:final\w*|so my|therefore|revised?|revising|correct(?:ed|ion|ing)|adjust\w*|chang\w*|actually|instead|wait|"
    r"reconsider\w*|on reflection|second thought|let me (?:change|fix|redo|recount|try)|too (?:many|few|much)"
    r"|scratch that|"
    r"sorry|oops|answer|in (?:your|the given|that) order|restated|to sum up|in short|in summary|overall|that makes|"
    r"that's|which is|sums? to|adds? up|after (?:it|the|that|all|\w+ing)|but now|now)\b|"
    r"\bno[,:;.]|最终|最后|综上|因此|所以|修正|更正|调整|改为|改成|应改|不对|重新|答案|即|也就是|总之"
    r"|按(?:题目)?顺序|超出|多了|少了|合计",
    re.IGNORECASE,
)
_EITHER = re.compile(
    r"\b(?:both (?:are|work|seem|would)|either (?:is|one|works)|it depends|depends on|up to you|can't decide"
    r"|cannot decide|"
    r"option \d|version \d|reading \d|scenario \d|alternatively|or else|choose (?:one|between|whichever))\b|"
    r"两种|都合理|都可以|自行选择|取决于|方案[一二12]|版本[一二12]|任选",
    re.IGNORECASE,
)


class Answer(msgspec.Struct, frozen=True):
    """One whole allocation with its place in the text; `written` are the points in the reply's own order of names.

    `order` are the options in that order; `changed` says that words behind the list changed it.
    """

    start: int
    end: int
    points: tuple[float, ...]
    written: tuple[float, ...] = ()
    order: tuple[int, ...] = ()
    changed: bool = False


def final_word(text: str) -> bool:
    """Return whether the reply says that a later answer replaces an earlier one."""
    return _LATER.search(text) is not None and not _EITHER.search(text)


def whole_answers(marked: str, n: int, total: float) -> list[Answer]:
    """Return every run of pairs that gives each option points once, and every list of as many numbers, in order."""
    pairs = list(_PAIR.finditer(marked))
    found: list[Answer] = []
    at = len(pairs) - n
    while at >= 0:
        window = pairs[at : at + n]
        points = {marked_index(match["name"]): amount(match["number"]).points(total) for match in window}
        if len(points) == n:
            listed = tuple(points[place] for place in range(n))
            start, end = window[0].start(), window[-1].end()
            found.append(Answer(start, end, listed, tuple(points.values()), tuple(points)))
            at -= n
        else:
            at -= 1
    for match in _LIST.finditer(marked) if n > 2 else ():  # '7,5' may be a decimal
        numbers = [amount(part[0]).points(total) for part in re.finditer(NUMBER, match[0], re.IGNORECASE)]
        if len(numbers) == n and not _ROW.search(marked[max(0, match.start() - 12) : match.start()]):
            found.append(Answer(match.start(), match.end(), tuple(numbers)))
    return sorted(found, key=lambda answer: answer.start)


def final_answer(marked: str, n: int, total: float) -> tuple[str, Answer | None]:
    """Return "one", "replaced", "two" or "open" and the final answer of the reply, if any."""
    answers = whole_answers(marked, n, total)
    own_order = {answer.written for answer in answers if answer.written}
    answers = [answer for answer in answers if answer.written or answer.points not in own_order] or answers
    if not answers:
        return "open", None
    last = answers[-1]
    changed = _changed(marked[last.end :], last, total)
    if changed is not None:
        return ("one", changed) if changed.points else ("two", None)
    different = [answer for answer in answers[:-1] if not _same(answer.points, last.points)]
    if not different:
        return "one", last
    between = marked[different[-1].end : last.start]
    before, behind = marked[: last.end], marked[last.end :]
    if _EITHER.search(behind) or _EITHER.search(before[-3_000:]):
        return "two", None
    fixed = math.isclose(math.fsum(last.points), total) and not math.isclose(math.fsum(different[-1].points), total)
    if fixed or _LATER.search(between) or _LATER.search(marked[max(0, last.start - 60) : last.start]):
        return "replaced", last
    return "two", None


def _changed(tail: str, last: Answer, total: float) -> Answer | None:
    """The answer after changes that the reply names behind it; without points where they do not lead to the total."""
    if says_swap(tail):
        points = swapped(tail, last.points, last.order or tuple(range(len(last.points)))) or ()
    elif says_change(tail):
        points = with_changes(tail, last.points, total)
        points = points if math.isclose(math.fsum(points), total) and points != last.points else ()
    else:
        return None
    return Answer(last.start, last.end, points, last.written, last.order, changed=True)


def _same(first: tuple[float, ...], second: tuple[float, ...]) -> bool:
    return all(math.isclose(left, right, abs_tol=1e-9) for left, right in zip(first, second, strict=True))
