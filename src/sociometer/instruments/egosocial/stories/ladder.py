"""Stories of any difficulty: every level adds people, things or events, and more beliefs that the answer depends on.

A story is acted out step by step by the rules of the tier `deep`. The oracle gives the key.
"""

import random
from collections.abc import Callable, Iterable
from functools import lru_cache
from itertools import accumulate, permutations
from math import perm

from msgspec import Struct

from sociometer.instruments.egosocial.scene import Scene, Telling, arranged_at
from sociometer.instruments.egosocial.stories.minds import Oracle
from sociometer.instruments.egosocial.stories.prose import Voice, option_words, question_prose, story_prose
from sociometer.instruments.egosocial.stories.testimony import has_one_news
from sociometer.instruments.egosocial.stories.world import (
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
    Vocabulary,
    holdings,
    texts,
)

HIGHEST_LEVEL = 20
PLACES = 4
"""Few, so that somebody who knows nothing of a move may be right all the same."""
MOST_OPTIONS = 8
ORDERS = {"belief": 1, "right": 1, "wrong": 2, "nested": 3}
"""The kinds of questions, and how many people each belief that they ask about involves."""


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
