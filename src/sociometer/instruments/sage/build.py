"""Builds new scenarios: personas from seed pools, scenes from themes and hidden intentions, reactions, first words."""

import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from sociometer.core.conversation import Sampling, Schema, system, user
from sociometer.core.errors import DataError
from sociometer.core.language import ENGLISH, language_of
from sociometer.core.measure import Measure, Summary
from sociometer.core.session import Session
from sociometer.core.task import Item, RunView, Score
from sociometer.instruments.sage.items import Scenario
from sociometer.instruments.sage.judges.strategies import overlap, tokens
from sociometer.instruments.sage.person.emotion import CARDS, RULES, find_leak
from sociometer.reading import read_rules
from sociometer.reading.json_reply import ReplyT, ask_json

_SAME = 0.5
"""A goal that shares this much of its word pairs with the hidden hope states the hope."""
_ENDING = re.compile(r"(?<=[a-z]{3})(?:['’]s|ing|ed|es|s|e)\Z")
"""The ending of an English word: smiled, smiles and smiling are one word."""
_SPEECH = (
    r"\"[^\"]*\"|“[^”]*”|‘[^’]*’|「[^」]*」|『[^』]*』"
    r"|(?<!\w)'(?:[^'\n]|(?<=\w)'(?=\w))*'(?!\w)"  # single quotes, with apostrophes within words
    r"|[:：][^。！？.!?\n]*"  # what follows a colon is what somebody says
)


def person_problem(*texts: str, language: str = ENGLISH) -> str:
    """What is wrong if a text about the person speaks as the person, or to the person; reported speech is free."""
    rules = read_rules("build", language, RULES)
    speech, other_person = f"{_SPEECH}|{rules.either('saying')}", rules.either("other_person")
    for text in texts:
        found = re.search(other_person, re.sub(speech, " ", text))
        if found:
            return f"'{found[0]}' is not the third person; write about the person as he, she or they (zh: 他、她)"
    return ""


def scene_problem(
    persona: str, background: str, goal: str, details: Sequence[str], hidden: str, language: str = ENGLISH
) -> str:
    """What is wrong with a scene: its grammatical person, a goal that gives the hope away, details from nowhere."""
    wrong = person_problem(background, goal, language=language)
    if wrong:
        return wrong
    if states(goal, hidden):
        return "the goal states the hidden hope; say why the person writes without it"
    absent = [detail for detail in details if not mentions(f"{persona}\n{background}", detail)]
    if absent:
        return f"details that the story does not contain: {', '.join(absent)}; take them from the story"
    return ""


def opening_problem(first_words: str, hidden: str, intention: str, language: str = ENGLISH) -> str:
    """What is wrong with the first words: they give the hidden hope away."""
    leak = find_leak(first_words, hidden, intention, language)
    return f"the first words give the hidden hope away ({leak}); open the subject without it" if leak else ""


def states(goal: str, hidden: str) -> bool:
    """Whether a goal says what the hidden hope says."""
    mine, theirs = (set(pairwise(tokens(text))) for text in (goal, hidden))
    return bool(mine and theirs) and len(mine & theirs) >= _SAME * min(len(mine), len(theirs))


def mentions(story: str, detail: str) -> bool:
    """Whether a detail occurs in a story: as it is, or each of its words with any ending."""
    if detail.casefold() in story.casefold():
        return True
    words, told = tokens(detail), tokens(story)
    return bool(words) and {_ENDING.sub("", word) for word in words} <= {_ENDING.sub("", word) for word in told}


DATA = Path(__file__).parent / "data" / "build"
DUPLICATE = 0.5
"""Two scenarios that share this much of their runs of three words count as one."""
_SAMPLING = Sampling(temperature=0.9, max_tokens=1600)
Text = Annotated[str, Meta(min_length=1)]


class TalkSchema(Struct, frozen=True):
    """The kind of dialogue to build scenarios for; a user's file may replace emotional support."""

    name: str
    about: dict[str, str]
    scene: dict[str, tuple[str, ...]]
    intention: dict[str, dict[str, str]] = {}
    """Hidden intentions by key, each by language; without any, the eight of emotional support."""

    def intentions(self, language: str) -> dict[str, str]:
        """The hidden intentions in a language."""
        if self.intention:
            return {key: sentences[language] for key, sentences in self.intention.items() if language in sentences}
        return {key: card.sentence(language) for key, card in CARDS.items()}


class Seeds(Struct, frozen=True):
    """The pools that personas and scenes are drawn from."""

    traits: tuple[str, ...]
    remarks: tuple[str, ...]
    ages: tuple[int, ...]
    themes: tuple[str, ...]


class Brief(Item, frozen=True, kw_only=True):
    """The parts of one new scenario."""

    language: str
    traits: tuple[str, ...]
    remarks: tuple[str, ...]
    age: int
    theme: str
    intention: str
    hidden: str
    about: str
    factors: tuple[str, ...]


class PersonaStep(Struct, frozen=True):
    """The first step: the person."""

    name: Text
    gender: Text
    occupation: Text
    habits: Text
    hobbies: Annotated[tuple[Text, ...], Meta(min_length=3, max_length=3)]
    style: Text


class SceneStep(Struct, frozen=True):
    """The second step: what happened, and why the person writes."""

    background: Text
    goal: Text
    details: Annotated[tuple[Text, ...], Meta(min_length=3, max_length=12)]


class ReactionStep(Struct, frozen=True):
    """The third step: what improves and worsens their mood, and how they behave in each mood."""

    rises: Annotated[tuple[Text, ...], Meta(min_length=2, max_length=5)]
    falls: Annotated[tuple[Text, ...], Meta(min_length=2, max_length=5)]
    calm: Text
    uneasy: Text
    raw: Text


class OpeningStep(Struct, frozen=True):
    """The fourth step: the first words."""

    first_words: Text


class Built(Struct, frozen=True):
    """The outcome: a scenario."""

    scenario: Scenario


def read_schema(path: Path | None, language: str) -> TalkSchema:
    """The dialogue schema, bundled or the user's, checked for the language."""
    where = path or DATA / "support.toml"
    schema = _read(where, TalkSchema, "a dialogue schema")
    if language not in schema.about or language not in schema.scene or not schema.intentions(language):
        known = sorted(set(schema.about) & set(schema.scene))
        raise DataError(f"no entry for language '{language}'; available: {', '.join(known) or 'none'}", where)
    return schema


def read_seeds(language: str) -> Seeds:
    """The bundled seed pools."""
    return _read(DATA / f"seeds.{language}.toml", Seeds, "a file of seed pools")


def _read(path: Path, kind: type[ReplyT], what: str) -> ReplyT:
    try:
        return msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), kind)
    except (OSError, ValueError, msgspec.ValidationError, RecursionError) as error:
        raise DataError(f"not {what}: {getattr(error, 'strerror', None) or error}", path) from None


def briefs(count: int, language: str, schema: TalkSchema, seeds: Seeds, seed: int) -> Iterator[Brief]:
    """Briefs drawn uniformly from the pools; the intentions take turns, so that each occurs equally often."""
    intentions = list(schema.intentions(language).items())
    for number in range(count):
        rng = Random(f"sage/build/{schema.name}/{language}/{seed}/{number}")
        key, hidden = intentions[number % len(intentions)]
        yield Brief(
            id=f"{schema.name}-{language}-{seed}-{number + 1:04d}",
            language=language,
            intention=key,
            hidden=hidden,
            traits=tuple(rng.sample(seeds.traits, 3)),
            remarks=tuple(rng.sample(seeds.remarks, 3)),
            age=rng.choice(seeds.ages),
            theme=rng.choice(seeds.themes),
            about=schema.about[language],
            factors=schema.scene[language],
        )


async def build_scenario(item: Brief, session: Session) -> Built:
    """Persona, scene, reactions and first words, each based on the steps before."""
    render, language = session.prompts.render, item.language
    persona = await _step(
        session,
        item,
        render("build/persona", language, traits=", ".join(item.traits), age=item.age, remarks=_lines(item.remarks)),
        PersonaStep,
        lambda step: person_problem(step.habits, *step.hobbies, step.style, language=language),
    )
    hobbies = language_of(language).semicolon.join(persona.hobbies)
    named = f"{persona.name}, {item.age}, {persona.gender}, {persona.occupation}"
    who = "\n".join((named, persona.habits, hobbies, persona.style))
    scene = await _step(
        session, item,
        render("build/scene", language, about=item.about, persona=who, theme=item.theme, hidden=item.hidden,
               factors=_lines(item.factors)),
        SceneStep,
        lambda step: scene_problem(who, step.background, step.goal, step.details, item.hidden, language),
    )  # fmt: skip
    told = {"persona": who, "background": scene.background, "hidden": item.hidden}
    reactions = await _step(session, item, render("build/reactions", language, **told), ReactionStep)
    opening = await _step(
        session,
        item,
        render("build/opening", language, **told),
        OpeningStep,
        lambda step: opening_problem(step.first_words, item.hidden, item.intention, language),
    )
    scenario = Scenario(
        id=item.id, language=language, intention=item.intention, hidden=item.hidden, persona=who,
        background=scene.background.strip(), goal=scene.goal.strip(), first_words=opening.first_words.strip(),
        rises=reactions.rises, falls=reactions.falls, calm=reactions.calm, uneasy=reactions.uneasy,
        raw=reactions.raw, details=scene.details, traits=item.traits, age=item.age, topic=item.theme, source="built",
    )  # fmt: skip
    return Built(scenario)


def accepted(built: Sequence[Scenario], known: Iterable[Scenario]) -> tuple[list[Scenario], list[tuple[str, str]]]:
    """The new scenarios, each unlike every known one and every one before it; and the others' ids with the reason."""
    taken = list(known)
    kept: list[Scenario] = []
    rejected: list[tuple[str, str]] = []
    for scenario in built:
        alike = max(taken, key=lambda other: likeness(scenario, other), default=None)
        share = likeness(scenario, alike) if alike is not None else 0.0
        if alike is not None and share >= DUPLICATE:
            why = f"too similar: shares {share:.0%} of its three-word sequences with {alike.id}"
            rejected.append((scenario.id, why))
            continue
        kept.append(scenario)
        taken.append(scenario)
    return kept, rejected


def score(item: Brief, outcome: Built) -> Score:
    """Nothing to score: a scenario that breaks a rule is rejected."""
    return Score(values={}, facets={"intention": item.intention})


def summarise(run: RunView[Brief, Built]) -> Summary:
    """The number of built scenarios, in all and by intention."""
    counts = Counter(outcome.scenario.intention for _, outcome, _ in run.scored())
    total = counts.total()
    measures = [
        Measure("built", float(total), items=total, errors=sum(run.failures().values())),
        *(Measure("built", float(count), {"intention": key}) for key, count in sorted(counts.items())),
    ]
    return Summary(tuple(measures))


def likeness(one: Scenario, two: Scenario) -> float:
    """The overlap of two scenarios in persona and background: the larger share of common three-word sequences."""
    first, second = (f"{each.persona}\n{each.background}" for each in (one, two))
    return max(overlap(first, second), overlap(second, first))


async def _step(
    session: Session, item: Brief, prompt: str, kind: type[ReplyT], problem: Callable[[ReplyT], str] = lambda step: ""
) -> ReplyT:
    _, parts = msgspec.json.schema_components([kind])
    name = kind.__name__
    messages = [system(session.prompts.render("build/builder", item.language)), user(prompt)]
    schema = Schema(dict(parts[name]), name)
    value, _ = await ask_json(
        session, "builder", messages, schema, kind, item.language, sampling=_SAMPLING, problem=problem, step=name
    )
    return value


def _lines(entries: tuple[str, ...]) -> str:
    return "\n".join(f"- {entry}" for entry in entries)
