"""What a sentence says about the options it mentions: claims them, rejects them, or only talks about them."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from sociometer.reading import phrases
from sociometer.reading.marks import ANY, CLASH, index_of

__all__ = [
    "DECLARED",
    "FINAL",
    "LOWEST",
    "MARKED",
    "OPENED",
    "VERDICT",
    "WEAK",
    "Claim",
    "Sentence",
    "Stance",
    "indexes_of",
    "judge",
    "sentences",
]

WEAK, LOWEST, VERDICT, DECLARED, FINAL, OPENED, MARKED = 1, 2, 3, 4, 5, 6, 7
"""How strongly an option is claimed: praised, called the worst (which some questions ask for), chosen, declared as
the writer's own choice, chosen at the very end, stated alone at the beginning, marked as
the answer."""

_STOP = re.compile(
    r"\n+|[。!?]+[\"')\]]*|;|\.{2,}|…+|"
    r"(?<!\bMr)(?<!\bMs)(?<!\bDr)(?<!\bMrs)(?<!\bvs)(?<!\be\.g)(?<!\bi\.e)\.[\"')\]]*(?=\s|$|[\u3400-\u9fff])"
)
_GROUP = re.compile(phrases.GROUP, re.IGNORECASE)
_MARK = re.compile(ANY)
_BREAK = re.compile(
    r"[;:—–]|,\s*(?:but|so|and so|yet|and)\b|\b(?:but|yet|whereas)\b|"
    r"\bso(?= (?:i|it|it's|the|that|we|he|she|they|my|this|her|his)\b| ?$)|"
    r",(?=但|可|所以|因此|不过|而)|但是?|不过|所以|"
    r"因此|其实|实际上",
    re.IGNORECASE,
)
_ALONE_BEHIND = re.compile(r"\s*(?:[.,:;!)—–-]|$|\s(?:it is|because|then|for)\b|[。吧])")
_VERB_BEHIND = re.compile(
    r"[\"']*\s+(?:is|are|was|would|could|might|may|can|does|has|fails|misses|ignores|[a-z]+s)\b(?! it)", re.IGNORECASE
)
_HAN_DENIAL = re.compile(r"不一定|未必|不见得|不太可能|[不没沒别](?:会|會|能|该|該|应|應)?(?:选|選|是|推荐|建议)")
_OTHERS_WRONG = re.compile(r"(?:以外|之外)?,?(?:其他|其余|别的)?(?:都|全|均)[不错没]")
_TURNED = re.compile(r",\s*(?:so|therefore|but)\b|所以|因此|但|:.*:", re.IGNORECASE)


class Sentence(msgspec.Struct, frozen=True):
    """A sentence of a marked reply, where it starts, and whether it is a question."""

    text: str
    start: int
    question: bool


class Claim(msgspec.Struct, frozen=True):
    """Options claimed together at one place of the reply; None among them where label and words clash."""

    indexes: frozenset[int | None]
    strength: int
    start: int


class Stance(msgspec.Struct, frozen=True):
    """Options that one place of the reply mentions without a claim.

    `rejected` is 2 for a plain rejection ("A is wrong", "not A"), 1 for words that speak against it, else 0. `barred`
    says that the place cannot be the writer's answer: a question, a condition, another's opinion.
    """

    indexes: frozenset[int | None]
    rejected: int
    barred: bool
    start: int


def sentences(text: str) -> Iterator[Sentence]:
    """Yield the sentences of a marked reply."""
    start = 0
    for stop in _STOP.finditer(text):
        part = text[start : stop.start()]
        if part.strip():
            yield Sentence(part, start, "?" in stop[0])
        start = stop.end()
    if text[start:].strip():
        yield Sentence(text[start:], start, question=False)


def indexes_of(marks: str) -> frozenset[int | None]:
    """Return the options of a group of marks; None is a clash."""
    return frozenset(None if mark == CLASH else index_of(mark) for mark in _MARK.findall(marks))


def judge(sentence: Sentence) -> Iterator[Claim | Stance]:
    """Yield what a sentence says about each group of options that it mentions."""
    groups = list(_GROUP.finditer(sentence.text))
    for at, group in enumerate(groups):
        end = groups[at + 1].start() if at + 1 < len(groups) else len(sentence.text)
        left = sentence.text[max(0, group.start() - 120) : group.start()]
        right = sentence.text[group.end() : group.end() + 140]
        start = sentence.start + group.start()
        barred = sentence.question or sentence.text.rstrip().endswith(("吗", "嗎", "呢")) or _is_barred(left, right)
        strength = 0 if barred else _strength(left, right)
        if strength:
            yield Claim(indexes_of(group[0]), strength, start)
        else:
            doubted = sentence.question and not (left + right).strip()
            rejected = _rejection(left, right[: max(0, end - group.end())])
            yield Stance(indexes_of(group[0]), max(rejected, int(doubted)), barred, start)


def _is_barred(left: str, right: str) -> bool:
    """Whether the mention is in a condition, is conceded, or is another's opinion."""
    near = _clause_before(left)
    segment = near.split(",")[-1]
    return (
        _is_hypothetical(left, right)
        or phrases.OTHERS.search(segment) is not None
        or phrases.AT_FIRST.search(_MARK.split(near)[-1]) is not None
        or (phrases.CONCEDED.match(segment) is not None and (segment == near or not segment.isascii()))
        or phrases.CONCEDED_BEHIND.match(right) is not None
    )


def _strength(left: str, right: str) -> int:
    """How strongly the words around a mention claim it."""
    near = _clause_before(left)
    if phrases.ALL_BUT.search(left):
        return 0 if phrases.GOOD.search(right) else VERDICT
    if re.search(r"非\s*$", left) and right.startswith("莫属"):
        return VERDICT
    if re.search(r"除了?\s*$", left) and _OTHERS_WRONG.match(right):
        return VERDICT
    if phrases.OUT_BEFORE.search(left) or phrases.IS_NOT.match(right) or _is_denied(near):
        return 0
    behind = right.lstrip("\"')")
    if phrases.CLAIM_BEFORE.search(left) and not _VERB_BEHIND.match(behind):
        return DECLARED if phrases.DECLARED_BEFORE.search(left) else VERDICT
    if phrases.SO_BEFORE.search(left) and _ALONE_BEHIND.match(behind):
        return VERDICT
    if phrases.ONLY_BEFORE.search(left) and not phrases.OUT_BEHIND.search(behind[:60]):
        return VERDICT
    if phrases.CLAIM_BEHIND.match(behind):
        but = phrases.BUT_BEHIND.match(behind)
        return VERDICT if but is None else 0 if phrases.OUT_BEHIND.search(behind, but.start("but")) else WEAK
    if phrases.WORST_BEHIND.match(behind):
        return LOWEST
    return WEAK if phrases.PRAISE.match(behind) or re.search(r"[^不]的(?:就|才|正)?是[\"']*$", left) else 0


def _clause_before(left: str) -> str:
    """The words between the last break and the mention."""
    return _BREAK.split(left)[-1]


def _is_denied(near: str) -> bool:
    last = re.sub(rf"(?:\bnot |不是){ANY}", "", near.split(",")[-1])
    return phrases.NOT.search(last) is not None or _HAN_DENIAL.search(last) is not None


def _is_hypothetical(left: str, right: str) -> bool:
    if re.match(r"^\s*(?:would|might|could|may)\b", right) and phrases.IF_BEHIND.search(right):
        return True
    if phrases.UNREAL.search(left[-40:]) and phrases.IF_BEHIND.search(right):
        return True
    conditions = list(phrases.HYPOTHETICAL.finditer(left))
    return bool(conditions) and _TURNED.search(left[conditions[-1].start() :]) is None


def _rejection(left: str, right: str) -> int:
    if phrases.OUT_BEFORE.search(left) or _is_denied(_clause_before(left)) or phrases.WRONG_BEHIND.match(right):
        return 2
    return int(phrases.OUT_BEHIND.search(right) is not None)
