"""What commands print: tables on a terminal, plain columns when piped, JSON when asked for."""

import sys
from collections.abc import Iterable

import msgspec

from sociometer.analysis.error_counts import known_errors
from sociometer.analysis.formatting import SAME_ON_EVERY_ITEM
from sociometer.analysis.interval_methods import NO_VARIATION
from sociometer.core.errors import ExitCode
from sociometer.core.measure import Cell, Interval, Measure, Table
from sociometer.core.task import Result

_CONTROL = {code: f"\\x{code:02x}" for code in (*range(0x09), *range(0x0B, 0x20), *range(0x7F, 0xA0))}


def print_json(value: object) -> None:
    """One JSON value on standard output."""
    body = msgspec.json.format(msgspec.json.encode(value, enc_hook=str), indent=2)
    sys.stdout.write(body.decode() + "\n")


def print_result(result: Result, as_json: bool) -> int:
    """Shows a command's result; gives the exit code."""
    if as_json:
        print_json(result)
    else:
        for table in result.tables:
            print_table(table)
        for note in result.notes:
            print_line(note)
        for path in result.wrote:
            print_line(f"wrote {path}")
    return int(ExitCode.GATE_FAILED if result.failed else ExitCode.OK)


def print_line(text: str = "") -> None:
    """One line of plain text on standard output; nothing in it can move the terminal's cursor or its title."""
    sys.stdout.write(harmless(text) + "\n")


def print_table(table: Table) -> None:
    """A table, drawn for a terminal or as tab-separated columns when piped."""
    if not sys.stdout.isatty():
        print_line(f"# {table.title}")
        print_line("\t".join(table.columns))
        for row in table.rows:
            print_line("\t".join(cell_text(cell).replace("\t", " ").replace("\n", " ") for cell in row))
        if table.note:
            print_line(f"# {table.note}")
        print_line()
        return
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    drawn = RichTable(title=Text(table.title, style="bold"), title_justify="left", caption_justify="left")
    drawn.caption = Text(table.note) if table.note else None
    for index, column in enumerate(table.columns):
        numeric = all(isinstance(row[index], int | float | None) for row in table.rows if index < len(row))
        drawn.add_column(Text(column), justify="right" if numeric else "left", overflow="fold")
    for row in table.rows:
        drawn.add_row(*(Text(cell_text(cell)) for cell in row))
    Console().print(drawn)


def harmless(text: str) -> str:
    """The text with control characters made visible, except line ends and tabs."""
    return text.translate(_CONTROL)


def cell_text(cell: Cell) -> str:
    """A cell as text: numbers short, nothing as a dash."""
    if cell is None:
        return "–"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, float):
        return f"{cell:.3f}".rstrip("0").rstrip(".") if abs(cell) < 1000 else f"{cell:,.0f}"
    return harmless(str(cell))


def measure_rows(measures: Iterable[Measure]) -> Iterable[tuple[Cell, ...]]:
    """Measures as rows: name, group, value, interval, items, unreadable, errors, note."""
    known = list(measures)
    for measure, errors in zip(known, known_errors(known), strict=True):
        group = " · ".join(f"{key} {value}" for key, value in measure.group.items()) or "all"
        yield (
            measure.name,
            group,
            measure.value,
            _bounds(measure.interval),
            measure.items,
            measure.unreadable,
            errors,
            measure.note,
        )


def _bounds(interval: Interval | None) -> str:
    if interval is None:
        return "–"
    if interval.low is None or interval.high is None:
        return f"too few ({interval.clusters})"
    if interval.method == NO_VARIATION:
        return SAME_ON_EVERY_ITEM
    return f"[{cell_text(interval.low)}, {cell_text(interval.high)}]"


MEASURE_COLUMNS = ("measure", "of", "value", "95 % interval", "items", "unreadable", "errors", "note")
