"""ToMi's own sentences and questions, read and written, in the third person or with one person as "you" (or "I")."""

from collections.abc import Iterable

from sociometer.instruments.egosocial.stories.world import (
    Enter,
    Event,
    Exit,
    Move,
    Place,
    Question,
    Remark,
    Sight,
)

_FEELINGS = ("likes", "dislikes", "loves", "hates")


def sentence(event: Event | Sight, ego: str | None = None, word: str = "you") -> str:
    """One event as a sentence; the person called `ego` becomes "you" (or "I")."""
    if isinstance(event, Sight):
        return _sight(event)
    if isinstance(event, Enter):
        return f"{_subject(event.person, ego, word)} entered the {event.room}."
    if isinstance(event, Exit):
        return f"{_subject(event.person, ego, word)} exited the {event.room}."
    if isinstance(event, Place):
        return f"The {event.thing} is in the {event.container}."
    if isinstance(event, Move):
        mover = _subject(event.person or "Somebody", ego, word)
        return f"{mover} moved the {event.thing} to the {event.container}."
    if isinstance(event, Remark):
        verb = event.verb.removesuffix("s") if event.person == ego else event.verb
        return f"{_subject(event.person, ego, word)} {verb} the {event.thing}"
    raise ValueError(f"ToMi has no sentence for {event}")


def _sight(event: Sight) -> str:
    *most, last = event.people or ("Nobody else",)
    names = f"{', '.join(most)} and {last}" if most else last
    seen = [f"{names} {'were' if most else 'was'} there."]
    seen += [f"The {thing} was in the {box}." for thing, box in event.things]
    return " ".join(seen)


def story_text(events: Iterable[Event | Sight], ego: str | None = None, word: str = "you") -> str:
    """The story, one event per line."""
    return "\n".join(sentence(event, ego, word) for event in events)


def question_text(question: Question, ego: str | None = None, word: str = "you") -> str:
    """The question as put to a reader, or to the person called `ego`."""
    thing = f"the {question.thing}"
    if question.kind == "memory":
        return f"Where was {thing} at the beginning?"
    if question.kind == "reality":
        return f"Where is {thing} really?"
    if question.order == 1:
        return f"Where will {_named(question.chain[0], ego, word)} look for {thing}?"
    first, *middle, last = question.chain
    opening = f"do {word} think" if first == ego else f"does {first} think"
    between = [f"that {_named(name, ego, word)} {_verb('think', name, ego)}" for name in middle]
    thoughts = " ".join([opening, *between, f"that {_named(last, ego, word)} {_verb('search', last, ego)}"])
    return f"Where {thoughts} for {thing}?"


def _verb(verb: str, name: str, ego: str | None) -> str:
    if name == ego:
        return verb
    return f"{verb}es" if verb.endswith("ch") else f"{verb}s"


def _subject(name: str, ego: str | None, word: str) -> str:
    return word.capitalize() if name == ego else name


def _named(name: str, ego: str | None, word: str) -> str:
    return word if name == ego else name


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
