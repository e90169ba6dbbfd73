"""Point allocations: how a reply that shares points over options is read, and the paper's repairs of its sum."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

import msgspec

from sociometer.elicit.allocation_json import read_json_allocation
from sociometer.elicit.naming import Names
from sociometer.elicit.normal import plain
from sociometer.elicit.numbers import NUMBER, Amount, amount, total_points

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
_SCORE_WORD = (
    r"a|an|the|is|are|was|be|being|would|could|should|might|may|get|gets|got|receive|receives|has|have|scores?|scored|score|points?|rating|rated|rate|of|at|as|"
    r"value|weight|intensity|level|emotion|feeling|option|with|about|around|roughly|approximately|say|assign|assigned|allocated?|allocate|given?|giving|"
    r"it|i|i'd|i'll|will|to|then|only|just|also|percent|percentage|share|"
    r"得分|得到|得|给出|给予|给|为|是|打分|打|分配|分值|分数|评分|评为|占比|占|大约|约|的|强度|程度|可以|应该|应|我|情绪|值|记|计|各"
)
_GAP = rf"(?:\([^()\d\n]{{0,120}}\)|[\s:=|>\-–—~→\"'()\[\]{{}}]|(?:{_SCORE_WORD})(?![A-Za-z]))"
_COMMA_GAP = rf"(?:{_GAP}|,)"
_UNIT = r"(?:\s*(?:points?|pts?\.?|分|点|个点|%|percent|/\s*10|out of 10)\b?\s*)?"
_SEPARATOR = r"(?:\s*(?:[,;|、+&\t]|\band\b|和)\s*(?:and\b|和)?\s*|\s+)"
_ROW_GAP = re.compile(r"(?:[\s,;:|/、&()\[\]\"'\-–—.=]|\band\b|和|以及|\d\s*[.):、]){0,20}", re.IGNORECASE)
_AFTER_HEADER = r"(?:\s*(?:分|points?|点)?\s*(?:[,;|/:、+\-–—&]|\band\b|和)\s*|\s+)"
_LONGEST = 20_000  # an answer stands near the end; what a model rambled before need not be searched
_TOTAL = re.compile(r"total|sum|总(?:分|计|和)|合计|story|item", re.IGNORECASE)


class AllocationReading(msgspec.Struct, frozen=True):
    """The points a reply gave each option, as written, or None; and the rule that read them, or why none could."""

    values: tuple[float, ...] | None
    rule: str


class Repaired(msgspec.Struct, frozen=True):
    """An allocation that sums to the total (or to nothing), and the repair that made it so."""

    values: tuple[float, ...]
    repair: str


class _Candidate(NamedTuple):
    end: int
    values: tuple[float, ...]


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
    text = plain(text[-_LONGEST:])
    cut = _NEXT_QUESTION.search(text, 1)
    if cut and re.search(NUMBER, text[: cut.start()]):
        text = text[: cut.start()]
    if not text.strip():
        return AllocationReading(None, "empty")
    return _Reader(options, total).read(text)


class _Reader:
    """Applies the reading rules, strongest first, to one reply about these options."""

    def __init__(self, options: Sequence[str], total: float) -> None:
        self.names = Names(options)
        self.name = self.names.pattern
        self.which = self.names.which
        self.n = len(options)
        self.total = total

    def read(self, text: str) -> AllocationReading:
        in_json = read_json_allocation(text, self.names, self.total)
        if in_json is not None:
            return AllocationReading(in_json, "json")
        markers = [match.end() for match in _FINAL.finditer(text)][-3:]
        paragraphs = [part for part in re.split(r"\n\s*\n", text) if part.strip()]
        lines = [line for line in text.splitlines() if line.strip()]
        parts = [text[at:] for at in reversed(markers)] + paragraphs[-1:] + lines[-1:] + [text]
        for part in parts:
            found = self.from_part(part)
            if found is not None:
                return found
        rest = self.named_rest_zero(text)
        if rest is not None:
            return AllocationReading(rest, "named, rest zero")
        return AllocationReading(None, "refusal" if _REFUSAL.search(text) else "none")

    def from_part(self, part: str) -> AllocationReading | None:
        rules: list[tuple[str, Callable[[str], _Candidate | None]]] = [
            ("header", self.header),
            ("named", self.named),
            ("before name", self.before_name),
            ("named", self.named_after_comma),
            ("numbered", self.numbered),
            ("line", self.line_pairs),
            ("before name", self.before_name_with_stop),
            ("in order", self.labelled_in_order),
            ("list", self.listed),
        ]
        for rule, read in rules:
            found = read(part)
            if found is not None:
                return AllocationReading(found.values, rule)
        return None

    def complete(self, amounts: dict[int, Amount], end: int = 0) -> _Candidate | None:
        values = total_points(amounts, self.n, self.total)
        return None if values is None else _Candidate(end, values)

    def header(self, part: str) -> _Candidate | None:
        """All names in a row, then as many numbers in a row: a table's head, or 'a, b, c, d: 1, 2, 3, 4'."""
        names = list(re.finditer(self.name, part, re.IGNORECASE))
        numbers = re.compile(
            rf"[^\d]{{0,200}}?{_AFTER_HEADER.join([f'({NUMBER})'] * self.n)}(?!\s*[-~–]\s*\d)", re.IGNORECASE
        )
        for first in range(len(names) - self.n, -1, -1):
            row = names[first : first + self.n]
            order = [self.which(match[0]) for match in row]
            gaps = [part[left.end() : right.start()] for left, right in pairwise(row)]
            if len(set(order)) < self.n or not all(_ROW_GAP.fullmatch(gap) for gap in gaps):
                continue
            match = numbers.match(part, row[-1].end())
            if match:
                return self.complete(dict(zip(order, map(amount, match.groups()), strict=True)), match.end())
        return None

    def named(self, part: str, gap: str = _GAP) -> _Candidate | None:
        """'Surprised: 3', '| Surprised | 3 |', 'I give Surprised a score of 3', '惊讶3分'."""
        pattern = rf"(?P<name>{self.name})(?P<gap>{gap}{{0,40}}?)(?P<number>{NUMBER})"
        return self.complete(*self.pairs(part, pattern))

    def named_after_comma(self, part: str) -> _Candidate | None:
        return self.named(part, _COMMA_GAP)

    def pairs(self, part: str, pattern: str) -> tuple[dict[int, Amount], int]:
        amounts: dict[int, Amount] = {}
        end = 0
        for match in re.finditer(pattern, part, re.IGNORECASE):
            found = amount(match["number"])
            gap = match.groupdict().get("gap", "")
            dash = re.search(r"[A-Za-z\u4e00-\u9fff\s]-$|^-$", gap)
            if found.value < 0 and not re.search(r"[:=(|]|\bof\b|\bis\b|为|是", gap) and not dash:
                found = found.positive()
            amounts[self.which(match["name"])] = found
            end = match.end()
        return amounts, end

    def before_name(self, part: str) -> _Candidate | None:
        """'3 points to Surprised', '30% surprised', '3分给惊讶'."""
        return self.complete(*self.pairs(part, self.before_pattern()))

    def before_name_with_stop(self, part: str) -> _Candidate | None:
        """'4: Surprised', unless the numbers only count the options."""
        found = self.complete(*self.pairs(part, rf"(?P<number>{NUMBER})\s*[:=\-–—]\s*(?P<name>{self.name})"))
        return None if found and found.values == tuple(range(1, self.n + 1)) else found

    def before_pattern(self) -> str:
        unit = r"(?:points?|pts?|percent|分|点)?"
        to = r"(?:to|for|on|of|in|towards?|goes|go|the|emotion|option|feeling|是|给|分给|分配给|归|的|(?:\(?\d\)))*"
        return rf"(?P<number>{NUMBER})\s*{unit}\s*(?:{to}\s*){{0,4}}[\"'(\[]?(?P<name>{self.name})"

    def named_rest_zero(self, text: str) -> tuple[float, ...] | None:
        """Some options got the whole total between them, so the others got nothing."""
        for pattern in (rf"(?P<name>{self.name})(?P<gap>{_GAP}{{0,40}}?)(?P<number>{NUMBER})", self.before_pattern()):
            amounts, _ = self.pairs(text, pattern)
            given = math.fsum(found.points(self.total) for found in amounts.values())
            if amounts and math.isclose(given, self.total, abs_tol=1e-9):
                return tuple(amounts[at].points(self.total) if at in amounts else 0.0 for at in range(self.n))
        return None

    def numbered(self, part: str) -> _Candidate | None:
        """'(1) 3 points; (2) 3 points', 'A: 3, B: 3', '第一个3分', each place once and in order."""
        marks = [
            [
                f"{place}",
                chr(64 + place),
                chr(96 + place),
                f"第{place}",
                f"第{_HAN[place]}" if place < len(_HAN) else "第",
            ]
            for place in range(1, self.n + 1)
        ]
        amounts: dict[int, Amount] = {}
        at = 0
        for place, forms in enumerate(marks):
            mark = "|".join(re.escape(form) for form in forms)
            pattern = (
                rf"(?<![\w.])(?:option|emotion|选项|情绪)?\s*\(?(?:{mark})(?:个选项|个情绪|个|项|种)?"
                r"(?:\s*[).:、=\]]+\s*|\s*[-–—|]\s+|(?<=[个项种])\s*)"
                rf"(?:得分?|给|打|:)?\s*({NUMBER})(?!\s*[).]\s)"
            )
            match = re.compile(pattern, re.IGNORECASE).search(part, at)
            if match is None:
                return None
            amounts[place] = amount(match[1])
            at = match.end()
        return self.complete(amounts, at)

    def line_pairs(self, part: str) -> _Candidate | None:
        """One name and one number on a line, with any words between."""
        amounts: dict[int, Amount] = {}
        for line in re.split(r"\n|;|(?<=[a-z\u4e00-\u9fff])\.(?=\s)|。", part):
            line = re.sub(r"^\s*\(?\d{1,2}[.):、]\s*(?=\D)", "", line)
            names = {self.which(match[0]) for match in re.finditer(self.name, line, re.IGNORECASE)}
            numbers = [number for number in re.findall(NUMBER, line, re.IGNORECASE) if re.search(r"\d", number)]
            if len(names) == 1 and len(numbers) == 1:
                amounts[names.pop()] = amount(numbers[0])
        return self.complete(amounts)

    def labelled_in_order(self, part: str) -> _Candidate | None:
        """As many 'word: number' pairs as options, in their order, though the words are spelled otherwise."""
        word = r"([A-Za-z\u4e00-\u9fff]{1,20})"
        pairs = re.findall(rf"{word}\s*[:=]\s*({NUMBER})", part, re.IGNORECASE)
        if not pairs:
            first = re.findall(rf"({NUMBER})\s*(?:points? |分)?(?:to |for |of )?{word}", part, re.IGNORECASE)
            pairs = [(name, number) for number, name in first if number.endswith(("%", "percent"))]
        pairs = [pair for pair in pairs if not _TOTAL.fullmatch(pair[0])]
        if len(pairs) != self.n:
            return None
        for place, (word, _) in enumerate(pairs):
            known = self.names.only(word)
            if known is not None and known != place:
                return None
        return self.complete({place: amount(number) for place, (_, number) in enumerate(pairs)})

    def listed(self, part: str) -> _Candidate | None:
        """The last run of as many numbers as options: '3, 3, 1, 3', with or without its sum behind it."""
        one = rf"{NUMBER}(?:\s*(?:points?|pts?|分|点)(?![A-Za-z]))?"
        runs = list(re.finditer(rf"(?<![\w.%/]){one}(?:{_SEPARATOR}{one})+(?!\s*[-~–]\s*\d)", part, re.IGNORECASE))
        slashed = re.findall(rf"(?<![\d/])\d+(?:\.\d+)?(?:\s*[/:\-]\s*\d+(?:\.\d+)?){{{self.n - 1}}}(?![\d/])", part)
        for run in reversed(runs):
            numbers = [amount(number) for number in re.findall(NUMBER, run[0], re.IGNORECASE)]
            if len(numbers) == self.n + 1:
                points = [number.points(self.total) for number in numbers]
                if math.isclose(math.fsum(points[:-1]), points[-1], abs_tol=1e-6):
                    numbers.pop()
            if len(numbers) == self.n:
                return self.complete(dict(enumerate(numbers)), run.end())
        if slashed:
            return self.complete(
                {at: amount(number) for at, number in enumerate(re.findall(r"\d+(?:\.\d+)?", slashed[-1]))}
            )
        return None


_HAN = "零一二三四五六七八九十"
