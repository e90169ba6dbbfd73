"""Items from JSON-lines files; a bad line is an error that names file and line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import msgspec

from sociometer.core.errors import DataError

T = TypeVar("T")


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
            for number, line in enumerate(lines, 1):
                if not line.strip():
                    continue
                try:
                    item = decoder.decode(line)
                except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                    raise DataError(f"{error}; expected {expected}" if expected else str(error), path, number) from None
                yield number, item
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path) from None
