"""Results on a terminal: tables that fit its width, plain columns when piped, JSON or CSV files when asked for."""

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct, structs

from sociometer.core import words
from sociometer.core.lazy import lazy
from sociometer.core.measure import Cell, Interval, Table
from sociometer.core.sheets import whole_file, write_sheet
from sociometer.core.words import counted, first_of, grouped
from sociometer.statistics.formatting import interval_text, number, p_text

rich_cells = lazy("rich.cells")
rich_console = lazy("rich.console")
rich_padding = lazy("rich.padding")
rich_table = lazy("rich.table")
rich_text = lazy("rich.text")

INTERVAL = "95 % interval"
NOTE = "note"
GAP = 2
"""Spaces between two columns."""
LONG_NAME, LONG_HEAD = 30, 12
"""A longer word, such as the name of a model, may break after a separator; in the head of a column sooner."""
_SEPARATORS = (r"[^/#@:]*[/#@:]|[^/#@:]+", r"[^-_.,=]*[-_.,=]|[^-_.,=]+", f".{{1,{LONG_NAME}}}")
"""Where a long word may break: what is still too long after the first breaks at the next."""
_WORD = re.compile(r"\s*(?:[\u2e80-\uffef]|[^\s\u2e80-\uffef]+)")
"""A word, or a character of a script without spaces, such as Chinese."""
_GO_FIRST = (
    "adjusted for", "unreadable replies", "errors", "clusters", "source", "tokens", "requests", "cost", "settings",
    "started", "episodes",
)  # fmt: skip
_KEPT = ("subject", "status", INTERVAL, "rank", "rank, 95 %", "reason", "next step")
_SCORES = ("score", "value", "difference", "verdict", "result")
_LEFT_OUT = (_GO_FIRST, (), ("chance", "items"), ("measure", "group"), ("instrument",), _KEPT)
"""The columns in the order in which they are left out; those without a place here second, scores never."""
_REASONS = ("reason", "flagged", "excluded")
"""Columns that become notes below the table instead of being left out."""
_SILENT_AT_ZERO = ("errors", "unreadable replies", "failed")
_CONTROL = {code: f"\\x{code:02x}" for code in (*range(0x09), *range(0x0B, 0x20), *range(0x7F, 0xA0))}
# Changes of direction, and what takes no room; the two joiners of Indic scripts and emoji stay.
_UNSEEN = (0xAD, 0x61C, 0x180E, 0x200B, 0x200E, 0x200F, 0xFEFF, *range(0x202A, 0x202F), *range(0x2060, 0x2070))
_CONTROL |= {code: f"\\u{code:04x}" for code in (*_UNSEEN, *range(0xE0000, 0xE0080))}
_NUMBER = re.compile(r"[+−<>$]? ?[\d.,]+( %| points?)?( (to|\[|\()(?!.*unreadable).*)?")
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
    wrapped: tuple[int, ...] = ()
    """The widths of columns whose texts wrap; empty if all fit."""

    @property
    def widths(self) -> tuple[int, ...]:
        """The cells that each column takes on a terminal."""
        return self.wrapped or tuple(
            max(map(shown_width, (head, *(row[place] for row in self.rows)))) for place, head in enumerate(self.columns)
        )

    @property
    def width(self) -> int:
        """The cells that a line takes on a terminal."""
        return sum(self.widths) + GAP * (len(self.columns) - 1)

    def only(self, kept: Sequence[int]) -> "TableText":
        """The table with these columns only."""
        columns, *rows = (tuple(cells[place] for place in kept) for cells in (self.columns, *self.rows))
        right = tuple(self.right[place] for place in kept)
        return structs.replace(self, columns=columns, rows=tuple(rows), right=right, wrapped=())


def harmless(text: str) -> str:
    """The text with control and invisible characters made visible, except line ends and tabs."""
    return text.translate(_CONTROL)


def cell_text(cell: Cell, unit: str = "", interval: Interval | None = None, digits: int | None = None) -> str:
    """A cell as one line of text; a number in its unit, with these decimals or those that its interval is worth."""
    if isinstance(cell, int | float) and not isinstance(cell, bool):
        if unit == "p":
            return p_text(cell)
        if unit or digits or (interval is not None and isinstance(cell, float)):
            return number(cell, unit or "number", digits, interval=interval).partition(" point")[0]
    return harmless(words.cell_text(cell)).replace("\n", " ").replace("\t", " ")


def text_of(table: Table, *, everything: bool = False, most_rows: int | None = None) -> TableText:
    """The table in text; without `everything`, only the columns and the first rows that a person needs."""
    hidden = [] if everything else [name for name in table.columns if name in table.details]
    rows = table.rows if everything or most_rows is None else table.rows[:most_rows]
    columns, cells, right = _text_columns(table, rows)
    notes = [table.note] if table.note else []
    kept = list(range(len(columns)))
    if not everything:
        notes += _footnotes(columns, cells, NOTE) if NOTE in columns else []
        left = (*hidden, NOTE)
        kept = [at for at in kept if columns[at] not in left and not _says_nothing(columns[at], cells, at)]
    below = tuple(map(harmless, notes)), tuple(hidden), len(table.rows) - len(rows)
    text = TableText(harmless(table.title), tuple(columns), tuple(cells), tuple(right), *below)
    return text.only(kept)


def with_texts(table: Table) -> Table:
    """The table with its cells as text, in their units, and only the columns that a person needs."""
    text = text_of(table)
    return structs.replace(table, columns=text.columns, rows=text.rows, note="\n".join(text.notes), units={})


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
            own = zip(_bounds_after(table, rows, place - 1), column, strict=True)
            heads.append(INTERVAL)
            texts.append([interval_text(one, unit or "number") or cell_text(low) for one, low in own])
            right.append(False)
            place += 2
            continue
        heads.append(harmless(head))
        texts.append([cell_text(cell, unit, interval) for cell, interval in zip(column, bounds, strict=True)])
        if numeric and unit != "p" and not any(bounds):  # as many decimals in each row
            digits = max(len(text.partition(".")[2].rstrip(" %")) for text in texts[-1])
            texts[-1] = [cell_text(cell, unit, digits=digits) for cell in column] if digits else texts[-1]
        shown = [text for text in texts[-1] if text not in ("", "–")]
        right.append(numeric or (bool(rows) and all(map(_NUMBER.fullmatch, shown))))
        place += 1
    return heads, [tuple(column[line] for column in texts) for line in range(len(rows))], right


def _bounds_after(table: Table, rows: Sequence[Sequence[Cell]], place: int) -> list[Interval | None]:
    """For each row the interval in the two columns after this one; that of a difference shows its side of zero."""
    same = table.columns[place + 1 : place + 3] == ("from", "to")
    apart = (0.0,) if same and table.columns[place] == "difference" else ()
    found: list[Interval | None] = []
    for row in rows:
        low, high = (row[place + 1], row[place + 2]) if same else (None, None)
        bounded = isinstance(low, int | float) and isinstance(high, int | float)
        found.append(Interval(float(low), float(high), apart=apart) if bounded else None)  # type: ignore[arg-type]
    return found


def _says_nothing(head: str, cells: Sequence[Sequence[str]], place: int) -> bool:
    """Whether a column is empty, or counts faults of which there are none."""
    column, silent = {row[place] for row in cells}, {"", "–", "0" if head in _SILENT_AT_ZERO else ""}
    return column <= silent or (head == "group" and column == {"all"})


def _footnotes(columns: Sequence[str], cells: Sequence[Sequence[str]], head: str) -> Iterator[str]:
    """The notes of the rows, each once, with the name of the row, and with its group if the note is not on all."""
    place, what = columns.index(head), "" if head == NOTE else f", {head}"
    name = next((at for at, head in enumerate(columns) if head in ("measure", "coefficient")), 0)
    group = columns.index("group") if "group" in columns else place
    found = grouped((row[place], (row[name], row[group])) for row in cells if row[place] not in ("", "–"))
    for note, rows in found.items():
        of = grouped(rows)
        named = [one if {"all", note} & {*groups} else f"{one} ({first_of(groups, 3)})" for one, groups in of.items()]
        yield f"{', '.join(named)}{what}: {note}"


def fitted(text: TableText, width: int) -> TableText:
    """The table within this width: texts wrap between words, then columns are left out, never the first or scores."""
    while (narrow := _wrapped(text, width)).width > width and (least := _least(text.columns)):
        kept, head = [place for place in range(len(text.columns)) if place != least], text.columns[least]
        told = tuple(_footnotes(text.columns, text.rows, head)) if head in _REASONS else ()
        hidden = () if head in _REASONS else (head,)
        more = {"hidden_columns": (*text.hidden_columns, *hidden), "notes": (*text.notes, *told)}
        text = structs.replace(text.only(kept), **more)
    return narrow


def _least(columns: Sequence[str]) -> int:
    """The column that is left out first, the last of its kind; 0 if there is none."""
    turns = {head: turn for turn, heads in enumerate(_LEFT_OUT) for head in heads}
    compared = columns[: columns.index("difference")][-2:] if "difference" in columns else ()
    able = [place for place, head in enumerate(columns) if place and head not in (*_SCORES, *compared)]
    return min(able, key=lambda place: (turns.get(columns[place], 1), -place), default=0)


def _wrapped(text: TableText, width: int, at_least: int = 1) -> TableText:
    """The table with widths in which the texts take the fewest lines; wider (`at_least`) if its words do not fit."""
    excess, widths = text.width - width, list(text.widths)
    if excess <= 0:
        return text
    columns = [[head, *(row[place] for row in text.rows)] for place, head in enumerate(text.columns)]
    least = [max([_unbroken(head, LONG_HEAD), *map(_unbroken, cells)]) for head, *cells in columns]
    if sum(least) >= sum(widths) - excess:
        return structs.replace(text, wrapped=tuple(map(min, widths, (max(at_least, each) for each in least))))
    lengths = [[*map(shown_width, column[:100])] for column in columns]  # the first rows are enough
    lines = [[-(-length // widths[place]) for length in lengths[place]] for place in range(len(widths))]

    def taken(place: int) -> tuple[int, int]:
        """The lines of the table if this column were one narrower; of equal ones, the widest gives way."""
        narrower = [-(-length // (widths[place] - 1)) for length in lengths[place]]
        others = (lines[other] for other in range(len(widths)) if other != place)
        return sum(map(max, zip(narrower, *others, strict=True))), -widths[place]

    while excess > 0 and (able := [place for place in range(len(widths)) if widths[place] > least[place]]):
        place = min(able, key=taken)
        widths[place] -= 1
        lines[place] = [-(-length // widths[place]) for length in lengths[place]]
        excess -= 1
    return structs.replace(text, wrapped=tuple(widths))


def _unbroken(cell: str, longest: int = LONG_NAME) -> int:
    """The width that a cell needs at least: that of a number with its interval, or of its longest word."""
    if _NUMBER.fullmatch(cell):
        return shown_width(cell)
    first, *parts = _parts(cell, longest) or [""]
    least = 1 if cell.isascii() else min(LONG_HEAD, shown_width(cell))
    return max(least, shown_width(first), *(shown_width(part.lstrip()) for part in (*parts, "")))


def _parts(cell: str, longest: int) -> list[str]:
    """The parts of a text that stay whole, each with the spaces before it: words, and parts of very long ones."""
    parts = _WORD.findall(cell)
    for separators in _SEPARATORS:
        broken = ([part] if shown_width(part) <= longest else re.findall(separators, part) for part in parts)
        parts = [part for these in broken for part in these]
    return parts


def _folded(cell: str, width: int, longest: int = LONG_NAME) -> str:
    """The text in lines of this width."""
    lines = [""]
    for part in [cell] if shown_width(cell) <= width else _parts(cell, longest):
        if lines[-1] and shown_width(lines[-1] + part) > width:
            lines.append(part.lstrip())
        else:
            lines[-1] += part
    return "\n".join(lines)


def shown_width(text: str) -> int:
    """The cells that a text takes on a terminal; a Chinese character takes two."""
    if text.isascii():
        return len(text)

    return int(rich_cells.cell_len(text))


SCREEN = 24
"""The maximum number of table rows that a command shows without `--format wide`."""
LEAST_ROWS = 6
"""Rows of each table that are shown, however many tables there are."""


class Display(Struct, frozen=True):
    """How a command shows its result: what fits the screen, every row and column, CSV or JSON; and where it goes."""

    format: Literal["table", "wide", "csv", "json"] = "table"
    to: Path | None = None
    """A file (.csv or .json), or a folder for the tables and figures of the result."""

    @property
    def wide(self) -> bool:
        """Whether every row and column is shown."""
        return self.format == "wide"

    @property
    def as_json(self) -> bool:
        """Whether the result is one JSON value."""
        return self.format == "json"

    def has_room(self, table: Table) -> bool:
        """Whether a table needs to leave out no columns but those that go first."""
        if self.format != "table" or not sys.stdout.isatty():
            return True
        text, room = text_of(table), int(rich_console.Console().width)
        kept = [place for place, head in enumerate(text.columns) if head not in _GO_FIRST]
        return _wrapped(text.only(kept), room).width <= room

    def json(self, value: object) -> None:
        """One JSON value on standard output, or in a .json file."""
        if self.to is None or self.to.suffix.lower() != ".json":
            print_json(value)
            return
        with whole_file(self.to) as partial:
            partial.write_bytes(json_text(value))
        print_text(f"wrote {self.to}", err=True)

    def show(
        self,
        tables: Iterable[Table],
        *,
        finding: str = "",
        more: Iterable[Table] = (),
        notes: Sequence[str] = (),
        limits: Sequence[int] = (),
        files: Iterable[Table] | None = None,
        data: object = None,
    ) -> None:
        """First the finding, then the tables, then notes, then where the rest is; `more` is shown with `wide`.

        `limits` are the maximum rows of each table on a terminal, and `files` the tables of CSV files, if they are
        different. As JSON, only `data` is shown.
        """
        if self.as_json:
            self.json(data)
            return
        first, rest = list(tables), list(more)
        whole = [*first, *rest] if files is None else list(files)
        if self.format == "csv" and self.to is None:
            for table in whole:
                sys.stdout.write(csv_text(table) + "\n" * (len(whole) > 1))
            return
        if finding:
            print_text(finding)
            print_line()
        shown = [*first, *rest] if self.wide else first
        each = max(LEAST_ROWS, SCREEN // max(1, len(shown)))
        most = (limits or [each] * len(first)) if sys.stdout.isatty() else [None] * len(first)
        texts = [
            text_of(table, everything=self.wide, most_rows=rows)
            for table, rows in zip(shown, [*most, *([None] * len(rest))], strict=False)
        ]
        printed = [_print_text(text, self.wide) for text in texts]
        for note in notes:
            print_text(note)
        hidden = _what_is_hidden(printed, 0 if self.wide else len(rest))
        if hidden:
            print_text(f"Not shown: {hidden}. To see everything, add --format wide.")
        for path in self.written(whole):
            print_line(f"wrote {path}")

    def written(self, tables: Sequence[Table]) -> list[Path]:
        """The CSV files of the tables: the file itself for the first, a file next to it for each other."""
        if self.to is None or self.to.suffix.lower() == ".json":
            return []
        folder = self.to.suffix.lower() != ".csv"
        paths: list[Path] = []
        for table in tables:
            name = "".join(letter if letter.isalnum() else "-" for letter in table.name)
            path = self.to / f"{name}.csv" if folder else self.to
            if paths and not folder:
                path = path.with_name(f"{path.stem}-{name}{path.suffix}")
            count = sum(known.stem.startswith(path.stem) for known in paths)
            path = path.with_stem(f"{path.stem}-{count + 1}") if path in paths else path
            with whole_file(path, within=self.to if folder else None) as partial:
                partial.write_text(csv_text(table), encoding="utf-8")
            paths.append(path)
        return paths


def csv_text(table: Table) -> str:
    """The whole table as CSV, safe to open in a spreadsheet."""
    return write_sheet(table.columns, table.rows, guard_formulas=True)


def print_json(value: object) -> None:
    """One JSON value on standard output."""
    sys.stdout.write(json_text(value).decode())


def json_text(value: object) -> bytes:
    """A JSON value as commands print it."""
    return msgspec.json.format(msgspec.json.encode(value, enc_hook=str), indent=2) + b"\n"


def print_line(text: str = "") -> None:
    """One line of plain text on standard output; nothing in it can move the terminal's cursor or its title."""
    sys.stdout.write(harmless(text) + "\n")


def print_text(text: str, *, err: bool = False) -> None:
    """Plain text on standard output, or on standard error; on a terminal lines break between words."""
    stream = sys.stderr if err else sys.stdout
    if not stream.isatty():
        stream.write(harmless(text) + "\n")
        stream.flush()
        return

    rich_console.Console(highlight=False, stderr=err).print(rich_text.Text(harmless(text)))


def print_table(table: Table, *, piped: bool = True) -> str:
    """Prints one table in full; for short tables. Without `piped` it has aligned columns in a pipe too.

    Returns in words what did not fit.
    """
    text = _print_text(text_of(table), everything=False, piped=piped)
    narrow = tuple(name for name in text.hidden_columns if name not in table.details)
    return _what_is_hidden([structs.replace(text, hidden_columns=narrow)], 0)


def _print_text(text: TableText, everything: bool, *, piped: bool = True) -> TableText:
    """Prints a table, in a pipe as tab-separated columns unless not `piped`; returns what was printed."""
    if piped and not sys.stdout.isatty():
        print_line(f"# {text.title}")
        for row in (text.columns, *text.rows):
            print_line("\t".join(row))
        for note in text.notes:
            print_line(f"# {note}")
        print_line()
        return text
    console = rich_console.Console()
    text = _wrapped(text, console.width, LONG_NAME) if everything else fitted(text, console.width)
    drawn = rich_table.Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold", expand=False)
    for column, right, width in zip(text.columns, text.right, text.widths, strict=True):
        head = rich_text.Text(_folded(column, width, LONG_HEAD))
        drawn.add_column(head, justify="right" if right else "left", width=width)
    for row in text.rows:
        drawn.add_row(*(rich_text.Text(_folded(cell, width)) for cell, width in zip(row, text.widths, strict=True)))
    console.print(rich_text.Text(text.title, style="bold underline"))
    # Rich counts a gap behind the last column too.
    rich_console.Console(width=max(console.width, text.width + GAP)).print(drawn)
    for note in text.notes:
        console.print(rich_padding.Padding(rich_text.Text(note, style="dim"), (0, 0, 0, 2)))
    console.print()
    return text


def _what_is_hidden(texts: Sequence[TableText], tables: int) -> str:
    rows = sum(text.hidden_rows for text in texts)
    columns = list(dict.fromkeys(name for text in texts for name in text.hidden_columns))
    parts = [counted(rows, "row")] if rows else []
    parts += [counted(tables, "table")] if tables else []
    parts += [f"the column{'s' * (len(columns) > 1)} {first_of(columns, 4)}"] if columns else []
    return "; ".join(parts)
