"""Looks up replies in a remote database: a thread that asks for all waiting keys at once."""

import asyncio
import contextlib
import threading
from queue import Empty, SimpleQueue
from typing import Any

from sociometer.core.errors import StoreError
from sociometer.store.database import Connection

_AT_ONCE = 500
_FIND = "SELECT key, reply FROM journal WHERE key = ANY(?::bytea[])"
Waiting = tuple[bytes, "asyncio.Future[bytes | None]"]


class Lookups:
    """Keys wait in a queue; one query answers all that wait."""

    def __init__(self, reader: Connection) -> None:
        self._reader = reader
        self._queue: SimpleQueue[Waiting | None] = SimpleQueue()
        self._thread: threading.Thread | None = None

    def find(self, key: bytes) -> "asyncio.Future[bytes | None]":
        """The stored reply of a key, or None."""
        future: asyncio.Future[bytes | None] = asyncio.get_running_loop().create_future()
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="store-lookups", daemon=True)
            self._thread.start()
        self._queue.put((key, future))
        return future

    def close(self) -> None:
        """Answer what waits, and end the thread."""
        if self._thread is not None:
            self._queue.put(None)
            self._thread.join()
            self._thread = None

    def _work(self) -> None:
        while True:
            entry = self._queue.get()
            waiting: list[Waiting] = []
            while entry is not None:
                waiting.append(entry)
                if len(waiting) >= _AT_ONCE:
                    break
                try:
                    entry = self._queue.get_nowait()
                except Empty:
                    break
            if waiting:
                self._answer(waiting)
            if entry is None:
                return

    def _answer(self, waiting: list[Waiting]) -> None:
        keys = list({key for key, _ in waiting})
        found: dict[bytes, bytes] | StoreError
        try:
            found = dict(self._reader.execute(_FIND, (keys,)).fetchall())
        except StoreError as error:
            found = error
        # The loop may have been closed meanwhile: then nobody waits.
        with contextlib.suppress(RuntimeError):
            waiting[0][1].get_loop().call_soon_threadsafe(_tell, waiting, found)


def _tell(waiting: list[Waiting], found: Any) -> None:
    for key, future in waiting:
        if future.done():
            continue
        if isinstance(found, StoreError):
            future.set_exception(found)
        else:
            future.set_result(found.get(key))
