"""Point allocations: how a reply that shares points over options is read, and the paper's repairs of its sum."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import msgspec

from sociometer.reading.allocation_answers import Answer, final_answer
from sociometer.reading.allocation_cleaning import (
    without_arithmetic,
    without_blanks,
    without_remarks,
    without_totals,
    without_units,
)
from sociometer.reading.allocation_corrections import corrected_lines
from sociometer.reading.allocation_json import read_json_allocation
from sociometer.reading.allocation_labels import learned_names
from sociometer.reading.allocation_spelling import respelled, without_ranges
from sociometer.reading.allocation_tables import read_table
from sociometer.reading.allocation_text import read_text_allocation, read_whole_total
from sociometer.reading.allocation_tokens import read_sentences
from sociometer.reading.naming import Names
from sociometer.reading.normal import plain
from sociometer.reading.numbers import NUMBER

__all__ = ["AllocationReading", "Repaired", "read_allocation", "repair"]

_REFUSAL = re.compile(
    r"\b(?:i(?:'m| am) (?:sorry|unable|not able)|i (?:can(?:no|')?t|won't|refuse|decline|would rather not)|as an ai\b)|"
    r"无法(?:回答|评估|判断|打分|分配|给出)|不能(?:回答|评估|打分|提供)|抱歉|对不起|拒绝|不想回答|不愿回答",
    re.IGNORECASE,
)
_FINAL = re.compile(
    r"\b(?:final|so my|therefore my|revised|corrected|actual)\s*"
    r"(?:answer|allocation|scores?|distribution|rating|version|result)s?\b|\bfinal\s*:|^\s*A:|"
    r"\b(?:answer|output|result|in conclusion|in summary|to sum up|finally|overall)\s*(?:is\b)?\s*:|"
    r"最终|最后(?:的)?(?:答案|分配|得分|打分|结果)|综上|因此[,:]|答案\s*[:是为]|结果\s*[:是为]|总结\s*:|修正后|改为",
    re.IGNORECASE | re.MULTILINE,
)
_NEXT_QUESTION = re.compile(
    r"<end>|<\|[a-z_]+\|>|\n\s*(?:Q|Question|Story|Item \d+|User|Human|问题|题目|故事)\s*[:：]", re.IGNORECASE
)
_RANKING = re.compile(
    r"\b(?:rank\w*|(?:strongest|highest|most) to (?:the )?(?:weakest|lowest|least)|(?:in )?order of (?:strength"
    r"|intensity|importance))\b"
    r"|排名|排第|排序|由强到弱|从强到弱|从高到低|从大到小",
    re.IGNORECASE,
)
_LONG_DIGITS = re.compile(r"\d{13,}")
_LEADERS = re.compile(r"(?<=[A-Za-z\u4e00-\u9fff])[.·]{2,}(?=\s?\d)")
_LONGEST = 12_000  # an answer stands near the end; what a model rambled before need not be searched


class AllocationReading(msgspec.Struct, frozen=True):
    """The points a reply gave each option, as written, or None; and the rule that read them, or why none could."""

    values: tuple[float, ...] | None
    rule: str


class Repaired(msgspec.Struct, frozen=True):
    """An allocation that sums to the total (or to nothing), and the repair that made it so."""

    values: tuple[float, ...]
    repair: str


def repair(values: Sequence[float] | None, n: int, total: float = 10.0) -> Repaired:
    """Return the allocation after the paper's rules, in its order: null kept, negatives lifted, sum scaled."""
    if values is None or not any(values):
        return Repaired((0.0,) * n, "null")
    rule = "none"
    lowest = min(values)
    if lowest < 0:
        values = [value + abs(lowest) for value in values]
        rule = "lifted"
    held = math.fsum(values)
    if held <= 0:
        return Repaired((0.0,) * n, "null")
    if math.isclose(held, total, rel_tol=0, abs_tol=1e-9):
        return Repaired(tuple(float(value) for value in values), rule)
    return Repaired(tuple(total * value / held for value in values), "scaled" if rule == "none" else "lifted, scaled")


def read_allocation(text: str, options: Sequence[str], total: float = 10.0) -> AllocationReading:
    """Return the points the reply gave to each option, in the options' order, before any repair."""
    if len(options) < 2 or total <= 0:
        raise ValueError(
            f"{len(options)} options to share {total} points; an allocation needs two or more, and a total above 0"
        )
    text = without_blanks(_LONG_DIGITS.sub("#", plain(_behind_thinking(text)[-_LONGEST:])[-_LONGEST:]))
    text = _LEADERS.sub(": ", text)
    cut = _NEXT_QUESTION.search(text, 1)
    if cut and re.search(NUMBER, text[: cut.start()]):
        text = text[: cut.start()]
    if not text.strip():
        return AllocationReading(None, "empty")
    names = Names(options)
    names.learn(learned_names(text, names))
    in_json = read_json_allocation(text, names, total)
    if in_json is not None:
        return AllocationReading(in_json or None, "json" if in_json else "several")
    glued = re.fullmatch(rf"\d{{{names.count}}}", text.strip(" .\n"))
    if glued and sum(map(int, glued[0])) == total:
        return AllocationReading(tuple(map(float, glued[0])), "glued")
    return _read_words(names.mark(text), names.count, total) or AllocationReading(
        None, "refusal" if _REFUSAL.search(text) else "none"
    )


def _read_words(marked: str, n: int, total: float) -> AllocationReading | None:
    """Read the answer in words, first without what tells of other answers and other numbers."""
    table = read_table(marked, n, total)
    if table is not None:
        return AllocationReading(table or None, "table" if table else "several")
    cleaned = corrected_lines(without_units(without_arithmetic(without_remarks(marked))), total)
    settled, answer = final_answer(without_ranges(cleaned), n, total)
    if settled == "two":
        return AllocationReading(None, "several")
    if answer is not None and answer.changed:
        return AllocationReading(answer.points, "changed")
    if answer is not None and settled == "replaced" and math.isclose(math.fsum(answer.points), total):
        return AllocationReading(answer.points, "last")
    found = _read_spelled(cleaned, n, total)
    if found is not None and _RANKING.search(marked) and sorted(found.values or ()) == list(range(1, n + 1)):
        return AllocationReading(None, "ranking")
    if found is None or found.rule == "named, rest zero":
        points = read_sentences(without_ranges(without_totals(cleaned)), n, total)
        found = found if points is None else AllocationReading(points, "sentences")
    if answer is None or found is None or found.values is None or _agree(found.values, answer.points):
        return found
    return _settled(found, answer, total)


def _settled(found: AllocationReading, answer: Answer, total: float) -> AllocationReading:
    """Of the points read by rule and the last whole allocation, the one that makes up the total."""
    values = found.values or ()
    sums = [math.isclose(math.fsum(points), total, abs_tol=1e-9) for points in (values, answer.points)]
    if sums == [True, False] or _agree([abs(value) for value in values], [abs(value) for value in answer.points]):
        return found
    if sums == [False, True] or (answer.written and _agree(values, answer.written)):
        return AllocationReading(answer.points, "last")
    return AllocationReading(None, "several")


def _read_spelled(marked: str, n: int, total: float) -> AllocationReading | None:
    # Commas that part a list are no decimal commas: these are looked for only where the plain reading misses the total.
    plainly = _read_marked(without_ranges(marked), n, total)
    if plainly is not None and math.isclose(math.fsum(plainly.values or ()), total, rel_tol=0, abs_tol=1e-9):
        return plainly
    return _read_marked(respelled(marked, n), n, total) or plainly


def _agree(first: Sequence[float], second: Sequence[float]) -> bool:
    return all(math.isclose(left, right, abs_tol=1e-6) for left, right in zip(first, second, strict=True))


def _behind_thinking(text: str) -> str:
    """The text after the last closing tag of reasoning, if it contains a number."""
    at = max(text.rfind("</think>"), text.rfind("</thinking>"))
    behind = text[at:].partition(">")[2] if at >= 0 else text
    return behind if behind.strip() else text


def _read_marked(marked: str, n: int, total: float) -> AllocationReading | None:
    for part in _parts(marked):
        found = read_text_allocation(part, n, total)
        if found is not None:
            return AllocationReading(*found)
    whole = read_whole_total(marked, n, total)
    return None if whole is None else AllocationReading(whole, "named, rest zero")


def _parts(text: str) -> list[str]:
    """Possible places of the final answer, likeliest first: after a word that announces it, at the end, anywhere."""
    markers = [match.end() for match in _FINAL.finditer(text)][-3:]
    paragraphs = [part for part in re.split(r"\n\s*\n", text) if part.strip()]
    lines = [line for line in text.splitlines() if line.strip()]
    parts = [*(text[at:] for at in reversed(markers)), *paragraphs[-1:], *lines[-1:], text]
    return list(dict.fromkeys(parts))
