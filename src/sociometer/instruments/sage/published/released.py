"""The authors' 48 released dialogue files, recognised by their git blob ids, or else by their names."""

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
    """A file of the release: the names that the paper prints for its simulator and its model, and its git blob id."""

    simulator: str
    model: str
    folder: str
    file: str
    git_blob: str


class ReleasedFile(Struct, frozen=True):
    """A file that was found: what it is, how it was recognised, and the final emotion of each scenario."""

    path: Path
    simulator: str
    model: str
    known_by: str
    finals: dict[str, int]


@cache
def listed() -> tuple[Listed, ...]:
    """The files of the release."""
    return tuple(read_records(LISTED, Listed))


def released_files(folders: Iterable[Path]) -> tuple[list[ReleasedFile], list[Path]]:
    """The released files below the folders, one for each simulator and model, and the dialogue files not used."""
    found: dict[tuple[str, str], ReleasedFile] = {}
    unused: list[Path] = []
    for path in _candidates(folders):
        one = recognise(path)
        known = found.get((one.simulator, one.model)) if one is not None else None
        if one is None or (known is not None and not (known.known_by == "name" and one.known_by == "git blob")):
            unused.append(path)
            continue
        if known is not None:
            unused.append(known.path)
        found[one.simulator, one.model] = one
    return list(found.values()), unused


def recognise(path: Path) -> ReleasedFile | None:
    """The file of the release that this is: by its bytes, whatever its name; else by its folder and name."""
    whole = path.read_bytes()
    blob = hashlib.sha1(b"blob %d\0" % len(whole) + whole, usedforsecurity=False).hexdigest()
    names = next(((one.simulator, one.model) for one in listed() if one.git_blob == blob), None)
    by = "git blob" if names else "name"
    if names is None:
        known = [(one, Path(one.folder) / one.file) for one in listed()]
        simulator = next((one.simulator for one, place in known if simulator_of(place) == simulator_of(path)), None)
        model = next((one.model for one, place in known if subject_of(place) == subject_of(path)), None)
        if simulator is None or model is None:
            return None
        names = simulator, model
    return ReleasedFile(path, *names, by, {scenario.id: dialogue.final for scenario, dialogue in read_dialogues(path)})


def _candidates(folders: Iterable[Path]) -> Iterator[Path]:
    """The files below the folders that begin with a released dialogue."""
    seen: set[Path] = set()
    for folder in folders:
        for path in sorted(chain.from_iterable(folder.glob(place) for place in _PLACES)):
            if path.resolve() not in seen and path.is_file() and _looks_released(path):
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
