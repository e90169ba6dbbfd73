"""Opens the SQLite file, updates its schema, and converts SQLite's errors to StoreError."""

import os
import re
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import msgspec

from sociometer.core.errors import StoreError
from sociometer.store.old_manifest import upgrade_manifests

_MIGRATIONS = Path(__file__).parent / "migrations"
_STEPS = {3: upgrade_manifests}
"""The Python step of a migration, after its SQL."""
BUSY_SECONDS = 30


def connect(path: Path, *, writable: bool = True) -> sqlite3.Connection:
    """A connection to the store at `path`; a writable one creates the file and updates its schema."""
    with storage_errors(path):
        if writable:
            path.parent.mkdir(parents=True, exist_ok=True)
        elif not path.exists():
            raise StoreError(f"there is no store at {path}; run an instrument first.")
        connection = _open(path, writable)
        try:
            if writable:
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = FULL")
                connection.execute("PRAGMA foreign_keys = ON")
                _migrate(connection, path)
        except BaseException:
            connection.close()
            raise
    return connection


def _open(path: Path, writable: bool) -> sqlite3.Connection:
    here = path.absolute().as_uri()
    if writable or (_writable(path) and _writable(path.parent)):
        # A reader may also need to write beside the file: after a kill, the write-ahead log must be recovered.
        place = f"{here}?mode=rwc"
    else:
        # If SQLite cannot create files beside the store, no other process can be writing it either.
        apart = not _writable(path.parent) and not path.with_name(path.name + "-wal").exists()
        place = f"{here}?{'immutable=1' if apart else 'mode=ro'}"
    connection = sqlite3.connect(place, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False, uri=True)
    if not writable:
        connection.execute("PRAGMA query_only = ON")
    return connection


def _writable(place: Path) -> bool:
    return os.access(place, os.W_OK, effective_ids=os.access in os.supports_effective_ids)


def is_current(path: Path) -> bool:
    """Whether the store exists and has the newest schema, so that it can be read without being written."""
    if not path.exists():
        return False
    with storage_errors(path), closing(connect(path, writable=False)) as connection:
        return _schema(connection) == max(_scripts())


def _schema(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _scripts() -> dict[int, Path]:
    return {int(script.name[:4]): script for script in sorted(_MIGRATIONS.glob("[0-9]*.sql"))}


def _migrate(connection: sqlite3.Connection, path: Path) -> None:
    present, scripts = _schema(connection), _scripts()
    newest = max(scripts)
    if present > newest:
        raise StoreError(
            f"{path}: written by a newer Sociometer (schema {present}; this one supports {newest}); upgrade to read it."
        )
    if present == newest:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have migrated while this one waited for the lock.
        for number in range(_schema(connection) + 1, newest + 1):
            for statement in _statements(scripts[number].read_text(encoding="utf-8")):
                connection.execute(statement)
            if number in _STEPS:
                _STEPS[number](connection)
            connection.execute(f"PRAGMA user_version = {number}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def _statements(script: str) -> list[str]:
    without_comments = re.sub(r"--[^\n]*", "", script)
    return [statement for part in without_comments.split(";") if (statement := part.strip())]


@contextmanager
def storage_errors(path: Path) -> Iterator[None]:
    """Raise errors of SQLite and the file system as StoreError, with what to do."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise StoreError(_explain(path, error)) from error
    except sqlite3.IntegrityError as error:
        raise StoreError(f"{path}: {error}; try again.") from error
    except sqlite3.DatabaseError as error:
        raise StoreError(
            f"{path}: the store is damaged ({error}). Copy it, then run 'sqlite3 {path.name} .recover' to recover the"
            " readable part, or give --store another file."
        ) from error
    except (zlib.error, msgspec.DecodeError) as error:
        raise StoreError(f"{path}: a stored record is damaged or from another version ({error}).") from error
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror or error}; give --store a writable file.") from error


def _explain(path: Path, error: sqlite3.OperationalError) -> str:
    # The low byte is the primary result code.
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code == sqlite3.SQLITE_FULL:
        return f"{path}: the disk is full. Stored data stays readable; free some space, then run 'sociometer resume'."
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return f"{path}: another process has held the store for over {BUSY_SECONDS} s; wait for it or stop it."
    if code == sqlite3.SQLITE_CANTOPEN:
        return f"{path}: cannot be opened; give --store a writable file."
    if code == sqlite3.SQLITE_READONLY:
        return f"{path}: is read-only; give --store a writable file."
    return f"{path}: {error}"
