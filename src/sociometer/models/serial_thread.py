"""Runs one call at a time in a thread that never delays the end of the process."""

import asyncio
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, TypeVar

ValueT = TypeVar("ValueT")
_Waiting = tuple[asyncio.Future[Any], Future[Any], Callable[[], Any]]


class SerialThread:
    """Runs calls one after another in a single daemon thread; callers wait for their turn in the event loop.

    The interpreter joins the threads of a pool when it ends, so a person who does not answer would block it.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._calls: queue.SimpleQueue[_Waiting | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    async def run(self, call: Callable[[], ValueT]) -> ValueT:
        return await self._put(call)

    async def end(self, last: Callable[[], None] = lambda: None) -> None:
        """End the thread after this last call, which is made even if nobody waits for it any more."""
        ended = self._put(last)
        self._calls.put(None)
        self._thread = None
        with suppress(Exception):
            await asyncio.shield(ended)

    def _put(self, call: Callable[[], ValueT]) -> asyncio.Future[ValueT]:
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name=self._name, daemon=True)
            self._thread.start()
        future = Future[ValueT]()
        waiter = asyncio.wrap_future(future)
        self._calls.put((waiter, future, call))
        return waiter

    def _work(self) -> None:
        while (waiting := self._calls.get()) is not None:
            waiter, future, call = waiting
            # The loop cancels the waiter at once, and the other future a moment later.
            if not waiter.cancelled() and future.set_running_or_notify_cancel():
                try:
                    future.set_result(call())
                except BaseException as error:
                    future.set_exception(error)
