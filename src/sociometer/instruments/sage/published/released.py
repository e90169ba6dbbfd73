"""The authors' released dialogue files, recognised by their contents, or else by their names."""

import hashlib
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain
from pathlib import Path

import msgspec
from msgspec import Struct

from sociometer.core.errors import DataError
from sociometer.core.sheets import read_records
from sociometer.instruments.sage.dialogue import ReleasedDialogue, read_dialogues, simulator_of, subject_of

LISTED = Path(__file__).parent / "released.csv"
_PLACES = ("*.jsonl", "*/*.jsonl", "*/*/*.jsonl", "sage/*/*/*.jsonl", "SAGE/*/*/*.jsonl")
_LONGEST_LINE = 1 << 22


class Listed(Struct, frozen=True):
    """A file of the release: the names that the paper prints for its simulator and its model, and its contents."""

    simulator: str
    model: str
    folder: str
    file: str
    contents: str = ""
    """The digest of ids, final emotions and lengths of its dialogues; empty if we have not seen the file."""


class ReleasedFile(Struct, frozen=True):
    """A file that was found: what it is, how it was recognised, and the final emotion of each scenario."""

    path: Path
    simulator: str
    model: str
    known_by: str
    finals: dict[str, int]


@cache
def listed() -> tuple[Listed, ...]:
    """The files of the release that we know of."""
    return tuple(read_records(LISTED, Listed))


def released_files(folders: Iterable[Path]) -> list[ReleasedFile]:
    """The released files below the folders, one for each simulator and model.

    A file is recognised by its contents, whatever its name; a file with unknown contents, by its folder and name.
    """
    found: dict[tuple[str, str], ReleasedFile] = {}
    for path in _candidates(folders):
        one = recognise(path)
        if one is not None:
            known = found.setdefault((one.simulator, one.model), one)
            if known.known_by == "name" and one.known_by == "contents":
                found[one.simulator, one.model] = one
    return list(found.values())


def recognise(path: Path) -> ReleasedFile | None:
    """The content of a file of the release; None if it is something else."""
    if not _looks_released(path):
        return None
    dialogues = [(scenario.id, dialogue) for scenario, dialogue in read_dialogues(path)]
    finals = {name: dialogue.final for name, dialogue in dialogues}
    contents = contents_of((name, dialogue.final, len(dialogue.turns)) for name, dialogue in dialogues)
    for known in listed():
        if known.contents and known.contents == contents:
            return ReleasedFile(path, known.simulator, known.model, "contents", finals)
    simulator, model = _simulators().get(simulator_of(path)), _models().get(subject_of(path))
    return ReleasedFile(path, simulator, model, "name", finals) if simulator and model else None


def contents_of(dialogues: Iterable[tuple[str, int, int]]) -> str:
    """The digest of dialogues (id, final emotion, replies), in any order."""
    lines = sorted(f"{name}:{final}:{replies}" for name, final, replies in dialogues)
    return hashlib.blake2b("\n".join(lines).encode(), digest_size=8).hexdigest()


@cache
def _simulators() -> dict[str, str]:
    """The printed name of a simulator by the name that its folder gives."""
    found = {simulator_of(Path(known.folder) / known.file): known.simulator for known in listed()}
    return {**found, "gemini-2.5-flash-think": "Gemini2.5-Think"}


@cache
def _models() -> dict[str, str]:
    """The printed name of a model by the name that its file gives."""
    return {subject_of(Path(known.folder) / known.file): known.model for known in listed()}


def _candidates(folders: Iterable[Path]) -> Iterator[Path]:
    seen: set[Path] = set()
    for folder in folders:
        for path in sorted(chain.from_iterable(folder.glob(place) for place in _PLACES)):
            if path.resolve() not in seen and path.is_file():
                seen.add(path.resolve())
                yield path


def _looks_released(path: Path) -> bool:
    """Whether the first line is a released dialogue."""
    try:
        with path.open("rb") as lines:
            msgspec.json.decode(lines.readline(_LONGEST_LINE), type=ReleasedDialogue)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError, DataError):
        return False
    return True
