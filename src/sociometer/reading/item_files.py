"""Items from JSON-lines files; a bad line is an error that names file and line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import msgspec

from sociometer.core.errors import DataError

T = TypeVar("T")
_LONGEST_LINE = 64 << 20
"""The most bytes of a line: a file without line breaks does not fill the memory."""


def read_items(path: Path, kind: type[T], expected: str = "") -> Iterator[T]:
    """Yield one record of this type for each line of a file.

    A record can check itself in `__post_init__`: a `ValueError` raised there is reported with file and line.
    """
    return (item for _, item in read_lines(path, kind, expected))


def read_lines(path: Path, kind: type[T], expected: str = "") -> Iterator[tuple[int, T]]:
    """Yield the records with their line numbers, without blank lines; `expected` is added to a bad line's error."""
    decoder = msgspec.json.Decoder(kind)
    try:
        with path.open("rb") as lines:
            for number, line in enumerate(iter(lambda: lines.readline(_LONGEST_LINE + 1), b""), 1):
                if len(line) > _LONGEST_LINE:
                    raise DataError(f"the line has more than {_LONGEST_LINE >> 20} MB", path, number)
                if not line.strip():
                    continue
                try:
                    item = decoder.decode(line)
                except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                    raise DataError(f"{error}; expected {expected}" if expected else str(error), path, number) from None
                yield number, item
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path) from None
