"""Holding a run: one process plays it, and knows before each request that it still does."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from sociometer.core.errors import StoreError

_HEADER_BYTES = 18
"""The beginning of a file of SQLite that never changes: its magic text and the size of its pages."""
_OPEN_FILES = (Path("/proc/self/fd"), Path("/dev/fd"))


class LostRun(StoreError):
    """This process holds the run no more, or the store is another one: nothing more may be sent."""


class RunHold(Protocol):
    """A run that this process holds."""

    def is_sure(self) -> bool:
        """Whether the run is still held; False if that takes longer to find out (`confirm`). LostRun if it is not."""

    def confirm(self) -> bool:
        """Find out, which may wait for the database; False if the run was taken anew, after it was free for a while.

        Raises LostRun if another process has it.
        """


class StoreFile:
    """The file of a store as it was when a run began; one that was moved, replaced or overwritten is another."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._state = path.stat()
        self._handle = self._handle_of_sqlite()
        self._header = self._read_header()

    def check(self) -> None:
        """Raise LostRun if the path leads to another file, or to none."""
        try:
            state = self._path.stat()
        except OSError as error:
            raise self._lost(f"is gone ({error.strerror})") from None
        if not os.path.samestat(state, self._state):
            raise self._lost("was replaced by another file")
        if self._read_header() != self._header:
            raise self._lost("was overwritten")

    def _lost(self, what: str) -> LostRun:
        return LostRun(
            f"the store {self._path} {what} while a run was played, so nothing more is sent. Replies that were stored"
            " before are in the former file; put it back to resume the run."
        )

    def _read_header(self) -> bytes:
        """The header, if SQLite still has the file open."""
        if self._handle is None:
            return b""
        with suppress(OSError):
            if os.path.samestat(os.fstat(self._handle), self._state):
                return os.pread(self._handle, _HEADER_BYTES, 0)
        self._handle, self._header = None, b""
        return b""

    def _handle_of_sqlite(self) -> int | None:
        """SQLite's own descriptor: opening and closing another would end the locks that SQLite has on the file."""
        if not hasattr(os, "pread"):  # Windows
            return None
        for folder in filter(Path.is_dir, _OPEN_FILES):
            for entry in folder.iterdir():
                with suppress(OSError, ValueError):
                    if os.path.samestat(os.fstat(int(entry.name)), self._state):
                        return int(entry.name)
        return None
