"""The ladder: questions become harder after a right answer and easier after a wrong one.

A climb is one item. Its span is the level at which the subject is right half of the time.
"""

import asyncio
from collections.abc import Iterator
from functools import cache
from math import exp, prod

from msgspec import Struct, structs

from sociometer.core.measure import Summary, Table
from sociometer.core.reply_kind import count_replies
from sociometer.core.session import Session
from sociometer.core.source import Source
from sociometer.core.task import Item, RunView, Score
from sociometer.instruments.egosocial.play import SAMPLING, Pick, pick_telling
from sociometer.instruments.egosocial.stories import HIGHEST_LEVEL, climbed, rung
from sociometer.statistics.intervals import wilson
from sociometer.statistics.measures import grouped_measures

FIRST_LEVEL = 4
SPANS = tuple(quarter / 4 for quarter in range(4 * (HIGHEST_LEVEL + 1) + 1))
"""The spans that a subject may have, each as likely as the others before the first answer."""
REPLY_TOKENS = 4000
LAPSES = 0.05
FALL = 1.5
"""How fast right answers become rare above the span: from .80 to .30 within four levels."""


class Climb(Item, frozen=True, kw_only=True):
    """One way up the ladder: the seed and number of its stories, and the person in which they are told."""

    seed: int
    number: int
    questions: int
    person: str
    language: str


class Climbed(Struct, frozen=True):
    """The answer to each question of a climb; the levels follow from which of them are right."""

    picks: tuple[Pick, ...]


Run = RunView[Climb, Climbed]


def climbs(source: Source) -> Iterator[Climb]:
    """The climbs of a seed; the third and the first person take turns unless one is chosen."""
    settings = source.settings
    wanted, language = settings.text("perspective"), settings.text("language")
    people = (wanted,) if wanted in ("third", "first") else ("third", "first")
    for number in range(settings.whole("climbs")):
        person = people[number % len(people)]
        name = f"ladder-{source.seed}-{language}-{person}-{number:03d}"
        questions = settings.whole("questions")
        yield Climb(
            id=name,
            cluster=name,
            seed=source.seed,
            number=number,
            questions=questions,
            person=person,
            language=language,
        )


class Step(Struct, frozen=True):
    """One question of a climb: its level, and whether the answer was right."""

    level: int
    right: bool


def steps(item: Climb, outcome: Climbed) -> list[Step]:
    """The way that the answers of a climb took."""
    found: list[Step] = []
    for place, pick in enumerate(outcome.picks):
        level = next_level(found)
        scene = climbed(item.seed, level, _question(item, place), item.language)
        found.append(Step(level, pick.picked == scene.tellings[0].answer))
    return found


def next_level(past: list[Step]) -> int:
    """The level nearest to the span as the answers so far show it."""
    return min(HIGHEST_LEVEL, max(1, round(span(past)))) if past else FIRST_LEVEL


def span(past: list[Step]) -> float:
    """The expected span after these answers.

    Reference: Watson, A. B. & Pelli, D. G. (1983). QUEST: a Bayesian adaptive psychometric method. Perception &
    Psychophysics 33.
    """
    weights = [
        prod(_right(step.level, one) if step.right else 1 - _right(step.level, one) for step in past) for one in SPANS
    ]
    return sum(weight * one for weight, one in zip(weights, SPANS, strict=True)) / sum(weights)


@cache
def _right(level: int, span: float) -> float:
    """How often a subject with this span is right at a level: half of the time at the span, by chance far above it."""
    guess = 1 / rung(level).options
    known = 1 - LAPSES - guess
    return guess + known / (1 + (known / (0.5 - guess) - 1) * exp((level - span) / FALL))


def _question(item: Climb, place: int) -> int:
    """The number of a climb's question, so that no two climbs share a story."""
    return item.number * item.questions + place


async def climb(item: Climb, session: Session) -> Climbed:
    """Ask one question after the other, each at the level that follows from the answers before it."""
    picks: list[Pick] = []
    past: list[Step] = []
    for place in range(item.questions):
        level = next_level(past)
        scene = await asyncio.to_thread(climbed, item.seed, level, _question(item, place), item.language)
        telling = next(one for one in scene.tellings if one.name == item.person)
        pick = await pick_telling(scene, telling, session, sampling=structs.replace(SAMPLING, max_tokens=REPLY_TOKENS))
        picks.append(pick)
        past.append(Step(level, pick.picked == telling.answer))
        session.note("level", level=level, right=past[-1].right)
    return Climbed(tuple(picks))


def score(item: Climb, outcome: Climbed) -> Score:
    """The span of a climb."""
    unreadable = sum(pick.picked is None for pick in outcome.picks)
    replies = count_replies(pick.vote.how for pick in outcome.picks)
    return Score(
        values={"span": span(steps(item, outcome))},
        facets={"person": item.person},
        unreadable=unreadable,
        replies=replies,
    )


def summarise(run: Run) -> Summary:
    """The span with its interval, in each person, and the share of right answers at each level."""
    ways = [steps(item, outcome) for item, outcome, _ in run.scored()]
    levels: dict[int, list[bool]] = {}
    for step in (step for way in ways for step in way):
        levels.setdefault(step.level, []).append(step.right)
    rows = [
        (level, len(answers), sum(answers) / len(answers), *wilson(sum(answers) / len(answers), len(answers)))
        for level, answers in sorted(levels.items())
    ]
    table = Table(
        "levels", "Right answers by level", ("level", "questions", "right", "from", "to"), tuple(rows),
        "Harder questions come after right answers, so the share at a level is not that of a fixed test.",
        dict.fromkeys(("right", "from", "to"), "share"),
    )  # fmt: skip
    straight = sum(all(step.right for step in way) for way in ways)
    notes = []
    if straight:
        notes.append(f"{straight} of {len(ways)} climbs met no wrong answer: their spans are too low.")
    if sum(all(not step.right for step in way[1:]) for way in ways) > len(ways) / 2:
        notes.append("Most climbs stayed at the lowest level, where guessing is right in a quarter of the answers.")
    return Summary(tuple(grouped_measures(run, "span", by=["person"])), (table,), tuple(notes))
