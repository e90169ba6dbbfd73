"""ESConv: talks of people in trouble with people who try to support them, with stars for the support.

Read as released: JSON lines in the form of MultiESC (`valid.txt`), and the JSON array of the talks that were rejected
because the seeker felt no better (`FailedESConv.json`). The file gives the stars beside what the seeker wrote next;
they rate the support before it. The releases name no people, so each talk is a person of its own.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from sociometer.core.errors import DataError
from sociometer.instruments.sage.passport.talks import FoundTalk, PersonTalk, PersonTurn
from sociometer.reading import read_lines

HELPER = "people"
"""Who gave the support, in place of a model's name."""
_REJECTED = "Failed"
_KINDS = "a talk of ESConv with situation, dialog, and the intensity of the feeling"
Rating = Literal["1", "2", "3", "4", "5"]
Words = Annotated[str, Meta(min_length=1, pattern=r"\S")]
Intensity = Annotated[int, Meta(ge=1, le=5)]


class KeptMessage(Struct, frozen=True):
    """A message in the form of MultiESC."""

    text: Words
    speaker: Literal["usr", "sys"]
    feedback: Rating | None = None


class KeptTalk(Struct, frozen=True):
    """A talk in the form of MultiESC."""

    situation: Words
    problem_type: str
    init_intensity: Intensity
    final_intensity: Intensity
    dialog: tuple[KeptMessage, ...]


class Note(Struct, frozen=True):
    """What is noted at a message of a rejected talk."""

    feedback: Rating | None = None


class FailedMessage(Struct, frozen=True):
    """A message of a rejected talk; the speaker is the seeker."""

    content: Words
    speaker: Literal["speaker", "listener"]
    annotation: Note


class Seeker(Struct, frozen=True):
    """What the seeker said in the survey."""

    initial_emotion_intensity: Rating | None = None
    final_emotion_intensity: Rating | None = None


class Survey(Struct, frozen=True):
    """The survey after a rejected talk."""

    seeker: Seeker


class FailedTalk(Struct, frozen=True):
    """A rejected talk."""

    situation: Words
    problem_type: str
    survey_score: Survey
    dialog: tuple[FailedMessage, ...]


class Message(Struct, frozen=True):
    """A message of either form."""

    by_seeker: bool
    words: str
    stars: int | None


def is_kept(line: Mapping[str, Any]) -> bool:
    """Whether a JSON object is a talk in the form of MultiESC."""
    return "dialog" in line and "init_intensity" in line


def read_kept(path: Path) -> Iterator[tuple[Path, int, FoundTalk]]:
    """The talks of a file of JSON lines, with the line of each."""
    for line, talk in read_lines(path, KeptTalk, _KINDS):
        messages = [
            Message(message.speaker == "usr", message.text.strip(), _whole(message.feedback)) for message in talk.dialog
        ]
        told = msgspec.structs.replace(
            _told(talk.situation, talk.problem_type, messages),
            intensity_before=talk.init_intensity,
            intensity_after=talk.final_intensity,
        )
        yield path, line, _found(path, line, told, messages)


def read_failed(path: Path) -> Iterator[tuple[Path, int, FoundTalk]]:
    """The talks of a JSON array, with the line at which each begins.

    Talks that were kept have the same form; only the name of the file tells them apart.
    """
    is_rejected = path.name.startswith(_REJECTED)
    for number, (line, body) in enumerate(_entries(path), 1):
        try:
            talk = msgspec.convert(body, FailedTalk)
        except msgspec.ValidationError as error:
            raise DataError(f"{error}; expected {_KINDS}", path, line) from None
        messages = [
            Message(message.speaker == "speaker", message.content.strip(), _whole(message.annotation.feedback))
            for message in talk.dialog
        ]
        seeker = talk.survey_score.seeker
        told = msgspec.structs.replace(
            _told(talk.situation, talk.problem_type, messages),
            intensity_before=_whole(seeker.initial_emotion_intensity),
            intensity_after=_whole(seeker.final_emotion_intensity),
            failed=is_rejected,
        )
        yield path, line, _found(path, number, told, messages)


def _found(path: Path, number: int, told: PersonTalk, messages: Sequence[Message]) -> FoundTalk:
    return FoundTalk(
        person=f"{path.stem}-{number}",
        model=HELPER,
        talk=told,
        names_person=False,
        unused_reports=unused_ratings(messages),
    )


def _whole(rating: str | None) -> int | None:
    return None if rating is None else int(rating)


def _entries(path: Path) -> Iterator[tuple[int, Any]]:
    """The entries of a JSON array, each with its line."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot be read: {error}", path) from None
    decoder = json.JSONDecoder()
    place = len(text) - len(text.lstrip()) + 1
    counted, line = 0, 1
    while True:
        while place < len(text) and text[place] in " \t\r\n,":
            place += 1
        if place >= len(text) or text[place] == "]":
            return
        line += text.count("\n", counted, place)
        counted = place
        try:
            entry, place = decoder.raw_decode(text, place)
        except (ValueError, RecursionError) as error:
            raise DataError(f"{error}; expected {_KINDS}", path, line) from None
        yield line, entry


def _told(situation: str, problem: str, messages: Sequence[Message]) -> PersonTalk:
    """The talk of these messages.

    Consecutive messages of one side are one. The first stars after a reply count, others for the same reply do not;
    stars before any reply are for nothing.
    """
    opening: list[str] = []
    replies: list[list[str]] = []
    stars: list[int | None] = []
    words: list[list[str]] = []
    for message in messages:
        if not message.by_seeker:
            if not replies or words[-1]:
                replies.append([])
                stars.append(None)
                words.append([])
            replies[-1].append(message.words)
            continue
        if not replies:
            opening.append(message.words)
            continue
        words[-1].append(message.words)
        if stars[-1] is None:
            stars[-1] = message.stars
    turns = [
        PersonTurn("\n".join(reply), given, "\n".join(answer))
        for reply, given, answer in zip(replies, stars, words, strict=True)
    ]
    return PersonTalk(
        matter=situation.strip(),
        opening="\n".join(opening),
        start=None,
        turns=tuple(turns),
        report="stars",
        kind=problem,
    )


def unused_ratings(messages: Sequence[Message]) -> int:
    """How many stars are for no reply, or for one that has stars already."""
    rated = replied = False
    unused = 0
    for message in messages:
        if not message.by_seeker:
            replied, rated = True, False
        elif message.stars is not None:
            unused += not replied or rated
            rated = True
    return unused
