"""RecLLMSim: people plan something with a chat model, and say how satisfied they are with each reply.

Read as released (wzf2000/RecLLMSim, `human_exp_V2`): a folder with a JSON file for each talk, or JSON lines of the same
objects with `file` and `user` added.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from sociometer.core.errors import DataError
from sociometer.instruments.sage.passport.talks import FoundTalk, PersonTalk, PersonTurn
from sociometer.reading import read_lines

LANGUAGE = "zh"
_ABOUT_THE_FILE = "a talk of RecLLMSim with chat_model, history, task_context and user"
_NOT_TALKS = ("config.json", "profile.json")
_NOT_ABOUT_THE_PERSON = "complete_tid"


class Said(Struct, frozen=True):
    """A message of the talk; a reply has the person's satisfaction."""

    role: Literal["user", "assistant"]
    content: Annotated[str, Meta(min_length=1, pattern=r"\S")]
    satisfaction: Literal["1", "2", "3", "4", "5"] | None = None


class Talk(Struct, frozen=True):
    """A talk as it is released."""

    chat_model: Annotated[str, Meta(min_length=1)]
    history: tuple[Said, ...]
    task_context: Annotated[str, Meta(min_length=1)]
    task_type: str = ""
    profile: Mapping[str, Any] = {}
    user: str = ""
    file: str = ""


def is_recllmsim(line: Mapping[str, Any]) -> bool:
    """Whether a JSON object is a talk of RecLLMSim."""
    return "history" in line and "chat_model" in line


def read_jsonl(path: Path) -> Iterator[tuple[Path, int, FoundTalk]]:
    """The talks of a file of JSON lines, with the line of each."""
    for line, talk in read_lines(path, Talk, _ABOUT_THE_FILE):
        yield path, line, _found(talk, talk.user, path, line)


def talk_files(folder: Path) -> list[Path]:
    """The JSON files of talks in a folder as it is released: PERSON/TASK/NUMBER.json."""
    return sorted(path for path in folder.glob("**/*/*/*.json") if path.name not in _NOT_TALKS)


def read_folder(folder: Path) -> Iterator[tuple[Path, int, FoundTalk]]:
    """The talks of a folder as it is released; the person is the folder above the task."""
    for path in talk_files(folder):
        try:
            talk = msgspec.json.decode(path.read_bytes(), type=Talk)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
            raise DataError(f"{error}; expected {_ABOUT_THE_FILE}", path) from None
        yield path, 1, _found(talk, talk.user or path.parents[1].name, path, 1)


def _found(talk: Talk, person: str, path: Path, line: int) -> FoundTalk:
    if not person:
        raise DataError("names no user", path, line)
    if not talk.history or talk.history[0].role != "user":
        raise DataError("a talk of RecLLMSim begins with the user", path, line)
    opening: list[str] = []
    turns: list[PersonTurn] = []
    for message in talk.history:
        if message.role == "assistant":
            satisfaction = int(message.satisfaction) if message.satisfaction else None
            turns.append(PersonTurn(message.content, satisfaction))
            continue
        if message.satisfaction is not None:
            raise DataError("a message of the user has a satisfaction; only replies have one", path, line)
        if not turns:
            opening.append(message.content)
            continue
        words = "\n".join(filter(None, (turns[-1].words, message.content)))
        turns[-1] = msgspec.structs.replace(turns[-1], words=words)
    told = PersonTalk(
        matter=talk.task_context,
        opening="\n".join(opening),
        start=None,
        turns=tuple(turns),
        language=LANGUAGE,
        report="satisfaction",
        profile=tuple(_profile(talk.profile)),
        kind=talk.task_context,
    )
    return FoundTalk(person, talk.chat_model, told)


def _profile(profile: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in profile.items():
        if name == _NOT_ABOUT_THE_PERSON:
            continue
        words = "、".join(map(str, value)) if isinstance(value, list) else str(value)
        yield name, words
