"""Stories of any difficulty: every level adds people, events, places, things or an order of belief.

A story is acted out step by step by the rules of the tier `deep`. The oracle gives the key, so that there is no highest
level.
"""

import random
from collections.abc import Callable, Iterable
from functools import lru_cache

from msgspec import Struct

from sociometer.instruments.egosocial.scene import Scene, Telling
from sociometer.instruments.egosocial.stories.minds import Oracle
from sociometer.instruments.egosocial.stories.prose import Voice, question_prose, story_prose
from sociometer.instruments.egosocial.stories.testimony import has_one_news
from sociometer.instruments.egosocial.stories.world import (
    VOCABULARIES,
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
)

HIGHEST_LEVEL = 18
KINDS = ("right", "wrong")
"""The questions: who would look for each thing in the right place, and who is wrong about where somebody would look."""
MOST_OPTIONS = 8


class Rung(Struct, frozen=True):
    """What a story of a level has; `minds` is the number of people about whom its question asks."""

    people: int
    things: int
    places: int
    steps: int
    minds: int


def rung(level: int) -> Rung:
    """The difficulty of a level: each adds a person and a mind, every second a place and a thing.

    A story has half as many steps again as one of the level below.
    """
    if not 1 <= level <= HIGHEST_LEVEL:
        raise ValueError(f"level {level} is not between 1 and {HIGHEST_LEVEL}")
    return Rung(2 + level, 2 + level // 2, 4 + level // 2, round(4 * 1.5 ** (level - 1)), 1 + level)


class Asked(Struct, frozen=True):
    """A story of a level with its question and the right answer."""

    story: Story
    question: Question
    answer: int


@lru_cache(maxsize=256)
def climbed(seed: int, level: int, number: int, language: str) -> Scene:
    """The question of a number at a level, in the third and the first person; the same for every subject."""
    name = f"ladder-{seed}-{language}-{level:02d}-{number:04d}"
    rng = random.Random(f"egosocial {name}")
    asked = None
    while asked is None:
        asked = _asked(rng, rung(level), VOCABULARIES[language], KINDS[number % len(KINDS)])
    story, question = asked.story, asked.question
    most = len(question.among) * len(question.things)
    first = max(0, min(most + 1 - MOST_OPTIONS, asked.answer - rng.randrange(MOST_OPTIONS)))
    options = tuple(str(count) for count in range(first, min(most, first + MOST_OPTIONS - 1) + 1))
    ego, by_name = question.chain[0], Voice(language=language)
    voices = {"third": by_name, "first": Voice(ego=ego, language=language)}
    tellings = tuple(
        Telling(
            person, story_prose(story, name, voice), question_prose(question, voice), options, asked.answer - first,
            prompt="world", rules="rules_told", hint="hint_all",
        )
        for person, voice in voices.items()
    )  # fmt: skip
    facets = {"level": str(level), "asked": question.kind}
    return Scene(id=name, cluster=name, tellings=tellings, facets=facets, language=language, ego=ego)


def _asked(rng: random.Random, wanted: Rung, words: Vocabulary, kind: str) -> Asked | None:
    """A story and a question about many minds and all things that the story settles for them.

    Whoever follows one thing, or one person, through the story does not find the answer. None if the story settles
    fewer than two things, or moves none.
    """
    acting = _Acting(rng, wanted, words)
    for _ in range(wanted.steps):
        acting.step()
    oracle = Oracle(acting.story())
    if all(len(holdings(acting.events, thing)) < 2 for thing in acting.things):
        return None
    for person in rng.sample(acting.people, len(acting.people)):
        others = [name for name in acting.people if name != person]
        among = rng.sample(others, len(others))
        if kind == "right":  # the question is put to this person, who is one of those asked about
            among[rng.randrange(len(among))] = person
        found = {thing: [holds(oracle, kind, name, person, thing) for name in among] for thing in acting.things}
        settled = tuple(thing for thing, each in found.items() if None not in each)
        if len(settled) > 1:
            answer = sum(sum(map(bool, found[thing])) for thing in settled)
            return Asked(
                acting.story(), Question(kind, settled[0], (person,), among=tuple(among), things=settled), answer
            )
    return None


def holds(oracle: Oracle, kind: str, name: str, person: str, thing: str) -> bool | None:
    """Whether somebody would look in the right place, or is wrong about where a person would; None if not settled."""
    own = Question("belief", thing, (name,) if kind == "right" else (person,))
    if not oracle.settled(own):
        return None
    if kind == "right":
        return oracle.answer(own) == oracle.belief((), thing)
    thought = Question("belief", thing, (name, person))
    return oracle.answer(thought) != oracle.answer(own) if oracle.settled(thought) else None


class _Acting:
    """A story while it is acted out, step by step; whatever anybody says follows from what they believe."""

    def __init__(self, rng: random.Random, wanted: Rung, words: Vocabulary) -> None:
        self.rng = rng
        self.people = rng.sample(words.people, wanted.people)
        self.things = rng.sample(words.things, wanted.things)
        self.boxes = rng.sample(words.containers, wanted.places)
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
        while True:
            kinds: dict[Callable[[str], bool], int] = {
                self._exit: 5, self._enter: 2, self._move: 6, self._tell: 10, self._lie: 4, self._send: 4,
                self._forget: 1,
            }  # fmt: skip
            happens = self.rng.choices(list(kinds), list(kinds.values()))[0]
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
