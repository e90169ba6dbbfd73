"""Who believes what: the oracle of a story.

A mind is a timeline: the events as one person knows them. `_mind_of` turns the timeline of a world into the timeline
of one person in it, so that a nested belief is the same step taken again: what Aria thinks that Ben thinks is the mind
of Ben within the mind of Aria.

A person knows what happens in the room they are in, what they are told, and what they find when they come in. Somebody
who comes back to find a thing moved does not know who saw it move, and a story does not say whether somebody who
forgets a thing's place also forgets who knew it. Two readings are offered: `presume=False` credits only what was
witnessed and forgets only the place; `presume=True` lets the person suppose that everyone they left in that room saw
the move, and forgets all that came with the place. Where the two differ, the story does not settle the question.

People go by the last that they saw or heard, and nobody suspects a lie: whoever hears one (the listener, an
eavesdropper) takes the teller to believe it. The teller of a lie keeps their own belief, and tells the same person
the same lie again. Whoever sends a message takes it for granted that it arrives and names its sender. Whoever forgets
the last that they learnt of a thing believes what they believed before. A glimpse teaches nobody anything.
"""

from collections.abc import Sequence

from msgspec import structs

from sociometer.instruments.egosocial.stories.events import (
    Enter,
    Event,
    Exit,
    Forget,
    Hear,
    Move,
    Place,
    Question,
    Send,
    Story,
    Tell,
    Unwatch,
    Watch,
    holdings,
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
        self._rooms = rooms

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

    def forget(self, thing: str, presume: bool) -> None:
        """Believe again in the place before the last, if there was one.

        With `presume`, all that was learnt of the thing since then is forgotten as well, such as who knows of it.
        """
        state, changed = _Whereabouts(self._rooms), -1
        places: list[str] = []
        for position, event in enumerate(self.known):
            state.apply(event)
            place = state.things.get(thing)
            if place is not None and places[-1:] != [place]:
                places.append(place)
                changed = position
        if len(places) < 2:
            return
        if not presume:
            self.learn(_Alone(thing, places[-2]))
            return
        # What came with the news (who told it, who sent it) goes with it: it may come before or after the new place.
        first = changed - 1 if changed and _news_of(self.known[changed - 1], thing, places[-1]) else changed
        kept = [*self.known[:first], *(event for event in self.known[first:] if getattr(event, "thing", "") != thing)]
        self.known, self.state = [], _Whereabouts(self._rooms)
        self.learn(*kept)


def _news_of(event: Event, thing: str, place: str) -> bool:
    return isinstance(event, Tell | Send | Hear) and (event.thing, event.container) == (thing, place)


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
            _hear_telling(mind, event, person, presume)
        elif type(event) is Send:
            _hear_sending(mind, event, person, presume)
        elif type(event) is Hear:
            _hear_moving(mind, event, person, presume)
        elif type(event) is Forget:
            if event.person == person:
                mind.forget(event.thing, presume)
        elif (type(event) is Watch or type(event) is Unwatch) and event.person == person:
            world.apply(event)
            seen = world.rooms_before(person)
            if type(event) is Watch:
                mind.arrive(world, event, presume)
            else:
                mind.learn(event)
    return mind


def _hear_telling(mind: _Mind, event: Tell, person: str, presume: bool) -> None:
    """What a telling teaches the teller, the listener and each who overhears it: nobody notices the latter."""
    if person == event.teller and not event.honest:
        mind.learn(structs.replace(event, hearers=()))
        return
    if person not in (event.teller, event.listener, *event.hearers):
        return
    if event.source and person != event.teller:
        mind.learn(Send(event.source, event.teller, event.listener, event.thing, event.container))
    heard_by = (person,) if person in event.hearers else ()
    mind.learn(*_news(mind.state, structs.replace(event, honest=True, hearers=heard_by), presume))


def _hear_sending(mind: _Mind, event: Send, person: str, presume: bool) -> None:
    """What a message teaches its sender and its messenger; the sender assumes that it arrives in the sender's name."""
    if person in (event.sender, event.messenger):
        asked = Tell(event.sender, event.messenger, event.thing, event.container)
        mind.learn(*_news(mind.state, asked, presume), event)
    if person == event.sender:
        mind.learn(Tell(event.messenger, event.listener, event.thing, event.container, source=event.sender))


def _hear_moving(mind: _Mind, event: Hear, person: str, presume: bool) -> None:
    """What hearing a move teaches: the place, and that the mover knows it (and, if presumed, who was there too)."""
    if person not in (event.person, event.mover) or mind.state.things.get(event.thing) == event.container:
        if person == event.person:
            mind.learn(event)
        return
    if presume and person == event.person:
        mind.learn(Move(event.mover, event.thing, event.container), event)
    else:
        mind.learn(_Alone(event.thing, event.container), *([event] if person == event.person else []))


def _news(mind: _Whereabouts, event: Tell, presume: bool) -> list[Event]:
    """What being told (or telling) where a thing is teaches."""
    if mind.things.get(event.thing) == event.container:
        return [event]
    if presume and event.thing in mind.things:
        return [Move(None, event.thing, event.container), event]
    return [_Alone(event.thing, event.container), event]


class Oracle:
    """Answers any question about one story; each mind is worked out once, also for several stories in the same rooms.

    Whoever knows the same has the same mind: an event of two people leaves all other minds as they are.
    """

    def __init__(self, story: Story, like: "Oracle | None" = None) -> None:
        """`like` is of a story in the same rooms, whose minds are used again."""
        self._story, self._world = story, _Mind(story.rooms)
        self._world.learn(*story.events)
        self._minds: dict[tuple[_Mind, str, bool], _Mind] = like._minds if like else {}
        self._alike: dict[tuple[Event, ...], _Mind] = like._alike if like else {}

    def belief(self, chain: tuple[str, ...], thing: str, presume: bool = True) -> str | None:
        """Where the first of the chain thinks that the second thinks … the thing is; None if they cannot know.

        The empty chain gives where the thing really is.
        """
        return self._mind(chain, presume).state.things.get(thing)

    def answer(self, question: Question, presume: bool = True) -> str | None:
        """The right answer to a question, or None if the person has never known of the thing."""
        if question.kind == "say":
            return self._said(question, presume)
        if question.kind == "memory":
            placed = (e for e in self._story.events if isinstance(e, Place) and e.thing == question.thing)
            return next((event.container for event in placed), None)
        return self.belief(question.chain, question.thing, presume)

    def _said(self, question: Question, presume: bool) -> str | None:
        """The lie that the speaker told this listener, as the chain knows it; otherwise what the speaker believes."""
        speaker = question.chain[-1]
        lies = [
            event.container
            for event in self._mind(question.chain, presume).known
            if type(event) is Tell
            and not event.honest
            and (event.teller, event.listener, event.thing) == (speaker, question.listener, question.thing)
        ]
        return lies[-1] if lies else self.belief(question.chain, question.thing, presume)

    def settled(self, question: Question) -> bool:
        """Whether the story settles the question: both readings of an unseen move agree on one place."""
        found = self.answer(question, presume=True)
        return found is not None and found == self.answer(question, presume=False)

    def timeline(self, person: str) -> Sequence[Event]:
        """The story as one person knows it."""
        return self._mind((person,), presume=True).known

    def _mind(self, chain: tuple[str, ...], presume: bool) -> _Mind:
        mind = self._world
        for person in chain:
            key = mind, person, presume
            if key not in self._minds:
                inner = _mind_of(mind.known, person, self._story.rooms, presume)
                self._minds[key] = self._alike.setdefault(tuple(inner.known), inner)
            mind = self._minds[key]
        return mind


def has_one_news(timeline: Sequence[Event], thing: str) -> bool:
    """Whether somebody knows a place and an earlier one, and nothing has confirmed the latter since they learnt it."""
    places = holdings(timeline, thing)
    if len(set(places)) < 2:
        return False
    before, later = "", 0
    for event in timeline:
        if isinstance(event, (Place, Move)) and event.thing == thing:
            later = later if before == places[-1] else 0
            before = event.container
        elif isinstance(event, (Tell, Send, Hear)) and event.thing == thing:
            later += 1
    return later < 2
