"""The oracle: where a thing is, was, and is believed to be, to any depth of nested minds.

A mind is a timeline: the events as one person knows them. `seen_by` turns the timeline of a world into the timeline
of one person in it, so that a nested belief is the same step taken again: what Aria thinks that Ben thinks
is `seen_by(seen_by(world, "Aria"), "Ben")`.

A person knows what happens in the room they are in, what they are told, and what they find when they come in. Somebody
who comes back to find a thing moved does not know who saw it move. Two readings are offered: `presume=False` credits
only what was witnessed; `presume=True` lets the person suppose that everyone they left in that room saw the move.
Where the two differ, the story does not settle the question.
"""

from collections.abc import Sequence

from sociometer.instruments.egosocial.stories.world import (
    Enter,
    Event,
    Exit,
    Move,
    Place,
    Question,
    Remark,
    Sight,
    Story,
    Tell,
    Unwatch,
    Watch,
)


class _Alone(Place, frozen=True, tag=True):
    """A thing's place as one mind alone has learnt it: nobody else sees it there."""


class _State:
    """Who is where, and which thing lies in which container, as a timeline has it so far."""

    def __init__(self, rooms: dict[str, str]) -> None:
        self.rooms = rooms
        self.people: dict[str, str | None] = {}
        self.watching: dict[str, str] = {}
        self.things: dict[str, str] = {}

    def apply(self, event: Event) -> None:
        if isinstance(event, Enter):
            self.people[event.person] = event.room
        elif isinstance(event, Exit):
            self.people[event.person] = None
        elif isinstance(event, Watch):
            self.watching[event.person] = event.room
        elif isinstance(event, Unwatch):
            self.watching.pop(event.person, None)
        elif isinstance(event, Place | Move):
            self.things[event.thing] = event.container

    def rooms_before(self, person: str) -> set[str]:
        """The rooms a person has before their eyes."""
        return {room for room in (self.people.get(person), self.watching.get(person)) if room}

    def present(self, room: str) -> list[str]:
        return [name for name, place in self.people.items() if place == room]

    def things_in(self, room: str) -> list[tuple[str, str]]:
        return [(thing, box) for thing, box in self.things.items() if self.rooms.get(box) == room]


def seen_by(events: Sequence[Event], person: str, rooms: dict[str, str], presume: bool) -> list[Event]:
    """The timeline of the person within the world of the given timeline."""
    world, mind = _State(rooms), _State(rooms)
    known: list[Event] = []

    def learn(event: Event) -> None:
        mind.apply(event)
        known.append(event)

    for event in events:
        before = world.rooms_before(person)
        world.apply(event)
        if isinstance(event, Enter | Watch) and event.person == person:
            for found in _findings(world, mind, event, presume):
                learn(found)
        elif isinstance(event, Tell):
            if person in (event.teller, event.listener):
                for told in _news(mind, event, presume):
                    learn(told)
        elif _witnesses(event, person, before, rooms):
            learn(event)
            if isinstance(event, Enter):
                # The newcomer looks around in front of everybody, so all of them know that all of them know.
                for thing, box in world.things_in(event.room):
                    learn(Place(thing, box))
    return known


def lived(story: Story, person: str) -> list[Event | Sight]:
    """The story as one person lived it: what they saw, were told and found, and the remarks, which everybody knows."""
    world = _State(story.rooms)
    known: list[Event | Sight] = []
    for event in story.events:
        before = world.rooms_before(person)
        world.apply(event)
        told = isinstance(event, Tell) and person in (event.teller, event.listener)
        if told or isinstance(event, Remark) or _witnesses(event, person, before, story.rooms):
            known.append(event)
        if isinstance(event, Enter | Watch) and event.person == person:
            others = tuple(name for name in world.present(event.room) if name != person)
            known.append(Sight(others, tuple(world.things_in(event.room))))
    return known


def _witnesses(event: Event, person: str, before: set[str], rooms: dict[str, str]) -> bool:
    if isinstance(event, Enter | Exit):
        return event.person == person or event.room in before
    if isinstance(event, Watch | Unwatch):
        return event.person == person
    if isinstance(event, Place | Move) and not isinstance(event, _Alone):
        return rooms.get(event.container) in before
    return False


def _findings(world: _State, mind: _State, entry: Enter | Watch, presume: bool) -> list[Event]:
    """What coming into a room, or looking into it, teaches: who is there, who is gone, and where things lie."""
    room, seen = entry.room, world.things_in(entry.room)
    others = [name for name in world.present(room) if name != entry.person]
    moved: list[Event] = [
        Move(None, thing, box) for thing, box in seen if presume and thing in mind.things and mind.things[thing] != box
    ]
    gone: list[Event] = [Exit(name, room) for name in mind.present(room) if name not in others and name != entry.person]
    met: list[Event] = [Enter(name, room) for name in others if mind.people.get(name) != room]
    lying: list[Event] = [Place(thing, box) for thing, box in seen]
    return [*moved, *gone, *met, entry, *lying]


def _news(mind: _State, event: Tell, presume: bool) -> list[Event]:
    """What being told (or telling) where a thing is teaches."""
    if mind.things.get(event.thing) == event.container:
        return [event]
    if presume and event.thing in mind.things:
        return [Move(None, event.thing, event.container), event]
    return [_Alone(event.thing, event.container), event]


class Oracle:
    """Answers any question about one story; each mind is worked out once."""

    def __init__(self, story: Story) -> None:
        self._story = story
        self._minds: dict[tuple[bool, tuple[str, ...]], Sequence[Event]] = {}

    def belief(self, chain: tuple[str, ...], thing: str, presume: bool = True) -> str | None:
        """Where the first of the chain thinks that the second thinks … the thing is; None if they cannot know.

        The empty chain gives where the thing really is.
        """
        state = _State(self._story.rooms)
        for event in self._mind(chain, presume):
            state.apply(event)
        return state.things.get(thing)

    def answer(self, question: Question, presume: bool = True) -> str | None:
        """The right answer to a question, or None where the person has never known of the thing."""
        if question.kind == "memory":
            placed = (e for e in self._story.events if isinstance(e, Place) and e.thing == question.thing)
            return next((event.container for event in placed), None)
        return self.belief(question.chain, question.thing, presume)

    def settled(self, question: Question) -> bool:
        """Whether the story settles the question: both readings of an unseen move agree on one place."""
        found = self.answer(question, presume=True)
        return found is not None and found == self.answer(question, presume=False)

    def _mind(self, chain: tuple[str, ...], presume: bool) -> Sequence[Event]:
        if not chain:
            return self._story.events
        if (presume, chain) not in self._minds:
            outer = self._mind(chain[:-1], presume)
            self._minds[presume, chain] = seen_by(outer, chain[-1], self._story.rooms, presume)
        return self._minds[presume, chain]
