"""The sentences of a story and its questions, in the third person or with one person as "you"."""

from collections.abc import Iterable

import msgspec

from sociometer.instruments.egosocial.stories.world import (
    Enter,
    Event,
    Exit,
    Move,
    Place,
    Question,
    Remark,
    Sight,
    Tell,
    Unwatch,
    Watch,
)

_FEELINGS = ("likes", "dislikes", "loves", "hates")


class Wording(msgspec.Struct, frozen=True):
    """How a family of stories is put into words: the verbs of its events and the look of its names."""

    enters: str = "entered"
    exits: str = "exited"
    moves: str = "moved"
    into: str = "to"
    stop_after_remarks: bool = False
    spaces: bool = False


OFFICIAL = Wording()
"""ToMi's own wording: names with underscores, no stop after a remark."""


def sentence(event: Event | Sight, ego: str | None = None, wording: Wording = OFFICIAL) -> str:
    """One event as a sentence; the person called `ego` becomes "you"."""
    if isinstance(event, Sight):
        text = _sight(event, wording)
    elif isinstance(event, Enter):
        text = f"{_subject(event.person, ego)} {wording.enters} the {event.room}."
    elif isinstance(event, Exit):
        text = f"{_subject(event.person, ego)} {wording.exits} the {event.room}."
    elif isinstance(event, Place):
        text = f"The {event.thing} {_are(event.thing, wording)} in the {event.container}."
    elif isinstance(event, Move):
        mover = _subject(event.person or "Somebody", ego)
        text = f"{mover} {wording.moves} the {event.thing} {wording.into} the {event.container}."
    elif isinstance(event, Tell):
        told = f"{_subject(event.teller, ego)} told {_object(event.listener, ego)} in private"
        text = f"{told} that the {event.thing} {_were(event.thing, wording)} in the {event.container}."
    elif isinstance(event, Watch):
        text = f"{_subject(event.person, ego)} began to watch the {event.room} through a crack, unnoticed by anybody."
    elif isinstance(event, Unwatch):
        text = f"{_subject(event.person, ego)} stopped watching the {event.room}."
    else:
        text = _remark(event, ego, wording)
    return _readable(text, wording)


def _sight(event: Sight, wording: Wording) -> str:
    *most, last = event.people or ("Nobody else",)
    names = f"{', '.join(most)} and {last}" if most else last
    seen = [f"{names} {'were' if most else 'was'} there."]
    seen += [f"The {thing} {_were(thing, wording)} in the {box}." for thing, box in event.things]
    return " ".join(seen)


def _remark(event: Remark, ego: str | None, wording: Wording) -> str:
    verb = event.verb.removesuffix("s") if event.person == ego else event.verb
    return f"{_subject(event.person, ego)} {verb} the {event.thing}" + ("." if wording.stop_after_remarks else "")


def story_text(events: Iterable[Event | Sight], ego: str | None = None, wording: Wording = OFFICIAL) -> str:
    """The story, one event per line."""
    return "\n".join(sentence(event, ego, wording) for event in events)


def question_text(question: Question, ego: str | None = None, wording: Wording = OFFICIAL) -> str:
    """The question as put to a reader, or to the person called `ego`."""
    thing = f"the {question.thing}"
    if question.kind == "memory":
        text = f"Where {_were(question.thing, wording)} {thing} at the beginning?"
    elif question.kind == "reality":
        text = f"Where {_are(question.thing, wording)} {thing} really?"
    elif question.order == 1:
        text = f"Where will {_object(question.chain[0], ego)} look for {thing}?"
    else:
        text = f"Where {_nested(question.chain, ego, wording)} for {thing}?"
    return _readable(text, wording)


def _nested(chain: tuple[str, ...], ego: str | None, wording: Wording) -> str:
    first, *middle, last = chain
    opening = "do you think" if first == ego else f"does {first} think"
    between = [f"that {_object(name, ego)} {_verb('think', name, ego)}" for name in middle]
    search = "will look" if wording.spaces else _verb("search", last, ego)
    return " ".join([opening, *between, f"that {_object(last, ego)} {search}"])


def _verb(verb: str, name: str, ego: str | None) -> str:
    if name == ego:
        return verb
    return f"{verb}es" if verb.endswith(("ch", "sh")) else f"{verb}s"


def _subject(name: str, ego: str | None) -> str:
    return "You" if name == ego else name


def _object(name: str, ego: str | None) -> str:
    return "you" if name == ego else name


def _plural(thing: str) -> bool:
    return thing.endswith("s") and not thing.endswith("ss")


def _are(thing: str, wording: Wording) -> str:
    # ToMi says "The grapes is in …"; its own wording is kept as released.
    return "are" if wording.spaces and _plural(thing) else "is"


def _were(thing: str, wording: Wording) -> str:
    return "were" if wording.spaces and _plural(thing) else "was"


def _readable(text: str, wording: Wording) -> str:
    return text.replace("_", " ") if wording.spaces else text


def parse_sentence(text: str) -> Event | None:
    """The event of one official sentence, or `None` if it is of no known form."""
    words = text.removesuffix(".").split(" ")
    match words:
        case ["The", thing, "is", "in", "the", container]:
            return Place(thing, container)
        case [person, "entered", "the", room]:
            return Enter(person, room)
        case [person, "exited", "the", room]:
            return Exit(person, room)
        case [person, "moved", "the", thing, "to", "the", container]:
            return Move(person, thing, container)
        case [person, verb, "the", thing] if verb in _FEELINGS:
            return Remark(person, verb, thing)
        case _:
            return None


def parse_question(text: str) -> Question | None:
    """The question of one official question line, or `None` if it is of no known form."""
    match text.removesuffix("?").split(" "):
        case ["Where", "was", "the", thing, "at", "the", "beginning"]:
            return Question("memory", thing)
        case ["Where", "is", "the", thing, "really"]:
            return Question("reality", thing)
        case ["Where", "will", person, "look", "for", "the", thing]:
            return Question("belief", thing, (person,))
        case ["Where", "does", thinker, "think", "that", person, "searches", "for", "the", thing]:
            return Question("belief", thing, (thinker, person))
        case _:
            return None
