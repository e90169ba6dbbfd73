"""The one writer: a thread that commits everything queued so far in one transaction."""

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from sociometer.core.errors import StoreError
from sociometer.store.database import connect, storage_errors

Operation = Callable[[sqlite3.Connection], object]
_BATCH = 2_000


class Writer:
    """Queues operations; each future is done once its operation is on disk."""

    def __init__(self, path: Path, on_rollback: Callable[[], None] = lambda: None) -> None:
        self._path = path
        self._connection = connect(path)
        self._on_rollback = on_rollback
        self._queue: SimpleQueue[tuple[Operation, asyncio.Future[None] | threading.Event | None] | None] = SimpleQueue()
        self._broken: StoreError | None = None
        self._thread = threading.Thread(target=self._work, name="store-writer", daemon=True)
        self._thread.start()

    @property
    def backlog(self) -> int:
        """How many operations wait."""
        return self._queue.qsize()

    def queue(self, operation: Operation) -> None:
        """Hands an operation over without waiting for it."""
        self._raise_if_broken()
        self._queue.put((operation, None))

    def execute(self, statement: str, values: tuple[object, ...]) -> None:
        """Hands a single statement over without waiting for it."""
        self.queue(lambda connection: connection.execute(statement, values))

    def committed(self, operation: Operation) -> "asyncio.Future[None]":
        """Hands an operation over; the future is done when it is on disk."""
        self._raise_if_broken()
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue.put((operation, future))
        return future

    def flush(self) -> None:
        """Waits until all that was queued is on disk."""
        done = threading.Event()
        self._queue.put((lambda _: None, done))
        done.wait()
        self._raise_if_broken()

    def close(self) -> None:
        """Writes what is queued and ends the thread."""
        self._queue.put(None)
        self._thread.join()
        self._connection.close()
        self._raise_if_broken()

    def _raise_if_broken(self) -> None:
        if self._broken is not None:
            raise self._broken

    def _work(self) -> None:
        while True:
            entry = self._queue.get()
            batch: list[tuple[Operation, Any]] = []
            while entry is not None:
                batch.append(entry)
                if len(batch) >= _BATCH:
                    break
                try:
                    entry = self._queue.get_nowait()
                except Empty:
                    break
            if batch:
                self._commit(batch)
            if entry is None:
                return

    def _commit(self, batch: list[tuple[Operation, Any]]) -> None:
        error = self._broken
        if error is None:
            try:
                with storage_errors(self._path):
                    self._transaction(batch)
            except StoreError as failure:
                self._broken = error = failure
        _tell([waiter for _, waiter in batch if waiter is not None], error)

    def _transaction(self, batch: list[tuple[Operation, Any]]) -> None:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            for operation, _ in batch:
                operation(self._connection)
            self._connection.execute("COMMIT")
        except BaseException:
            self._on_rollback()
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise


def _tell(waiters: list[Any], error: StoreError | None) -> None:
    futures: dict[asyncio.AbstractEventLoop, list[asyncio.Future[None]]] = {}
    for waiter in waiters:
        if isinstance(waiter, threading.Event):
            waiter.set()
        else:
            futures.setdefault(waiter.get_loop(), []).append(waiter)
    for loop, members in futures.items():
        if not loop.is_closed():
            loop.call_soon_threadsafe(_finish, members, error)


def _finish(futures: list["asyncio.Future[None]"], error: StoreError | None) -> None:
    for future in futures:
        if future.done():
            continue
        if error is None:
            future.set_result(None)
        else:
            future.set_exception(error)
