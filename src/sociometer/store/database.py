"""Opens the SQLite file, brings its schema up to date, and turns SQLite's errors into ours."""

import re
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from sociometer.core.errors import StoreError

_MIGRATIONS = Path(__file__).parent / "migrations"
BUSY_SECONDS = 30


def connect(path: Path, *, writable: bool = True) -> sqlite3.Connection:
    """A connection to the store at `path`; a new file is given the newest schema."""
    with storage_errors(path):
        if not writable and not path.exists():
            raise StoreError(f"{path}: there is no store here yet; run an instrument first.")
        path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        try:
            _prepare(connection, path, writable)
        except BaseException:
            connection.close()
            raise
    return connection


def _prepare(connection: sqlite3.Connection, path: Path, writable: bool) -> None:
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")
    if writable:
        _migrate(connection, path)
    else:
        connection.execute("PRAGMA query_only = ON")


def _migrate(connection: sqlite3.Connection, path: Path) -> None:
    present = int(connection.execute("PRAGMA user_version").fetchone()[0])
    scripts = {int(script.name[:4]): script for script in sorted(_MIGRATIONS.glob("[0-9]*.sql"))}
    newest = max(scripts)
    if present > newest:
        raise StoreError(
            f"{path}: written by a newer Sociometer (schema {present}, this one knows {newest}); upgrade to read it."
        )
    if present == newest:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have migrated while this one waited for the lock.
        present = int(connection.execute("PRAGMA user_version").fetchone()[0])
        for number in range(present + 1, newest + 1):
            for statement in _statements(scripts[number].read_text(encoding="utf-8")):
                connection.execute(statement)
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
    """Raises SQLite's and the file system's errors as StoreError, saying what was lost (nothing) and what to do."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise StoreError(_explain(path, str(error))) from error
    except sqlite3.IntegrityError as error:
        raise StoreError(f"{path}: {error}; try again.") from error
    except sqlite3.DatabaseError as error:
        raise StoreError(
            f"{path}: the store is damaged ({error}). Copy it, then run 'sqlite3 {path.name} .recover' to save what is"
            " readable, or give --store another file."
        ) from error
    except (zlib.error, msgspec.DecodeError) as error:
        raise StoreError(f"{path}: a stored record is damaged or of another version ({error}).") from error
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror or error}; give --store a file that can be written.") from error


def _explain(path: Path, message: str) -> str:
    if "full" in message:
        return f"{path}: the disk is full. What was stored stays readable; free some space, then 'sociometer resume'."
    if "locked" in message or "busy" in message:
        return f"{path}: another process has held the store for over {BUSY_SECONDS} s; wait for it or stop it."
    if "unable to open" in message:
        return f"{path}: cannot be opened; give --store a file that can be written."
    if "readonly" in message:
        return f"{path}: is read-only; give --store a file that can be written."
    return f"{path}: {message}"
