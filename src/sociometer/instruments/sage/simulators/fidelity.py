"""Fidelity of a simulated person: its turns compared with a reference. Pure."""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import fmean, pstdev
from typing import Literal

from msgspec import Struct

from sociometer.core.measure import Interval
from sociometer.instruments.sage.analyses.whatif import welch
from sociometer.instruments.sage.dialogue import Dialogue
from sociometer.instruments.sage.items import Scenario
from sociometer.instruments.sage.judges.strategies import tokens
from sociometer.instruments.sage.person.emotion import direction
from sociometer.statistics.paired import paired_difference

PLEASED = 70
"""The emotion from which a person is pleased: the band A of the protocol."""
ALIKE = 0.5
"""A difference that is certainly below so many standard deviations of the reference's dialogues is negligible."""
_LONGEST = 10
_QUESTION = re.compile(r"[?？]")
_OUT_OF_ROLE = re.compile(
    r"\b(?:I(?:'m| am)|as) (?:just |only )?an? (?:AI|artificial intelligence|language model|chatbot|bot"
    r"|(?:virtual |AI )?assistant(?! \w))\b|\bhow (?:can|may) I (?:help|assist) you\b|\bNPC\b"
    r"|(?:我(?:只)?是|作为)(?:一个|一款|一名)?(?:AI|人工智能|语言模型|大模型|(?:智能|虚拟|语音)?助手|机器人)|(?:请问)?有什么(?:可以|能)帮(?:到)?(?:您|你)",
    re.IGNORECASE,
)

Trait = Literal["length", "questions", "disclosure", "swing", "reversals", "pleased", "leaves"]
TRAITS: dict[Trait, str] = {
    "length": "words (Chinese: characters) per utterance",
    "questions": "share of utterances that ask something",
    "disclosure": "word pairs of the background first mentioned, per utterance",
    "swing": "change of the emotion per turn, in either direction, in points",
    "reversals": "share of turns whose change goes against the one before",
    "pleased": f"turns until the emotion is {PLEASED}, at most {_LONGEST}",
    "leaves": "share of utterances that leave the role",
}


class Told(Struct, frozen=True):
    """One dialogue of a simulator with its scenario and subject."""

    scenario: Scenario
    subject: str
    dialogue: Dialogue


class TraitComparison(Struct, frozen=True):
    """One trait of a simulator and of the reference; `size` is in standard deviations of the reference's dialogues."""

    trait: Trait
    here: float
    reference: float
    difference: float
    interval: Interval
    size: float | None
    verdict: Literal["alike", "differs", "cannot tell"]
    paired: bool


def traits(told: Told) -> dict[Trait, float]:
    """The traits of one dialogue that it shows; the opening is the scenario's, not the simulator's, and left out."""
    dialogue = told.dialogue
    said = [turn.words for turn in dialogue.turns if turn.words]
    changes = [turn.judgement.change for turn in dialogue.turns if turn.judgement is not None]
    found: dict[Trait, float] = {}
    if said:
        found["length"] = fmean(len(tokens(words)) for words in said)
        found["questions"] = fmean(bool(_QUESTION.search(words)) for words in said)
        if told.scenario.background:
            found["disclosure"] = _disclosed(told.scenario, said) / len(said)
        out = [turn for turn in dialogue.turns if turn.words and _leaves(turn.words, turn.leak)]
        found["leaves"] = len(out) / len(said)
    if changes:
        found["swing"] = fmean(abs(change) for change in changes)
        found["pleased"] = float(_turns_to_please(dialogue))
    ways = [direction(change) for change in changes]
    turned = [{one, two} == {"up", "down"} for one, two in pairwise(ways)]
    if turned:
        found["reversals"] = fmean(turned)
    return found


def compare_traits(here: Sequence[Told], reference: Sequence[Told]) -> list[TraitComparison]:
    """Every trait of a simulator next to the reference, on means by scenario.

    Scenarios that both played are paired, if they are at least half of the simulator's; otherwise the means of
    scenarios are two independent samples (Welch).
    """
    mine, theirs = ([(told.scenario, traits(told)) for told in each] for each in (here, reference))
    found = []
    for trait in TRAITS:
        own, base = _by_scenario(mine, trait), _by_scenario(theirs, trait)
        if not own or not base:
            continue
        spread = pstdev([shown[trait] for _, shown in theirs if trait in shown])
        found.append(_compared(trait, own, base, spread))
    return found


def _compared(trait: Trait, own: Mapping[str, float], base: Mapping[str, float], spread: float) -> TraitComparison:
    shared = sorted(set(own) & set(base))
    paired = 2 * len(shared) >= len(own) and len(shared) > 1
    if paired:
        found = paired_difference([base[name] for name in shared], [own[name] for name in shared], shared, binary=False)
        here, there, difference, interval = found.second, found.first, found.difference, found.interval
    else:
        here, there = fmean(own.values()), fmean(base.values())
        difference, interval = here - there, welch(list(base.values()), list(own.values()))
    size = difference / spread if spread else None
    return TraitComparison(
        trait, here, there, difference, interval, size, _verdict(difference, interval, spread), paired
    )


def _verdict(difference: float, interval: Interval, spread: float) -> Literal["alike", "differs", "cannot tell"]:
    if interval.low is None or interval.high is None:
        return "alike" if difference == 0 else "cannot tell"
    if max(abs(interval.low), abs(interval.high)) <= ALIKE * spread:
        return "alike"
    return "differs" if interval.low > 0 or interval.high < 0 else "cannot tell"


def _by_scenario(shown: Sequence[tuple[Scenario, Mapping[Trait, float]]], trait: Trait) -> dict[str, float]:
    values: dict[str, list[float]] = {}
    for scenario, found in shown:
        if trait in found:
            values.setdefault(scenario.id, []).append(found[trait])
    return {name: fmean(each) for name, each in values.items()}


def _disclosed(scenario: Scenario, said: Sequence[str]) -> int:
    """The pairs of neighbouring words of the background that the person mentions and the opening does not."""
    known = _pairs(scenario.first_words)
    told = set().union(*(_pairs(words) for words in said))
    return len((_pairs(f"{scenario.background}\n{scenario.persona}") & told) - known)


def _pairs(text: str) -> set[tuple[str, str]]:
    words = tokens(text)
    return set(pairwise(words))


def _turns_to_please(dialogue: Dialogue) -> int:
    levels = dialogue.trajectory[1:]
    return next((turn for turn, level in enumerate(levels, 1) if level >= PLEASED), _LONGEST)


def _leaves(words: str, leak: str) -> bool:
    return leak in ("machinery", "wording") or bool(_OUT_OF_ROLE.search(words))
