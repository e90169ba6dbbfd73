"""Files of one's own: CSV or JSON lines with an utterance a row, and the feeling that the person reported."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from sociometer.core.errors import DataError
from sociometer.core.language import written_in
from sociometer.core.sheets import read_rows
from sociometer.instruments.sage.passport.talks import FoundTalk, PersonTalk, PersonTurn, Preferred
from sociometer.reading import read_lines

_COLUMNS = ("person", "talk", "model", "matter", "turn", "role", "text", "feeling", "other_reply", "preferred")


class PeopleRow(Struct, frozen=True, forbid_unknown_fields=True):
    """One utterance of a file of talks: by the person, or by the model."""

    person: str
    talk: str
    model: str
    turn: Annotated[int, Meta(ge=1)]
    role: Literal["person", "model"]
    text: str
    matter: str = ""
    feeling: Annotated[int, Meta(ge=0, le=100)] | None = None
    """Of the person before the first reply, and after each reply of the model."""
    other_reply: str = ""
    preferred: Preferred = ""


def read_own(path: Path) -> list[tuple[Path, int, FoundTalk]]:
    """The talks of a CSV or JSONL file, with the line of each; a bad row raises a DataError."""
    by_talk: dict[str, list[tuple[int, PeopleRow]]] = {}
    for line, row in _rows(path):
        rows = by_talk.setdefault(row.talk, [])
        try:
            _check(row, [earlier for _, earlier in rows])
        except ValueError as error:
            raise DataError(str(error), path, line) from None
        rows.append((line, row))
    found: list[tuple[Path, int, FoundTalk]] = []
    for name, rows in by_talk.items():
        if len(rows) < 2:
            raise DataError(f"talk '{name}' has no reply of the model", path, rows[-1][0])
        found.append((path, rows[0][0], _talk([row for _, row in rows])))
    if not found:
        raise DataError(f"has no talk; expected rows with {', '.join(_COLUMNS)}", path)
    return found


def _rows(path: Path) -> Iterator[tuple[int, PeopleRow]]:
    expected = f"one utterance with {', '.join(_COLUMNS)}"
    if path.suffix != ".csv":
        yield from read_lines(path, PeopleRow, expected)
        return
    for line, row in read_rows(path, _COLUMNS[:2]):
        given = {key: cell for key, cell in row.items() if cell}
        try:
            yield line, msgspec.convert(given, PeopleRow, strict=False)
        except msgspec.ValidationError as error:
            raise DataError(f"{error}; expected {expected}", path, line) from None


def _check(row: PeopleRow, before: list[PeopleRow]) -> None:
    """Raises a ValueError if a row cannot follow those before it."""
    if not row.person.strip() or not row.text.strip():
        raise ValueError(f"{'person' if row.text.strip() else 'text'} is empty")
    replied = sum(one.role == "model" for one in before)
    role = "model" if len(before) % 2 else "person"
    if (row.role, row.turn) != (role, replied + 1):
        raise ValueError(
            f"talk '{row.talk}' goes on with turn {row.turn} of the {row.role}; expected turn {replied + 1} of the"
            f" {role}: the person begins, and the model replies once a turn"
        )
    if before and (row.person, row.model) != (before[0].person, before[0].model):
        raise ValueError(f"talk '{row.talk}' is of {before[0].person} with {before[0].model}; a talk has one of each")
    if not before and row.feeling is None:
        raise ValueError(f"talk '{row.talk}' begins without a feeling (0 to 100) before the first reply")
    if before and row.role == "person" and row.feeling is not None:
        raise ValueError("a feeling belongs to the first row of a talk and to the model's rows, not to this one")
    if bool(row.preferred) != bool(row.other_reply) or (row.other_reply and row.role == "person"):
        raise ValueError("other_reply and preferred ('reply' or 'other') belong together, in a row of the model")


def _talk(rows: list[PeopleRow]) -> FoundTalk:
    first, replies = rows[0], rows[1::2]
    words = [row.text for row in rows[2::2]]
    turns = tuple(
        PersonTurn(row.text, row.feeling, said, row.other_reply, row.preferred)
        for row, said in zip(replies, [*words, ""][: len(replies)], strict=True)
    )
    matter = next((row.matter for row in rows if row.matter), first.text)
    language = written_in("".join(row.text for row in rows if row.role == "person"))
    made = PersonTalk(matter, first.text, first.feeling or 0, turns, language=language)
    return FoundTalk(first.person, first.model, made)
