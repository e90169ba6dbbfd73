"""ToMi's official archive: read inside the zip, line by line, into the world model."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from sociometer.core.archives import read_member
from sociometer.core.errors import DataError
from sociometer.instruments.egosocial.scene import Scene, Telling, arranged
from sociometer.instruments.egosocial.stories.events import Enter, Event, Exit, Move, Place, Question, Remark, Story
from sociometer.instruments.egosocial.stories.mind import Oracle
from sociometer.instruments.egosocial.stories.scenes import ego_of, facets_of

_FEELINGS = ("likes", "dislikes", "loves", "hates")


def sentence(event: Event, ego: str | None = None) -> str:
    """One event as a sentence; the person called `ego` becomes "you"."""
    if isinstance(event, Enter):
        return f"{_subject(event.person, ego)} entered the {event.room}."
    if isinstance(event, Exit):
        return f"{_subject(event.person, ego)} exited the {event.room}."
    if isinstance(event, Place):
        return f"The {event.thing} is in the {event.container}."
    if isinstance(event, Move):
        mover = _subject(event.person or "Somebody", ego)
        return f"{mover} moved the {event.thing} to the {event.container}."
    if isinstance(event, Remark):
        verb = event.verb.removesuffix("s") if event.person == ego else event.verb
        return f"{_subject(event.person, ego)} {verb} the {event.thing}"
    raise ValueError(f"ToMi has no sentence for {event}")


def story_text(events: Iterable[Event], ego: str | None = None) -> str:
    """The story, one event per line."""
    return "\n".join(sentence(event, ego) for event in events)


def question_text(question: Question, ego: str | None = None) -> str:
    """The question as put to a reader, or to the person called `ego`."""
    thing = f"the {question.thing}"
    if question.kind == "memory":
        return f"Where was {thing} at the beginning?"
    if question.kind == "reality":
        return f"Where is {thing} really?"
    if question.order == 1:
        return f"Where will {_named(question.chain[0], ego)} look for {thing}?"
    first, last = question.chain
    thinks = "do you think" if first == ego else f"does {first} think"
    return f"Where {thinks} that {_named(last, ego)} {'search' if last == ego else 'searches'} for {thing}?"


def _subject(name: str, ego: str | None) -> str:
    return "You" if name == ego else name


def _named(name: str, ego: str | None) -> str:
    return "you" if name == ego else name


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


MEMBER = "tomi_balanced_story_types/fb_all_test"
MOST_SENTENCES = 500
"""The most sentences a story may have; the official ones have fewer than 30."""
LARGEST_MEMBER = 64 * 2**20
"""The most bytes a member may have; the official ones have less than 3 MB."""


class TomiQuestion(msgspec.Struct, frozen=True):
    """One official question: its story, its key, and what the trace says of both."""

    number: int
    story_number: int
    story: Story
    question: Question
    answer: str
    question_type: str
    story_type: str

    @property
    def selected(self) -> bool:
        """Whether the authors of EgoSocialArena keep it: all second-order ones, first-order ones on true beliefs."""
        return self.question.order == 2 or (self.question.order == 1 and self.story_type == "true_belief")


def read_archive(path: Path) -> Iterator[TomiQuestion]:
    """The questions of the test file, in file order; a bad line raises an error with member and line."""
    text, trace = _member(path, f"{MEMBER}.txt"), _member(path, f"{MEMBER}.trace")
    yield from read_questions(text, trace, f"{path}!fb_all_test.txt")


def _member(path: Path, name: str) -> str:
    try:
        return read_member(path, name, LARGEST_MEMBER, next_step="fetch it again").decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError(f"member '{name}' is not UTF-8 text ({error.reason})", path) from None


def read_questions(text: str, trace: str, where: str) -> Iterator[TomiQuestion]:
    """The questions of a story file and its trace file."""
    traces = trace.splitlines()
    events: list[Event] = []
    told: list[Event] = []
    number = stories = 0
    for line_number, line in enumerate(text.splitlines(), 1):
        position, _, body = line.partition(" ")
        if not position.isdigit() or not body:
            raise DataError(f"expected a numbered sentence, found {line[:60]!r}", where, line_number)
        if position == "1":
            events = []
        if "\t" not in body:
            event = parse_sentence(body)
            if event is None:
                raise DataError(f"unknown form of sentence: {body[:80]!r}", where, line_number)
            events.append(event)
            if len(events) > MOST_SENTENCES:
                raise DataError(f"the story has more than {MOST_SENTENCES} sentences", where, line_number)
            continue
        stories += events != told
        told = events
        if number >= len(traces):
            raise DataError(f"the trace ends after {len(traces)} lines but more questions follow", where, line_number)
        yield _question(number, stories - 1, events, body, traces[number], where, line_number)
        number += 1
    if number != len(traces):
        raise DataError(f"{number} questions but {len(traces)} lines of trace; the files do not belong together", where)


def _question(
    number: int, story: int, events: list[Event], body: str, trace: str, where: str, line_number: int
) -> TomiQuestion:
    asked, key, *_ = body.split("\t")
    question = parse_question(asked)
    if question is None:
        raise DataError(f"unknown form of question: {asked[:80]!r}", where, line_number)
    try:
        world = Story(tuple(events), _rooms(events))
    except KeyError as error:
        raise DataError(f"{error.args[0]} moves something without being in a room", where, line_number) from None
    kinds = trace.split(",")
    if key not in world.containers_of(question.thing) or len(kinds) < 2:
        raise DataError(f"key {key!r} or trace {trace[-60:]!r} does not fit the story", where, line_number)
    return TomiQuestion(number, story, world, question, key, kinds[-2], kinds[-1])


def _rooms(events: list[Event]) -> dict[str, str]:
    """The room of each container: where the mover stands, for a thing moves within one room."""
    where: dict[str, str] = {}
    room = ""
    for event in events:
        if isinstance(event, Enter):
            where[event.person] = event.room
        elif isinstance(event, Move):
            room = where[event.person or ""]
    return {event.container: room for event in events if isinstance(event, Place | Move)}


class Verdict(msgspec.Struct, frozen=True):
    """The oracle's verdict on one official answer; `cause` is empty if it agrees.

    `unaware-thinker`: the thinker left before the move and never came back, yet in the key they know the new place.
    `unaware-other`: the thinker saw the other leave before the move, and the key has the other know the new place.
    `unseen-return`: the other came back and saw the new place, but only after the thinker had gone. `unsettled`: the
    thinker came back to find the thing moved and the other gone; whether the other saw the move is not told, and we
    keep the key. `other`: none of these.
    """

    corrected: str
    cause: str = ""


def check(asked: TomiQuestion) -> Verdict:
    """The corrected answer to an official question, and why it differs from the key where it does."""
    oracle = Oracle(asked.story)
    witnessed = oracle.answer(asked.question, presume=False)
    presumed = oracle.answer(asked.question, presume=True)
    if asked.answer == witnessed == presumed:
        return Verdict(asked.answer)
    if witnessed != presumed or presumed is None:
        return Verdict(asked.answer, "unsettled")
    return Verdict(presumed, _cause(asked, oracle))


def _cause(asked: TomiQuestion, oracle: Oracle) -> str:
    if asked.question.order != 2:
        return "other"
    thinker, other = asked.question.chain
    thing = asked.question.thing
    real = oracle.belief((), thing)
    if asked.answer != real:
        return "other"
    if oracle.belief((thinker,), thing) != real:
        return "unaware-thinker"
    return "unaware-other" if oracle.belief((other,), thing) != real else "unseen-return"


def tomi_scenes(questions: Iterable[TomiQuestion], selection: str) -> Iterator[Scene]:
    """Official questions as scenes: all of them, or those the authors of EgoSocialArena keep."""
    for asked in questions:
        if selection == "authors" and not asked.selected:
            continue
        name = f"tomi-test-{asked.number:04d}"
        verdict = check(asked)
        story, question = asked.story, asked.question
        ego = ego_of(story, question)
        options, position = arranged(story.containers_of(question.thing), verdict.corrected, name)
        key = options.index(asked.answer)
        tellings = (
            Telling("third", story_text(story.events), question_text(question), options, position, key),
            Telling("first", story_text(story.events, ego), question_text(question, ego), options, position, key),
        )
        facets = {"story type": asked.story_type, "type": asked.question_type, "cause": verdict.cause or "agrees"}
        yield Scene(
            id=name,
            cluster=f"tomi-test-story-{asked.story_number:04d}",
            tellings=tellings,
            facets={**facets_of(story, question, verdict.corrected), **facets},
            ego=ego,
        )
