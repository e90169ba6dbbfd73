"""Tables as text and HTML: cells, their alignment, the decimals of a column, and the measures of a summary."""

import functools
import math
from collections.abc import Iterable, Sequence

from markupsafe import Markup, escape
from msgspec import Struct, structs

from sociometer.core.card import Card, MeasureCard
from sociometer.core.measure import Cell, Measure, Summary, Table
from sociometer.core.words import cell_text, plain_number
from sociometer.statistics.formatting import (
    chance_of,
    estimate,
    group_text,
    interval_text,
    known_errors,
    number,
    sure_chance,
    told_chances,
)

TextCell = tuple[str, bool]
"""The text of a table cell, and whether it is aligned right."""


def is_number(value: Cell) -> bool:
    """Whether a cell is a number and so aligned right."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def without_empty_columns(table: Table) -> Table:
    """The table without the columns in which every cell is empty."""
    kept = [place for place in range(len(table.columns)) if any(_filled(row, place) for row in table.rows)]
    rows = tuple(tuple(row[place] for place in kept if place < len(row)) for row in table.rows)
    return structs.replace(table, columns=tuple(table.columns[place] for place in kept), rows=rows)


def heads(table: Table) -> list[TextCell]:
    """Column names, and whether each column has numbers only."""
    return [(name, _numeric(_column(table, place))) for place, name in enumerate(table.columns)]


def rows(table: Table) -> list[list[TextCell]]:
    """Cells as text, and whether each is aligned right; the numbers of a column have the same decimals."""
    columns = [_column(table, place) for place in range(len(table.columns))]
    digits = [_decimals(column) for column in columns]
    numeric = [_numeric(column) for column in columns]
    return [
        [
            (plain_number(value, decimals), True)
            if isinstance(value, float) and decimals is not None
            else (cell_text(value), is_number(value) or (value is None and right))
            for value, decimals, right in zip(row, digits, numeric, strict=False)
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


class MeasureRow(Struct, frozen=True):
    """One measure of a task with what its card says about it, and its texts."""

    task: str
    measure: Measure
    card: MeasureCard
    failed: int | None
    """The number of failures; None if it is unknown."""
    chance: float | None

    @property
    def group(self) -> str:
        """The group that the measure is about; empty for a measure overall."""
        return group_text(self.measure.group)

    @property
    def value(self) -> str:
        return number(self.measure.value, self.card.unit, interval=self.measure.interval)

    @property
    def interval(self) -> str:
        return interval_text(self.measure.interval, self.card.unit)

    @property
    def estimate(self) -> str:
        """The value with its interval."""
        return estimate(self.measure.value, self.card.unit, self.measure.interval)

    @property
    def errors(self) -> str:
        return cell_text(self.failed)


def measure_rows(summary: Summary, card: Card, task: str, *, elsewhere: bool = False) -> list[MeasureRow]:
    """The measures of a task; `elsewhere` says that the items are not the bundled ones."""
    cards = {known.name: known for known in card.measures_of(task)}
    found = []
    for measure, failed in zip(summary.measures, known_errors(summary.measures), strict=True):
        known = cards.get(measure.name) or MeasureCard(task, measure.name, measure.name, unit="number")
        chance = chance_of(known, card, summary, on_official=elsewhere)
        if measure.group:  # which may have other items
            chance = None if known.name in told_chances(summary) else sure_chance(known)
        found.append(MeasureRow(task, measure, known, failed, chance))
    return found
