"""The 32 interpersonal abilities in their five dimensions, and the ability that a released spelling clearly means."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

from sociometer.core.sheets import read_table
from sociometer.core.words import grouped

_TABLE = read_table(Path(__file__).with_name("abilities.csv"))
"""Every ability with its dimension, and the words that clearly mean it."""
DIMENSIONS: dict[str, list[str]] = grouped((row["dimension"], row["ability"]) for row in _TABLE)
ABILITIES: tuple[str, ...] = tuple(row["ability"] for row in _TABLE)
_DIMENSION_OF = {row["ability"]: row["dimension"] for row in _TABLE}
_SLIPS = 2
_LONGEST = 400
"""Characters; a longer text is no list of abilities."""
_SHORTEST = 8

_GENERAL = frozenset((
    "ability", "abilities", "capability", "capacity", "competence", "competency", "control", "controlling", "emotional",
    "following", "for", "in", "making", "management", "managing", "of", "personal", "process", "processing",
    "regulating", "regulation", "self", "skill", "skills", "social", "taking", "the", "thinking", "to",
))  # fmt: skip
"""Words that several abilities share or that say only that something is an ability."""
_ABILITY_OF = {word: row["ability"] for row in _TABLE for word in row["words"].split()}
_SEPARATORS = re.compile(r"[,，、;；/&+|\n]|\band\b|\bor\b|和|与", re.IGNORECASE)


def fold(spelling: str) -> str:
    """The letters of a spelling in lower case, without spaces, hyphens and stray bytes."""
    return re.sub(r"[^a-z]", "", spelling.lower())


_FOLDED = {fold(name): name for name in ABILITIES}


def dimension_of(ability: str) -> str:
    """The dimension one of the 32 abilities belongs to."""
    return _DIMENSION_OF[ability]


@lru_cache(maxsize=4096)
def canonical(spelling: str) -> str | None:
    """The ability that a spelling clearly means, or None if it is uncertain.

    Certain is: the same letters; at most two typing errors away from one ability only; the
    beginning (eight letters or more) of one ability only; or the key word of one ability
    ("stress") with nothing but general words ("capacity for", "regulation", "skill") around it.
    """
    if len(spelling) > _LONGEST:
        return None
    letters = fold(spelling)
    if letters in _FOLDED:
        return _FOLDED[letters]
    if len(letters) >= _SHORTEST:
        near = {name for known, name in _FOLDED.items() if slips(letters, known) <= _SLIPS}
        if len(near) == 1:
            return near.pop()
        begun = {name for known, name in _FOLDED.items() if known.startswith(letters)}
        if len(begun) == 1:
            return begun.pop()
    return _by_key_word(spelling)


def _by_key_word(spelling: str) -> str | None:
    words = [
        word for word in re.findall(r"[a-z]+", re.sub(r"[-‐‑\x02]", " ", spelling.lower())) if word not in _GENERAL
    ]
    meant = {_key_word(word) for word in words}
    return meant.pop() if len(meant) == 1 else None


def _key_word(word: str) -> str | None:
    """The ability with this key word; a long word may have one typing error."""
    if word in _ABILITY_OF:
        return _ABILITY_OF[word]
    near = {name for known, name in _ABILITY_OF.items() if len(word) >= _SHORTEST and slips(word, known) <= 1}
    return near.pop() if len(near) == 1 else None


def completes(beginning: str, text: str) -> bool:
    """Whether a text is the rest of an ability's name: "Skill" after "Expressive"."""
    whole = _FOLDED.get(fold(f"{beginning} {text}"))
    return whole is not None and bool(fold(text)) and fold(whole).endswith(fold(text))


def canonical_all(spellings: tuple[str, ...]) -> tuple[str, ...]:
    """The abilities among some spellings, each once, in the order given; what is uncertain is left out.

    A spelling may list several ("Persuasive Skill, Teamwork Skill") if each of them is certain.
    """
    found: list[str] = []
    for spelling in spellings:
        if len(spelling) > _LONGEST:
            continue
        whole = canonical(spelling)
        parts = [whole] if whole else [canonical(part) for part in _SEPARATORS.split(spelling) if part.strip()]
        found += (name for name in parts if name is not None and None not in parts)
    return tuple(dict.fromkeys(found))


def slips(one: str, other: str) -> int:
    """The Levenshtein distance between two words."""
    if abs(len(one) - len(other)) > _SLIPS:
        return _SLIPS + 1
    row = list(range(len(other) + 1))
    for i, left in enumerate(one, start=1):
        before, row[0] = row[0], i
        for j, right in enumerate(other, start=1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (left != right))
    return row[-1]
