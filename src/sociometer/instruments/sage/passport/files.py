"""Files of people's talks: which of the known forms a file or a folder has, and all talks that it contains."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from sociometer.core.errors import DataError
from sociometer.instruments.sage.passport import esconv, recllmsim
from sociometer.instruments.sage.passport.own_files import read_own
from sociometer.instruments.sage.passport.talks import FoundTalk

Placed = tuple[Path, int, FoundTalk]
"""A talk with the file and the line at which it begins."""


class FoundTalks(Struct, frozen=True):
    """The talks of a file or a folder."""

    talks: tuple[FoundTalk, ...]
    left_out: tuple[str, ...] = ()
    """Talks without any report, by file and line."""
    unused_reports: int = 0
    """Reports that are for no reply, or for one that has a report already."""


def read_people(path: Path) -> FoundTalks:
    """The talks of a file or a folder, in the form that its contents show; a bad line raises a DataError.

    A talk without any report is left out and named; a talk that is there twice is an error.
    """
    talks: list[FoundTalk] = []
    left_out: list[str] = []
    places: dict[bytes, str] = {}
    unused_reports = 0
    for file, line, file_talk in _read(path):
        place = f"{file.name}:{line}"
        named = file_talk.person if file_talk.names_person else ""
        body = msgspec.json.encode((named, file_talk.model, file_talk.talk))
        if body in places:
            raise DataError(f"the same talk as {places[body]}; remove one of them", file, line)
        places[body] = place
        unused_reports += file_talk.unused_reports
        if file_talk.talk.reports:
            talks.append(file_talk)
        else:
            left_out.append(place)
    if not talks:
        raise DataError("has no talk with a report", path)
    reports = sorted({file_talk.talk.report for file_talk in talks})
    if len(reports) > 1:
        raise DataError(f"mixes talks with {' and '.join(reports)}; import them one by one", path)
    return FoundTalks(tuple(talks), tuple(left_out), unused_reports)


def _read(path: Path) -> Iterator[Placed]:
    if path.is_dir():
        yield from _read_folder(path)
        return
    if path.suffix == ".csv":
        yield from read_own(path)
        return
    beginning = _beginning(path)
    if isinstance(beginning, list):
        yield from esconv.read_failed(path)
    elif recllmsim.is_recllmsim(beginning):
        yield from recllmsim.read_jsonl(path)
    elif esconv.is_kept(beginning):
        yield from esconv.read_kept(path)
    else:
        yield from read_own(path)


def _read_folder(folder: Path) -> Iterator[Placed]:
    files = sorted(path for path in folder.iterdir() if path.suffix in (".jsonl", ".json", ".txt"))
    if files:
        for file in files:
            yield from _read(file)
        return
    if not recllmsim.talk_files(folder):
        raise DataError("contains no files of talks", folder)
    yield from recllmsim.read_folder(folder)


def _beginning(path: Path) -> dict[str, Any] | list[Any]:
    """The first JSON object of a file of lines; an empty list for a file that is a JSON array."""
    try:
        with path.open(encoding="utf-8") as lines:
            first = next((line for line in lines if line.strip()), "")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot be read: {error}", path) from None
    if first.lstrip().startswith("["):
        return []
    try:
        entry = json.loads(first)
    except (ValueError, RecursionError):
        return {}
    return entry if isinstance(entry, dict) else {}
