"""How a story is drawn: people learn by their own eyes and by true messages; each story type has its plots."""

import random
from collections.abc import Sequence
from itertools import pairwise, product

import msgspec

from sociometer.instruments.egosocial.stories.events import (
    Enter,
    Event,
    Exit,
    Move,
    Place,
    Question,
    Remark,
    Story,
    Tell,
    Unwatch,
    Watch,
)
from sociometer.instruments.egosocial.stories.mind import Oracle
from sociometer.instruments.egosocial.stories.telling import Vocabulary, texts

STORY_TYPES = ("true_belief", "false_belief", "second_order_false_belief", "third_order_false_belief")
STORY_ATTEMPTS = 1000
STRICT_ATTEMPTS = 400
"""The number of times a story is drawn again for the wanted kind of questions; then any settled question is used."""
_T, _F = True, False
_MISSES: dict[str, tuple[tuple[bool, bool, bool, bool], ...]] = {
    "true_belief": ((_T, _T, _F, _T), (_T, _F, _T, _F), (_F, _T, _T, _F), (_T, _F, _F, _T)),
    "false_belief": ((_T, _T, _F, _F), (_T, _F, _T, _T), (_F, _T, _F, _T), (_T, _F, _T, _F)),
    "second_order_false_belief": ((_T, _T, _T, _T), (_F, _T, _F, _F), (_F, _F, _T, _F), (_F, _F, _F, _T)),
    "third_order_false_belief": ((_F, _T, _T, _F), (_T, _F, _T, _T), (_F, _T, _F, _F), (_F, _F, _F, _T)),
}
"""At which orders the belief misses reality, for the stories of a type in turn.

Over four stories of each type it is one half at every order. Where somebody left early, nearly all beliefs of higher
order miss reality in stories of the last two types, so that there the rows with a first True have others.
"""


class Generated(msgspec.Struct, frozen=True):
    """A generated story with its type and its questions."""

    story: Story
    story_type: str
    questions: tuple[Question, ...]


class _Cast:
    """The people and things of one story."""

    def __init__(self, rng: random.Random, words: Vocabulary) -> None:
        self.seeker, self.mover, self.bystander = rng.sample(words.people, 3)
        self.room, self.elsewhere = rng.sample(words.rooms, 2)
        (self.thing,) = rng.sample(words.things, 1)
        self.boxes = rng.sample(words.containers, 2)
        self.likable = (*words.rooms, *words.things)
        self.rooms = dict.fromkeys(self.boxes, self.room)


def generate(rng: random.Random, story_type: str, language: str = "en", turn: int = 0) -> Generated:
    """One story of the wanted type with at least one settled question of each order.

    The `turn` of a story among those of its type decides at which orders the belief is to miss reality.
    """
    if story_type not in STORY_TYPES:
        raise ValueError(f"unknown story type {story_type!r}; allowed are {', '.join(STORY_TYPES)}")
    misses = _MISSES[story_type][turn % len(_MISSES[story_type])]
    leaver = story_type == "true_belief" or (story_type != "false_belief" and misses[0])
    for attempt in range(STORY_ATTEMPTS):
        cast = _Cast(rng, texts(language).words)
        plot = rng.choice(_plots(cast)[story_type])
        story = Story(tuple(_dress(rng, cast, plot, leaver=leaver)), cast.rooms)
        oracle = Oracle(story)
        if classify(oracle, cast.seeker, cast.mover, cast.thing) != story_type:
            continue
        questions = _settled_questions(rng, oracle, cast, misses, strict=attempt < STRICT_ATTEMPTS)
        if questions is not None:
            return Generated(story, story_type, questions)
    raise RuntimeError(f"no {story_type} story found in {STORY_ATTEMPTS} attempts")


def classify(oracle: Oracle, seeker: str, mover: str, thing: str) -> str | None:
    """The story's type: the shallowest nested belief of seeker and mover that misses reality."""
    real = oracle.belief((), thing)
    sure = [chain for chain in _alternating(seeker, mover) if oracle.settled(Question("belief", thing, chain))]
    values = {chain: oracle.belief(chain, thing) for chain in sure}
    own, of_seeker = values.get((seeker,)), values.get((mover, seeker))
    back = values.get((seeker, mover, seeker))
    if own is None or of_seeker is None:
        return None
    if own != real:
        return "false_belief"
    if values.get((seeker, mover)) == real and back not in (None, real):
        return "third_order_false_belief"
    if of_seeker != real:
        return "second_order_false_belief"
    return "true_belief" if set(values.values()) == {real} else None


def _alternating(seeker: str, mover: str) -> list[tuple[str, ...]]:
    pair = (seeker, mover)
    return [tuple(pair[(start + i) % 2] for i in range(n)) for n in range(1, 5) for start in (0, 1)]


def _plots(cast: _Cast) -> dict[str, tuple[list[Event], ...]]:
    """What seeker and mover may do once the thing has been put in its place, by type of story."""
    out, back = Exit(cast.seeker, cast.room), Enter(cast.seeker, cast.room)
    move, mover_out = Move(cast.mover, cast.thing, cast.boxes[1]), Exit(cast.mover, cast.room)
    by_mover, by_bystander = (
        Tell(teller, cast.seeker, cast.thing, cast.boxes[1]) for teller in (cast.mover, cast.bystander)
    )
    elsewhere = Enter(cast.seeker, cast.elsewhere)
    watch, unwatch = Watch(cast.seeker, cast.room), Unwatch(cast.seeker, cast.room)
    return {
        "true_belief": ([move, out], [out, back, move], [out, move, back], [out, move, by_mover]),
        "false_belief": ([out, move], [out, elsewhere, move], [out, move, mover_out]),
        "second_order_false_belief": ([out, move, mover_out, back], [out, move, by_bystander]),
        "third_order_false_belief": ([out, watch, move, unwatch],),
    }


def _dress(rng: random.Random, cast: _Cast, plot: list[Event], *, leaver: bool) -> list[Event]:
    """The plot with an opening, a bystander who comes and goes, and an idle remark.

    A bystander who is a `leaver` sees the thing in its place and is gone before it is moved.
    """
    first, second = rng.sample((cast.seeker, cast.mover), 2)
    opening: list[Event] = [Enter(first, cast.room), Enter(second, cast.room)]
    events: list[Event] = [*opening, Place(cast.thing, cast.boxes[0]), *plot]
    if leaver:
        _leave_early(rng, events, cast.bystander, cast)
    else:
        room = cast.room if rng.random() < 0.7 else cast.elsewhere
        visit: list[Event] = [Enter(cast.bystander, room)]
        if rng.random() < 0.5:
            visit.append(Exit(cast.bystander, room))
        _insert(rng, events, visit)
    people = (cast.seeker, cast.mover, cast.bystander)
    liked = rng.choice([word for word in cast.likable if word not in (cast.room, cast.thing)])
    _insert(rng, events, [Remark(rng.choice(people), rng.choice(("likes", "dislikes")), liked)])
    return events if _possible(events, cast.rooms) else []


def _leave_early(rng: random.Random, events: list[Event], name: str, cast: _Cast) -> None:
    """Let somebody come in, see where the thing lies and leave before anybody moves it."""
    moved = next(place for place, event in enumerate(events) if isinstance(event, Move) and event.thing == cast.thing)
    entry = rng.randint(0, moved)
    events.insert(entry, Enter(name, cast.room))
    seen = max(events.index(Place(cast.thing, cast.boxes[0])), entry)
    # a move before the thing was there makes the story impossible, wherever the exit stands
    events.insert(rng.randint(seen + 1, max(seen, moved) + 1), Exit(name, cast.room))


def _insert(rng: random.Random, events: list[Event], new: Sequence[Event]) -> None:
    position = 0
    for event in new:
        position = rng.randint(position, len(events)) if position < len(events) else len(events)
        events.insert(position, event)
        position += 1


def _possible(events: Sequence[Event], rooms: dict[str, str]) -> bool:
    """Whether every person is in the right room for each action, and says only what they believe."""
    where: dict[str, str | None] = {}
    held: dict[str, str] = {}
    for position, event in enumerate(events):
        if isinstance(event, Enter):
            where[event.person] = event.room
        elif isinstance(event, Exit):
            where[event.person] = None
        elif isinstance(event, Place):
            held[event.thing] = event.container
        elif isinstance(event, Move):
            here = where.get(event.person or "") == rooms[event.container]
            if not here or held.get(event.thing) in (None, event.container):
                return False
            held[event.thing] = event.container
        elif isinstance(event, Tell):
            past = Oracle(Story(tuple(events[:position]), rooms))
            if past.belief((event.teller,), event.thing) != event.container:
                return False
    return True


def _settled_questions(
    rng: random.Random, oracle: Oracle, cast: _Cast, misses: Sequence[bool], *, strict: bool
) -> tuple[Question, ...] | None:
    """Memory, reality and one settled question of each order, missing reality where that is wanted.

    None if the story has no settled question of an order, or (if `strict`) none as wanted.
    """
    asked = [Question("memory", cast.thing), Question("reality", cast.thing)]
    people = (cast.seeker, cast.mover, cast.bystander)
    real = oracle.belief((), cast.thing)
    for order, missed in enumerate(misses, 1):
        open_to_ask = [
            Question("belief", cast.thing, chain)
            for chain in product(people, repeat=order)
            if all(a != b for a, b in pairwise(chain))
        ]
        fit = [question for question in open_to_ask if oracle.settled(question)]
        pool = [question for question in fit if (oracle.answer(question) != real) == missed]
        if not fit or (not pool and strict):
            return None
        asked.append(rng.choice(pool or fit))
    return tuple(asked)
