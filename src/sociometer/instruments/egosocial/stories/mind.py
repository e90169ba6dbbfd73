"""Who believes what: the oracle of a story.

A mind is a timeline: the events as one person knows them. `_mind_of` turns the timeline of a world into the timeline
of one person in it, so that a nested belief is the same step taken again: what Aria thinks that Ben thinks is the mind
of Ben within the mind of Aria.

A person knows what happens in the room they are in, what they are told, and what they find when they come in. Somebody
who comes back to find a thing moved does not know who saw it move. Two readings are offered: `presume=False` credits
only what was witnessed; `presume=True` lets the person suppose that everyone they left in that room saw the move.
Where the two differ, the story does not settle the question. People believe what they are told.
"""

from collections.abc import Sequence

from sociometer.instruments.egosocial.stories.events import (
    Enter,
    Event,
    Exit,
    Move,
    Place,
    Question,
    Story,
    Tell,
    Unwatch,
    Watch,
)


class _Alone(Place, frozen=True, tag=True):
    """A thing's place as one mind alone has learnt it: nobody else sees it there."""


class _Whereabouts:
    """Where each person is, and which thing is in which container, according to a timeline so far."""

    def __init__(self, rooms: dict[str, str]) -> None:
        self.rooms = rooms
        self.people: dict[str, str | None] = {}
        self.watching: dict[str, str] = {}
        self.things: dict[str, str] = {}

    def apply(self, event: Event) -> None:
        # `type` because this is called very often: `isinstance` takes several times as long.
        if type(event) is Place or type(event) is Move or type(event) is _Alone:
            self.things[event.thing] = event.container
        elif type(event) is Enter:
            self.people[event.person] = event.room
        elif type(event) is Exit:
            self.people[event.person] = None
        elif isinstance(event, Watch):
            self.watching[event.person] = event.room
        elif isinstance(event, Unwatch):
            self.watching.pop(event.person, None)

    def rooms_before(self, person: str) -> set[str]:
        """The rooms a person has before their eyes."""
        here, watched = self.people.get(person), self.watching.get(person)
        return {room for room in (here, watched) if room} if here or watched else set()

    def present(self, room: str) -> list[str]:
        return [name for name, place in self.people.items() if place == room]

    def things_in(self, room: str) -> list[tuple[str, str]]:
        return [(thing, box) for thing, box in self.things.items() if self.rooms.get(box) == room]


class _Mind:
    """What one person knows about a timeline: the events as they know them, and the resulting state of the world."""

    def __init__(self, rooms: dict[str, str]) -> None:
        self.known: list[Event] = []
        self.state = _Whereabouts(rooms)

    def learn(self, *events: Event) -> None:
        apply = self.state.apply
        for event in events:
            apply(event)
        self.known += events

    def arrive(self, world: _Whereabouts, entry: Enter | Watch, presume: bool) -> None:
        """Learn what coming into a room, or looking into it, teaches: who is there, who is gone, where things lie."""
        room, me, known, state = entry.room, entry.person, self.known, self.state
        lying = world.things_in(room)
        if presume:
            known += [Move(None, thing, box) for thing, box in lying if state.things.get(thing, box) != box]
        for name in state.present(room):
            if name != me and world.people.get(name) != room:
                state.people[name] = None
                known.append(Exit(name, room))
        for name in world.present(room):
            if name != me and state.people.get(name) != room:
                state.people[name] = room
                known.append(Enter(name, room))
        state.apply(entry)
        known.append(entry)
        self.see(lying)

    def see(self, lying: list[tuple[str, str]]) -> None:
        """Learn where things lie in plain sight of everybody."""
        self.state.things.update(lying)
        self.known += [Place(thing, box) for thing, box in lying]


def _mind_of(events: Sequence[Event], person: str, rooms: dict[str, str], presume: bool) -> _Mind:
    world, mind = _Whereabouts(rooms), _Mind(rooms)
    seen: set[str] = set()
    for event in events:
        if type(event) is Place or type(event) is Move or type(event) is _Alone:
            world.things[event.thing] = event.container
            if rooms.get(event.container) in seen and type(event) is not _Alone:
                mind.state.things[event.thing] = event.container
                mind.known.append(event)
        elif type(event) is Enter:
            world.people[event.person] = event.room
            if event.person == person:
                seen = world.rooms_before(person)
                mind.arrive(world, event, presume)
            elif event.room in seen:
                mind.learn(event)
                # The newcomer looks around in front of everybody, so all of them know that all of them know.
                mind.see(world.things_in(event.room))
        elif type(event) is Exit:
            world.people[event.person] = None
            if event.person == person or event.room in seen:
                mind.learn(event)
                seen = world.rooms_before(person)
        elif type(event) is Tell:
            if person in (event.teller, event.listener):
                mind.learn(*_news(mind.state, event, presume))
        elif (type(event) is Watch or type(event) is Unwatch) and event.person == person:
            world.apply(event)
            seen = world.rooms_before(person)
            if type(event) is Watch:
                mind.arrive(world, event, presume)
            else:
                mind.learn(event)
    return mind


def _news(mind: _Whereabouts, event: Tell, presume: bool) -> list[Event]:
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
        self._world = _Mind(story.rooms)
        self._world.learn(*story.events)
        self._minds: dict[tuple[_Mind, str, bool], _Mind] = {}

    def belief(self, chain: tuple[str, ...], thing: str, presume: bool = True) -> str | None:
        """Where the first of the chain thinks that the second thinks … the thing is; None if they cannot know.

        The empty chain gives where the thing really is.
        """
        return self._mind(chain, presume).state.things.get(thing)

    def answer(self, question: Question, presume: bool = True) -> str | None:
        """The right answer to a question, or None if the person has never known of the thing."""
        if question.kind == "memory":
            placed = (e for e in self._story.events if isinstance(e, Place) and e.thing == question.thing)
            return next((event.container for event in placed), None)
        return self.belief(question.chain, question.thing, presume)

    def settled(self, question: Question) -> bool:
        """Whether the story settles the question: both readings of an unseen move agree on one place."""
        found = self.answer(question, presume=True)
        return found is not None and found == self.answer(question, presume=False)

    def _mind(self, chain: tuple[str, ...], presume: bool) -> _Mind:
        mind = self._world
        for person in chain:
            key = mind, person, presume
            if key not in self._minds:
                self._minds[key] = _mind_of(mind.known, person, self._story.rooms, presume)
            mind = self._minds[key]
        return mind
