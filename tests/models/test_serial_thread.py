import asyncio
import threading
import time

import pytest

from sociometer.models.serial_thread import SerialThread


def test_calls_run_one_at_a_time_in_order_and_off_the_loop():
    turns, running, most, order = SerialThread("test"), [0], [0], []

    def call(number):
        running[0] += 1
        most[0] = max(most[0], running[0])
        time.sleep(0.01)
        order.append((number, threading.current_thread() is threading.main_thread()))
        running[0] -= 1
        return number

    async def all_of_them():
        return await asyncio.gather(*(turns.run(lambda n=n: call(n)) for n in range(5)))

    assert asyncio.run(all_of_them()) == [0, 1, 2, 3, 4]
    assert most == [1]
    assert order == [(n, False) for n in range(5)]
    asyncio.run(turns.end())


def test_an_error_reaches_whoever_asked():
    turns = SerialThread("test")
    with pytest.raises(KeyError):
        asyncio.run(turns.run(lambda: {}["missing"]))
    assert asyncio.run(turns.run(lambda: "still here")) == "still here"
    asyncio.run(turns.end())


def test_a_call_that_was_cancelled_while_waiting_is_not_made():
    turns, made, cancelled = SerialThread("test"), [], threading.Event()

    async def cancel_the_second():
        first = asyncio.create_task(turns.run(cancelled.wait))
        second = asyncio.create_task(turns.run(lambda: made.append("second")))
        await asyncio.sleep(0)  # both ask
        second.cancel()
        cancelled.set()
        await first
        await turns.run(lambda: made.append("third"))

    asyncio.run(cancel_the_second())
    assert made == ["third"]
    asyncio.run(turns.end())
