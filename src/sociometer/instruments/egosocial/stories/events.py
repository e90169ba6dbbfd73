"""What can happen in a story of people, rooms and hidden things, and what can be asked about it."""

from collections.abc import Iterable

import msgspec


class Enter(msgspec.Struct, frozen=True, tag=True):
    """A person comes into a room."""

    person: str
    room: str


class Exit(msgspec.Struct, frozen=True, tag=True):
    """A person leaves a room."""

    person: str
    room: str


class Place(msgspec.Struct, frozen=True, tag=True):
    """A thing lies in a container, in plain sight of everybody in the room."""

    thing: str
    container: str


class Move(msgspec.Struct, frozen=True, tag=True):
    """Somebody (or `None`, if nobody was seen) puts a thing into another container."""

    person: str | None
    thing: str
    container: str


class Tell(msgspec.Struct, frozen=True, tag=True):
    """One person tells another, in private, where a thing is."""

    teller: str
    listener: str
    thing: str
    container: str


class Watch(msgspec.Struct, frozen=True, tag=True):
    """A person outside a room begins to watch it, unseen by anybody."""

    person: str
    room: str


class Unwatch(msgspec.Struct, frozen=True, tag=True):
    """A person who watched a room unseen turns away from it."""

    person: str
    room: str


class Remark(msgspec.Struct, frozen=True, tag=True):
    """A sentence that changes nobody's beliefs: a person likes or hates something."""

    person: str
    verb: str
    thing: str


Event = Enter | Exit | Place | Move | Tell | Watch | Unwatch | Remark


class Story(msgspec.Struct, frozen=True):
    """A sequence of events, with the room in which each container stands."""

    events: tuple[Event, ...]
    rooms: dict[str, str]

    def people(self) -> tuple[str, ...]:
        """Everybody who acts, in order of appearance."""
        return tuple(dict.fromkeys(name for event in self.events if (name := getattr(event, "person", None))))

    def containers_of(self, thing: str) -> tuple[str, ...]:
        """The containers named in the story that stand in the thing's room, in order of appearance."""
        held = holdings(self.events, thing)
        room = self.rooms[held[0]] if held else None
        named = (event.container for event in self.events if isinstance(event, Place | Move))
        return tuple(dict.fromkeys(name for name in named if self.rooms[name] == room))


class Question(msgspec.Struct, frozen=True):
    """A question about a thing's place: `memory`, `reality`, or the nested `belief` of a chain of people."""

    kind: str
    thing: str
    chain: tuple[str, ...] = ()

    @property
    def order(self) -> int:
        """How many minds are nested in the question; 0 for memory and reality."""
        return len(self.chain)


def holdings(events: Iterable[Event], thing: str) -> list[str]:
    """The containers in which a thing really was, one after the other."""
    return [event.container for event in events if isinstance(event, (Place, Move)) and event.thing == thing]
