"""CSV files as people and spreadsheets save them."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from sociometer.core.errors import DataError


@contextmanager
def opened(path: Path) -> Iterator[TextIO]:
    """The file, to be read; one that cannot be, or is not UTF-8, is refused by name."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            yield file
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror})", path) from None
    except UnicodeDecodeError as error:
        raise DataError(f"is not UTF-8 ({error.reason} at byte {error.start}); save it as UTF-8", path) from None
