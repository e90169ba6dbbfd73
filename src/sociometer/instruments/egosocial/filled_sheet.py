"""A sheet that people filled in, read back as spreadsheets save it."""

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path

from sociometer.core.errors import DataError

_SEPARATORS = ",;\t"


def read_rows(path: Path, columns: Sequence[str], made_by: str) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows of a CSV file with their line numbers, whatever separates its cells and with or without a byte mark.

    A file that cannot be read, or lacks a column of the sheet that `made_by` wrote, is refused.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise DataError(f"the sheet cannot be read ({error.strerror})", path) from None
    except UnicodeDecodeError:
        raise DataError("the sheet is not UTF-8; save it as 'CSV UTF-8'", path) from None
    head = text.partition("\n")[0]
    table = csv.DictReader(io.StringIO(text, newline=""), delimiter=max(_SEPARATORS, key=head.count))
    missing = set(columns) - set(table.fieldnames or ())
    if missing:
        raise DataError(
            f"columns missing: {', '.join(sorted(missing))}; expected a sheet that '{made_by}' wrote", path, 1
        )
    for row in table:
        yield table.line_num, {name: row.get(name) or "" for name in columns}
