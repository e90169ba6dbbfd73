"""Tables as text and HTML: cells, their alignment, and the decimals of a column."""

import functools
import math
from collections.abc import Iterable, Sequence

from markupsafe import Markup, escape

from sociometer.core.measure import Cell, Table
from sociometer.core.words import cell_text, plain_number
from sociometer.statistics.formatting import number

TextCell = tuple[str, bool]
"""The text of a table cell, and whether it is aligned right."""


def is_number(value: Cell) -> bool:
    """Whether a cell is a number and so aligned right."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def without_empty_columns(table: Table) -> Table:
    """The table without the columns in which every cell is empty."""
    kept = [place for place in range(len(table.columns)) if any(_filled(row, place) for row in table.rows)]
    return table.only(kept)


def heads(table: Table) -> list[TextCell]:
    """Column names, and whether each column has numbers only."""
    return [(name, _numeric(_column(table, place))) for place, name in enumerate(table.columns)]


def rows(table: Table) -> list[list[TextCell]]:
    """Cells as text, and whether each is aligned right; without shares, a column of numbers has the same decimals."""
    columns = [_column(table, place) for place in range(len(table.columns))]
    digits = [_decimals(column) for column in columns]
    numeric = [_numeric(column) for column in columns]
    units = [table.units.get(name, "") for name in table.columns]
    return [
        [
            (number(value, unit), True)
            if isinstance(value, float) and unit.startswith("share")
            else (plain_number(value, decimals), True)
            if isinstance(value, float) and decimals is not None
            else (cell_text(value), is_number(value) or (value is None and right))
            for value, decimals, right, unit in zip(row, digits, numeric, units, strict=False)
        ]
        for row in table.rows
    ]


def _column(table: Table, place: int) -> list[Cell]:
    return [row[place] for row in table.rows if place < len(row)]


def _filled(row: Sequence[Cell], place: int) -> bool:
    return place < len(row) and row[place] not in (None, "")


def _numeric(column: Sequence[Cell]) -> bool:
    return any(is_number(value) for value in column) and all(value is None or is_number(value) for value in column)


def _decimals(column: Sequence[Cell]) -> int | None:
    """The decimals of a column of numbers: three digits of its largest number; none if all are whole."""
    numbers = [value for value in column if isinstance(value, float) and math.isfinite(value)]
    if not _numeric(column) or not numbers:
        return None
    if all(value.is_integer() for value in numbers):
        return 0
    largest = max(abs(value) for value in numbers)
    return 1 if largest >= 10 else 2 if largest > 1 else 3


def cells(row: Iterable[TextCell]) -> Markup:
    """The cells of a row as HTML; made here, because a template takes several times as long for a cell."""
    right_aligned = ' class="n"'
    return Markup(  # noqa: S704
        "".join(f"<td{right_aligned if right else ''}>{_escaped(text)}</td>" for text, right in row)
    )


@functools.lru_cache(maxsize=65_536)
def _escaped(text: str) -> str:
    """The text as HTML; most cells of a page repeat."""
    return str(escape(text))
