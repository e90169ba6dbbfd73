"""A small SQLite file next to the store, which only its owner can read: the base of the books of studies and labels."""

import secrets
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import msgspec

from sociometer.core.errors import StoreError
from sociometer.store.sqlite import SYNCHRONOUS, create_private, remove_traces, storage_errors, turn_on_wal

ALPHABET = "23456789abcdefghjkmnpqrstvwxyz"
Kept = TypeVar("Kept")


def new_letters(count: int) -> str:
    """Random letters and digits that people do not confuse."""
    return "".join(secrets.choice(ALPHABET) for _ in range(count))


class Book:
    """The open file, for several threads; a change is on disk when its method returns. Records are JSON in `body`."""

    tables: ClassVar[str]
    """The file next to this one with the statements that lead from each version of a book to the next."""

    def __init__(self, path: Path) -> None:
        self._path, self._lock = path, threading.RLock()
        steps = Path(__file__).with_name(self.tables).read_text(encoding="utf-8").split("\n-- next version\n")
        with storage_errors(path):
            create_private(path)
            self._file = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
            turn_on_wal(self._file)
            for pragma in (f"synchronous = {SYNCHRONOUS}", "foreign_keys = ON"):
                self._file.execute(f"PRAGMA {pragma}")
            while (present := int(self._file.execute("PRAGMA user_version").fetchone()[0])) < len(steps):
                with self.changing():  # only a book to bring up to date waits for others who write
                    if self._file.execute("PRAGMA user_version").fetchone()[0] == present:
                        for statement in steps[present].split(";"):
                            self._file.execute(statement)
                        self._file.execute(f"PRAGMA user_version = {present + 1}")
            if present > len(steps):
                raise StoreError(f"{self._path}: written by a newer Sociometer; upgrade to read it.")

    def close(self) -> None:
        self._file.close()

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Changes that are made together or not at all, with those around them."""
        with self._lock, storage_errors(self._path):
            if self._file.in_transaction:
                yield
                return
            self._file.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._file.execute("ROLLBACK")
                raise
            self._file.execute("COMMIT")

    def _rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        with self._lock, storage_errors(self._path):
            return self._file.execute(query, values).fetchall()

    def _all(self, kind: type[Kept], query: str, *values: object) -> list[Kept]:
        rows = self._rows(query, *values)
        with storage_errors(self._path):
            return [msgspec.json.decode(body, type=kind) for (body,) in rows]

    def _one(self, kind: type[Kept], query: str, *values: object) -> Kept | None:
        return next(iter(self._all(kind, query, *values)), None)

    def _remove_traces(self) -> None:
        with self._lock, storage_errors(self._path):
            remove_traces(self._file, self._path)
