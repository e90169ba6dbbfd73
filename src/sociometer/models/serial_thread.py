"""Runs one call at a time in a thread that never delays the end of the process."""

import asyncio
import queue
import threading
from collections.abc import Callable
from typing import Any, TypeVar

ValueT = TypeVar("ValueT")


class SerialThread:
    """Runs calls one after another in a single daemon thread; callers wait for their turn in the event loop.

    The interpreter joins the threads of a pool when it ends, so a person who does not answer would block it.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._calls: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    async def run(self, call: Callable[[], ValueT]) -> ValueT:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[ValueT] = loop.create_future()

        def settle(value: Any, error: BaseException | None) -> None:
            if future.cancelled():
                return
            if error is None:
                future.set_result(value)
            else:
                future.set_exception(error)

        def work() -> None:
            if future.cancelled():
                return
            value, error = _tried(call)
            if not loop.is_closed():
                loop.call_soon_threadsafe(settle, value, error)

        self._start()
        self._calls.put(work)
        return await future

    async def end(self, last: Callable[[], None] = lambda: None) -> None:
        """End the thread after this last call, which is made even if nobody waits for it any more."""
        done = asyncio.Event()
        loop = asyncio.get_running_loop()

        def finish() -> None:
            _tried(last)
            if not loop.is_closed():
                loop.call_soon_threadsafe(done.set)

        self._start()
        self._calls.put(finish)
        self._calls.put(None)
        self._thread = None
        await done.wait()

    def _start(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name=self._name, daemon=True)
            self._thread.start()

    def _work(self) -> None:
        while (call := self._calls.get()) is not None:
            call()


def _tried(call: Callable[[], ValueT]) -> tuple[ValueT | None, BaseException | None]:
    try:
        return call(), None
    except BaseException as error:
        return None, error
