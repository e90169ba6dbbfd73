"""Point allocations: how a reply that shares points over options is read, and the paper's repairs of its sum.

Points are read from JSON, from pairs of a name and a number (lines, a table or a list), or from as many numbers as
there are options, in their order. Looser shapes (a name and a number somewhere in each line or clause, numbers below a
line of names) count only where they add up to the total. Two different allocations, or a name without its number: not
sure, so asked again.
"""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

import msgspec

from sociometer.reading.structured import json_values
from sociometer.reading.text import last_part, plain, squeeze

_REFUSAL = re.compile(
    r"\b(?:i(?:'m| am) (?:sorry|unable|not able)|i (?:can(?:no|')?t|won't|refuse|decline)|as an ai\b)|"
    r"无法(?:回答|评估|判断|打分|分配|给出)|不能(?:回答|评估|打分|提供)|抱歉|对不起|拒绝",
    re.IGNORECASE,
)
_NEXT_QUESTION = re.compile(
    r"<end>|<\|[a-z_]+\|>|\n\s{0,9}(?:Q|Question|Story|Item \d+|User|Human|问题|题目|故事)\s?:", re.IGNORECASE
)
_FINAL = re.compile(
    r"\b(?:final|revised|corrected|actual|my)\s(?:answer|allocation|scores?|distribution|ratings?|version)\b|"
    r"\b(?:answer|output|finally|in conclusion)\s?:|"
    r"最终|最后(?:的)?(?:答案|分配|得分|打分|结果)|综上|答案\s?[:是为]|修正后|改为",
    re.IGNORECASE,
)
_NUMBER = r"[-+]?\d{1,6}(?:\.\d{1,20})?"
_NUMBERS = re.compile(_NUMBER)
_ONLY_NUMBERS = re.compile(r"[(\[]?\s?(-?\d[\d.]*(?:[,;/|\s、-]+\d[\d.]*){1,25})\s?[)\]]?\s?[.。]?")
_DASHED = re.compile(r"(?<=\d)-(?=\d)")
_LONGEST_LIST = 200
_RANGE = re.compile(r"\d\s?(?:-|–|to|~|至|到)\s?\d")
_CORRECTS = re.compile(
    r"\bno,|\b(?:wait|actually|correct(?:ion|ed)?|let me (?:re\w*|adjust|change)|instead|"
    r"on (?:second thought|reflection)|"
    r"chang(?:e|ing)|swap|reconsider\w*|take (?:one|two|\d) (?:away|from|off)|move \w+ points?|too (?:many|few))\b|"
    r"更正|不对|改[为成到]|应为|超了|多了|少了",
    re.IGNORECASE,
)

_RANKS = re.compile(r"\brank|\border(?:ed|ing)?\b|排(?:第|序|名)|名次", re.IGNORECASE)
_POINTS = re.compile(r"\b(?:points?|scores?)\b|分", re.IGNORECASE)
_EACH = re.compile(r"\beach\b|[各均都]", re.IGNORECASE)
_NOTHING = re.compile(r"\b(?:no|none|nothing|not|n't)\b|-$|没|不|无", re.IGNORECASE)
_CLAUSE = re.compile(r"[\n,;、。|]|\.(?=\s)")
_PART = re.compile(r"[\n,;、。|]|\.(?=\s)|\band\b|和|以及", re.IGNORECASE)
_ENTRY = re.compile(r"[^\w\n]{0,9}(?:\d{1,2}|[a-zA-Z])[.)、:](?=\s)")
_SCALE = re.compile(r"(?:/|\bout of|\bof|满分)\s?\d{1,3}\b|[=]\s?\d{1,3}\b", re.IGNORECASE)
_LIST = re.compile(
    r"(?<![A-Za-z0-9.])\d[\d.]*[%分]?(?:(?:\s?[,;:/|+、\s-]\s?|,?\sand\s|和)\d[\d.]*[%分]?){1,25}(?![A-Za-z.]*\d)"
)
_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_DIGITS = {word: str(at) for words in (_WORDS, "零一二三四五六七八九十") for at, word in enumerate(words)}
_SPELLED = re.compile(rf"\b(?:{'|'.join(_WORDS)})\b|[零一二两三四五六七八九十](?=分)", re.IGNORECASE)


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
    said = last_part(text)
    names = _names(tuple(options))
    found = list(names.in_json(said))
    if found:
        return AllocationReading(found[-1], "json") if len(set(found)) == 1 else AllocationReading(None, "several")
    said = plain(said)
    following = _NEXT_QUESTION.search(said, 1)
    if following and re.search(r"\d", said[: following.start()]):
        said = said[: following.start()]
    if not said:
        return AllocationReading(None, "empty")
    if (whole := _in_order(said, names.count, total)) is not None:
        return AllocationReading(whole, "in order")
    if (paired := names.paired(said, total)) is not None:
        return paired
    loose = names.loose(_SPELLED.sub(lambda one: _DIGITS.get(one[0].casefold(), "2"), said), total)
    if loose and not (_CORRECTS.search(said) or _RANGE.search(_LIST.sub("", said)) or _RANKS.search(said)):
        return AllocationReading(loose.pop(), "adds up") if len(loose) == 1 else AllocationReading(None, "several")
    return AllocationReading(None, "refusal" if _REFUSAL.search(said) else "none")


def _in_order(text: str, count: int, total: float) -> tuple[float, ...] | None:
    """As many numbers as there are options and nothing else; their sum shows that they are points, or they are 0."""
    if len(text) > _LONGEST_LIST or not _ONLY_NUMBERS.fullmatch(text):
        return None
    values = tuple(float(number) for number in re.findall(_NUMBER, _DASHED.sub(" ", text)))
    plausible = _is_whole(values, total) or not any(values) or min(values) < 0
    return values if len(values) == count and plausible else None


def _kin(words: dict[str, int]) -> dict[str, int]:
    """The nouns and adjectives that begin otherwise."""
    pairs = (("proud", "pride"), ("ashamed", "shame"), ("pride", "proud"), ("shame", "ashamed"))
    return {other: words[word] for word, other in pairs if word in words}


def _points_in(text: str) -> list[float]:
    """The numbers of a line or clause, without its number in a list and the scale of points."""
    return [float(number) for number in _NUMBERS.findall(_SCALE.sub("", _ENTRY.sub("", text, count=1)))]


def _other_numbers(text: str, total: float) -> bool:
    """Whether a text has a number that is not the total."""
    return any(float(number) != total for number in _NUMBERS.findall(text))


def _is_whole(values: Sequence[float], total: float) -> bool:
    return any(math.isclose(math.fsum(values), whole, abs_tol=0.051) for whole in (total, 100.0))


class _Names:
    """The names of the options, as replies spell them."""

    def __init__(self, options: Sequence[str]) -> None:
        self.count = len(options)
        self._folded = [squeeze(option) for option in options]
        spelled = sorted(((word, at) for at, word in enumerate(self._folded) if word), key=lambda pair: -len(pair[0]))
        self._places = dict(reversed(spelled))
        parts = [r"[\W_]{1,3}".join(map(re.escape, word.split())) for word, _ in spelled]
        # "Frustration" for "frustrated": the beginning of a long word, where no other option begins so.
        stems = {
            word[: max(5, len(word) - 3)]: at
            for word, at in spelled
            if word.isascii() and word.isalpha() and len(word) > 6
        }
        self._stems = {
            stem: at for stem, at in stems.items() if sum(other.startswith(stem[:5]) for other in self._folded) == 1
        }
        parts += [rf"{stem}[a-z]{{0,6}}" for stem in self._stems]
        bounded = [part if not part.isascii() else rf"(?<![A-Za-z]){part}(?![A-Za-z])" for part in parts]
        self._pattern = re.compile("|".join(bounded) or r"(?!)", re.IGNORECASE)
        # "Anger" for "angry" counts only where the points add up.
        roots = {word: at for word, at in spelled if word.isascii() and word.isalpha() and len(word) > 2}
        roots = {word[: 4 if len(word) > 5 else 3]: at for word, at in (roots | _kin(roots)).items()}
        self._roots = {root: at for root, at in roots.items() if self._alone(root, at)}
        kin = [rf"(?<![A-Za-z]){root}[a-z]{{0,9}}(?![A-Za-z])" for root in self._roots]
        self._loose = re.compile("|".join([*bounded, *kin]) or r"(?!)", re.IGNORECASE)
        name = f"({self._pattern.pattern})"
        self._pairs = (
            re.compile(
                rf"{name}(?:[^\w\n+-]{{0,20}}| - )(?:gets |is |得)?\s?({_NUMBER})"
                r"(?![\d.]*\d|[^\S\n]?[A-Za-z]{0,1}\d|\s?\?)",
                re.IGNORECASE,
            ),
            re.compile(
                rf"(?<![\w.])({_NUMBER})\s?(?:points?|pts|%|分)?\s?(?:for|to|on|of|给)?\s?{name}", re.IGNORECASE
            ),
        )

    def loose(self, text: str, total: float) -> set[tuple[float, ...]]:
        """The allocations that add up: a name and a number in each line or clause, or numbers below a line of names."""
        found = set[tuple[float, ...]]()
        for parts in (text.split("\n"), _CLAUSE.split(text), _PART.split(text)):
            rows = [(part, self._named(part), _points_in(part)) for part in parts]
            nothing = {at for part, named, points in rows if not points and _NOTHING.search(part) for at in named}
            rows = [row for row in rows if row[2] and (len(row[1]) == 1 or _EACH.search(row[0]))]
            for pick in (0, -1):
                pairs = [(at, points[pick], 0) for _, named, points in rows for at in named]
                found.update(points for points, _ in self._sets(pairs))
                given = {at: number for at, number, _ in pairs}
                if len(given) == len(pairs) and given.keys() | nothing == set(range(self.count)):
                    found.add(tuple(given.get(at, 0.0) for at in range(self.count)))
        order = list(range(self.count))
        for line in text.split("\n"):
            named = self._named(line)
            order = named if sorted(named) == sorted(order) else order if not named else []
            for listed in _LIST.findall(line):
                values = [float(number) for number in re.findall(_NUMBER, _DASHED.sub(" ", listed))]
                if len(values) == self.count == len(order):
                    found.add(tuple(values[order.index(at)] for at in range(self.count)))
        entries = [_points_in(line) for line in text.split("\n") if _ENTRY.match(line) and not self._named(line)]
        if len(entries) == self.count and all(len(one) == 1 for one in entries) and not self._named(text):
            found.add(tuple(one[0] for one in entries))
        return {points for points in found if _is_whole(points, total)}

    def _named(self, text: str) -> list[int]:
        """The options that a text names, each once, in its order."""
        return list(dict.fromkeys(self._place(name[0]) for name in self._loose.finditer(text)))

    def in_json(self, text: str) -> Iterator[tuple[float, ...]]:
        """Every whole allocation among the JSON values of a reply."""
        for value in json_values(text):
            if (points := self._points(value)) is not None:
                yield points

    def _points(self, value: Any) -> tuple[float, ...] | None:
        if isinstance(value, dict):
            given = {squeeze(str(key)): one for key, one in value.items()}
            numbers = [_number(given.get(name)) for name in self._folded]
            if all(number is not None for number in numbers):
                return tuple(number for number in numbers if number is not None)
            inner = [found for one in value.values() if (found := self._points(one)) is not None]
            return inner[0] if len(inner) == 1 else None
        if isinstance(value, list) and len(value) == self.count:
            if all(isinstance(one, dict) for one in value):
                return self._points(dict(pair for one in value if (pair := self._entry(one)) is not None))
            plain_numbers = [_number(one) for one in value]
            if all(number is not None for number in plain_numbers):
                return tuple(number for number in plain_numbers if number is not None)
        return None

    def _entry(self, entry: dict[str, Any]) -> tuple[str, Any] | None:
        """The name and the points of an object that has one of each."""
        names = [one for one in entry.values() if isinstance(one, str) and squeeze(one) in self._folded]
        numbers = [one for one in entry.values() if isinstance(one, int | float) and not isinstance(one, bool)]
        if len(entry) == 1 and squeeze(next(iter(entry))) in self._folded:
            return next(iter(entry.items()))
        return (names[0], numbers[0]) if len(names) == 1 and len(numbers) == 1 else None

    def paired(self, text: str, total: float) -> AllocationReading | None:
        """The points in pairs of a name and a number: the last whole set of pairs, if it is sure which one counts."""
        found = [one for pattern in self._pairs for one in self._sets(self._matched(pattern.finditer(text)))]
        if not found:
            return None
        (final, end), sets = max(found, key=lambda one: one[1]), {points for points, _ in found}
        after = text[end:]
        missed = not _is_whole(final, total)
        corrected = _CORRECTS.search(text if missed else after) or (missed and _other_numbers(after, total))
        ranked = sorted(final) == list(range(1, self.count + 1)) and _RANKS.search(text) and not _POINTS.search(text)
        if corrected or ranked or _RANGE.search(text):
            return AllocationReading(None, "not sure")
        if len(sets) == 1:
            return AllocationReading(final, "named")
        # Several: the last one, if it is announced as the final one or replaces sets that missed the total.
        replaced = not any(_is_whole(points, total) for points in sets - {final})
        if _is_whole(final, total) and (replaced or _CORRECTS.search(text) or _FINAL.search(text)):
            return AllocationReading(final, "last")
        return AllocationReading(None, "several")

    def _matched(self, found: Iterator[re.Match[str]]) -> Iterator[tuple[int, float, int]]:
        for pair in found:
            name, number = (pair[1], pair[2]) if not _NUMBERS.fullmatch(pair[1]) else (pair[2], pair[1])
            yield self._place(name), float(number), pair.end()

    def _sets(self, pairs: Iterable[tuple[int, float, int]]) -> list[tuple[tuple[float, ...], int]]:
        """The whole sets among pairs in their order, with where each ends; a name that comes again begins the next."""
        whole, held = [], dict[int, float]()
        for place, number, end in pairs:
            if place in held:
                held = {}
            held[place] = number
            if len(held) == self.count:
                whole.append((tuple(held[at] for at in range(self.count)), end))
                held = {}
        return whole

    def _place(self, name: str) -> int:
        folded = squeeze(name)
        if folded in self._places:
            return self._places[folded]
        return next(at for stem, at in (*self._stems.items(), *self._roots.items()) if folded.startswith(stem))

    def _alone(self, root: str, at: int) -> bool:
        """Whether no other option begins so."""
        return not any(other.startswith(root) for place, other in enumerate(self._folded) if place != at)


_names = lru_cache(maxsize=256)(_Names)


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return float(value) if abs(value) < 1e6 else None
    if isinstance(value, str) and (found := re.fullmatch(rf"\s?({_NUMBER})\s?(?:%|points?|pts|分)?\s?", plain(value))):
        return float(found[1])
    if isinstance(value, dict):
        numbers = [one for one in value.values() if isinstance(one, int | float) and not isinstance(one, bool)]
        return float(numbers[0]) if len(numbers) == 1 else None
    return None
