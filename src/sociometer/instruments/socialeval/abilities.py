"""The 32 interpersonal abilities in their five dimensions, and the ability that a released spelling clearly means."""

from __future__ import annotations

import re
from functools import lru_cache

DIMENSIONS: dict[str, tuple[str, ...]] = {
    "social engagement": (
        "leadership skill", "persuasive skill", "conversational skill", "expressive skill", "energy regulation",
    ),
    "cooperation": (
        "teamwork skill", "capacity for trust", "perspective-taking skill", "capacity for social warmth",
        "ethical competence",
    ),
    "self-management": (
        "task management", "time management", "detail management", "organizational skill",
        "responsibility management", "capacity for consistency", "goal regulation", "rule-following skill",
        "decision-making skill", "adaptability", "capacity for independence", "self-reflection skill",
    ),
    "emotional resilience": (
        "stress regulation", "capacity for optimism", "anger management", "confidence regulation",
        "impulse regulation",
    ),
    "innovation": (
        "abstract thinking skill", "creative skill", "artistic skill", "cultural competence",
        "information processing skill",
    ),
}  # fmt: skip

ABILITIES: tuple[str, ...] = tuple(name for names in DIMENSIONS.values() for name in names)
_DIMENSION_OF = {name: dimension for dimension, names in DIMENSIONS.items() for name in names}
_SLIPS = 2
_LONGEST = 400
"""Characters; a longer text is no list of abilities."""
_SHORTEST = 8

_GENERAL = frozenset(
    (
        "ability", "abilities", "capability", "capacity", "competence", "competency", "control", "controlling",
        "emotional", "following", "for", "in", "making", "management", "managing", "of", "personal", "process",
        "processing", "regulating", "regulation", "self", "skill", "skills", "social", "taking", "the", "thinking",
        "to",
    )
)  # fmt: skip
"""Words that several abilities share or that say only that something is an ability."""
_KEYWORDS: dict[str, str] = {
    "leadership skill": "leadership leading leader lead",
    "persuasive skill": "persuasive persuasion persuading persuade persuasiveness",
    "conversational skill": "conversational conversation conversing conversations",
    "expressive skill": "expressive expression expressing expressiveness",
    "energy regulation": "energy",
    "teamwork skill": "teamwork team",
    "capacity for trust": "trust trusting",
    "perspective-taking skill": "perspective perspectivetaking empathy empathic",
    "capacity for social warmth": "warmth",
    "ethical competence": "ethical ethics moral morality",
    "task management": "task tasks",
    "time management": "time",
    "detail management": "detail details",
    "organizational skill": "organizational organization organisational organisation organizing",
    "responsibility management": "responsibility responsibilities responsible",
    "capacity for consistency": "consistency consistent",
    "goal regulation": "goal goals",
    "rule-following skill": "rule rules rulefollowing",
    "decision-making skill": "decision decisions decisionmaking",
    "adaptability": "adaptability adaptive adaptable adaptation adapting",
    "capacity for independence": "independence independent",
    "self-reflection skill": "reflection reflective selfreflection selfreflective",
    "stress regulation": "stress",
    "capacity for optimism": "optimism optimistic",
    "anger management": "anger",
    "confidence regulation": "confidence confident selfconfidence",
    "impulse regulation": "impulse impulses impulsive",
    "abstract thinking skill": "abstract abstraction",
    "creative skill": "creative creativity",
    "artistic skill": "artistic art arts",
    "cultural competence": "cultural culture cultures",
    "information processing skill": "information informationprocessing",
}
_ABILITY_OF = {word: name for name, words in _KEYWORDS.items() for word in words.split()}
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
