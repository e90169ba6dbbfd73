"""Texts that a regular expression almost matches, made from the expression itself: what a slow one is slow on.

For each repetition in the expression, a text is written that goes through everything before it, repeats it for as long
as the text shall be, and then breaks off. Another text begins the expression again and again.
"""

import random
import re
import re._constants as sre
import re._parser as parser
from collections.abc import Iterator
from typing import Any

_MANY = 16
"""A repetition that allows fewer than this cannot be slow."""
_BREAK = "§"
_CLASSES = {
    sre.CATEGORY_DIGIT: "7",
    sre.CATEGORY_SPACE: " ",
    sre.CATEGORY_WORD: "w",
    sre.CATEGORY_NOT_DIGIT: "x",
    sre.CATEGORY_NOT_SPACE: "x",
    sre.CATEGORY_NOT_WORD: "-",
}
_LETTERS = "x -7\n,A一.\"'"


def near_misses(pattern: re.Pattern[str], size: int, most: int) -> list[str]:
    """Texts of about this many characters that the pattern almost matches; a fixed sample where there are too many."""
    found: dict[str, None] = {}
    for seed in range(2):
        choose = random.Random(seed)
        tree = parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG)
        for begun, body in [*_repetitions(list(tree), "", choose), (_sample(list(tree), choose), "")]:
            found |= dict.fromkeys(_texts(begun, body, size))
    return list(found) if len(found) <= most else random.Random(0).sample(list(found), most)


def _texts(begun: str, body: str, size: int) -> Iterator[str]:
    if body:
        yield begun + (body * (size // len(body)))[: max(0, size - len(begun) - 1)] + _BREAK
    for whole in (begun + body, begun + body * 3 + " "):
        if whole:
            yield whole * (size // len(whole))
            yield (whole + " ") * (size // (len(whole) + 1))


def _repetitions(items: list[Any], begun: str, choose: random.Random) -> Iterator[tuple[str, str]]:
    """Yield what comes before each repetition, and one round of it."""
    for item in items:
        name, value = item
        if name in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
            _, most, inner = value
            if most >= _MANY:
                yield begun, "".join(_sample(list(inner), choose) for _ in range(4))
            yield from _repetitions(list(inner), begun, choose)
        elif name is sre.BRANCH:
            for branch in value[1]:
                yield from _repetitions(list(branch), begun, choose)
        elif name is sre.SUBPATTERN:
            yield from _repetitions(list(value[-1]), begun, choose)
        elif name in (sre.ATOMIC_GROUP,):
            yield from _repetitions(list(value), begun, choose)
        elif name in (sre.ASSERT, sre.ASSERT_NOT) and value[0] > 0:
            yield from _repetitions(list(value[1]), begun, choose)
        begun += _sample([item], choose)


def _sample(items: list[Any], choose: random.Random) -> str:
    """A text that the parsed items match, assertions aside."""
    return "".join(_sampled(name, value, choose) for name, value in items)


def _sampled(name: Any, value: Any, choose: random.Random) -> str:
    if name is sre.LITERAL:
        return chr(value)
    if name is sre.NOT_LITERAL:
        return next(mark for mark in _LETTERS if ord(mark) != value)
    if name is sre.ANY:
        return "x"
    if name is sre.IN:
        return _member(value, choose)
    if name is sre.BRANCH:
        return _sample(list(choose.choice(value[1])), choose)
    if name is sre.SUBPATTERN:
        return _sample(list(value[-1]), choose)
    if name is sre.ATOMIC_GROUP:
        return _sample(list(value), choose)
    if name in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
        least, most, inner = value
        rounds = max(least, min(most, choose.choice((0, 1, 1, 2))))
        return "".join(_sample(list(inner), choose) for _ in range(rounds))
    return ""


def _member(options: list[Any], choose: random.Random) -> str:
    if options[0][0] is sre.NEGATE:
        refused = re.compile(_spelled(options[1:]))
        return next(mark for mark in _LETTERS + "qz8" if not refused.fullmatch(mark))
    name, value = choose.choice(options)
    if name is sre.LITERAL:
        return chr(value)
    if name is sre.RANGE:
        return chr(choose.randint(value[0], min(value[1], value[0] + 25)))
    return _CLASSES[value]


def _spelled(options: list[Any]) -> str:
    parts = []
    for name, value in options:
        if name is sre.LITERAL:
            parts.append(re.escape(chr(value)))
        elif name is sre.RANGE:
            parts.append(f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}")
        else:
            kind = {"DIGIT": r"\d", "NOT_DIGIT": r"\D", "SPACE": r"\s", "NOT_SPACE": r"\S", "WORD": r"\w"}
            kind["NOT_WORD"] = r"\W"
            parts.append(kind[value.name.removeprefix("CATEGORY_")])
    return f"[{''.join(parts)}]"
