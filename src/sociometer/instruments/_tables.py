"""Tables and figures whose words are data: `tables.toml` and `figures.toml` have them, and code gives rows and charts.

Of a table, `units` has the columns of each unit, and `details` those that the terminal shows only with `--format wide`.
Titles, notes and captions may have places for facts in braces. What follows a slash in a key is the table's name.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from sociometer.core.language import read_texts
from sociometer.core.measure import Cell, Figure, Table


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


class Caption(Struct, frozen=True, forbid_unknown_fields=True):
    """A figure in the file."""

    title: str
    caption: str = ""


class Figures:
    """The figures of a file by name."""

    def __init__(self, path: Path) -> None:
        self._captions = msgspec.convert(read_texts(path), dict[str, Caption])

    def __call__(
        self,
        key: str,
        *,
        chart: dict[str, Any] | None = None,
        table: Table | None = None,
        name: str = "",
        **facts: object,
    ) -> Figure:
        """The figure with this chart or table; its name is the key, unless there is another one."""
        known = self._captions[key]
        title, caption = known.title.format(**facts), known.caption.format(**facts)
        return Figure(name or key, title, caption, chart=chart, table=table)
