"""The only writer: a thread that commits all queued operations in one transaction."""

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterator
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from sociometer.core.errors import FailureKind, MachineryError, StoreError
from sociometer.store.database import Connection, Cursor, Database, StoreTable, marks, patiently, portions

_EPISODE = ("outcome", "failure_kind", "failure", "events", "created")
TEXT = StoreTable("text", ("hash", "body"), 1)
ITEM = StoreTable("item", ("run", "task", "id", "position", "body"), 3)
JOURNAL = StoreTable(
    "journal",
    ("key", "origin", "model", "run", "messages", "reply", "input_tokens", "output_tokens", "cost", "charged_tokens",
     "charged_cost", "created"),
    2,
)  # fmt: skip
_RUN, _REPLY, _CREATED = (JOURNAL.columns.index(name) for name in ("run", "reply", "created"))
EPISODE = StoreTable(
    "episode",
    ("run", "task", "item", "repeat", *_EPISODE),
    4,
    # A failure never replaces an outcome: it may come late.
    f"DO UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in _EPISODE)}"
    " WHERE excluded.outcome IS NOT NULL OR episode.outcome IS NULL",
)
SCORE = StoreTable("score", ("run", "task", "item", "repeat", "body"), 4, "DO UPDATE SET body = excluded.body")
SUMMARY = StoreTable("summary", ("run", "task", "body"), 2, "DO UPDATE SET body = excluded.body")
ATTEMPT = StoreTable(
    "attempt", ("run", "input_tokens", "output_tokens", "cost", "charged_tokens", "charged_cost", "created"), 0
)
ALLOWANCE = StoreTable(
    "allowance",
    ("run", "requests", "tokens", "cost"),
    1,
    "DO UPDATE SET requests = excluded.requests, tokens = excluded.tokens, cost = excluded.cost",
)
_ORDER = (TEXT, ITEM, JOURNAL, EPISODE, SCORE, SUMMARY, ATTEMPT, ALLOWANCE)


class Transaction:
    """Gathers rows until they are written; a single statement runs after the rows before it."""

    def __init__(self, database: Database, connection: Connection) -> None:
        self._database = database
        self._connection = connection
        self._rows: dict[str, dict[Any, tuple[Any, ...]]] = {table.name: {} for table in _ORDER}
        self._first: dict[bytes, tuple[str, float, bytes]] = {}
        """Run, time and reply of journal rows that were stored before others with their key."""
        self._pending = False

    def put(self, table: StoreTable, row: tuple[Any, ...]) -> None:
        """Add a row; of two with the same key the last is written, where the table replaces rows."""
        rows = self._rows[table.name]
        self._pending = True
        if not table.key:
            rows[len(rows)] = row
        elif table.on_conflict == "DO NOTHING":
            first = rows.setdefault(row[: table.key], row)
            if table is JOURNAL and first is not row:
                self._first[row[0]] = first[_RUN], first[_CREATED], first[_REPLY]
        else:
            rows[row[: table.key]] = row

    def execute(self, statement: str, values: tuple[Any, ...] = ()) -> Cursor:
        """Run a statement after all rows before it."""
        return self.connection.execute(statement, values)

    @property
    def connection(self) -> Connection:
        """The connection, after all rows so far are written."""
        self.write()
        return self._connection

    def lock_table(self, table: str) -> None:
        """Prevent other transactions from writing to the table until this one ends."""
        self._database.lock_table(self.connection, table)

    def model(self, identity: str) -> int:
        """The number of a model, which is added if it is new."""
        find = "SELECT id FROM model WHERE identity = ?"
        row = self._connection.execute(find, (identity,)).fetchone()
        if row is None:
            self._connection.execute("INSERT INTO model (identity) VALUES (?) ON CONFLICT DO NOTHING", (identity,))
            row = self._connection.execute(find, (identity,)).fetchone()
        return int(row[0])

    def other_reply(self, row: tuple[Any, ...]) -> bytes | None:
        """The reply that was stored before a journal row and is kept in its place; call it after writing."""
        first = self._first.get(row[0])
        return None if first is None or first[:2] == (row[_RUN], row[_CREATED]) else first[2]

    def write(self) -> None:
        """Write the rows so far."""
        if not self._pending:
            return
        self._pending = False
        for table in _ORDER:
            rows = self._rows[table.name]
            if rows:
                ordered = [rows[key] for key in sorted(rows)] if table.key else list(rows.values())
                written = self._database.insert(self._connection, table, ordered)
                if table is JOURNAL and written < len(ordered):
                    self._look_up([row[0] for row in ordered])
                rows.clear()

    def _look_up(self, keys: list[bytes]) -> None:
        for part in portions(keys):
            query = f"SELECT key, run, created, reply FROM journal WHERE origin = '' AND key IN {marks(part)}"  # noqa: S608
            self._first.update((key, (run, at, reply)) for key, run, at, reply in self._connection.execute(query, part))


Operation = Callable[[Transaction], object]
"""Adds rows to a batch or runs statements; a function that it returns is called for the result after they are written,
and may add further rows.

An operation may be called again, with another batch, after a transaction that failed.
"""
_BATCH = 2_000
Value = TypeVar("Value")


def batches(queue: "SimpleQueue[Value | None]", most: int) -> Iterator[list[Value]]:
    """All that waits in a queue, again and again, at most so many entries at a time; None ends it."""
    while True:
        entry = queue.get()
        batch: list[Value] = []
        while entry is not None:
            batch.append(entry)
            if len(batch) >= most:
                break
            try:
                entry = queue.get_nowait()
            except Empty:
                break
        if batch:
            yield batch
        if entry is None:
            return


class WriterThread:
    """Queues operations; each future is done once its operation is on disk."""

    def __init__(self, database: Database, on_rollback: Callable[[], None], on_start: Callable[[], None]) -> None:
        """The store is opened or created by `start` or by the first operation; reading never opens it."""
        self._database = database
        self._connection: Connection | None = None
        self._on_rollback, self._on_start = on_rollback, on_start
        self._queue: SimpleQueue[tuple[Operation, asyncio.Future[Any] | threading.Event | None] | None] = SimpleQueue()
        self._broken: StoreError | None = None
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()

    def start(self) -> None:
        """Open the store, update its schema and start to write; of several threads that ask, one does it."""
        with self._starting:
            if self._thread is None:
                self._on_start()
                self._connection = self._database.connect()
                thread = threading.Thread(target=self._work, args=(self._connection,), name="store-writer", daemon=True)
                thread.start()
                self._thread = thread

    @property
    def backlog(self) -> int:
        """The number of waiting operations."""
        return self._queue.qsize()

    def queue(self, operation: Operation) -> None:
        """Queue an operation without waiting for it."""
        self._put(operation, None)

    def committed(self, operation: Operation) -> "asyncio.Future[Any]":
        """Queue an operation; the future has its result when it is on disk."""
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._put(operation, future)
        return future

    def flush(self) -> None:
        """Wait until everything queued is on disk."""
        if self._thread is None:
            return
        done = threading.Event()
        self._queue.put((lambda _: None, done))
        while not done.wait(1.0):
            if not self._thread.is_alive():
                place = self._database.place
                raise StoreError(f"{place}: writing to the store stopped unexpectedly; committed data stays readable.")
        self._raise_if_broken()

    async def settled(self) -> None:
        """The same as `flush`, without holding a thread."""
        if self._thread is not None:
            await self.committed(lambda _: None)

    @property
    def is_broken(self) -> bool:
        """Whether something could not be written, such as on a full disk; until `recover` nothing is."""
        return self._broken is not None

    def recover(self) -> None:
        """Write again. What was queued since the error is lost: only for those who begin anew with what is stored."""
        if self._broken is None:
            return
        refused = threading.Event()
        self._queue.put((lambda _: None, refused))
        refused.wait()
        self._broken = None

    def close(self) -> None:
        """Write everything queued and end the thread."""
        if self._thread is None or self._connection is None:
            return
        self._queue.put(None)
        self._thread.join()
        self._connection.close()
        self._thread = None
        broken, self._broken = self._broken, None
        if broken is not None:
            raise broken

    def _put(self, operation: Operation, waiter: "asyncio.Future[Any] | None") -> None:
        self._raise_if_broken()
        self.start()
        self._queue.put((operation, waiter))

    def _raise_if_broken(self) -> None:
        if self._broken is not None:
            raise self._broken

    def _work(self, connection: Connection) -> None:
        for batch in batches(self._queue, _BATCH):
            self._commit(connection, batch)

    def _commit(self, connection: Connection, batch: list[tuple[Operation, Any]]) -> None:
        if self._broken is not None:
            tell([(waiter, self._broken) for _, waiter in batch])
            return
        try:
            with self._database.errors():
                results = patiently(lambda: self._transaction(connection, batch))
            tell([(waiter, result) for (_, waiter), result in zip(batch, results, strict=True)])
        except StoreError as failure:
            self._broken = failure
            tell([(waiter, failure) for _, waiter in batch])
        except Exception as failure:
            told = MachineryError(f"could not be stored ({type(failure).__name__}: {failure})", FailureKind.NOT_STORED)
            if len(batch) == 1:
                tell([(waiter, told) for _, waiter in batch])
                return
            # Separately, so that only the operation that cannot be written (such as too large a number) fails.
            for entry in batch:
                self._commit(connection, [entry])

    def _transaction(self, connection: Connection, batch: list[tuple[Operation, Any]]) -> list[object]:
        try:
            self._database.begin(connection)
            rows = Transaction(self._database, connection)
            results = [operation(rows) for operation, _ in batch]
            rows.write()
            results = [result() if callable(result) else result for result in results]
            rows.write()
            connection.execute("COMMIT")
            return results
        except BaseException:
            self._on_rollback()
            self._database.rollback(connection)
            raise


def tell(outcomes: list[tuple[Any, object]]) -> None:
    """Set the result or the error of an operation."""
    futures: dict[asyncio.AbstractEventLoop, list[tuple[asyncio.Future[Any], object]]] = {}
    for waiter, outcome in outcomes:
        if isinstance(waiter, threading.Event):
            waiter.set()
        elif waiter is not None:
            futures.setdefault(waiter.get_loop(), []).append((waiter, outcome))
    for loop, members in futures.items():
        # The loop may have been closed meanwhile: then there is no waiter.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(_finish, members)


def _finish(members: list[tuple["asyncio.Future[Any]", object]]) -> None:
    for future, outcome in members:
        if future.done():
            continue
        if isinstance(outcome, Exception):
            future.set_exception(outcome)
        else:
            future.set_result(outcome)
