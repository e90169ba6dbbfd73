"""What the store needs from a database; `sqlite.py` and `postgresql.py` implement it.

Statements are written once, in the SQL that both speak, with `?` for a value.
"""

import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Protocol, TypeVar

from msgspec import Struct

from sociometer.core.errors import StoreError
from sociometer.store.holding import RunHold
from sociometer.store.place import StorePlace

PATIENCE_SECONDS = 300.0
"""How long to wait for a database that is not available, for example during a restart."""
_FIRST_WAIT_SECONDS, _LONGEST_WAIT_SECONDS = 0.1, 5.0
_PAGE = 2_000
_AT_ONCE = 500
Value = TypeVar("Value")


class Cursor(Protocol):
    """The result of a statement."""

    @property
    def rowcount(self) -> int: ...

    def fetchone(self) -> Any: ...

    def fetchall(self) -> list[Any]: ...

    def __iter__(self) -> Iterator[Any]: ...


class Connection(Protocol):
    """An open connection; each statement is a transaction of its own unless `Database.begin` was called."""

    def execute(self, statement: str, values: Sequence[Any] = (), /) -> Cursor: ...

    def close(self) -> None: ...


class StoreTable(Struct, frozen=True):
    """A table that rows are added to; the first `key` columns are its primary key."""

    name: str
    columns: tuple[str, ...]
    key: int
    on_conflict: str = "DO NOTHING"

    @property
    def conflict(self) -> str:
        """The clause for rows that exist."""
        return f" ON CONFLICT ({', '.join(self.columns[: self.key])}) {self.on_conflict}" if self.key else ""


def marks(values: Sequence[object]) -> str:
    """The places of these values in a statement: `(?, ?)`; without any, an empty text, which nothing has as its id."""
    return f"({', '.join('?' for _ in values) or repr('')})"


def portions(values: Sequence[Value]) -> Iterator[Sequence[Value]]:
    """The values in portions that are few enough for one statement."""
    return (values[start : start + _AT_ONCE] for start in range(0, len(values), _AT_ONCE))


class LostConnection(StoreError):
    """The connection was lost, or the database asked to try the transaction again; nothing was written."""


class Database(Protocol):
    """A database that holds a store."""

    @property
    def place(self) -> StorePlace: ...

    upgraded: list[str]
    """What an upgrade of a store of version 0.3 changed, in sentences."""
    remote: bool
    """Whether each statement takes a trip over the network."""

    def connect(self, *, writable: bool = True) -> Connection:
        """A connection; a writable one updates the schema, and creates it if there is none."""

    def is_current(self) -> bool:
        """Whether the store exists and has the newest schema, so that it can be read without being written."""

    def is_of_last_version(self) -> bool:
        """Whether it is a store of version 0.3, which opening it for writing upgrades."""

    def begin(self, connection: Connection, *, snapshot: bool = False) -> None:
        """Begin a transaction; all reads of a `snapshot` see the same state."""

    def rollback(self, connection: Connection) -> None:
        """End a transaction without its changes, if there is one."""

    def insert(self, connection: Connection, table: StoreTable, rows: Iterable[tuple[Any, ...]]) -> int:
        """Add rows in the order given; return how many were written."""

    def lock_table(self, connection: Connection, table: str) -> None:
        """Prevent other transactions from writing to the table until this one ends."""

    def remove_traces(self, connection: Connection) -> None:
        """Overwrite what was deleted, outside a transaction."""

    def damage(self, connection: Connection) -> Iterator[str]:
        """What the database itself finds wrong with its files."""

    def hold(self, run: str) -> AbstractContextManager[RunHold]:
        """Hold a run exclusively while the context lasts; a StoreError if it is being played. Ends with the process."""

    def is_played(self, run: str) -> bool:
        """Whether a process is playing the run now."""

    def errors(self) -> AbstractContextManager[None]:
        """Raise errors of the database as StoreError, with what to do."""


@contextmanager
def transaction(database: Database, connection: Connection) -> Iterator[None]:
    """A transaction that is committed at the end, or rolled back after an error."""
    try:
        database.begin(connection)
        yield
        connection.execute("COMMIT")
    except BaseException:
        database.rollback(connection)
        raise


def patiently(work: Callable[[], Value]) -> Value:
    """The result of the work, which is repeated while the database is not available."""
    ends, wait = time.monotonic() + PATIENCE_SECONDS, _FIRST_WAIT_SECONDS
    while True:
        try:
            return work()
        except LostConnection:
            if time.monotonic() + wait > ends:
                raise
        time.sleep(wait)
        wait = min(2 * wait, _LONGEST_WAIT_SECONDS)


def pages(connection: Connection, statement: str, key: Sequence[str], values: Sequence[Any] = ()) -> Iterator[Any]:
    """The rows of a statement with a `{after}` condition, page by page, so that memory does not grow with a table.

    The first columns of each row are the `key` that orders it.
    """
    columns, marks = ", ".join(key), ", ".join("?" for _ in key)
    order = f" ORDER BY {columns} LIMIT {_PAGE}"
    rows = connection.execute(statement.format(after="1 = 1") + order, values).fetchall()
    while rows:
        yield from rows
        if len(rows) < _PAGE:
            return
        following = statement.format(after=f"({columns}) > ({marks})") + order
        rows = connection.execute(following, (*values, *rows[-1][: len(key)])).fetchall()


SCHEMA = 9
"""The schema that this version reads and writes."""
LAST_SCHEMA = 8
"""That of version 0.3, which this version upgrades."""
NEW_TABLES = ("names",)
"""The tables that `LAST_SCHEMA` does not have."""
_TABLES = Path(__file__).parent / "schema.sql"


GONE = ("searched", "provider_batch")
"""Tables of version 0.3 without a use: they are not read, and dropped when the store is opened for writing."""


def statements() -> list[str]:
    """The statements that create the tables of an empty store, in the SQL of SQLite."""
    without_comments = re.sub(r"--[^\n]*", "", _TABLES.read_text(encoding="utf-8"))
    return [statement for statement in without_comments.split(";") if statement.strip()]


def create(execute: Callable[[str], object]) -> None:
    """Create the tables of an empty store inside a transaction; the statements are those of SQLite."""
    for statement in statements():
        execute(statement)


def create_new_tables(execute: Callable[[str], object]) -> None:
    """Create the tables that a store of version 0.3 lacks, inside a transaction."""
    for statement in statements():
        if any(re.search(rf"\b(?:TABLE|ON) {name} \(", statement) for name in NEW_TABLES):
            execute(statement)


def require_known(place: StorePlace, present: int) -> None:
    """Raise a StoreError if another version wrote the store."""
    if present > SCHEMA:
        raise StoreError(
            f"{place}: written by a newer Sociometer (schema {present}; this one supports {SCHEMA}); upgrade to"
            " read it."
        )
    if present and present not in (SCHEMA, LAST_SCHEMA):
        raise StoreError(
            f"{place}: written by a development version (schema {present}; this one supports {SCHEMA}), which cannot be"
            " read. Read it with that version, or start a new store with --store FILE."
        )
