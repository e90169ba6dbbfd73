"""ToMi's official archive: read inside the zip, line by line, into the world model."""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from sociometer.core.archives import read_member
from sociometer.core.errors import DataError
from sociometer.instruments.egosocial.stories.wording import parse_question, parse_sentence
from sociometer.instruments.egosocial.stories.world import Enter, Event, Move, Place, Question, Story

SPLITS = ("train", "val", "test")
FOLDER = "tomi_balanced_story_types"
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


def read_archive(path: Path, split: str = "test") -> Iterator[TomiQuestion]:
    """The questions of one split, in file order; a bad line raises an error with member and line."""
    if split not in SPLITS:
        raise DataError(f"unknown ToMi split '{split}'; allowed: {', '.join(SPLITS)}", path)
    text = _member(path, f"{FOLDER}/fb_all_{split}.txt")
    trace = _member(path, f"{FOLDER}/fb_all_{split}.trace")
    yield from read_questions(text, trace, f"{path}!fb_all_{split}.txt")


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
