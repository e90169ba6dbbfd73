"""A rule-based simulated person whose feeling depends on what a reply takes up of what was just said.

A stand-in for a model in the role of the simulator: deterministic, offline, and no measure of anything.
"""

import tomllib
from functools import lru_cache
from itertools import chain
from typing import Any

from msgspec import Struct

from sociometer.core.errors import UsageError
from sociometer.instruments.sage.cues import DATA
from sociometer.instruments.sage.emotion import Protocol, direction
from sociometer.instruments.sage.hearing import SOFT, Context, Heard, asks_to_go_on, hear, is_formula
from sociometer.instruments.sage.intentions import INTENTIONS
from sociometer.instruments.sage.items import Scenario
from sociometer.instruments.sage.known_facts import SPECIFIC, find_answer, is_personal, known_facts, spoken_forms
from sociometer.instruments.sage.wording import units

_FLAW_COSTS = {
    "empty": 6, "injection": 7, "echo": 5, "repeated": 5, "salad": 6, "endless": 6, "rushed": 4, "dismissal": 5,
    "blame": 4, "comfort": 4, "lecture": 4, "flattery": 4, "long": 2, "scant": 3,
}  # fmt: skip
_HARD_WORDS_FOR_THE_BLAMED = 7
_LEVELS = {"en": (1, 2, 3), "zh": (2, 4, 7)}
_OWN_WORDS = {"en": (1, 4), "zh": (3, 9)}
_WIDEST_GAIN = 9


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
    told: tuple[str, ...] = ()
    """The person's words before the last, oldest first."""


class Appraisal(Struct, frozen=True):
    """The reaction to a reply: the change, and the thought that gives its main reason."""

    change: int
    thought: str
    reasons: tuple[str, ...]
    reason: str = ""
    """The main reason, by which the person's next words are chosen."""


class _Temper(Struct, frozen=True):
    up: float = 1.0
    down: float = 1.0
    questions: float = 0.0


def appraise(view: PersonView, protocol: Protocol | None = None) -> Appraisal:
    """The emotion change that a reply causes in this person."""
    rules = protocol or Protocol()
    if view.scenario.intention not in INTENTIONS:
        raise UsageError(
            f"'appraisal' has no rules for the intention '{view.scenario.intention}'; it knows {', '.join(INTENTIONS)}."
            " Bind the simulator to a model (--role simulator=MODEL)."
        )
    heard = hear(view.reply, context_of(view))
    temper = _temper(view.scenario.traits)
    gains = _gains(view, heard)
    costs = _costs(view, heard, temper)
    good = sum(gains.values()) if not heard.flaw else 0.0
    personal = any(is_personal(each, view.scenario.language) for each in heard.questions[:6])
    if not heard.flaw and not good and not personal:
        costs["passed"] = -2.0 - _passed_before(view)
    total = min(_WIDEST_GAIN, good) * temper.up + sum(costs.values()) * temper.down
    reason = _main_reason(total, heard, costs)
    reasons = [f"{name} {value:+g}" for name, value in {**(gains if good else {}), **costs}.items() if value]
    thought = str(lines(view.scenario.language)["thoughts"][reason])
    return Appraisal(rules.clamp(round(total)), thought, tuple(reasons) or (reason,), reason)


def feeling(scenario: Scenario, change: int) -> str:
    """A sentence on how the person feels now."""
    return str(lines(scenario.language)["feelings"][direction(change)])


def context_of(view: PersonView) -> Context:
    """The context in which the person hears a reply."""
    scenario = view.scenario
    return Context(scenario.language, scenario.intention, view.words, view.told, view.earlier, story_of(scenario))


@lru_cache(maxsize=256)
def story_of(scenario: Scenario) -> frozenset[str]:
    """What the story of a scenario is about."""
    told = (fact.say for fact in known_facts(scenario).facts)
    texts = (scenario.background, scenario.first_words, " ".join(scenario.details), *told)
    return frozenset(chain.from_iterable(units(text, scenario.language) for text in texts))


def told_facts(view: PersonView) -> frozenset[int]:
    """The places of the facts that the person has told already."""
    said = " ".join((*view.told, view.words))
    facts = known_facts(view.scenario).facts
    return frozenset(place for place, fact in enumerate(facts) if any(form in said for form in spoken_forms(fact.say)))


def _gains(view: PersonView, heard: Heard) -> dict[str, float]:
    language = view.scenario.language
    levels = _LEVELS[language]
    taken = sum(heard.taken_up >= level for level in levels)
    remembered = heard.remembered >= levels[0]
    own = sum(heard.own >= level for level in _OWN_WORDS[language])
    if not own:
        taken = min(taken, 1)  # The person's words in a phrase that fits anything.
    on_story = bool(taken or remembered)
    return {
        "taken up": float(taken),
        "remembered": float(remembered),
        "own words": float(own) if on_story else 0.0,
        "question": _question_gain(view, heard, bool(taken)),
        "fits": 3.0 * bool(heard.fits and on_story and own),
    }


def _question_gain(view: PersonView, heard: Heard, taken: bool) -> float:
    """The value of its questions: highest for one about an open point of the story."""
    if not heard.questions:
        return 0.0
    known, told, language = known_facts(view.scenario), told_facts(view), view.scenario.language
    worth = max(find_answer(each, known, language, told)[1] for each in heard.questions[:6])
    if heard.about_story or (taken and not heard.stock_questions):
        return 4.0 if worth >= SPECIFIC[language] else 2.0 * bool(heard.about_story)
    fits = worth >= SPECIFIC[language] or asks_to_go_on(view.reply, language)
    return 1.0 if fits and not _passed_before(view) else 0.0


def _costs(view: PersonView, heard: Heard, temper: _Temper) -> dict[str, float]:
    soft = view.scenario.intention in SOFT
    costs: dict[str, float] = {}
    if heard.flaw:
        cost = _FLAW_COSTS[heard.flaw]
        if heard.flaw in ("blame", "dismissal") and view.scenario.intention == "blameless":
            cost = _HARD_WORDS_FOR_THE_BLAMED
        costs[heard.flaw] = -float(cost)
        return costs
    if heard.proposals and view.scenario.intention != "advice":
        costs["unwanted advice"] = -3.0 if soft else -1.0
    if heard.asked > 2:
        costs["many questions"] = 2.0 - heard.asked
    phrases = heard.formulas + (heard.stock_questions if not heard.own else 0)
    if phrases:
        before = sum(is_formula(each, view.scenario.language) for each in view.earlier)
        costs["formulas"] = -float(phrases + before)
    if temper.questions and heard.asked > 2:
        costs["questions"] = temper.questions / 2
    return costs


def _passed_before(view: PersonView) -> int:
    """How many of the last replies took up nothing of the story, at most three."""
    story, language = story_of(view.scenario), view.scenario.language
    return min(3, sum(not units(reply, language) & story for reply in view.earlier[-4:]))


def _main_reason(total: float, heard: Heard, costs: dict[str, float]) -> str:
    if heard.flaw:
        return heard.flaw
    if total <= 0 and costs:
        worst = min(costs, key=lambda name: costs[name])
        return {"unwanted advice": "lecture", "formulas": "formula", "passed": "passed"}.get(worst, "questions")
    return "wanted" if total >= 5 else "close" if total > 0 else "flat"


def _temper(traits: tuple[str, ...]) -> _Temper:
    up = down = 1.0
    questions = 0.0
    for entry in _toml("weights")["temper"].values():
        if set(entry["traits"]) & set(traits):
            up, down, questions = up * entry["up"], down * entry["down"], questions + entry["questions"]
    return _Temper(up, down, questions)


def lines(language: str) -> dict[str, Any]:
    """The lines that fit any person, by language."""
    return _toml(f"lines.{language}")


@lru_cache(maxsize=8)
def _toml(name: str) -> dict[str, Any]:
    return tomllib.loads((DATA / f"{name}.toml").read_text(encoding="utf-8"))
