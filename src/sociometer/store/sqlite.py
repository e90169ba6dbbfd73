"""A store in one SQLite file: how it is opened, written and checked, and what its errors mean."""

import contextlib
import errno
import hashlib
import os
import sqlite3
import time
import zlib
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from sociometer.core.errors import Busy, NoSpace, StoreError, hint
from sociometer.core.sheets import folder_for, whole_file
from sociometer.store.database import (
    GONE,
    LAST_SCHEMA,
    NEW_TABLES,
    SCHEMA,
    Connection,
    StoreTable,
    create,
    create_new_tables,
    marks,
    require_known,
    transaction,
)
from sociometer.store.holding import LostRun, RunHold, StoreFile
from sociometer.store.place import default_path
from sociometer.store.upgrade import name_subjects

BUSY_SECONDS = 120
"""Longer than another process needs to rewrite the file after somebody withdrew."""
_NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
SYNCHRONOUS = "FULL"
"""What is written survives a power cut."""


class SqliteDatabase:
    """The file, opened by each connection for itself."""

    remote = False

    def __init__(self, path: Path) -> None:
        self.place = path
        self.upgraded: list[str] = []

    def connect(self, *, writable: bool = True) -> sqlite3.Connection:
        path = self.place
        with self.errors():
            if writable:
                create_private(path, may_be_link=True)
            elif not path.exists():
                raise StoreError(f"there is no store at {path}; run an instrument first.")
            connection = open_file(path, writable=writable)
            try:
                self._require_ours(connection)
                if writable:
                    connection.execute(f"PRAGMA synchronous = {SYNCHRONOUS}")
                    turn_on_wal(connection)
                    connection.execute("PRAGMA foreign_keys = ON")
                    self._create_tables(connection)
            except BaseException:
                connection.close()
                raise
        return connection

    def is_current(self) -> bool:
        if not self.place.exists():
            return False
        with self.errors(), closing(self.connect(writable=False)) as connection:
            return _schema(connection) == SCHEMA

    def is_of_last_version(self) -> bool:
        if not self.place.exists():
            return False
        with self.errors(), closing(open_file(self.place, writable=False)) as connection:
            return _schema(connection) == LAST_SCHEMA

    def begin(self, connection: Connection, *, snapshot: bool = False) -> None:
        connection.execute("BEGIN" if snapshot else "BEGIN IMMEDIATE")

    def rollback(self, connection: Connection) -> None:
        assert isinstance(connection, sqlite3.Connection)
        if connection.in_transaction:
            connection.execute("ROLLBACK")

    def insert(self, connection: Connection, table: StoreTable, rows: Iterable[tuple[Any, ...]]) -> int:
        assert isinstance(connection, sqlite3.Connection)
        columns = ", ".join(table.columns)
        statement = f"INSERT INTO {table.name} ({columns}) VALUES {marks(table.columns)}{table.conflict}"  # noqa: S608
        return connection.executemany(statement, rows).rowcount

    def lock_table(self, connection: Connection, table: str) -> None:
        """Nothing to do: a transaction that writes has the whole file for itself."""

    def remove_traces(self, connection: Connection) -> None:
        remove_traces(connection, self.place)

    def damage(self, connection: Connection) -> Iterator[str]:
        return (message for (message,) in connection.execute("PRAGMA quick_check") if message != "ok")

    def hold(self, run: str) -> AbstractContextManager[RunHold]:
        return RunLock(self.place, run)

    def is_played(self, run: str) -> bool:
        try:
            handle = os.open(lock_path(self.place, run), os.O_RDONLY)
        except OSError:
            return False
        try:
            # This writes nothing, so it works on a full disk.
            if fcntl is not None:
                fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return False
        except BlockingIOError:
            return True
        finally:
            os.close(handle)

    def errors(self) -> AbstractContextManager[None]:
        return storage_errors(self.place)

    def _keep_a_copy(self, connection: sqlite3.Connection) -> None:
        """Copy the store beside itself before it is upgraded."""
        target = copy_of_last_version(self.place)
        if target.exists():
            return
        with whole_file(target, private=True) as partial, closing(sqlite3.connect(partial)) as copy:
            connection.backup(copy)
        self.upgraded.insert(0, f"{self.place.name} was made by version 0.3 and is upgraded; a copy is {target.name}")

    def _require_ours(self, connection: sqlite3.Connection) -> None:
        """Raise a StoreError if another version, or another program, wrote the file."""
        # The tables first: another process may be creating ours.
        found = _definitions(connection)
        require_known(self.place, present := _schema(connection))
        if found and not present:
            raise StoreError(f"{self.place}: this database belongs to another program; name another file with --store.")
        ours = _our_definitions(present or SCHEMA)
        if present and found != ours and _definitions(connection) not in (ours, _our_definitions(SCHEMA)):
            raise StoreError(f"{self.place}: the tables are not those of a store; name another file with --store.")

    def _create_tables(self, connection: sqlite3.Connection) -> None:
        if _schema(connection) == SCHEMA and not _unused(connection):
            return
        before = _schema(connection)
        if before == LAST_SCHEMA:
            self._keep_a_copy(connection)
        with transaction(self, connection):
            # Another process may have created the tables while this one waited for the lock.
            present = _schema(connection)
            if not present:
                create(connection.execute)
                connection.execute(f"PRAGMA user_version = {SCHEMA}")
            elif present == LAST_SCHEMA:
                create_new_tables(connection.execute)
                self.upgraded += name_subjects(connection, self.place)
                connection.execute(f"PRAGMA user_version = {SCHEMA}")
            for table in _unused(connection):
                connection.execute(f"DROP TABLE {table}")


def copy_of_last_version(path: Path) -> Path:
    """Where a store is kept as the last version left it."""
    return path.with_name(f"{path.name}.version-0.3")


_LARGEST_ROW = (1 << 27) + 1024
_DEFINITIONS = "SELECT type, name, sql, tbl_name FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'"
_Definitions = frozenset[tuple[str, str, str, str]]


def _definitions(connection: sqlite3.Connection) -> _Definitions:
    """The definitions of the tables that are in use, with their indexes, and of all triggers."""
    rows = connection.execute(_DEFINITIONS)
    return frozenset(row for row in rows if row[0] == "trigger" or row[3] not in GONE)


def _unused(connection: sqlite3.Connection) -> list[str]:
    """The tables of an earlier version that this one does not use."""
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    return [name for name in GONE if name in tables]


@cache
def _our_definitions(schema: int = SCHEMA) -> _Definitions:
    """The definitions of our tables; a file with others, or with triggers, is not a store of ours."""
    absent = NEW_TABLES if schema == LAST_SCHEMA else ()
    with closing(sqlite3.connect(":memory:")) as connection:
        create(connection.execute)
        return frozenset(row for row in connection.execute(_DEFINITIONS) if row[3] not in absent)


def open_file(path: Path, *, writable: bool) -> sqlite3.Connection:
    """A connection to a file of ours; to read it, nothing is created beside it if that is forbidden."""
    here = path.absolute().as_uri()
    if writable or (_writable(path) and _writable(path.parent)):
        # A reader may also need to write beside the file: after a kill, the write-ahead log must be recovered.
        place = f"{here}?mode=rwc"
    else:
        # If SQLite cannot create files beside the store, no other process can be writing it either.
        apart = not _writable(path.parent) and not path.with_name(path.name + "-wal").exists()
        place = f"{here}?{'immutable=1' if apart else 'mode=ro'}"
    connection = sqlite3.connect(place, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False, uri=True)
    # A row of a forged file must not fill the memory.
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LARGEST_ROW)
    # A damaged text must not end the reading of all rows; its checksum tells that it is damaged.
    connection.text_factory = lambda text: text.decode("utf-8", "replace")
    if not writable:
        connection.execute("PRAGMA query_only = ON")
    return connection


def turn_on_wal(connection: sqlite3.Connection) -> None:
    """Write ahead; SQLite itself does not wait for another process that turns this on at the same moment."""
    ends = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > ends:
                raise
        time.sleep(0.01)


def create_private(path: Path, *, may_be_link: bool = False) -> None:
    """Create the file if there is none, so that only its owner can read it; SQLite's files beside it are like it."""
    if path.parent == default_path().parent:
        path.parent.mkdir(parents=True, exist_ok=True)
    if not path.parent.exists():
        folder_for(path)
    if path.is_symlink() and not may_be_link:
        raise StoreError(f"{path}: is a link, and could lead to another program's file; remove it.")
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))


def remove_traces(connection: Connection, path: Path) -> None:
    """Write the file anew, without what was deleted.

    PRAGMA secure_delete is not enough: when SQLite splits a page, old copies of its rows stay in the unused part of it.
    """
    connection.execute("VACUUM")
    # Until all readers have left the old state, it is also in the write-ahead log.
    if connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
        raise Busy(
            f"{path}: the rows are deleted, but another process is reading an old state of the file. Traces remain in"
            f" {path.name}-wal until that process ends and the store is used again."
        )


def _writable(place: Path) -> bool:
    return os.access(place, os.W_OK, effective_ids=os.access in os.supports_effective_ids)


def _schema(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


@contextmanager
def storage_errors(path: Path) -> Iterator[None]:
    """Raise errors of SQLite and the file system as StoreError, with what to do."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise _explained(path, error) from error
    except sqlite3.IntegrityError as error:
        raise StoreError(f"{path}: {error}; try again.") from error
    except sqlite3.DatabaseError as error:
        raise StoreError(
            f"{path}: not a store, or a damaged one ({error}). Give --store another file; to recover the readable part"
            f" of a damaged store, copy it, then run 'sqlite3 {path.name} .recover'."
        ) from error
    except (zlib.error, msgspec.DecodeError) as error:
        raise StoreError(f"{path}: a stored record is damaged or from another version ({error}).") from error
    except OSError as error:
        kind = NoSpace if error.errno in _NO_SPACE else StoreError
        raise kind(f"{path}: {error.strerror or error}; give --store a writable file.") from error


def _explained(path: Path, error: sqlite3.OperationalError) -> StoreError:
    # The low byte is the primary result code.
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return Busy(f"{path}: another process has held the store for over {BUSY_SECONDS} s; wait for it or stop it.")
    resume = hint("resume RUN")
    said = {
        sqlite3.SQLITE_FULL: f"the disk is full. Stored data stays readable; free some space, then: {resume}",
        sqlite3.SQLITE_CANTOPEN: "cannot be opened; give --store a writable file.",
        sqlite3.SQLITE_READONLY: "is read-only; give --store a writable file.",
        sqlite3.SQLITE_IOERR: f"{error}. Its disk may be full or failing, or a limit on the size of files reached"
        " ('ulimit -f', a quota). Stored data stays readable; free space on the disk of this file or raise the limit,"
        f" then: {resume}",
    }
    kind = NoSpace if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR) else StoreError
    return kind(f"{path}: {said.get(code, error)}")


try:
    import fcntl
except ImportError:  # Windows has no flock: there, two processes on one run are not told apart.
    fcntl = None  # type: ignore[assignment]


def lock_path(store: Path, run: str) -> Path:
    """The path of the lock of a run: under a digest, since the id may come from somebody else's store."""
    return store.with_name(store.name + ".locks") / f"{hashlib.blake2b(run.encode(), digest_size=12).hexdigest()}.lock"


class RunLock:
    """Held while a run is played; the error `in_use` names the process that holds it."""

    def __init__(self, store: Path, run: str, in_use: str = "") -> None:
        self._path = lock_path(store, run)
        self._store, self._run = store, run
        self._file: StoreFile | None = None
        self._in_use = (
            in_use or f"run {run} is in progress in process {{holder}}; wait for it, or stop it and resume the run."
        )
        self._handle: int | None = None

    def __enter__(self) -> "RunLock":
        handle = self._open()
        while not self._is_mine(handle):
            # The one who held it has just removed the file: what was locked is no longer the run's lock.
            os.close(handle)
            handle = self._open()
        self._handle = handle
        try:
            with storage_errors(self._path):
                os.ftruncate(handle, 0)
                os.write(handle, str(os.getpid()).encode("ascii"))
        except BaseException:
            self.__exit__()
            raise
        self._file = StoreFile(self._store) if self._store.exists() else None
        return self

    def is_sure(self) -> bool:
        """True; LostRun if the lock was removed or replaced, or if the store is another file."""
        if self._handle is None or not self._is_mine(self._handle):
            raise LostRun(
                f"the lock of run {self._run} ({self._path}) was removed while the run was played, and another process"
                " may play it now, so nothing more is sent. Resume the run when no other process plays it."
            )
        if self._file is not None:
            self._file.check()
        return True

    def confirm(self) -> bool:
        """The same: what can be known is known at once."""
        return self.is_sure()

    def __exit__(self, *_: object) -> None:
        if self._handle is not None:
            if fcntl is not None and self._is_mine(self._handle):
                self._path.unlink(missing_ok=True)
            os.close(self._handle)
            self._handle = None

    def _open(self) -> int:
        with storage_errors(self._path):
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if self._path.is_symlink() or self._path.parent.is_symlink():
                raise StoreError(f"{self._path}: is a link, which a lock never is; remove it.")
            handle = os.open(self._path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
        if fcntl is not None:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                holder = os.read(handle, 64).decode("ascii", "replace").strip() or "unknown"
                os.close(handle)
                raise Busy(self._in_use.format(holder=holder)) from None
        return handle

    def _is_mine(self, handle: int) -> bool:
        try:
            return os.path.samestat(os.fstat(handle), self._path.stat())
        except FileNotFoundError:
            return False
