"""What the rule-based person knows: facts of a scenario that it tells when asked, or one by one unasked."""

import re
import tomllib
from functools import lru_cache
from math import log
from pathlib import Path

import msgspec
from msgspec import Struct

from sociometer.core.errors import DataError
from sociometer.instruments.sage.hearing import Question
from sociometer.instruments.sage.intentions import INTENTIONS
from sociometer.instruments.sage.items import Scenario
from sociometer.instruments.sage.wording import language_rules, phrasing, topics

PEOPLE = Path(__file__).parent / "data" / "people"
NAMED = re.compile(r"\{([^|{}]*)\|([^|{}]*)(?:\|([^|{}]*))?\}")
"""Words that introduce something, and words for later: `{my brother Dennis|Dennis}`.

The second are used after the first occurred, or after a third one did: `{my grandmother|her|grandmother}`.
"""
SPECIFIC = {"en": 2.2, "zh": 5.0}
"""How well a fact must fit a question to be its answer."""
_SLOT_WORTH = {"en": 4.5, "zh": 8.0}
_ASKED_WORTH = 1.5
_SAID_WORTH = 0.7
_AROUND_WORTH = 0.4
_FULL_QUESTION = 3
_SAME_WORTH = 4.0
_KIND_WORTH = 1.0
_KINDS = {
    "who": re.compile(r"\bwho(?:m|se)?\b|谁", re.IGNORECASE),
    "where": re.compile(r"\bwhere\b|哪儿|哪里", re.IGNORECASE),
    "when": re.compile(r"\bwhen (?:did|was|is|do|does|will)\b|什么时候|哪天", re.IGNORECASE),
    "why": re.compile(r"\bwhy\b|为什么|为啥", re.IGNORECASE),
}
_NARROW_SLOTS = ("tell", "beside")
"""Slots whose questions also look like those of wider slots."""


class Fact(Struct, frozen=True, forbid_unknown_fields=True):
    """One thing the person can tell: a question it answers, the answer, and how a listener would refer to it."""

    ask: str
    say: str
    gist: str = ""
    also: str = ""
    """Further words by which a question about it is recognised."""
    slot: str = ""
    """The question that it answers, of those that fit any story: `feel`, `want`, `tell`, `beside` and so on."""
    asked_only: bool = False


class Known(Struct, frozen=True, forbid_unknown_fields=True):
    """The facts of one person, and their own words for being helped, leaving, and not knowing."""

    facts: tuple[Fact, ...]
    helps: tuple[str, ...] = ()
    """Things said by a listener that help this person, as the oracle says them."""
    glad: str = ""
    leave: str = ""
    unsure: tuple[str, ...] = ()


def known_facts(scenario: Scenario) -> Known:
    """What the person of a scenario knows; for a scenario without facts, lines that are true of anybody."""
    name = scenario.id.removeprefix(f"{scenario.language}-")
    return _people(scenario.language).get(name) or _people(scenario.language)["anybody"]


def has_facts(scenario: Scenario) -> bool:
    """Whether the person of this scenario has their own facts."""
    return scenario.id.removeprefix(f"{scenario.language}-") in _people(scenario.language)


def find_answer(question: Question, known: Known, language: str, told: frozenset[int]) -> tuple[int | None, float]:
    """The place of the fact that answers a question best, and how well; only facts that are not told yet."""
    asked = topics(question.text, language)
    around = (
        topics(question.before, language) - asked if language == "zh" or len(asked) < _FULL_QUESTION else frozenset()
    )
    around_worth = _SAID_WORTH if len(asked) <= 1 else _AROUND_WORTH
    low = question.text.lower()
    phrased = phrasing(question.text, language)
    if language == "zh":
        asked |= phrased
    best: int | None = None
    best_worth = 0.0
    weights = _weights(known, language)
    slots = _slots_of(low, language)
    kind = _kind_of(question.text)
    for place, fact in enumerate(known.facts):
        by_slot = fact.slot in slots
        if place in told or (fact.slot in ("self", *_NARROW_SLOTS) and not by_slot):
            continue
        about, heads = _about(fact, language)
        worth = sum(weights[unit] * (_ASKED_WORTH if unit in heads else _SAID_WORTH) for unit in asked & about)
        worth += sum(weights[unit] * around_worth for unit in around & heads)
        worth += _SLOT_WORTH[language] * by_slot * (2 if fact.slot in _NARROW_SLOTS else 1)
        worth += _KIND_WORTH * (kind != "" and bool(asked & heads) and kind == _kind_of(fact.ask))
        worth += _SAME_WORTH * _likeness(phrased, phrasing(fact.ask, language))
        if worth > best_worth:
            best, best_worth = place, worth
    return best, best_worth


def is_personal(question: Question, language: str) -> bool:
    """Whether a question asks what the person would say to somebody, or who is with them."""
    return bool(_slots_of(question.text.lower(), language) & set(_NARROW_SLOTS))


def _kind_of(question: str) -> str:
    """Whether a question asks who, where, when or why."""
    return next((name for name, pattern in _KINDS.items() if pattern.search(question)), "")


def _slots_of(low: str, language: str) -> frozenset[str]:
    """The slots whose questions this is; one about telling or company is only that."""
    found = frozenset(name for name, pattern in language_rules(language).slots.items() if pattern.search(low))
    return next((frozenset([name]) for name in _NARROW_SLOTS if name in found), found)


def _likeness(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / max(1, len(one | other))


@lru_cache(maxsize=1024)
def spoken_forms(say: str) -> tuple[str, ...]:
    """The forms in which a fact may have been said; the last is its longest part without names."""
    return (NAMED.sub(r"\1", say), NAMED.sub(r"\2", say), max(NAMED.split(say)[::4], key=len))


@lru_cache(maxsize=512)
def _about(fact: Fact, language: str) -> tuple[frozenset[str], frozenset[str]]:
    heads = topics(f"{fact.ask} {fact.also}", language) | frozenset(fact.also.split() if language == "zh" else ())
    return heads | topics(NAMED.sub(r"\1", f"{fact.say} {fact.gist}"), language), heads


@lru_cache(maxsize=128)
def _weights(known: Known, language: str) -> dict[str, float]:
    """How distinctive a unit is: the fewer facts mention it, the more."""
    counts: dict[str, int] = {}
    for fact in known.facts:
        for unit in _about(fact, language)[0]:
            counts[unit] = counts.get(unit, 0) + 1
    return {unit: log(1 + len(known.facts) / count) for unit, count in counts.items()}


@lru_cache(maxsize=2)
def _people(language: str) -> dict[str, Known]:
    found: dict[str, Known] = {}
    for name in (*INTENTIONS, "anybody"):
        path = PEOPLE / language / f"{name}.toml"
        try:
            found |= msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), dict[str, Known])
        except (OSError, ValueError, msgspec.ValidationError) as error:
            raise DataError(f"not a file of facts: {error}", path) from None
    return found
