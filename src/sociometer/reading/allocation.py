"""Point allocations: how a reply that shares points over options is read, and the paper's repairs of its sum.

Points are read from JSON, from pairs of a name and a number (lines, a table or a list), or from as many numbers as
there are options, in their order, bare or numbered, where nothing else is a number. Looser shapes (a name and a number
somewhere in each line or clause, numbers below a line of names) count only where they add up to the total. Two
different allocations, a ranking, a sum or a fraction, or a name without its number: not sure, so asked again.
"""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

import msgspec

from sociometer.reading.rule_files import Rules, read_rules
from sociometer.reading.structured import json_values
from sociometer.reading.text import last_part, plain, squeeze

_NUMBER = r"[-+]?(?:(?<![^.]\.)\d{1,6}(?:\.\d{1,20})?|(?<!\.)\.\d{1,20})"
_NUMBERS = re.compile(_NUMBER)
_ONLY_NUMBERS = re.compile(r"[(\[]?\s?-?\d+(?:\.\d+)?(?:[,;/|\s、-]+\d+(?:\.\d+)?){1,25}\s?[)\]]?\s?[.。]?")
_DASHED = re.compile(r"(?<=\d)-(?=\d)")
_LONGEST_LIST = 200
_CLAUSE = re.compile(r"[\n,;、。|]|\.(?=\s)")
_ENTRY = re.compile(r"[^\w\n]{0,9}(?:\d{1,2}|[a-zA-Z])[.)、:](?=\s)")


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


def read_allocation(text: str, options: Sequence[str], total: float = 10.0, language: str = "en") -> AllocationReading:
    """Return the points the reply gave to each option, in the options' order, before any repair."""
    if len(options) < 2 or total <= 0:
        raise ValueError(
            f"{len(options)} options to share {total} points; an allocation needs two or more, and a total above 0"
        )
    said, rules, names = last_part(text), read_rules("allocation", language), _names(tuple(options), language)
    found = list(names.in_json(said))
    if found and names.ranked(found[-1], said[: max(map(said.rfind, "]}"))]):
        return AllocationReading(None, "not sure")
    if found:
        return AllocationReading(found[-1], "json") if len(set(found)) == 1 else AllocationReading(None, "several")
    said = plain(said)
    following = rules.search("next_question", said, 1)
    if following and re.search(r"\d", said[: following.start()]):
        said = said[: following.start()]
    if not said:
        return AllocationReading(None, "empty")
    said = re.sub(rf"(?<=\d)(?<!/\d)\s?(?:/|{rules.either('scale')})\s?{total:g}\b(?!\s?[/.=])", "", said)  # 3/10 is 3
    if (ordered := names.in_their_order(said, total)) is not None:
        return ordered
    if names.sums(said):
        return AllocationReading(None, "not sure")
    if (paired := names.paired(said, total)) is not None:
        return paired
    digits = rules.find("spelled").sub(lambda one: str(rules.place("numbers", one[0].casefold())), said)
    loose, has = names.loose(digits, total), rules.search
    if loose and not (has("corrects", said) or has("range", rules.find("list").sub("", said)) or has("ranks", said)):
        return AllocationReading(loose.pop(), "adds up") if len(loose) == 1 else AllocationReading(None, "several")
    return AllocationReading(None, "refusal" if rules.search("refusal", said) else "none")


def _are_points(values: Sequence[float], total: float) -> bool:
    """Whether numbers can be points: they add up, or none is above the total and they are no numbered entries (1.4)."""
    numbered = all(int(value) == at for at, value in enumerate(values, 1)) and any(value % 1 for value in values)
    return _is_whole(values, total) or (max(values) <= total and not numbered and (max(values) > 0 or not any(values)))


def _other_numbers(text: str, *totals: float) -> bool:
    """Whether a text has a number that is not the total, or that of the points."""
    return any(float(number) not in totals for number in _NUMBERS.findall(text))


def _is_whole(values: Sequence[float], total: float) -> bool:
    return any(math.isclose(math.fsum(values), whole, abs_tol=0.051) for whole in (total, 100.0))


class _Names:
    """The names of the options, as replies spell them."""

    def __init__(self, options: Sequence[str], language: str) -> None:
        self.count, self._rules = len(options), read_rules("allocation", language)
        self._has = self._rules.search
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
        pairs = (pair.split("|") for words in self._rules.lists("kin") for pair in words)
        kin = {other: roots[word] for word, other in pairs if word in roots}
        roots = {word[: 4 if len(word) > 5 else 3]: at for word, at in (roots | kin).items()}
        self._roots = {root: at for root, at in roots.items() if self._alone(root, at)}
        begun = [rf"(?<![A-Za-z]){root}[a-z]{{0,9}}(?![A-Za-z])" for root in self._roots]
        self._loose = re.compile("|".join([*bounded, *begun]) or r"(?!)", re.IGNORECASE)
        name, said = f"({self._pattern.pattern})", self._rules
        points, label = f"({_NUMBER}){said.find('points_end').pattern}", said.find("label").pattern
        numbered = (label.replace("LABEL", f"(?:{at + 1}|{chr(97 + at)})") + points for at in range(self.count))
        numbered = (entry + said.find("remark").pattern for entry in numbered)
        self._numbered = re.compile(said.find("between").pattern.join(numbered), re.IGNORECASE)
        listed = rf"(?<![\w.]){points}{said.find('next').pattern}{points}"
        again = rf"(?:\2|{said.either('and_number')}){points}"
        self._listed = re.compile(listed + again * (self.count - 2), re.IGNORECASE)
        self._pairs = (
            re.compile(
                rf"{name}(?:[^\w\n+-]{{0,20}}| - | ?-?-> ?)(?:{said.either('gets')})?\s?({_NUMBER})"
                r"(?![\d.]*\d|[^\S\n]?[A-Za-z]{0,1}\d|\s?\?)",
                re.IGNORECASE,
            ),
            re.compile(
                rf"(?<![\w.])({_NUMBER})\s?(?:%|{said.either('unit')})?\s?(?:{said.either('for')})?\s?{name}",
                re.IGNORECASE,
            ),
        )

    def in_their_order(self, text: str, total: float) -> AllocationReading | None:
        """The points in the order of the options, numbered or in one announced list, where nothing else is a number."""
        spans = list(self._numbered.finditer(text))
        if not spans and (_ONLY_NUMBERS.fullmatch(text[:_LONGEST_LIST]) or self._has("announces", text)):
            spans = list(self._listed.finditer(text))
        if not spans:
            return None
        sets = [tuple(float(one) for one in span.groups() if _NUMBERS.fullmatch(one)) for span in spans]
        final, start = sets[-1], text.rfind("\n", 0, spans[0].start()) + 1
        before, rest = text[:start], text[start : spans[0].start()] + text[spans[-1].end() :]
        whole = _is_whole(final, total)
        stray = _other_numbers(before, total) and (not whole or self._named(before))
        unsure = self._named(rest) or self._has("spelled", rest) or self._has("doubt", text[start:])
        called = self._has("corrects", text) or self._has("ranks", text) or not _are_points(final, total)
        if stray or unsure or called or _other_numbers(rest, total, math.fsum(final)):
            return None
        if len(set(sets)) == 1 or (whole and not any(_is_whole(points, total) for points in sets if points != final)):
            return AllocationReading(final, "in order")
        return AllocationReading(None, "several")

    def sums(self, text: str) -> bool:
        """Whether a line with an option has a sum, a fraction or the like besides a list of points."""
        lines = "\n".join(line for line in text.split("\n") if self._named(line))
        for listed in self._rules.find("list").findall(lines):
            lines = lines.replace(listed, "") if len(_NUMBERS.findall(listed)) >= self.count else lines
        return bool(self._has("sum", lines))

    def ranked(self, points: Sequence[float], text: str) -> bool:
        """Whether a text calls the numbers from 1 to that of the options a ranking, and not points."""
        places = list(range(1, self.count + 1))
        called = self._has("ranks", self._pattern.sub("", text)) or (list(points) == places and "(1)" in text)
        return bool(called and sorted(points) == places and not self._has("points", text))

    def loose(self, text: str, total: float) -> set[tuple[float, ...]]:
        """The allocations that add up: a name and a number in each line or clause, or numbers below a line of names."""
        found = set[tuple[float, ...]]()
        for parts in (text.split("\n"), _CLAUSE.split(text), self._rules.find("part").split(text)):
            rows = [(part, self._named(part), self._points_in(part)) for part in parts]
            nothing = {at for part, named, points in rows if not points and self._has("nothing", part) for at in named}
            rows = [row for row in rows if row[2] and (len(row[1]) == 1 or self._has("each", row[0]))]
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
            for listed in self._rules.find("list").findall(line):
                values = [float(number) for number in re.findall(_NUMBER, _DASHED.sub(" ", listed))]
                places = values == list(range(1, self.count + 1)) and not named and not self._has("points", text)
                if len(values) == self.count == len(order) and not places:
                    found.add(tuple(values[order.index(at)] for at in range(self.count)))
        return {points for points in found if _is_whole(points, total)}

    def _points_in(self, text: str) -> list[float]:
        """The numbers of a line or clause, without its number in a list and the scale of points."""
        plain_text = self._rules.find("scale").sub("", _ENTRY.sub("", text, count=1))
        return [float(number) for number in _NUMBERS.findall(plain_text)]

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
            numbers = [_number(given.get(name), self._rules) for name in self._folded]
            if all(number is not None for number in numbers):
                return tuple(number for number in numbers if number is not None)
            inner = [found for one in value.values() if (found := self._points(one)) is not None]
            return inner[0] if len(inner) == 1 else None
        if isinstance(value, list) and len(value) == self.count:
            if all(isinstance(one, dict) for one in value):
                return self._points(dict(pair for one in value if (pair := self._entry(one)) is not None))
            plain_numbers = [_number(one, self._rules) for one in value]
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
        stray = missed and _other_numbers(after, total, math.fsum(final))
        corrected = stray or self._has("corrects", text if missed else after)
        signs = max(final) <= 0 and any(final)  # dashes behind the names
        if corrected or signs or self.ranked(final, text) or self._has("range", text):
            return AllocationReading(None, "not sure")
        if len(sets) == 1:
            return AllocationReading(final, "named")
        # Several: the last one, if it is announced as the final one or replaces sets that missed the total.
        replaced = not any(_is_whole(points, total) for points in sets - {final})
        if _is_whole(final, total) and (replaced or self._has("corrects", text) or self._has("final", text)):
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


def _number(value: Any, rules: Rules) -> float | None:
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return float(value) if abs(value) < 1e6 else None
    if isinstance(value, str) and (found := rules.find("unit").fullmatch(plain(value))):
        return float(found[1])
    if isinstance(value, dict):
        numbers = [one for one in value.values() if isinstance(one, int | float) and not isinstance(one, bool)]
        return float(numbers[0]) if len(numbers) == 1 else None
    return None
