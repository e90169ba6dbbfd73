"""Tables whose words are data: title, columns, note and units are in a `tables.toml`, and code gives the rows.

`units` has the columns of each unit, and `details` those that the terminal shows only with `--format wide`. A note may
have places for facts in braces. What follows a slash in a key is the name of the table.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from sociometer.core.language import read_texts
from sociometer.core.measure import Cell, Table


class Layout(Struct, frozen=True, forbid_unknown_fields=True):
    """A table in the file."""

    title: str
    columns: tuple[str, ...]
    note: str = ""
    units: dict[str, tuple[str, ...]] = {}
    details: tuple[str, ...] = ()


class Tables:
    """The tables of a file by key."""

    def __init__(self, path: Path) -> None:
        self._layouts = msgspec.convert(read_texts(path), dict[str, Layout])

    def __call__(
        self, key: str, rows: Iterable[tuple[Cell, ...]], *, details: Sequence[str] = (), **facts: object
    ) -> Table:
        """The table with these rows; `details` are further columns that the terminal shows only on demand."""
        known = self._layouts[key]
        units = {column: unit for unit, columns in known.units.items() for column in columns}
        name, hidden = key.rpartition("/")[2], (*known.details, *details)
        title, note = known.title.format(**facts), known.note.format(**facts)
        return Table(name, title, known.columns, tuple(rows), note, units, hidden)
