"""A table as the terminal shows it: which columns and rows, numbers as text, and cells that fit without wrapping."""

import re
from collections.abc import Sequence
from typing import Any

from msgspec import Struct, structs

from sociometer.core.measure import Cell, Interval, Table
from sociometer.statistics.formatting import decimals, number, p_text, plain_number, scale_and_digits

INTERVAL = "95 % interval"
NOTE = "note"
GAP = 2
"""Spaces between two columns."""
NAME_AT_LEAST = 14
"""A cell of text is shortened to this many characters before a column is left out."""
_KEPT = ("verdict", "value", "difference", INTERVAL)
_SILENT_AT_ZERO = ("errors", "unreadable", "failed")
_CONTROL = {code: f"\\x{code:02x}" for code in (*range(0x09), *range(0x0B, 0x20), *range(0x7F, 0xA0))}
_NUMBER = re.compile(r"[+−<>$]? ?[\d.,]+( %| points?)?( (to|\[|\().*)?")
_P_VALUE = re.compile(r"p($|[ (-])")


class TableText(Struct, frozen=True):
    """A table in text: its cells, how they are aligned, and what is left out of it."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    right: tuple[bool, ...]
    notes: tuple[str, ...] = ()
    hidden_columns: tuple[str, ...] = ()
    hidden_rows: int = 0
    shortened: int = 0
    """The number of cells whose text is cut."""

    @property
    def widths(self) -> tuple[int, ...]:
        """The cells that each column takes on a terminal."""
        return tuple(
            max(map(shown_width, (head, *(row[place] for row in self.rows)))) for place, head in enumerate(self.columns)
        )

    @property
    def width(self) -> int:
        """The cells that a line takes on a terminal."""
        return sum(self.widths) + GAP * (len(self.columns) - 1)


def harmless(text: str) -> str:
    """The text with control characters made visible, except line ends and tabs."""
    return text.translate(_CONTROL)


def cell_text(cell: Cell, unit: str = "", interval: Interval | None = None) -> str:
    """A cell as text: numbers in the one format, nothing as a dash."""
    if cell is None:
        return "–"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, int | float) and unit == "p":
        return p_text(cell)
    if isinstance(cell, int) and not unit:
        return f"{cell:,}" if abs(cell) >= 10_000 else str(cell)
    if isinstance(cell, int | float) and not unit and interval is None:
        text = plain_number(cell, 3 if abs(cell) < 0.1 else 2)
        return text.rstrip("0").rstrip(".") if "." in text else text
    if isinstance(cell, int | float):
        return number(cell, unit or "number", interval=interval)
    return harmless(cell).replace("\n", " ").replace("\t", " ")


def text_of(table: Table, *, everything: bool = False, most_rows: int | None = None) -> TableText:
    """The table in text; without `everything`, only the columns and the first rows that a person needs."""
    hidden = [] if everything else [name for name in table.columns if name in table.details]
    rows = table.rows if everything or most_rows is None else table.rows[:most_rows]
    columns, cells, right = _text_columns(table, rows)
    notes = [table.note] if table.note else []
    kept = list(range(len(columns)))
    if not everything:
        kept = [
            place for place in kept if columns[place] not in hidden and not _says_nothing(columns[place], cells, place)
        ]
        if NOTE in columns:
            notes += _footnotes(columns, cells)
            kept = [place for place in kept if columns[place] != NOTE]
    return TableText(
        harmless(table.title),
        tuple(columns[place] for place in kept),
        tuple(tuple(row[place] for place in kept) for row in cells),
        tuple(right[place] for place in kept),
        tuple(map(harmless, notes)),
        tuple(hidden),
        len(table.rows) - len(rows),
    )


def _text_columns(table: Table, rows: Sequence[Sequence[Cell]]) -> tuple[list[str], list[tuple[str, ...]], list[bool]]:
    """Heads, cells and alignments; the bounds of an interval are one column, and set the decimals before them."""
    heads, texts, right = [], [], []
    place = 0
    while place < len(table.columns):
        head, column = table.columns[place], [row[place] if place < len(row) else None for row in rows]
        unit = table.units.get(head, "p" if _P_VALUE.match(head) else "")
        bounds = _bounds_after(table, rows, place)
        numeric = bool(rows) and all(isinstance(cell, int | float | None) for cell in column)
        numeric = numeric and not any(isinstance(cell, bool) for cell in column)
        if head == "from" and table.columns[place + 1 : place + 2] == ("to",):
            own = _bounds_after(table, rows, place - 1)
            heads.append(INTERVAL)
            texts.append([_bounds_text(interval, unit) for interval in own])
            right.append(False)
            place += 2
            continue
        heads.append(harmless(head))
        texts.append([cell_text(cell, unit, interval) for cell, interval in zip(column, bounds, strict=True)])
        right.append(numeric or (bool(rows) and all(_looks_numeric(text) for text in texts[-1])))
        place += 1
    return heads, [tuple(column[line] for column in texts) for line in range(len(rows))], right


def _bounds_after(table: Table, rows: Sequence[Sequence[Cell]], place: int) -> list[Interval | None]:
    """For each row the interval in the two columns after this one, if it has the same unit."""
    same = table.columns[place + 1 : place + 3] == ("from", "to")
    found: list[Interval | None] = []
    for row in rows:
        low, high = (row[place + 1], row[place + 2]) if same else (None, None)
        bounded = isinstance(low, int | float) and isinstance(high, int | float)
        found.append(Interval(float(low), float(high)) if bounded else None)  # type: ignore[arg-type]
    return found


def _bounds_text(interval: Interval | None, unit: str) -> str:
    if interval is None or interval.low is None or interval.high is None:
        return "–"
    scale, usual = scale_and_digits(unit or "number")
    digits = decimals(unit or "number", interval)
    ends = (plain_number(end * scale, usual if digits is None else digits) for end in (interval.low, interval.high))
    return " to ".join(ends) + (" %" if unit == "share" else "")


def _looks_numeric(text: str) -> bool:
    return text == "–" or bool(_NUMBER.fullmatch(text))


def _says_nothing(head: str, cells: Sequence[Sequence[str]], place: int) -> bool:
    """Whether a column is empty, or counts faults of which there are none."""
    column = {row[place] for row in cells}
    return (
        column <= {"", "–"}
        or (head == "group" and column == {"all"})
        or (head in _SILENT_AT_ZERO and column <= {"", "–", "0"})
    )


def _footnotes(columns: Sequence[str], cells: Sequence[Sequence[str]]) -> list[str]:
    """The notes of the rows, each once, with the name of the row."""
    place = columns.index(NOTE)
    found: dict[str, list[str]] = {}
    for row in cells:
        if row[place] not in ("", "–"):
            name = next((row[at] for at in range(len(row)) if columns[at] in ("measure", "coefficient")), row[0])
            found.setdefault(row[place], []).append(name)
    return [f"{', '.join(dict.fromkeys(names))}: {note}" for note, names in found.items()]


def fitted(text: TableText, width: int) -> TableText:
    """The table within this width: long cells are shortened, then columns are left out from the right."""
    while text.width > width and len(text.columns) > 1:
        narrow = _shortened(text, width)
        if narrow.width <= width:
            return narrow
        text = _without(text, _least(text.columns))
    return _shortened(text, width)


def _least(columns: Sequence[str]) -> int:
    """The column that is left out first: the last one, except that a verdict is left out last."""
    places = [place for place, head in enumerate(columns) if place and head not in _KEPT]
    return places[-1] if places else len(columns) - 1


def _without(text: TableText, place: int) -> TableText:
    def rest(cells: tuple[Any, ...]) -> tuple[Any, ...]:
        return cells[:place] + cells[place + 1 :]

    return TableText(
        text.title,
        rest(text.columns),
        tuple(map(rest, text.rows)),
        rest(text.right),
        text.notes,
        (*text.hidden_columns, text.columns[place]),
        text.hidden_rows,
    )


def _shortened(text: TableText, width: int) -> TableText:
    """The table with its widest columns of text cut down evenly, none below the shortest useful name."""
    widths = list(text.widths)
    excess = text.width - width
    while excess > 0:
        able = [place for place, right in enumerate(text.right) if not right and widths[place] > NAME_AT_LEAST]
        able = able or [0] * (len(widths) == 1 and widths[0] > 1)
        if not able:
            break
        widths[max(able, key=lambda place: widths[place])] -= 1
        excess -= 1
    rows = tuple(tuple(shorten(cell, most) for cell, most in zip(row, widths, strict=True)) for row in text.rows)
    columns = tuple(shorten(head, most) for head, most in zip(text.columns, widths, strict=True))
    cut = sum(
        cell != whole for row, full in zip(rows, text.rows, strict=True) for cell, whole in zip(row, full, strict=True)
    )
    return structs.replace(text, columns=columns, rows=rows, shortened=cut)


def shorten(text: str, most: int) -> str:
    """The text in at most that many cells; what is left out of its middle is an ellipsis, so both ends can be read."""
    if shown_width(text) <= most:
        return text
    front, back = (most - 1) - (most - 1) // 3, (most - 1) // 3
    head, tail = text, text
    while shown_width(head) > front:
        head = head[:-1]
    while shown_width(tail) > back:
        tail = tail[1:]
    return f"{head}…{tail}"


def shown_width(text: str) -> int:
    """The cells that a text takes on a terminal; a Chinese character takes two."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len  # here, since plain text needs no rich

    return cell_len(text)
