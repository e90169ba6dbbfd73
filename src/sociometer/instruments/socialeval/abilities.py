"""The 32 interpersonal abilities in their five dimensions, and which of them a released spelling certainly means."""

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

CHINESE: dict[str, str] = {
    "leadership skill": "领导力",
    "persuasive skill": "说服力",
    "conversational skill": "交谈能力",
    "expressive skill": "表达能力",
    "energy regulation": "精力调节",
    "teamwork skill": "团队协作",
    "capacity for trust": "信任他人的能力",
    "perspective-taking skill": "换位思考",
    "capacity for social warmth": "待人热情",
    "ethical competence": "道德操守",
    "task management": "任务管理",
    "time management": "时间管理",
    "detail management": "细节管理",
    "organizational skill": "条理性",
    "responsibility management": "责任担当",
    "capacity for consistency": "持之以恒",
    "goal regulation": "目标管理",
    "rule-following skill": "遵守规则",
    "decision-making skill": "决策能力",
    "adaptability": "应变能力",
    "capacity for independence": "独立自主",
    "self-reflection skill": "自我反思",
    "stress regulation": "压力调节",
    "capacity for optimism": "乐观精神",
    "anger management": "愤怒管理",
    "confidence regulation": "自信心调节",
    "impulse regulation": "冲动控制",
    "abstract thinking skill": "抽象思维",
    "creative skill": "创造力",
    "artistic skill": "艺术素养",
    "cultural competence": "跨文化理解",
    "information processing skill": "信息处理",
}

ABILITIES: tuple[str, ...] = tuple(name for names in DIMENSIONS.values() for name in names)
_DIMENSION_OF = {name: dimension for dimension, names in DIMENSIONS.items() for name in names}
_SLIPS = 2
_SHORTEST = 8


def fold(spelling: str) -> str:
    """The letters of a spelling in lower case: what is left when case, spaces, hyphens and stray bytes go."""
    return re.sub(r"[^a-z]", "", spelling.lower())


_FOLDED = {fold(name): name for name in ABILITIES}
_FOLDED["informationprocessskill"] = "information processing skill"


def dimension_of(ability: str) -> str:
    """The dimension one of the 32 abilities belongs to."""
    return _DIMENSION_OF[ability]


def canonical(spelling: str) -> str | None:
    """The ability a spelling certainly means, or nothing when one would have to guess.

    Certain is: the same letters; at most two slips of the pen away from one ability only; or the
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
