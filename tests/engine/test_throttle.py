import asyncio

from sociometer.engine.throttle import Throttle


async def occupy(throttle, started, release):
    await throttle.acquire()
    try:
        started.append(throttle.in_flight)
        await release.wait()
    finally:
        throttle.release()


def test_no_more_than_the_limit_are_in_flight():
    async def play():
        throttle, started, release = Throttle(3), [], asyncio.Event()
        tasks = [asyncio.create_task(occupy(throttle, started, release)) for _ in range(10)]
        await asyncio.sleep(0.01)
        assert throttle.in_flight == 3
        release.set()
        await asyncio.gather(*tasks)
        assert max(started) == 3
        assert len(started) == 10
        assert throttle.in_flight == 0

    asyncio.run(play())


def test_one_burst_of_refusals_halves_once_and_the_next_burst_again():
    async def play():
        throttle = Throttle(16)
        for epoch in [await throttle.acquire() for _ in range(4)]:
            throttle.slow_down(epoch)
        assert throttle.limit == 8
        throttle.slow_down(await throttle.acquire())
        assert throttle.limit == 4

    asyncio.run(play())


def test_the_bound_never_falls_below_one_and_recovers_to_its_ceiling():
    async def play():
        throttle = Throttle(8)
        for epoch in range(10):
            throttle.slow_down(epoch)
        assert throttle.limit == 1
        for _ in range(200):
            throttle.recover()
        assert throttle.limit == 8

    asyncio.run(play())


def test_retry_after_holds_everybody_back():
    async def play():
        throttle = Throttle(4)
        throttle.slow_down(0, retry_after_seconds=0.2)
        loop = asyncio.get_running_loop()
        begun = loop.time()
        await throttle.acquire()
        return loop.time() - begun

    assert asyncio.run(play()) >= 0.19


def test_a_cancelled_waiter_gives_its_place_back():
    async def play():
        throttle, started, release = Throttle(1), [], asyncio.Event()
        holder = asyncio.create_task(occupy(throttle, started, release))
        await asyncio.sleep(0)
        waiter = asyncio.create_task(occupy(throttle, started, release))
        third = asyncio.create_task(occupy(throttle, started, release))
        await asyncio.sleep(0)
        waiter.cancel()
        release.set()
        await asyncio.gather(holder, third)
        assert throttle.in_flight == 0
        assert len(started) == 2

    asyncio.run(play())
