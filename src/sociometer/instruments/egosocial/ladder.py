"""The ladder: questions become harder after a right answer and easier after a wrong one.

A climb is one item. Its span is the level at which the subject is right half of the time. Every level adds people,
things or events, and more beliefs that the answer depends on. Stories are acted out step by step: what anybody says
follows from what they believe.
"""

import asyncio
import random
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache
from itertools import accumulate, permutations
from math import exp, perm, prod

from msgspec import Struct, structs

from sociometer.core.measure import Summary, Table
from sociometer.core.reply_kind import count_replies
from sociometer.core.session import Session
from sociometer.core.source import Source
from sociometer.core.task import Item, RunView, Score
from sociometer.instruments.egosocial.play import SAMPLING, Pick, pick_telling
from sociometer.instruments.egosocial.scene import Scene, Telling, arranged_at
from sociometer.instruments.egosocial.stories.events import (
    Enter,
    Event,
    Exit,
    Forget,
    Glimpse,
    Hear,
    Lose,
    Move,
    Place,
    Question,
    Send,
    Story,
    Tell,
    holdings,
)
from sociometer.instruments.egosocial.stories.mind import Oracle, has_one_news
from sociometer.instruments.egosocial.stories.telling import (
    Vocabulary,
    Voice,
    option_words,
    question_prose,
    story_prose,
    texts,
)
from sociometer.statistics.intervals import wilson
from sociometer.statistics.measures import grouped_measures

HIGHEST_LEVEL = 20
PLACES = 4
"""Few, so that somebody who knows nothing of a move may be right all the same."""
MOST_OPTIONS = 8
ORDERS = {"belief": 1, "right": 1, "wrong": 2, "nested": 3}
"""The kinds of questions, and how many people each belief that they ask about involves."""
FIRST_LEVEL = 4
SPANS = tuple(quarter / 4 for quarter in range(4 * (HIGHEST_LEVEL + 1) + 1))
"""The spans that a subject may have, each as likely as the others before the first answer."""
REPLY_TOKENS = 4000
LAPSES = 0.05
FALL = 1.5
"""How fast right answers become rare above the span: from .80 to .30 within four levels."""


class Rung(Struct, frozen=True):
    """What a story of a level has, and what is asked about it: a kind of question about `minds` people."""

    kind: str
    people: int
    minds: int
    things: int
    steps: int

    @property
    def beliefs(self) -> int:
        """How many beliefs the answer depends on."""
        return 1 if self.kind == "belief" else perm(self.minds, ORDERS[self.kind]) * self.things

    @property
    def options(self) -> int:
        """How many options the question has."""
        return PLACES if self.kind == "belief" else min(MOST_OPTIONS, self.beliefs + 1)


def rung(level: int) -> Rung:
    """The difficulty of a level: each adds a person and three tenths of the steps, every second a thing.

    Level 1 asks where somebody will look, levels 2 and 3 how often people are right about things. From level 4 the
    question is how often people are wrong about where others will look, from level 10 how often they are wrong about
    where others think that a third will look; level 10 therefore starts again with fewer people.
    """
    if not 1 <= level <= HIGHEST_LEVEL:
        raise ValueError(f"level {level} is not between 1 and {HIGHEST_LEVEL}")
    kind = "belief" if level == 1 else "right" if level < 4 else "wrong" if level < 10 else "nested"
    minds = max(3, level) if level < 10 else level - 4
    return Rung(kind, minds + 1, minds, max(2, minds // 2), round(4 * 1.3 ** (level - 1)))


@lru_cache(maxsize=256)
def climbed(seed: int, level: int, number: int, language: str) -> Scene:
    """The question of a number at a level, in the third and the first person; the same for every subject."""
    name = f"ladder-{seed}-{language}-{level:02d}-{number:04d}"
    rng, wanted = random.Random(f"egosocial {name}"), rung(level)
    while (asked := _asked(rng, wanted, texts(language).words, number)) is None:
        pass
    story, question, answer = asked
    if isinstance(answer, str):
        boxes = tuple(story.rooms)
        options, place = arranged_at([option_words(box) for box in boxes], option_words(answer), number, name)
    else:
        first = max(0, min(wanted.beliefs + 1 - wanted.options, answer - rng.randrange(wanted.options)))
        options, place = tuple(str(count) for count in range(first, first + wanted.options)), answer - first
    ego = question.among[0] if question.among else question.chain[0]
    voices = {"third": Voice(language=language), "first": Voice(ego=ego, language=language)}
    tellings = tuple(
        Telling(
            person, story_prose(story, name, voice), question_prose(question, voice), options, place,
            prompt="world", rules="rules_told", hint="hint_ladder",
        )
        for person, voice in voices.items()
    )  # fmt: skip
    facets = {"level": str(level), "asked": question.kind}
    return Scene(id=name, cluster=name, tellings=tellings, facets=facets, language=language, ego=ego)


def _asked(
    rng: random.Random, wanted: Rung, words: Vocabulary, number: int
) -> tuple[Story, Question, str | int] | None:
    """A story, a question and its answer: a place, or a number of beliefs; None if the story does not serve.

    Every second place is the real one, numbers of right beliefs take turns, and wrong ones are a sixth or more.
    """
    acting = _Acting(rng, wanted, words)
    for _ in range(wanted.steps):
        acting.step()
    oracle, thing = Oracle(acting.story()), acting.things[0]
    if all(len(holdings(acting.events, one)) < 2 for one in acting.things):
        return None
    minds = tuple(rng.sample(acting.people, wanted.minds))

    def belief(*chain: str, of: str = thing) -> str:
        """People guess nothing about others beyond what they saw and heard, so that every belief is settled."""
        return oracle.belief(chain, of, presume=False) or ""

    if wanted.kind == "belief":
        held, moved = belief(minds[0]), len(holdings(acting.events, thing)) > 1
        asked = Question("belief", thing, minds[:1])
        return (acting.story(), asked, held) if moved and (held == belief()) == (number % 2 == 0) else None
    if wanted.kind == "right":
        counted = [belief(name, of=one) == belief(of=one) for name in minds for one in acting.things]
        serves = sum(counted) == 1 + number % (wanted.beliefs - 1)
    else:
        counted = [
            belief(*chain, of=one) != belief(*chain[1:], of=one)
            for chain in permutations(minds, ORDERS[wanted.kind])
            for one in acting.things
        ]
        serves = 6 * sum(counted) >= wanted.beliefs
    asked = Question(wanted.kind, thing, among=minds, things=tuple(acting.things))
    return (acting.story(), asked, sum(counted)) if serves else None


class _Acting:
    """A story while it is acted out, step by step; whatever anybody says follows from what they believe."""

    def __init__(self, rng: random.Random, wanted: Rung, words: Vocabulary) -> None:
        self.rng = rng
        self.people = rng.sample(words.people, wanted.people)
        self.things = rng.sample(words.things, wanted.things)
        self.boxes = rng.sample(words.containers, PLACES)
        self.room = rng.choice(words.rooms)
        self.inside: list[str] = []
        self.events: list[Event] = []
        self.real: dict[str, str] = {}
        self._held: dict[tuple[str, str], list[str]] = {}
        self._lies: set[tuple[str, str, str]] = set()
        first, *others = self.people
        self._do(Enter(first, self.room), *(Place(thing, rng.choice(self.boxes)) for thing in self.things))
        self._do(*(Enter(name, self.room) for name in others))

    def story(self) -> Story:
        return Story(tuple(self.events), dict.fromkeys(self.boxes, self.room))

    @property
    def outside(self) -> list[str]:
        return [name for name in self.people if name not in self.inside]

    def step(self) -> None:
        """Let one of the possible things happen; which kind is drawn first, then who does it."""
        kinds: dict[Callable[[str], bool], int] = {
            self._exit: 4, self._enter: 2, self._move: 5, self._tell: 8, self._lie: 5, self._send: 6, self._forget: 2,
        }  # fmt: skip
        possible, weights = list(kinds), list(accumulate(kinds.values()))
        while True:
            happens = self.rng.choices(possible, cum_weights=weights)[0]
            if happens(self.rng.choice(self.things)):
                return

    def _do(self, *events: Event) -> bool:
        for event in events:
            self._learn(event)
        self.events += events
        return True

    def _learn(self, event: Event) -> None:
        """What an event teaches each person by themselves; the oracle works out the rest when the story is done."""
        if isinstance(event, Exit):
            self.inside.remove(event.person)
        elif isinstance(event, Enter):
            self.inside.append(event.person)
            for thing, box in self.real.items():
                self._know([event.person], thing, box)
        elif isinstance(event, Place | Move):
            self.real[event.thing] = event.container
            self._know(self.inside, event.thing, event.container)
        elif isinstance(event, Tell):
            self._know([event.listener, *event.hearers], event.thing, event.container)
        elif isinstance(event, Send):
            self._know([event.messenger], event.thing, event.container)
        elif isinstance(event, Hear):
            self._know([event.person], event.thing, event.container)
        elif isinstance(event, Forget):
            past = self._held[event.person, event.thing]
            past.append(past[-2])

    def _know(self, names: Iterable[str], thing: str, box: str) -> None:
        for name in names:
            past = self._held.setdefault((name, thing), [])
            if past[-1:] != [box]:
                past.append(box)

    def believed(self, name: str, thing: str) -> str:
        """Where somebody believes that a thing is."""
        return self._held[name, thing][-1]

    def _drawn(self, names: list[str], count: int) -> list[str]:
        """Different people, or nobody if there are too few."""
        return self.rng.sample(names, count) if len(names) >= count else []

    def _exit(self, _: str) -> bool:
        who, last = self.rng.choice(self.inside), self.events[-1]
        if len(self.inside) < 2 or (isinstance(last, Enter) and last.person == who):
            return False
        return self._do(Exit(who, self.room))

    def _enter(self, _: str) -> bool:
        who = self._drawn(self.outside, 1)
        if not who or isinstance(self.events[-1], Exit):
            return False
        return self._do(Enter(who[0], self.room))

    def _move(self, thing: str) -> bool:
        who, last = self.rng.choice(self.inside), self.events[-1]
        box = self.rng.choice([box for box in self.boxes if box != self.real[thing]])
        if not self.outside or (isinstance(last, Move) and last.thing == thing):
            return False
        move, near = Move(who, thing, box), self.rng.choice(self.outside)
        beside: list[tuple[Event, ...]] = [(), (Hear(near, who, thing, box),), (Glimpse(near, who, box),)]
        more = self.rng.choices(beside, [6, 1, 1])[0]
        return self._do(move, *more)

    def _tell(self, thing: str) -> bool:
        people = self._drawn(self.outside, 2)
        if not people:
            return False
        teller, listener = people
        held = self.believed(teller, thing)
        if self.believed(listener, thing) == held or (teller, listener, thing) in self._lies:
            return False
        others = [name for name in self.outside if name not in people and self.believed(name, thing) != held]
        hearers = tuple(self._drawn(others, 1)) if self.rng.random() < 0.3 else ()
        return self._do(Tell(teller, listener, thing, held, hearers=hearers))

    def _lie(self, thing: str) -> bool:
        people = self._drawn(self.outside, 2)
        if not people:
            return False
        teller, listener = people
        box = self.rng.choice(self.boxes)
        if (
            box in (self.believed(teller, thing), self.believed(listener, thing))
            or (teller, listener, thing) in self._lies
        ):
            return False
        self._lies.add((teller, listener, thing))
        return self._do(Tell(teller, listener, thing, box, honest=False))

    def _send(self, thing: str) -> bool:
        people = self._drawn(self.outside, 3)
        if not people:
            return False
        sender, messenger, listener = people
        held = self.believed(sender, thing)
        if self.believed(listener, thing) == held:
            return False
        sent = Send(sender, messenger, listener, thing, held)
        arrives = Tell(messenger, listener, thing, held, source=sender)
        return self._do(sent, self.rng.choice((arrives, Lose(messenger, listener))))

    def _forget(self, thing: str) -> bool:
        who = self._drawn(self.outside, 1)
        moved = [event.person for event in self.events if isinstance(event, Move) and event.thing == thing]
        if not who or who[0] in moved or not has_one_news(Oracle(self.story()).timeline(who[0]), thing):
            return False
        return self._do(Forget(who[0], thing))


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
        yield Climb(
            id=name, cluster=name, seed=source.seed, number=number, questions=settings.whole("questions"),
            person=person, language=language,
        )  # fmt: skip


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
