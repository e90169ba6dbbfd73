"""The 32 interpersonal abilities in their five dimensions, and the ability that a released spelling clearly means."""

from __future__ import annotations

import re

DIMENSIONS: dict[str, tuple[str, ...]] = {
    "social engagement": (
        "leadership skill",
        "persuasive skill",
        "conversational skill",
        "expressive skill",
        "energy regulation",
    ),
    "cooperation": (
        "teamwork skill",
        "capacity for trust",
        "perspective-taking skill",
        "capacity for social warmth",
        "ethical competence",
    ),
    "self-management": (
        "task management",
        "time management",
        "detail management",
        "organizational skill",
        "responsibility management",
        "capacity for consistency",
        "goal regulation",
        "rule-following skill",
        "decision-making skill",
        "adaptability",
        "capacity for independence",
        "self-reflection skill",
    ),
    "emotional resilience": (
        "stress regulation",
        "capacity for optimism",
        "anger management",
        "confidence regulation",
        "impulse regulation",
    ),
    "innovation": (
        "abstract thinking skill",
        "creative skill",
        "artistic skill",
        "cultural competence",
        "information processing skill",
    ),
}

ABILITIES: tuple[str, ...] = tuple(name for names in DIMENSIONS.values() for name in names)
_DIMENSION_OF = {name: dimension for dimension, names in DIMENSIONS.items() for name in names}
_SLIPS = 2
_SHORTEST = 8


def fold(spelling: str) -> str:
    """The letters of a spelling in lower case, without spaces, hyphens and stray bytes."""
    return re.sub(r"[^a-z]", "", spelling.lower())


_FOLDED = {fold(name): name for name in ABILITIES}
_FOLDED["informationprocessskill"] = "information processing skill"


def dimension_of(ability: str) -> str:
    """The dimension one of the 32 abilities belongs to."""
    return _DIMENSION_OF[ability]


def canonical(spelling: str) -> str | None:
    """The ability that a spelling clearly means, or None if it is uncertain.

    Certain is: the same letters; at most two typing errors away from one ability only; or the
    beginning (eight letters or more) of one ability only.
    """
    letters = fold(spelling)
    if letters in _FOLDED:
        return _FOLDED[letters]
    if len(letters) < _SHORTEST:
        return None
    near = {name for known, name in _FOLDED.items() if slips(letters, known) <= _SLIPS}
    if len(near) == 1:
        return near.pop()
    begun = {name for known, name in _FOLDED.items() if known.startswith(letters)}
    return begun.pop() if len(begun) == 1 else None


def canonical_all(spellings: tuple[str, ...]) -> tuple[str, ...]:
    """The abilities among some spellings, each once, in the order given; what is uncertain is left out."""
    found = (canonical(spelling) for spelling in spellings)
    return tuple(dict.fromkeys(name for name in found if name is not None))


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
