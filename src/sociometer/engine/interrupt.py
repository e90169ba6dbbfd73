"""Ctrl-C stops gracefully: what is in flight is finished (at most ten seconds); a second one stops at once."""

import asyncio
import contextlib
import signal
from collections.abc import Callable, Iterator

GRACE_SECONDS = 10.0


@contextlib.contextmanager
def graceful_stop(stop: Callable[[], None], cancel: Callable[[], None]) -> Iterator[None]:
    """Calls `stop` on the first signal, `cancel` on the second or when the grace has passed."""
    loop = asyncio.get_running_loop()
    signals = (signal.SIGINT, signal.SIGTERM)
    timers: list[asyncio.TimerHandle] = []

    def caught() -> None:
        if timers:
            cancel()
            return
        timers.append(loop.call_later(GRACE_SECONDS, cancel))
        stop()

    installed = []
    for number in signals:
        # Not the main thread, or a platform without signal handlers: then the default behaviour stays.
        with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
            loop.add_signal_handler(number, caught)
            installed.append(number)
    try:
        yield
    finally:
        for number in installed:
            loop.remove_signal_handler(number)
        for timer in timers:
            timer.cancel()
