"""A rule-based simulated person: weighs the cues in a reply by the hidden intention, and answers with stock lines.

A stand-in for a model in the role of the simulator: deterministic, offline, and no measure of anything.
"""

import tomllib
from functools import lru_cache
from itertools import pairwise
from random import Random
from typing import Any

from msgspec import Struct

from sociometer.core.errors import UsageError
from sociometer.instruments.sage.cues import AGREEMENT, DATA, FoundCues, find_cues, overlap, tokens
from sociometer.instruments.sage.emotion import Protocol, band, direction
from sociometer.instruments.sage.items import Scenario

PARROT = 0.6
STALE = 0.6
_GOOD_CUES_THAT_COUNT = 3
_DETAILS_THAT_COUNT = 3
_LONG = 160
_WORST_MISFIT = -2.0
_WORST_MANNER = -1.0
_SOFT = ("listening", "empathy", "praise", "blameless")


class PersonView(Struct, frozen=True):
    """The view of a program in the simulator's role; never sent to a model."""

    hop: str
    scenario: Scenario
    emotion: int
    words: str
    """The person's last words."""
    reply: str
    earlier: tuple[str, ...] = ()
    """The subject's earlier replies."""
    change: int = 0
    """The change already felt, in the second hop."""


class Appraisal(Struct, frozen=True):
    """The reaction to a reply: the change, and the thought that gives its main reason."""

    change: int
    thought: str
    reasons: tuple[str, ...]


class _Temper(Struct, frozen=True):
    up: float = 1.0
    down: float = 1.0
    questions: float = 0.0


def appraise(view: PersonView, protocol: Protocol | None = None) -> Appraisal:
    """The emotion change that a reply causes in this person."""
    rules = protocol or Protocol()
    lines = _lines(view.scenario.language)["thoughts"]
    flaw = _flaw(view)
    if flaw:
        change = {"empty": -6, "parrot": -6, "stale": -5}[flaw]
        return Appraisal(rules.clamp(round(change * _temper(view.scenario.traits).down)), lines[flaw], (flaw,))
    found = find_cues(view.reply, view.scenario.language)
    good, bad, reasons = _weigh(view, found)
    temper = _temper(view.scenario.traits)
    bad += temper.questions * max(0, found.questions - 2)
    total = good * temper.up + bad * temper.down
    change = rules.clamp(round(total))
    return Appraisal(change, lines[_main_reason(good, bad, found, view.scenario.intention)], tuple(reasons))


def answer(view: PersonView, rng: Random) -> str:
    """The person's next words: a stock line for the band of emotion and the direction of the change."""
    lines = _lines(view.scenario.language)
    level = band(view.emotion)
    if level in ("S", "F"):
        return str(rng.choice(lines["closing"][level]))
    said = set(view.earlier) | {view.words}
    choices = [_filled(line, view.scenario, rng) for line in lines["words"][direction(view.change)][level]]
    fresh = [line for line in choices if line not in said]
    return rng.choice(fresh or choices)


def feeling(scenario: Scenario, change: int) -> str:
    """A sentence on how the person feels now."""
    return str(_lines(scenario.language)["feelings"][direction(change)])


def ideal_reply(scenario: Scenario, turn: int) -> str:
    """The oracle's reply in a turn (counted from 1): what this person hopes for, if known."""
    templates = _toml(f"ideal.{scenario.language}").get(scenario.intention)
    if not templates:
        return ""
    details = scenario.details or (_lines(scenario.language)["nothing"],)
    line = str(templates[(turn - 1) % len(templates)])
    return _put(
        _put(line, "detail", details[(2 * turn) % len(details)]), "other", details[(2 * turn + 1) % len(details)]
    )


def touched(reply: str, scenario: Scenario, words: str) -> int:
    """The number of details of the person's own story that a reply mentions."""
    if scenario.details:
        low = reply.lower()
        return sum(detail.lower() in low for detail in set(scenario.details))
    heard = {token for token in tokens(words) if len(token) > 3} if scenario.language == "en" else _pairs(words)
    said = set(tokens(reply)) if scenario.language == "en" else _pairs(reply)
    return len(heard & said) // (1 if scenario.language == "en" else 2)


def _flaw(view: PersonView) -> str:
    if not tokens(view.reply):
        return "empty"
    if overlap(view.reply, view.words) >= PARROT:
        return "parrot"
    if any(overlap(view.reply, earlier) >= STALE for earlier in view.earlier):
        return "stale"
    return ""


def _weigh(view: PersonView, found: FoundCues) -> tuple[float, float, list[str]]:
    weights = _toml("weights")["intention"].get(view.scenario.intention)
    if weights is None:
        known = ", ".join(_toml("weights")["intention"])
        raise UsageError(
            f"'appraisal' has no rules for the intention '{view.scenario.intention}'; it knows {known}."
            " Bind the simulator to a model (--role simulator=MODEL)."
        )
    named = [*found.strategies, *([AGREEMENT] if found.agrees else [])]
    values = {code: float(weights.get(code, weights.get(code[0], 0))) for code in named}
    lifts = sorted((value for value in values.values() if value > 0), reverse=True)[:_GOOD_CUES_THAT_COUNT]
    good = sum(lifts)
    bad = max(_WORST_MISFIT, sum(value for value in values.values() if value < 0))
    details = min(_DETAILS_THAT_COUNT, touched(view.reply, view.scenario, view.words))
    if lifts:
        good += details
    elif not details:
        bad -= 1
    bad -= 4 * found.slights.get("dismissal", 0)
    bad -= (6 if view.scenario.intention == "blameless" else 3) * found.slights.get("blame", 0)
    bad += _manner(found, view.scenario.intention in _SOFT)
    reasons = [f"{code} {value:+g}" for code, value in values.items() if value]
    return good, bad, [*reasons, f"details {details}", *(f"{kind} {count}" for kind, count in found.slights.items())]


def _manner(found: FoundCues, soft: bool) -> float:
    """The penalty for orders, lists and length; larger for a person who did not ask for a solution."""
    orders = found.slights.get("order", 0) - (0 if soft else 1)
    lists = found.bullets >= 3
    long = found.length > _LONG
    return max(_WORST_MANNER, -float(max(0, orders)) - (2 if soft else 1) * lists - (2 if soft else 1) * long)


def _main_reason(good: float, bad: float, found: FoundCues, intention: str) -> str:
    if found.slights.get("dismissal") or found.slights.get("blame"):
        return "slighted"
    if good + bad >= 5:
        return "wanted"
    if good + bad > 0:
        return "close"
    if bad < 0 and intention in _SOFT and any(code[0] in "FG" for code in found.strategies):
        return "lecture"
    return "passed" if bad < 0 else "flat"


def _temper(traits: tuple[str, ...]) -> _Temper:
    up = down = 1.0
    questions = 0.0
    for entry in _toml("weights")["temper"].values():
        if set(entry["traits"]) & set(traits):
            up, down, questions = up * entry["up"], down * entry["down"], questions + entry["questions"]
    return _Temper(up, down, questions)


def _filled(line: str, scenario: Scenario, rng: Random) -> str:
    details = [detail for detail in scenario.details if len(detail) > 1] or [_lines(scenario.language)["nothing"]]
    return _put(line, "detail", rng.choice(details))


def _put(line: str, slot: str, detail: str) -> str:
    bare = detail[0].isupper() or detail == "all this"  # "the Svea" is not English
    if detail[0].isupper():
        # After a comma a bare name would call the hearer by it: "You kept it to yourself, Svea."
        line = line.replace(f", the {{{slot}}}", f", the thing with {{{slot}}}")
    return (line.replace(f"the {{{slot}}}", detail) if bare else line).replace(f"{{{slot}}}", detail)


def _pairs(text: str) -> set[str]:
    letters = tokens(text)
    return {first + second for first, second in pairwise(letters)}


def _lines(language: str) -> dict[str, Any]:
    return _toml(f"lines.{language}")


@lru_cache(maxsize=8)
def _toml(name: str) -> dict[str, Any]:
    return tomllib.loads((DATA / f"{name}.toml").read_text(encoding="utf-8"))
