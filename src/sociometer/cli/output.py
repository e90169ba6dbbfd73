"""What commands print: tables that fit a terminal, plain columns when piped, JSON or CSV files when asked for."""

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import click
import msgspec
from msgspec import Struct

from sociometer.cli.table_text import GAP, TableText, fitted, harmless, text_of
from sociometer.core.errors import ExitCode
from sociometer.core.instrument import Result
from sociometer.core.measure import Table

SCREEN = 24
"""The maximum number of table rows that a command shows without `--all`."""
LEAST_ROWS = 6
"""Rows of each table that are shown, however many tables there are."""


class Display(Struct, frozen=True):
    """How much a command shows: the most useful rows and columns, or everything; and a file for all of it."""

    everything: bool = False
    csv: Path | None = None

    def show(
        self,
        tables: Iterable[Table],
        *,
        finding: str = "",
        more: Iterable[Table] = (),
        notes: Sequence[str] = (),
        limits: Sequence[int] = (),
        files: Iterable[Table] | None = None,
    ) -> None:
        """First the finding, then the tables, then notes, then where the rest is; `more` is shown with `--all`.

        `limits` are the maximum rows of each table, and `files` the tables that `--csv` writes, if they are different.
        """
        first, rest = list(tables), list(more)
        if finding:
            print_text(finding)
            print_line()
        shown = [*first, *rest] if self.everything else first
        each = max(LEAST_ROWS, SCREEN // max(1, len(shown)))
        most = limits or [each] * len(first)
        texts = [
            text_of(table, everything=self.everything, most_rows=rows)
            for table, rows in zip(shown, [*most, *([None] * len(rest))], strict=False)
        ]
        printed = [_print_text(text, self.everything) for text in texts]
        for note in notes:
            print_text(note)
        hidden = _what_is_hidden(printed, 0 if self.everything else len(rest))
        if hidden:
            print_text(f"Not shown: {hidden}. Add --all, --csv FILE or --json to get everything.")
        for path in self._written([*first, *rest] if files is None else list(files)):
            print_line(f"wrote {path}")

    def _written(self, tables: Sequence[Table]) -> list[Path]:
        """The CSV files of the tables: the file itself for one, a file for each next to it for several."""
        if self.csv is None:
            return []
        from sociometer.core.sheets import write_sheet
        from sociometer.engine.export import whole_file

        paths: list[Path] = []
        for table in tables:
            path = self.csv
            if len(tables) > 1:
                name = "".join(letter if letter.isalnum() else "-" for letter in table.name)
                path = path.with_name(f"{path.stem}-{name}{path.suffix}")
                count = sum(known.stem.startswith(path.stem) for known in paths)
                path = path.with_stem(f"{path.stem}-{count + 1}") if path in paths else path
            with whole_file(path) as partial:
                partial.write_text(write_sheet(table.columns, table.rows, guard_formulas=True), encoding="utf-8")
            paths.append(path)
        return paths


def display_options() -> list[click.Option]:
    """`--all`, `--csv` and `--json`, for commands that print tables."""
    return [
        click.Option(["--all", "everything"], is_flag=True, help="Show every row and column."),
        click.Option(
            ["--csv"],
            type=click.Path(path_type=Path, dir_okay=False),
            metavar="FILE",
            help="CSV file for the complete tables; several tables get one file each, named FILE-TABLE.",
        ),
        click.Option(["--json", "as_json"], is_flag=True, help="Print one JSON value instead of tables."),
    ]


def print_json(value: object) -> None:
    """One JSON value on standard output."""
    body = msgspec.json.format(msgspec.json.encode(value, enc_hook=str), indent=2)
    sys.stdout.write(body.decode() + "\n")


def print_result(result: Result, as_json: bool, display: Display | None = None) -> int:
    """Show a command's result and return the exit code."""
    if as_json:
        print_json(msgspec.structs.replace(result, tables=(*result.tables, *result.more), more=()))
    else:
        (display or Display()).show(result.tables, finding=result.finding, more=result.more, notes=result.notes)
        for path in result.wrote:
            print_line(f"wrote {path}")
    return int(ExitCode.GATE_FAILED if result.failed else ExitCode.OK)


def print_line(text: str = "") -> None:
    """One line of plain text on standard output; nothing in it can move the terminal's cursor or its title."""
    sys.stdout.write(harmless(text) + "\n")


def print_text(text: str) -> None:
    """Plain text on standard output; on a terminal its lines break between words."""
    if not sys.stdout.isatty():
        print_line(text)
        return
    from rich.console import Console
    from rich.text import Text

    Console(highlight=False).print(Text(harmless(text)), soft_wrap=False)


def print_table(table: Table) -> None:
    """Prints one table in full; for short tables."""
    _print_text(text_of(table), everything=False)


def _print_text(text: TableText, everything: bool) -> TableText:
    """Prints a table, as tab-separated columns when piped; returns what was printed."""
    if not sys.stdout.isatty():
        print_line(f"# {text.title}")
        print_line("\t".join(text.columns))
        for row in text.rows:
            print_line("\t".join(row))
        for note in text.notes:
            print_line(f"# {note}")
        print_line()
        return text
    return _drawn(text, everything)


def _drawn(text: TableText, everything: bool) -> TableText:
    from rich.console import Console
    from rich.padding import Padding
    from rich.table import Table as RichTable
    from rich.text import Text

    console = Console()
    text = text if everything else fitted(text, console.width)
    drawn = RichTable(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold", expand=False)
    for column, right in zip(text.columns, text.right, strict=True):
        drawn.add_column(Text(column), justify="right" if right else "left", no_wrap=not everything, overflow="fold")
    for row in text.rows:
        drawn.add_row(*map(Text, row))
    console.print(Text(text.title, style="bold underline"))
    console.print(drawn)
    for note in text.notes:
        console.print(Padding(Text(note, style="dim"), (0, 0, 0, 2)))
    console.print()
    return text


def _what_is_hidden(texts: Sequence[TableText], tables: int) -> str:
    rows = sum(text.hidden_rows for text in texts)
    columns = list(dict.fromkeys(name for text in texts for name in text.hidden_columns))
    parts = [f"{rows:,} row{'s' if rows != 1 else ''}"] if rows else []
    parts += [f"{tables} table{'s' if tables != 1 else ''}"] if tables else []
    names = ", ".join(columns[:4]) + (f" and {len(columns) - 4} more" if len(columns) > 4 else "")
    parts += [f"the column{'s' if len(columns) > 1 else ''} {names}"] if columns else []
    cut = sum(text.shortened for text in texts)
    parts += [f"the whole text of {cut} cell{'s' if cut != 1 else ''}"] if cut else []
    return "; ".join(parts)
