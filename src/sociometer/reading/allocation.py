"""Point allocations: how a reply that shares points over options is read, and the paper's repairs of its sum.

First numbers and names get one spelling: `2 + 1 = 3` is 3, `1 1/2` is 1.5, "Envy" is the option "envious".
Then points are read from JSON, from as many numbers as there are options, in their order, bare or numbered, where
nothing else is a number, or from pairs of a name and a number (lines, a table or a list). Running text counts only
where each number belongs to a name beside it in one way, and the points add up to the total. Two different
allocations, a ranking, a range, an example, or a name without its number: not sure, so asked again.
"""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from functools import cache, cached_property, lru_cache
from html import unescape
from itertools import groupby, islice, permutations, product
from typing import Any

import msgspec

from sociometer.reading.rule_files import Rules, read_rules
from sociometer.reading.structured import bracketed, json_values
from sociometer.reading.text import last_part, plain, squeeze

_NUMBER = r"[-+]?(?:(?<![^.]\.)\d{1,6}(?:\.\d{1,20})?|(?<!\.)\.\d{1,20})"
_NUMBERS = re.compile(_NUMBER)
_ONLY_NUMBERS = re.compile(r"[(\[]?\s?-?\d+(?:\.\d+)?(?:[,;/|\s、-]+\d+(?:\.\d+)?){1,25}\s?[)\]]?\s?[.。]?")
_DASHED = re.compile(r"(?<=[^\W_])-(?=\d)")
_LONGEST_LIST = 200
_CLAUSE = re.compile(r"[\n,;、。|]|\.(?=\s)")
_SENTENCE = re.compile(r"[\n;。]|[.!](?=\s)")
_TAG = re.compile(r"</?(?:[uod]l|li|p|br|b|i|em|strong|table|t[rdh]|tbody|thead|div|span|h\d)\b[^<>\n]{0,99}>", re.I)
_FRACTION = re.compile(r"(?<![\d./])(?:(\d{1,3})\s)?([13])/([24])(?![\d/]|\.\d)")
_SUM = re.compile(
    r"(?<![\d.])(?<![/+×*^±-])(?<![/+×*^±-]\s)(\d[\d.]*(?:\s?\+\s?\d[\d.]*){1,25})\s?=\s?(\d+(?:\.\d+)?)(?![\d/.+])"
)
_TALLY = re.compile(r"([★⭐●■█▮◆❤♥✔✓✅🔵🟦🟢🔴⬛🌟])\uFE0F?(?:\1\uFE0F?){0,19}[☆○□░▯◇]*(?!\s?[\d(=])")
_MOST_NUMBERS, _MOST_WAYS = 60, 64
"""How many numbers of a running text are bound to names, and in how many ways at most."""
_OTHERS = -1
"""The place of “the others” among names."""


class AllocationReading(msgspec.Struct, frozen=True):
    """The points a reply gave each option, as written, or None; and the rule that read them, or why none could."""

    values: tuple[float, ...] | None
    rule: str


_UNSURE, _SEVERAL = AllocationReading(None, "not sure"), AllocationReading(None, "several")


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
    found = [points for value in json_values(said) if (points := names.in_json(value)) is not None]
    said = plain(_TAG.sub(lambda tag: "\n" if re.match("</?(?:li|tr|p|br|h)", tag[0]) else " ", unescape(said)))
    following = rules.search("next_question", said, 1)
    if following and re.search(r"\d", said[: following.start()]):
        said = said[: following.start()]
    if found:
        return names.sure_of_json(found, last_part(text), said)
    if not said:
        return AllocationReading(None, "empty")
    said = rules.find("closing").sub("", said)
    revised = rules.find("revised").sub(" ", said)
    reading, sums = names.in_text(_calculated(revised, total, rules), revised, total)
    adds_up = reading.values is not None and _is_whole(reading.values, total)
    contradicts = any(_is_whole(one, total) and sorted(one) != sorted(reading.values or ()) for one in sums[-1:])
    return _UNSURE if contradicts or (revised != said and not adds_up) else reading


def _calculated(text: str, total: float, rules: Rules) -> str:
    """The text with numbers in one spelling: 3/10 as 3, 1 1/2 as 1.5, half of the points as 5; no dates and counts."""
    text = re.sub(rf"(?<=\d)(?<!/\d)(?<!/\d\d)\s?(?:/|{rules.either('scale')})\s?{total:g}\b(?!\s?[/=]|\.\d)", "", text)
    text = _FRACTION.sub(lambda one: f"{int(one[1] or 0) + int(one[2]) / int(one[3]):g}", text)
    text = rules.find("halves").sub(
        lambda one: f"{float(_NUMBERS.findall(_in_digits(one[0], rules))[0]) + 0.5:g}", text
    )
    for rule, value in (("half_point", 0.5), ("half_total", total / 2), ("one_point", 1)):
        text = rules.find(rule).sub(f" {value:g} ", text)
    return rules.find("no_points").sub("", text)


def _in_digits(text: str, rules: Rules) -> str:
    """The text with numbers in words as digits."""
    return rules.find("spelled").sub(lambda one: str(rules.place("numbers", one[0].casefold())), text)


def _are_points(values: Sequence[float], total: float) -> bool:
    """Whether numbers can be points: they add up, or none is above the total and they are no numbered entries (1.4)."""
    numbered = all(int(value) == at for at, value in enumerate(values, 1)) and any(value % 1 for value in values)
    return _is_whole(values, total) or (max(values) <= total and not numbered and (max(values) > 0 or not any(values)))


def _other_numbers(text: str, *totals: float) -> bool:
    """Whether a text has a number that is not the total, or that of the points."""
    return any(float(number) not in totals for number in _NUMBERS.findall(text))


def _is_whole(values: Sequence[float], total: float) -> bool:
    return any(math.isclose(math.fsum(values), whole, abs_tol=0.051) for whole in (total, 100.0))


def _shares(points: Sequence[float]) -> list[float]:
    return [round(value / (math.fsum(points) or 1), 6) for value in points]


def _bound(runs: Sequence[list[int]], numbers: Sequence[tuple[float, bool]]) -> list[dict[int, float]]:
    """The ways to bind each number to the name next to it, or to the whole run of names if it is for each of them.

    `runs` are the names before, between and behind the numbers; no name is bound to two numbers.
    """
    ways = [(dict[int, float](), frozenset[int]())]
    for at, (number, each) in enumerate(numbers):
        found = []
        for (given, taken), side in product(ways, (0, 1)):
            run = runs[at + side]
            picked = frozenset(run if each else run[:1] if side else run[-1:])
            free = picked and not (picked & taken and not side)
            if free and all(given.get(name, number) == number for name in picked):
                found.append((given | dict.fromkeys(picked, number), picked if side else frozenset[int]()))
        ways = found[:_MOST_WAYS]
    return [given for given, _ in ways]


@cache
def _lists(count: int, language: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """As many points as options, in their order: numbered, and in a list."""
    said = read_rules("allocation", language)
    points, label = f"({_NUMBER}){said.find('points_end').pattern}", said.find("label").pattern
    numbered = (label.replace("LABEL", f"(?:{at + 1}|{chr(97 + at)})") + points for at in range(count))
    numbered = (entry + said.find("remark").pattern for entry in numbered)
    listed = rf"(?<![\w.]){points}{said.find('next').pattern}{points}"
    again = rf"(?:\2|{said.either('and_number')}){points}"
    return (
        re.compile(said.find("between").pattern.join(numbered), re.IGNORECASE),
        re.compile(listed + again * (count - 2), re.IGNORECASE),
    )


class _Names:
    """The names of the options, as replies spell them."""

    def __init__(self, options: Sequence[str], language: str) -> None:
        self.count, self._rules = len(options), read_rules("allocation", language)
        self._folded = [squeeze(option) for option in options]
        spelled = sorted(((word, at) for at, word in enumerate(self._folded) if word), key=lambda pair: -len(pair[0]))
        self._places = dict(reversed(spelled))
        parts = [r"[\W_]{1,3}".join(map(re.escape, word.split())) for word, _ in spelled]
        bounded = (
            "|".join(group) if not bounds else rf"(?<![A-Za-z])(?:{'|'.join(group)})(?![A-Za-z])"
            for bounds, group in groupby(parts, str.isascii)
        )
        self._pattern = re.compile("|".join(bounded) or r"(?!)", re.IGNORECASE)
        # "Frustration" for "frustrated": the same word without its ending, where no other option is like it.
        self._words = {word: at for word, at in spelled if word.isascii() and word.isalpha() and len(word) > 2}
        kin = {
            one: other
            for words in self._rules.lists("kin")
            for pair in words
            for one, other in permutations(pair.split("|"))
        }
        stems = [(self._stem(one), at) for word, at in self._words.items() for one in (word, kin.get(word, word))]
        self._stems = {stem: at for stem, at in stems if {place for other, place in stems if other == stem} == {at}}
        self._numbered, self._listed = _lists(self.count, language)

    # What a reply does not need is not compiled: patterns with the names of an item cost more than reading with them.
    @cached_property
    def _tokens(self) -> re.Pattern[str]:
        """Names, “the others”, “nothing”, “each” and numbers, in their order."""
        said = self._rules
        return re.compile(
            rf"(?P<name>{self._pattern.pattern})|(?P<others>{said.either('others')})|(?P<zero>{said.either('zero')})"
            rf"|(?P<each>{said.either('each')})"
            rf"|(?P<number>{_NUMBER})(?P<apiece>\s?(?:{said.either('unit')})?\s?(?:{said.either('apiece')}))?",
            re.IGNORECASE,
        )

    @cached_property
    def _counts(self) -> re.Pattern[str]:
        """ "3 signs of joy": a number before another plural counts something else."""
        noun = rf"(?!{self._pattern.pattern}|{self._rules.either('no_noun')})[a-z]{{2,}}s\b"
        return re.compile(rf"(?<![\w.]){_NUMBER} {noun}", re.IGNORECASE)

    @cached_property
    def _pairs(self) -> tuple[re.Pattern[str], re.Pattern[str]]:
        """A name before its number, and behind it."""
        name, said = f"({self._pattern.pattern})", self._rules
        return (
            re.compile(
                rf"{name}(?:[^\w\n+-]{{0,20}}| - | ?-?-> ?)(?:{said.either('gets')})?\s?({_NUMBER})"
                r"(?![\d.]*\d|[^\S\n]?[A-Za-z]{0,1}\d|\s?\?)",
                re.IGNORECASE,
            ),
            re.compile(
                rf"(?<![\w.])({_NUMBER})[^\S\n]?(?:%|{said.either('unit')})?[^\S\n]?(?:{said.either('for')})?[^\S\n]?{name}",
                re.IGNORECASE,
            ),
        )

    @cached_property
    def _entries(self) -> tuple[re.Pattern[str], re.Pattern[str]]:
        """The numbers of all entries of a list of the names, in their order, and each of them."""
        labels = [rf"[(\[]?\b{at + 1}[.)\]、:]+\s?(?={self._pattern.pattern})" for at in range(self.count)]
        joined = (r"[\s\S]{0,400}?".join(labels), "|".join(labels))
        return re.compile(joined[0], re.IGNORECASE), re.compile(joined[1], re.IGNORECASE)

    def _has(self, rule: str, text: str) -> bool:
        """Whether a rule is found in a text besides the names."""
        return self._rules.search(rule, self._pattern.sub("¤", text)) is not None

    def _stem(self, word: str) -> str:
        """An English word without its endings, doubled letters made one."""
        before, word = "", re.sub(r"(.)\1", r"\1", word.casefold())
        while before != word:
            before, word = word, self._rules.find("endings").sub("", word)
        return word[:-1] + "f" if word.endswith("v") else word

    def in_own_words(self, text: str) -> str:
        """The text with options in their own spelling; endings and, in the place of a name, a letter may differ."""
        written = self._named(text)

        def own(word: re.Match[str]) -> str:
            said = word[0].casefold()
            near = get_close_matches(said, self._words, 2, 0.83) if word[1] and len(said) > 3 else []
            near = [name for name in near if name[0] == said[0] and self._words[name] not in written]
            at = self._words.get(
                said, self._stems.get(self._stem(said), self._words[near[0]] if len(near) == 1 else None)
            )
            return word[0] if at is None else self._folded[at]

        return re.sub(r"(?<![A-Za-z])[A-Za-z]{3,}(?![A-Za-z])(?=([^\w\n]{1,4}\d)?)", own, text)

    def _added(self, text: str) -> tuple[str, list[list[float]]]:
        """The text without entry numbers and with right sums as their results; the sums of all options' points."""
        if re.search(rf"\b{self.count}[.)\]、:]", text) and self._entries[0].search(text):
            text = self._entries[1].sub(" ", text)
        sums = [(one, [*map(float, _NUMBERS.findall(one[1].replace("+", " ")))]) for one in _SUM.finditer(text)]
        for one, terms in sums:
            whole = len(terms) == self.count and len(self._named(text)) == self.count
            if whole or (len(terms) != self.count and math.isclose(math.fsum(terms), float(one[2]))):
                text = text.replace(one[0], "" if whole else one[2])
        return text, [terms for _, terms in sums if len(terms) == self.count]

    def sure_of_json(self, found: Sequence[tuple[float, ...]], text: str, said: str) -> AllocationReading:
        """The points in JSON, unless they are a ranking or an example, or the text has other points too."""
        final, start = found[-1], text.rfind(([*bracketed(text)] or [text])[-1])
        if self.ranked(final, text[: max(map(text.rfind, "]}"))]) or self._supposed(text, start):
            return _UNSURE
        pairs = (self._matched(pattern.finditer(said)) for pattern in self._pairs)
        beside = any(_shares(points) != _shares(final) for side in pairs for points, _, _ in self._sets(side))
        if len(set(found)) > 1 or (beside and not (self._has("final", said) or self._has("corrects", said))):
            return _SEVERAL
        return AllocationReading(final, "json")

    def _supposed(self, text: str, start: int) -> bool:
        """Whether words before points call them an example, a condition or another's view, or a story is asked for."""
        *above, line = text[:start].split("\n")
        if not re.search(r"[^\W\d_]{2}", line):
            line = next((one for one in reversed(above) if re.search(r"\w{5}|[^\x00-\x7f]{2}", one)), "")
            line = line if line.rstrip("* ").endswith((":", "：")) else ""
        return self._has("example", _SENTENCE.split(line)[-1]) or self._has("asks", text)

    def in_text(self, text: str, said: str, total: float) -> tuple[AllocationReading, list[list[float]]]:
        """The points in a text with numbers in one spelling, and its sums; `said` is the text as written."""
        text, sums = self._added(self.in_own_words(text))
        ordered = self.in_their_order(text, total)
        found = ordered or (_UNSURE if self.sums(text) else self.paired(text, total))
        return found or self._told(text, said, total), sums

    def _told(self, text: str, said: str, total: float) -> AllocationReading:
        """The points in running text, where nothing makes them unsure."""
        rules, has = self._rules, self._has
        digits = _TALLY.sub(lambda one: f" {one[0].count(one[1])} ", _in_digits(text, rules))
        digits = self._counts.sub("", _DASHED.sub(" ", rules.find("no_points").sub("", digits)))
        told = [part for part in _SENTENCE.split(digits) if part.endswith(":") or _NUMBERS.search(part)]
        unsure = self.sums(digits) or self._places_only(digits) or any(has("example", part) for part in told)
        unsure = unsure or any(has(rule, said) for rule in ("asks", "corrects", "ranks", "refusal"))
        found = set() if unsure or has("range", rules.find("list").sub("", text)) else self.running(digits, total)
        if found:
            return AllocationReading(found.pop(), "adds up") if len(found) == 1 else _SEVERAL
        return AllocationReading(None, "refusal" if has("refusal", said) else "none")

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
        return _SEVERAL

    def sums(self, text: str) -> bool:
        """Whether a line with an option has a sum, a fraction or the like besides a list of points."""
        lines = "\n".join(line for line in text.split("\n") if self._named(line))
        for listed in self._rules.find("list").findall(lines):
            lines = lines.replace(listed, "") if len(_NUMBERS.findall(listed)) >= self.count else lines
        return bool(self._has("sum", lines))

    def ranked(self, points: Sequence[float], text: str) -> bool:
        """Whether a text calls the numbers from 1 to that of the options a ranking, and not points."""
        places = list(range(1, self.count + 1))
        called = self._has("ranks", text) or (list(points) == places and "(1)" in text)
        return bool(called and sorted(points) == places and not self._has("points", text))

    def _places_only(self, text: str) -> bool:
        """Whether the numbers of a text are those from 1 to that of the options and are not called points."""
        numbers = [float(number) for number in _NUMBERS.findall(text)]
        return numbers == list(range(1, self.count + 1)) and not self._has("points", text)

    def running(self, text: str, total: float) -> set[tuple[float, ...]]:
        """The allocations that add up: each number with a name beside it, or numbers below a line of names."""
        listed = {points for points in self._listed_below(text) if _is_whole(points, total)}
        if len(_NUMBERS.findall(text)) > _MOST_NUMBERS:
            return listed
        denied = [part for part in _CLAUSE.split(text) if not _NUMBERS.search(part) and self._has("nothing", part)]
        nothing = dict.fromkeys((at for part in denied for at in self._named(part)), 0.0)
        for parts in (_SENTENCE.split(text), text.split("\n"), [text], _CLAUSE.split(text)):
            ways = [dict[int, float]()]
            for part in parts:
                both = product(ways, self._ways(part, total))
                agreeing = (one | two for one, two in both if all(one.get(at, two[at]) == two[at] for at in two))
                ways = list(islice(agreeing, _MOST_WAYS))
            # "The others" are those without points; who is denied any has none.
            filled = (
                nothing | dict.fromkeys(range(self.count), way[_OTHERS]) | way if _OTHERS in way else nothing | way
                for way in ways
            )
            whole = {
                tuple(way[at] for at in range(self.count)) for way in filled if set(range(self.count)) <= way.keys()
            }
            if whole := {points for points in whole if _is_whole(points, total)}:
                return whole | listed
        return listed

    def _ways(self, part: str, total: float) -> list[dict[int, float]]:
        """The ways to give each number of a part to the name beside it, or to all of them where it says "each"."""
        ways = list[dict[int, float]]()
        for words, large in product((True, False), (True, False)):  # without "nothing", without the total and more
            runs, numbers, each = [list[int]()], list[tuple[float, bool]](), False
            for token in self._tokens.finditer(part):
                if token.lastgroup in ("name", "others"):
                    runs[-1].append(self._place(token[0]) if token["name"] else _OTHERS)
                elif token.lastgroup == "each":
                    each = True
                elif words if token["zero"] else large or float(token["number"]) < total:
                    numbers.append((float(token["number"] or 0), each or bool(token["apiece"])))
                    runs.append([])
                    each = False
            alone = {_OTHERS: numbers[0][0]} if len(numbers) == 1 and numbers[0][1] else {}
            found = _bound(runs, numbers) if any(runs) and numbers else [alone]
            ways += [way for way in found if way not in ways]
        return ways

    def _listed_below(self, text: str) -> Iterator[tuple[float, ...]]:
        """The lists of as many numbers as options, in the order of the names in their line or above it."""
        order = list(range(self.count))
        for line in text.split("\n"):
            named = self._named(line)
            order = named if sorted(named) == sorted(order) else order if not named else []
            for listed in self._rules.find("list").findall(line):
                values = [float(number) for number in re.findall(_NUMBER, _DASHED.sub(" ", listed))]
                places = values == list(range(1, self.count + 1)) and not named and not self._has("points", text)
                if len(values) == self.count == len(order) and not places:
                    yield tuple(values[order.index(at)] for at in range(self.count))

    def _named(self, text: str) -> list[int]:
        """The options that a text names, each once, in its order."""
        return list(dict.fromkeys(self._place(name[0]) for name in self._pattern.finditer(text)))

    def in_json(self, value: Any) -> tuple[float, ...] | None:
        """The whole allocation in a JSON value."""
        if isinstance(value, dict):
            given = {squeeze(self.in_own_words(str(key))): one for key, one in value.items()}
            numbers = [_number(given.get(name), self._rules) for name in self._folded]
            if all(number is not None for number in numbers):
                return tuple(number for number in numbers if number is not None)
            inner = [found for one in value.values() if (found := self.in_json(one)) is not None]
            return inner[0] if len(inner) == 1 else None
        if isinstance(value, list) and len(value) == self.count:
            if all(isinstance(one, dict) for one in value):
                return self.in_json(dict(pair for one in value if (pair := self._entry(one)) is not None))
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
        pairs = [list(self._matched(pattern.finditer(text))) for pattern in self._pairs]
        if len(pairs[0]) != len(pairs[1]):  # "joy 3 anger 2": the numbers all stand on one side of the names
            pairs = [max(pairs, key=lambda one: (bool(self._sets(one)), len(one)))]
        found = [one for side in pairs for one in self._sets(side)]
        if not found:
            return None
        (final, start, end), sets = max(found, key=lambda one: one[2]), {points for points, _, _ in found}
        after, missed = text[end:], not _is_whole(final, total)
        stray = missed and _other_numbers(after, total, math.fsum(final))
        own = "\n".join(part for part in _SENTENCE.split(after) if not self._has("example", part))
        later = (pair for pattern in self._pairs for pair in self._matched(pattern.finditer(own)))
        corrected = stray or any(number not in (final[place], total) for place, number, _, _ in later)
        corrected = corrected or self._has("corrects", text if missed else after) or self._supposed(text, start)
        corrected = corrected or self._has("refusal", after) or self._moved(own, final, total)
        signs = max(final) <= 0 and any(final)  # dashes behind the names
        places = self._places_only(text) and text[start].isdigit()  # "1 joy, 2 anger"
        if corrected or signs or places or self.ranked(final, text) or self._has("range", text):
            return _UNSURE
        if len(sets) == 1:
            return AllocationReading(final, "named")
        # Several: the last one, if it is announced as the final one or replaces sets that missed the total.
        replaced = not any(_is_whole(points, total) for points in sets - {final})
        if _is_whole(final, total) and (replaced or self._has("corrects", text) or self._has("final", text)):
            return AllocationReading(final, "last")
        return _SEVERAL

    def _moved(self, text: str, final: Sequence[float], total: float) -> bool:
        """Whether a sentence behind a set gives one of its names other points ("that one point goes to guilt")."""
        number = re.compile(rf"({_NUMBER})\s?(?:{self._rules.either('unit')})", re.IGNORECASE)
        parts = ((self._named(part), number.findall(part)) for part in _SENTENCE.split(_in_digits(text, self._rules)))
        return any(
            float(said) not in {total, *(final[at] for at in named)}
            for named, given in parts
            if named
            for said in given
        )

    def _matched(self, found: Iterator[re.Match[str]]) -> Iterator[tuple[int, float, int, int]]:
        for pair in found:
            name, number = (pair[1], pair[2]) if not _NUMBERS.fullmatch(pair[1]) else (pair[2], pair[1])
            yield self._place(name), float(number), pair.start(), pair.end()

    def _sets(self, pairs: Iterable[tuple[int, float, int, int]]) -> list[tuple[tuple[float, ...], int, int]]:
        """The whole sets among pairs in their order, from where to where; a name that comes again begins the next."""
        whole, held, first = [], dict[int, float](), 0
        for place, number, start, end in pairs:
            if place in held:
                held = {}
            first = first if held else start
            held[place] = number
            if len(held) == self.count:
                whole.append((tuple(held[at] for at in range(self.count)), first, end))
                held = {}
        return whole

    def _place(self, name: str) -> int:
        return self._places[squeeze(name)]


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
