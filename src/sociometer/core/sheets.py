"""CSV files: sheets that people fill in, official files and published tables, all read and written here.

A sheet is read as spreadsheets save it: UTF-8 with or without a byte order mark; commas, semicolons or tabs between
cells; any line ends; headers with spaces around them. Rows without any content are skipped, missing cells at the end
of a row are empty, and cells beyond the last header are ignored. Errors name the file and the line.

A guarded sheet can be opened safely in a spreadsheet: a text that would run as a formula has an apostrophe before it.
Reading a guarded sheet as such takes that apostrophe away again.
"""

import csv
import io
import os
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TextIO, TypeVar

import msgspec
from msgspec import Struct

from sociometer.core.errors import DataError, UsageError
from sociometer.core.measure import Cell
from sociometer.core.words import first_of

Record = TypeVar("Record")

_SEPARATORS = ",;\t"
_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_GUARDED = re.compile(r"'+[=+\-@\t\r]")
_MOST_NAMES = 12
_MOST_MISSING = 500_000
"""How many cells may be missing at the ends of all rows; each of them takes memory although it is not in the file."""
MOST_BYTES = 64 << 20
"""The largest file that is read whole; a streamed one may have any size."""
_LONGEST_RECORD = 16 << 20
"""The most characters of a record, its line breaks included."""
_BEGINNING = 65536
"""How much of a file is read to find its separator."""


class Sheet(Struct, frozen=True):
    """A table of texts: its columns, and each row with the number of the line on which it begins."""

    columns: tuple[str, ...]
    rows: tuple[tuple[int, dict[str, str]], ...]


def read_sheet(
    path: Path,
    required: Sequence[str] = (),
    optional: Sequence[str] = (),
    *,
    next_step: str = "",
    whole_rows: bool = False,
    guarded: bool = False,
) -> Sheet:
    """Return the sheet in a file.

    The `required` and `optional` columns are found whatever their case, and have the case given here in every row.
    `next_step` ends the message about a missing column. `whole_rows` refuses a row without a cell for each required
    column (without `required`: for each column). `guarded` says that the sheet was written with `guard_formulas`.
    """
    text = _text(path)
    _, columns, records = _opened(text, text, required, optional, path, guarded, next_step)
    rows: list[tuple[int, dict[str, str]]] = []
    for line, cells in records:
        if (len(rows) + 1) * len(columns) > len(text) + _MOST_MISSING:
            raise DataError(
                f"the header has {len(columns):,} columns, but the rows have far fewer cells; are the cells separated"
                " as in the header?",
                path,
                line,
            )
        row = dict(zip(columns, cells, strict=False))
        if whole_rows and (lacking := [name for name in required or columns if name not in row]):
            raise DataError(f"the row has too few cells; it lacks: {first_of(lacking, _MOST_NAMES)}", path, line)
        rows.append((line, dict.fromkeys(columns, "") | row))
    return Sheet(columns, tuple(rows))


def read_rows(
    path: Path, required: Sequence[str] = (), optional: Sequence[str] = (), **options: Any
) -> Iterator[tuple[int, dict[str, str]]]:
    """Return each row of a file with its line number; the arguments are those of `read_sheet`."""
    return iter(read_sheet(path, required, optional, **options).rows)


def stream_rows(
    path: Path, required: Sequence[str], optional: Sequence[str] = ()
) -> Iterator[tuple[int, dict[str, str]]]:
    """Return the named columns of each row with its line number, without holding the file in memory; see `read_sheet`.

    For numbers of others: a row with more cells than the header, two columns of one name, or a NUL is an error.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            if not path.is_file():
                raise DataError("is no file; save the table as a file and give its path", path)
            begin = stream.read(_BEGINNING)
            stream.seek(0)
            head, columns, records = _opened(stream, begin, required, optional, path)
            if twice := [name for name, count in Counter(columns).items() if count > 1]:
                raise DataError(f"two columns have the name '{twice[0]}'", path, head)
            places = {name: columns.index(name) for name in (*required, *optional) if name in columns}
            for line, cells in records:
                if len(cells) > len(columns):
                    raise DataError(
                        f"the row has {len(cells)} cells, the header {len(columns)}; is a comma inside a number?",
                        path,
                        line,
                    )
                if any("\0" in cell for cell in cells):
                    raise DataError("the row has a NUL character", path, line)
                yield line, {name: cells[place] if place < len(cells) else "" for name, place in places.items()}
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror or error})", path) from None
    except UnicodeDecodeError as error:
        raise DataError(f"not UTF-8 ({error.reason}); save it as 'CSV UTF-8'", path) from None


def read_table(path: Path) -> list[dict[str, str]]:
    """Return the rows of a published table, one of our own files."""
    return [row for _, row in read_rows(path, whole_rows=True)]


def read_records(path: Path, record: type[Record]) -> list[Record]:
    """Return the rows of a published table as typed records; an empty cell takes the field's default."""
    found = []
    for line, row in read_rows(path, whole_rows=True):
        try:
            found.append(msgspec.convert({name: cell for name, cell in row.items() if cell}, record, strict=False))
        except msgspec.ValidationError as error:
            raise DataError(str(error), path, line) from None
    return found


def write_sheet(columns: Sequence[str], rows: Iterable[Sequence[Cell]], *, guard_formulas: bool = False) -> str:
    """Return the CSV text of a sheet; None is an empty cell.

    `guard_formulas` is for sheets with the words of a model or of strangers that people open; see `guard`.
    """
    return "".join(_line([guard(cell) for cell in row] if guard_formulas else row) for row in ([*columns], *rows))


def folder_for(path: Path, within: Path | None = None) -> None:
    """Refuse a file in a missing folder by the folder's name; `within`, the last folder of a path, is created."""
    parent = (within or path).absolute().parent
    if not parent.is_dir():
        named = (within or path).parent
        raise UsageError(f"there is no folder '{named}' for '{within or path}'; create it, or correct the path.")
    if within is not None:
        path.parent.mkdir(parents=True, exist_ok=True)


@contextmanager
def whole_file(path: Path, *, private: bool = False, within: Path | None = None) -> Iterator[Path]:
    """A temporary file that replaces `path` when it is complete; if it is `private`, only its owner may read it.

    Its folder must exist, except `within` a folder that the user named, as `folder_for` says.
    """
    try:
        if path.is_dir():
            raise UsageError(f"'{path}' is a folder; give the name of a file.")
        folder_for(path, within)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        os.close(handle)
        partial = Path(name)
        try:
            yield partial
            partial.chmod(0o600 if private else 0o644)
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written ({error.strerror}).") from None


@contextmanager
def whole_files(*paths: Path, within: Path) -> Iterator[list[Path]]:
    """Temporary files that replace `paths` in a folder when all of them are complete."""
    with ExitStack() as staged:
        yield [staged.enter_context(whole_file(path, within=within)) for path in paths]


def guard(cell: Cell) -> Cell:
    """Return the cell with an apostrophe before it if a spreadsheet would run its text as a formula.

    Numbers stay as they are. A text that already begins like a guarded one gets one more, so that reading it back
    with `guarded` gives every text as it was.
    """
    return f"'{cell}" if isinstance(cell, str) and _FORMULA.match(cell) else cell


def _unguarded(cell: str) -> str:
    return cell[1:] if cell[:1] == "'" and _GUARDED.match(cell) else cell


def _line(cells: Sequence[Cell]) -> str:
    out = io.StringIO()
    # csv quotes a cell with a carriage return only where its own line end has one; unquoted, it would end the row.
    csv.writer(out, lineterminator="\r\n").writerow(cells)
    return out.getvalue().removesuffix("\r\n") + "\n"


def _opened(
    text: str | TextIO,
    begin: str,
    required: Sequence[str],
    optional: Sequence[str],
    path: Path,
    guarded: bool = False,
    next_step: str = "",
) -> tuple[int, tuple[str, ...], Iterator[tuple[int, list[str]]]]:
    """The line and the columns of the header, and the records below it; a missing column is an error."""
    known = (*required, *optional)
    records = _records(text, _separator(begin, known), path, guarded)
    head, header = next(records, (1, []))
    columns = _columns(header, known)
    if missing := ", ".join(name for name in required if name not in columns):
        needed, there = ", ".join(required), first_of(columns, _MOST_NAMES)
        wrong = f"columns missing: {missing}; needed: {needed}; the file has: {there}."
        message = wrong if columns else f"the file is empty; needed columns: {needed}."
        raise DataError(f"{message} {next_step}".rstrip(), path, head)
    return head, columns, records


def _text(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            content = stream.read(MOST_BYTES + 1)
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror or error})", path) from None
    if len(content) > MOST_BYTES:
        raise DataError(f"has more than {MOST_BYTES >> 20} MB; divide it into several files", path)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DataError(f"not UTF-8 ({error.reason}); save it as 'CSV UTF-8'", path, line) from None


def _separator(text: str, known: Sequence[str]) -> str:
    """The separator that gives the header most of the known columns, then most columns; else the comma."""

    def fit(separator: str) -> tuple[int, int]:
        try:
            _, header = next(_records(text, separator), (1, []))
        except DataError:
            return 0, 0
        return len(set(_columns(header, known)) & set(known)), len(header)

    return max(_SEPARATORS, key=fit)


def _records(
    text: str | TextIO, separator: str, path: Path | str = "", guarded: bool = False
) -> Iterator[tuple[int, list[str]]]:
    """The cells of each record that has any content, with the line on which it begins."""
    lines = io.StringIO(text, newline="") if isinstance(text, str) else text
    bounded = _BoundedLines(lines)
    reader = csv.reader(bounded, delimiter=separator)
    line = 1
    try:
        for cells in reader:
            if any(cells):
                yield line, [_unguarded(cell) for cell in cells] if guarded else cells
            line = reader.line_num + 1
            bounded.begin_record()
    except csv.Error as error:
        raise DataError(f"not readable as CSV ({error})", path, line) from None


class _BoundedLines:
    """The lines of a file for `csv`, which reads on until a quotation mark or a line ends, whatever is between."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._left = _LONGEST_RECORD

    def begin_record(self) -> None:
        """The record so far has ended."""
        self._left = _LONGEST_RECORD

    def __iter__(self) -> "_BoundedLines":
        return self

    def __next__(self) -> str:
        line = self._stream.readline(self._left + 1)
        if not line:
            raise StopIteration
        self._left -= len(line)
        if self._left < 0:
            raise csv.Error(f"a row has more than {_LONGEST_RECORD:,} characters")
        return line


def _columns(header: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    """The header's names without spaces around them, known ones in their own case; an exact name has precedence."""
    given = set(header)
    absent = {name.casefold(): name for name in known if name not in given}
    bare = [cell.strip() for cell in header]
    return tuple(
        absent.get(name.casefold(), cell if name in given else name) for name, cell in zip(bare, header, strict=True)
    )
