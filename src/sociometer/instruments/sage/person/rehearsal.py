"""The rule-based person: what it knows, how it hears a reply, what it feels, and what it says next."""

import re
import tomllib
from functools import lru_cache
from itertools import chain, islice, pairwise
from math import log
from pathlib import Path
from typing import Any
from zlib import crc32

import msgspec
from msgspec import Struct

from sociometer.core.errors import DataError, UsageError
from sociometer.instruments.sage.items import Scenario
from sociometer.instruments.sage.judges.strategies import DATA, LONGEST_HEARD, find_cues, overlap, tokens
from sociometer.instruments.sage.person.emotion import INTENTIONS, Protocol, band, direction

_SENTENCE = re.compile(r"[^.!?。！？…\n]+[.!?。！？…\n]*")
_HAN = re.compile(r"[\u3400-\u9fff]")
_STRETCH = re.compile(r"[\u3400-\u9fff]+")
_LISTED = re.compile(r"[,，、;；/|]")
_STEM = 5
_SHORTEST_STEM = 3
_LEAST_FUNCTION = {"en": 0.22, "zh": 0.16}
_LONGEST_RUN = {"en": 4, "zh": 9}
_WORDS_OF_A_SENTENCE = {"en": 3, "zh": 4}
_ITEMS_OF_A_LIST = 4
_SUBJECTS = frozenset(("i", "you", "he", "she", "we", "they", "someone", "somebody", "nobody", "everyone", "everybody"))
_ENDINGS = ("ing", "ed")
_SHORTEST_ROOT = 4


class Language(Struct, frozen=True):
    """The rules for hearing replies in one language; see `data/appraisal/hearing.*.toml`."""

    name: str
    function_words: frozenset[str]
    empty_units: frozenset[str]
    question_starts: tuple[str, ...]
    joined: re.Pattern[str]
    """Where one question ends within a sentence and the next begins."""
    interrogative: re.Pattern[str]
    go_on: re.Pattern[str]
    formulas: re.Pattern[str]
    flaws: dict[str, re.Pattern[str]]
    modes: dict[str, re.Pattern[str]]
    slots: dict[str, re.Pattern[str]]


@lru_cache(maxsize=2)
def language_rules(name: str) -> Language:
    """The rules of a language."""
    facts = tomllib.loads((DATA / f"hearing.{name}.toml").read_text(encoding="utf-8"))

    def any_of(patterns: list[str]) -> re.Pattern[str]:
        return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE)

    listed = facts["function_words"].split() if name == "en" else list(facts["function_words"])
    empty = facts["empty_words"].split()
    return Language(
        name,
        frozenset(listed),
        frozenset(_stem(word) for word in empty) if name == "en" else frozenset(empty),
        tuple(facts["question_starts"]),
        any_of(facts["joined"]),
        any_of(facts["interrogative"]),
        any_of(facts["go_on"]),
        any_of(facts["formulas"]),
        {kind: any_of(patterns) for kind, patterns in facts["flaws"].items()},
        {kind: any_of(patterns) for kind, patterns in facts["modes"].items()},
        {kind: any_of(patterns) for kind, patterns in facts["slots"].items()},
    )


def sentences(text: str) -> list[str]:
    """The sentences of a text with their marks; of a long text those of its beginning."""
    found = (match.strip() for match in _SENTENCE.findall(text[:LONGEST_HEARD].replace("’", "'")))
    return [sentence for sentence in found if tokens(sentence)]


def units(text: str, language: str) -> frozenset[str]:
    """What a text is about: stems of its content words, or pairs of characters that are no function words."""
    rules = language_rules(language)
    if language == "en":
        found = {_stem(token) for token in tokens(text) if token not in rules.function_words}
        return frozenset(unit for unit in found if len(unit) >= _SHORTEST_STEM) - rules.empty_units
    small = rules.function_words
    stretches = _STRETCH.findall(text[:LONGEST_HEARD])
    pairs = {a + b for stretch in stretches for a, b in pairwise(stretch) if a not in small and b not in small}
    # Single characters of content too: "撞完人就跑" takes up "撞倒".
    return frozenset(pairs | set("".join(stretches)) - small) - rules.empty_units


def topics(text: str, language: str) -> frozenset[str]:
    """What a question is about: like units, with the words that say little, such as "happened"."""
    if language == "zh":
        return units(text, language) | _all_pairs(text)
    small = language_rules(language).function_words
    return frozenset(stem for token in tokens(text) if token not in small and len(stem := _stem(_root(token))) > 1)


def phrasing(text: str, language: str) -> frozenset[str]:
    """All words of a question, by which two questions are compared; in Chinese, characters and pairs of them."""
    if language == "zh":
        return _all_pairs(text) | frozenset(tokens(text))
    return frozenset(_stem(token) for token in tokens(text))


def _all_pairs(text: str) -> frozenset[str]:
    stretches = _STRETCH.findall(text[:LONGEST_HEARD])
    return frozenset(a + b for stretch in stretches for a, b in pairwise(stretch))


def is_sound(sentence: str, language: str) -> bool:
    """Whether a sentence reads as one: function words between its content words, and no list of words."""
    words = tokens(sentence)
    rules = language_rules(language)
    if len(words) < _WORDS_OF_A_SENTENCE[language]:
        return False
    small = sum(word in rules.function_words for word in words)
    if small < _LEAST_FUNCTION[language] * len(words):
        return False
    return not is_list(sentence, language) and _longest_run(sentence, rules) <= _LONGEST_RUN[language]


def is_list(sentence: str, language: str) -> bool:
    """Whether a sentence only lists words."""
    parts = [tokens(part) for part in _LISTED.split(sentence)]
    longest = 2 if language == "en" else 5
    short = sum(0 < len(part) <= longest and not _SUBJECTS & set(part) for part in parts)
    return short >= _ITEMS_OF_A_LIST and short * 4 >= len(parts) * 3


def _longest_run(sentence: str, rules: Language) -> int:
    longest = run = 0
    for part in re.split(r"[^\w'’\s-]+", sentence):
        for word in tokens(part):
            run = 0 if word in rules.function_words else run + 1
            longest = max(longest, run)
        run = 0
    return longest


def _root(word: str) -> str:
    """A word without its ending: "shout" for "shouting"."""
    bare = next((word.removesuffix(ending) for ending in _ENDINGS if word.endswith(ending)), word)
    return bare if len(bare) >= _SHORTEST_ROOT else word


def _stem(word: str) -> str:
    bare = word.replace("’", "'").removesuffix("'s")
    if len(bare) > _SHORTEST_STEM and bare.endswith("s") and not bare.endswith("ss"):
        bare = bare[:-1]
    return bare[:_STEM]


PARROT = 0.6
STALE = 0.6
_GIVEN_BACK = 0.7
_SHORTEST_ECHOED = 6
_LONG = {"en": 160, "zh": 260}
_ENDLESS = 2
_SCANT = {"en": 3, "zh": 4}
_FRAGMENTS = 2
_TOPICAL = {"en": 2, "zh": 4}
SOFT = ("listening", "empathy", "praise", "blameless")
"""Hopes of people who did not ask for a solution."""


class Question(Struct, frozen=True):
    """One question of a reply, and the two sentences before it, which say what "it" is."""

    text: str
    before: str = ""


class Heard(Struct, frozen=True):
    """What the person heard in a reply."""

    flaw: str
    """What is wrong with the reply as a whole, or nothing."""
    taken_up: int
    """How many of the person's last words it takes up, in whole sentences."""
    remembered: int
    """How many of the person's earlier words it takes up, in whole sentences."""
    own: int
    """How many words of its own it adds to those, apart from phrases that fit anything."""
    fits: int
    """How many sentences have the form this person hopes for and take up the story."""
    questions: tuple[Question, ...]
    asked: int
    """How many sentences ask something."""
    stock_questions: int
    """How many of them fit anything."""
    about_story: int
    """How many questions name something of the story."""
    proposals: int
    formulas: int
    """How many sentences consist of phrases that fit anything."""


class Context(Struct, frozen=True):
    """The context of a reply."""

    language: str
    intention: str
    words: str
    """The person's last words."""
    before: tuple[str, ...]
    """The person's words before that, oldest first."""
    replies: tuple[str, ...]
    """The listener's earlier replies, oldest first."""
    story: frozenset[str]
    """What the story is about."""


@lru_cache(maxsize=8)
def hear(reply: str, context: Context) -> Heard:
    """What the person hears in a reply; only the first 10,000 characters are read."""
    rules = language_rules(context.language)
    said = sentences(reply)
    last = units(context.words, context.language)
    earlier = frozenset(chain.from_iterable(units(words, context.language) for words in context.before)) - last
    taken: set[str] = set()
    remembered: set[str] = set()
    own = fits = formulas = about_story = proposals = 0
    for sentence in said:
        found = units(sentence, context.language)
        bare = units(rules.formulas.sub(" ", sentence.lower()), context.language)
        new = bare - last - earlier
        formulas += _is_formula(sentence, rules) and not _asks(sentence, rules)
        proposals += bool(rules.modes["proposal"].search(sentence.lower()))
        if not is_sound(sentence, context.language):
            continue
        taken |= found & last
        remembered |= found & earlier
        topical = found & (last | earlier | context.story)
        own += len(new) if topical else 0
        enough = len(topical) + bool(new) >= _TOPICAL[context.language]
        fits += enough and _has_form(sentence, context.intention, rules)
        about_story += bool(topical) and _asks(sentence, rules)
    return Heard(
        _flaw(reply, said, context, rules),
        len(taken),
        len(remembered),
        own,
        fits,
        _questions(said, rules),
        sum(_asks(sentence, rules) for sentence in said),
        sum(_asks(sentence, rules) and _is_formula(sentence, rules) for sentence in said),
        about_story,
        proposals,
        formulas,
    )


def asks_to_go_on(reply: str, language: str) -> bool:
    """Whether a reply only asks the person to go on."""
    return bool(language_rules(language).go_on.search(reply[:LONGEST_HEARD].lower()))


def is_formula(reply: str, language: str) -> bool:
    """Whether a reply consists of phrases that fit anything."""
    rules = language_rules(language)
    said = sentences(reply)
    return bool(said) and _formula_count(said, rules) == len(said)


def _has_form(sentence: str, intention: str, rules: Language) -> bool:
    return intention in INTENTIONS and bool(rules.modes[intention].search(sentence.lower()))


def _questions(said: list[str], rules: Language) -> tuple[Question, ...]:
    found: list[Question] = []
    for place, sentence in enumerate(said):
        if _asks(sentence, rules):
            before = " ".join(said[max(0, place - 2) : place])
            parts = rules.joined.split(sentence)
            asking = [part for part in parts if rules.interrogative.search(part.lower())] or [sentence]
            found.extend(Question(part, before if part == parts[0] else f"{before} {parts[0]}") for part in asking)
    return tuple(found)


def _asks(sentence: str, rules: Language) -> bool:
    low = sentence.lower()
    return "?" in sentence or "？" in sentence or any(start in low for start in rules.question_starts)


def _flaw(reply: str, said: list[str], context: Context, rules: Language) -> str:
    """The first of these flaws that a reply has; the worst come first."""
    if not said:
        return "empty"
    low = reply[:LONGEST_HEARD].lower()
    if rules.flaws["injection"].search(low):
        return "injection"
    if _echoes(reply, context.words):
        return "echo"
    if any(overlap(reply, earlier) >= STALE for earlier in context.replies[-12:]):
        return "repeated"
    if _is_salad(said, context, rules):
        return "salad"
    length = len(tokens(reply)) if len(reply) <= LONGEST_HEARD else LONGEST_HEARD
    if length > _LONG[context.language] * _ENDLESS:
        return "endless"
    return _tone(low, said, length, context, rules)


def _tone(low: str, said: list[str], length: int, context: Context, rules: Language) -> str:
    stated = [sentence for sentence in said if not _asks(sentence, rules)]

    def having(kind: str) -> list[str]:
        return [sentence for sentence in stated if rules.flaws[kind].search(sentence.lower())]

    last = units(context.words, context.language)
    on_topic = any(units(sentence, context.language) & last for sentence in said)
    if any(rules.flaws["rushed"].search(sentence.lower()) for sentence in said):
        return "rushed"
    for kind in ("dismissal", "blame"):
        if having(kind):
            return kind
    lectures = len(having("lecture"))
    if lectures >= 2 or find_cues(low, context.language).bullets >= 3:
        return "lecture"
    if any(not units(sentence, context.language) & context.story for sentence in having("comfort")):
        return "comfort"
    if having("flattery") and len(having("flattery")) * 2 >= len(said):
        return "flattery"
    if lectures and context.intention in SOFT and not on_topic:
        return "lecture"
    if length > _LONG[context.language]:
        return "long"
    return "scant" if length <= _SCANT[context.language] and not any(_asks(each, rules) for each in said) else ""


def _echoes(reply: str, words: str) -> bool:
    if overlap(reply, words) >= PARROT:
        return True
    return len(tokens(words)) >= _SHORTEST_ECHOED and overlap(words, reply) >= _GIVEN_BACK


def _is_salad(said: list[str], context: Context, rules: Language) -> bool:
    """Whether a reply lists words, or strings words together that do not make sentences."""
    broken = [
        sentence for sentence in said if units(sentence, context.language) and not is_sound(sentence, context.language)
    ]
    listed = any(is_list(sentence, context.language) for sentence in said)
    return listed or (len(broken) >= _FRAGMENTS and len(broken) * 2 > len(said) - _formula_count(said, rules))


def _formula_count(said: list[str], rules: Language) -> int:
    return sum(_is_formula(sentence, rules) for sentence in said)


def _is_formula(sentence: str, rules: Language) -> bool:
    bare, found = rules.formulas.subn(" ", sentence.lower())
    return found > 0 and not units(bare, rules.name)


PEOPLE = Path(__file__).parents[1] / "data" / "people"
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


_ANSWERED_AT_ONCE = 2
_SECOND_ANSWER = 1.4
_ALREADY_TOLD = 0.7
_HARSH = -4
_CLOSING_MARKS = ".!?:…\"”'"


class _Speaker(Struct):
    """The state of the person: what was said, and which lines are used up."""

    view: PersonView
    said: str
    told: frozenset[int]

    def fresh(self, choices: list[str]) -> str:
        """A line that was not said before, or nothing; which one comes first differs from person to person."""
        start = crc32(self.view.scenario.id.encode()) % max(1, len(choices))
        turned = [self.voiced(line) for line in (*choices[start:], *choices[:start])]
        return next((line for line in turned if line not in self.said), "")

    def voiced(self, line: str) -> str:
        """A line as this person writes; some write everything in lower case."""
        return line.lower() if self.view.scenario.first_words[:1].islower() else line

    def tell(self, fact: Fact) -> str:
        """A fact in words; what was not mentioned yet is introduced."""
        heard = f"{self.said} {self.view.reply}"
        return NAMED.sub(lambda match: match[2] if (match[3] or match[2]) in heard else match[1], fact.say)


def answer(view: PersonView) -> str:
    """The person's next words."""
    known = known_facts(view.scenario)
    if band(view.emotion) == "S":
        return known.glad
    if band(view.emotion) == "F":
        return known.leave
    speaker = _Speaker(view, " ".join((*view.told, view.words)), told_facts(view))
    taken = appraise(view)
    heard = hear(view.reply, context_of(view))
    if taken.reason == "passed" and (answers := _direct_answers(speaker, heard)):
        return _joined(speaker, *answers)
    if taken.change <= _HARSH or (taken.change < 0 and not heard.questions):
        return _remark(speaker, taken.reason, taken.change)
    return _answered(speaker, heard, taken.change)


def ideal_reply(scenario: Scenario, said: tuple[str, ...], replies: tuple[str, ...] = ()) -> str:
    """The oracle's reply: what this person hopes for, something they told, and a question that is still open."""
    known = known_facts(scenario)
    view = PersonView("reply", scenario, 40, said[-1], "", replies, told=said[:-1])
    told = told_facts(view)
    frames = lines(scenario.language)["oracle"]["frames"]
    gap = " " if scenario.language == "en" else ""
    parts = []
    last = [fact for fact in known.facts if any(form in said[-1] for form in spoken_forms(fact.say))]
    turn = len(said) - 1
    if last and last[-1].gist:
        parts.append(str(frames[turn % len(frames)]).replace("{gist}", last[-1].gist))
    unsaid = (line for line in known.helps if not any(line in reply for reply in replies))
    parts.extend(islice(unsaid, 1))
    open_facts = [fact for place, fact in enumerate(known.facts) if place not in told and not fact.asked_only]
    parts.extend(fact.ask for fact in open_facts[:1])
    return gap.join(parts)


def _remark(speaker: _Speaker, reason: str, change: int) -> str:
    """What the person says about a reply that did not help and, if it did no harm, the next thing they tell."""
    common = lines(speaker.view.scenario.language)
    remark = speaker.fresh(common["remarks"].get(reason, [])) or speaker.fresh(common["remarks"]["cool"])
    more = _next_thing(speaker) if change > _HARSH or not remark else ""
    return _joined(speaker, remark, more) or known_facts(speaker.view.scenario).leave


def _answered(speaker: _Speaker, heard: Heard, change: int) -> str:
    if answers := _direct_answers(speaker, heard):
        return _joined(speaker, *answers)
    more = _next_thing(speaker, heard)
    return _joined(speaker, *_lead(speaker, heard, change, bool(more)), more) or _closing(speaker)


def _lead(speaker: _Speaker, heard: Heard, change: int, more: bool) -> tuple[str, ...]:
    """What comes before a fact that is told unasked: that the question stays open, or a short remark."""
    scenario = speaker.view.scenario
    short = lines(scenario.language)["short"]
    if not heard.questions:
        return (speaker.fresh(short["moved"] if change >= 5 else short["nods"]),)
    about = topics if scenario.language == "en" else units
    named = any(about(question.text, scenario.language) for question in heard.questions)
    if not named or asks_to_go_on(speaker.view.reply, scenario.language):
        return ()
    own = [*known_facts(scenario).unsure, *short["unsure"]]
    unsure = speaker.fresh(short["told"] if _asks_again(speaker, heard) else own)
    return (unsure, speaker.fresh(short["bridge"]) if more else "")


def _asks_again(speaker: _Speaker, heard: Heard) -> bool:
    """Whether the last question is answered best by something the person has told already."""
    language = speaker.view.scenario.language
    place, worth = find_answer(heard.questions[-1], known_facts(speaker.view.scenario), language, frozenset())
    return place in speaker.told and worth >= SPECIFIC[language]


def _closing(speaker: _Speaker) -> str:
    scenario = speaker.view.scenario
    return speaker.fresh(lines(scenario.language)["short"]["spent"]) or known_facts(scenario).glad


def _direct_answers(speaker: _Speaker, heard: Heard) -> list[str]:
    """The facts that answer the questions, in the order of the questions."""
    scenario = speaker.view.scenario
    least = SPECIFIC[scenario.language]
    known, told, answers = known_facts(scenario), set(speaker.told), list[str]()
    for question in heard.questions[:6]:
        place, worth = find_answer(question, known, scenario.language, frozenset(told))
        best, most_worth = find_answer(question, known, scenario.language, frozenset())
        least_now = least * _SECOND_ANSWER if answers else least
        asks_again = best in told and worth < most_worth * (1 if answers else _ALREADY_TOLD)
        if place is not None and worth >= least_now and not asks_again and len(answers) < _ANSWERED_AT_ONCE:
            told.add(place)
            answers.append(speaker.tell(known.facts[place]))
    return answers


def _next_thing(speaker: _Speaker, heard: Heard | None = None) -> str:
    """The next fact that the person tells unasked, or nothing; one that is close to a question comes first."""
    scenario = speaker.view.scenario
    known = known_facts(scenario)
    left = [place for place, fact in enumerate(known.facts) if place not in speaker.told and not fact.asked_only]
    rest = frozenset(range(len(known.facts))) - set(left)
    near = (find_answer(each, known, scenario.language, rest) for each in (heard.questions[:6] if heard else ()))
    close = (place for place, worth in near if place is not None and worth >= SPECIFIC[scenario.language] / 2)
    place = next(close, left[0] if left else None)
    return "" if place is None else speaker.tell(known.facts[place])


def _joined(speaker: _Speaker, *parts: str) -> str:
    said = [part for part in parts if part]
    if speaker.view.scenario.language == "zh":
        return "".join(said)
    closed = [part if part[-1] in _CLOSING_MARKS else f"{part}." for part in said[:-1]]
    return " ".join((*closed, *said[-1:]))
