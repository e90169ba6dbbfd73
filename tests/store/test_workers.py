"""Leases, places in flight and spending of the workers of one run, on a real database."""

import asyncio
import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
from msgspec import structs

from contract.test_stores import entry, keep, manifest
from sociometer.core.conversation import user
from sociometer.core.errors import StoreError
from sociometer.store.store import Store
from sociometer.store.workers import LostLeases, RunHeld, Setup, Worker
from sociometer.store.writer import Batch

JOBS = [("post", f"i{number:03}", repeat) for number in range(20) for repeat in range(2)]


@pytest.fixture
def store(postgres):
    with Store(postgres) as opened:
        yield opened


@pytest.fixture
def run(store):
    return store.runs.create(manifest(), "hash").id


@pytest.fixture
def join(store, run):
    """Makes workers of the run; all are closed at the end."""
    made = []

    def one(seconds=60.0, caps=(None, None, None), jobs=JOBS):
        worker = Worker(store.database, run, seconds)
        made.append(worker)
        worker.join(first=lambda: Setup(jobs, (0, 0, 0.0), caps))
        return worker

    yield one
    for worker in made:
        worker.close()


def test_every_episode_is_leased_once_and_in_order(join):
    one, two = join(), join()
    first = one.take(5)
    with ThreadPoolExecutor(4) as threads:
        rest = [job for found in threads.map(lambda n: (one, two)[n % 2].take(7), range(12)) for job in found]
    assert first == JOBS[:5]
    assert sorted(first + rest) == JOBS
    assert (one.take(1), two.take(1), one.left()) == ([], [], 40)


def test_leases_come_back_when_a_worker_leaves_or_expires(join):
    one, two, three = join(), join(seconds=0.5), join()
    assert (len(one.take(10)), len(two.take(10))) == (10, 10)
    one.leave()
    assert three.take(10) == JOBS[:10]
    time.sleep(0.6)
    assert three.take(20) == JOBS[20:]
    assert three.take(40) == JOBS[10:20]
    assert three.left() == 40
    with pytest.raises(LostLeases):
        two.pulse()
    assert two.take(5) == []


def test_a_worker_that_renews_keeps_its_leases(join):
    one, two = join(seconds=0.6), join()
    assert len(one.take(40)) == 40
    for _ in range(5):
        time.sleep(0.2)
        one.pulse('{"done": 1}')
        assert two.take(1) == []


def test_an_episode_that_is_stored_is_no_longer_leased(join, store, run):
    worker = join()
    worker.take(3)
    with closing(store.database.connect()) as connection:
        store.database.begin(connection)
        batch = Batch(store.database, connection)
        for task, item, repeat in JOBS[:2]:
            batch.end_lease(run, task, item, repeat)
        batch.write()
        connection.execute("COMMIT")
    assert worker.left() == 38


def test_only_the_first_worker_sets_a_run_up(join):
    one, two = join(caps=(7, None, None)), join(caps=(9, None, None), jobs=[])
    assert (two.left(), two.caps()) == (40, (7, None, None))
    one.leave()
    two.leave()
    assert join(caps=(9, None, 2.5), jobs=JOBS[:3]).caps() == (9, None, 2.5)


def test_a_run_is_not_held_while_it_has_workers_and_not_joined_while_it_is_held(join, store, run):
    worker = join()
    with pytest.raises(RunHeld, match="in progress"), store.hold(run):
        pass
    worker.leave()
    with store.hold(run), pytest.raises(RunHeld):
        join()
    assert not store.is_played(run)


def test_places_in_flight_never_exceed_the_limit(join):
    team = [join() for _ in range(4)]
    for worker in team:
        worker.open_endpoint("http://x", 10)
    with ThreadPoolExecutor(8) as threads:
        for wanted in (1, 7, 3, 10, 0, 5):
            held = list(threads.map(lambda one, wanted=wanted: one.slots("http://x", wanted), team))
            assert sum(held) <= 10
    for worker in team:
        worker.slots("http://x", 0)
    assert team[0].slots("http://x", 99) == 10
    assert team[1].slots("http://x", 1) == 0
    team[0].leave()
    assert team[1].slots("http://x", 1) == 1


def test_the_places_of_a_worker_that_expired_are_free_again(join):
    one, two = join(seconds=0.5), join()
    one.open_endpoint("http://x", 10)
    assert one.slots("http://x", 10) == 10
    time.sleep(0.6)
    assert two.slots("http://x", 4) == 0
    two.pulse()
    assert two.slots("http://x", 4) == 4


def test_a_burst_of_refusals_halves_the_limit_once_and_everybody_waits(join):
    one, two = join(), join()
    one.open_endpoint("http://x", 16)
    one.slow_down("http://x", 0, 3.0)
    two.slow_down("http://x", 0, 1.0)
    state = two.pulse().endpoints["http://x"]
    assert (state.bound, state.epoch) == (8.0, 1)
    assert 2.0 < state.wait_seconds <= 3.0
    two.recover("http://x", 16)
    assert one.pulse().endpoints["http://x"].bound == 10.0


def test_spending_is_reserved_within_the_caps_by_one_update(join):
    team = [join(caps=(100, None, 1.0)) for _ in range(4)]
    granted = []

    def ask(worker):
        granted.extend(3 for _ in range(30) if worker.reserve((3, 10, 0.01), 3))

    threads = [threading.Thread(target=ask, args=(worker,)) for worker in team]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(granted) == 99
    assert team[0].at_most()[:2] == (99, 330)
    assert team[0].others_reserve()
    assert team[1].reserve((-3, -10, -0.01), 0, within_caps=False)
    assert team[2].reserve((4, 0, 0.0), 4)


def test_a_worker_that_expired_neither_reserves_nor_gives_back(join):
    one, two = join(seconds=0.5, caps=(10, None, None)), join()
    assert one.reserve((5, 0, 0.0), 5)
    time.sleep(0.6)
    with pytest.raises(LostLeases):
        one.reserve((-5, 0, 0.0), 0, within_caps=False)
    assert two.at_most()[0] == 5


def test_rows_that_two_processes_write_in_any_order_do_not_deadlock(store, postgres):
    """Each batch has the same texts in another order; they are written in the order of their keys."""
    together = threading.Barrier(4)

    def write(number):
        rng = random.Random(number)
        with Store(postgres) as mine:
            for turn in range(6):
                texts = [user(f"text {turn} {at}") for at in range(300)]
                rng.shuffle(texts)
                draws = [structs.replace(entry(rng.randbytes(16)), messages=(one,)) for one in texts]

                async def keep_all(draws=draws, mine=mine):
                    await asyncio.gather(*map(mine.journal.keep, draws))

                together.wait()
                asyncio.run(keep_all())

    list(store.runs.all())
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(write, range(4)))
    time.sleep(1.2)
    with closing(store.database.connect(writable=False)) as connection:
        assert connection.execute("SELECT count(*) FROM journal").fetchone()[0] == 4 * 6 * 300
        query = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
        assert connection.execute(query).fetchone()[0] == 0


def test_a_statement_outside_a_transaction_survives_a_lost_connection(store, postgres):
    import psycopg

    assert list(store.runs.all()) == []
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()"
                           " AND pid <> pg_backend_pid()")  # fmt: skip
    assert list(store.runs.all()) == []
    keep(store, entry())
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()"
                           " AND pid <> pg_backend_pid()")  # fmt: skip
    keep(store, entry(b"z" * 16))
    assert store.journal.lookup(b"z" * 16) == b"reply"


def test_a_store_of_a_newer_version_is_refused(store, postgres):
    store.flush()
    list(store.runs.all())
    with closing(store.database.connect()) as connection:
        connection.execute("UPDATE sociometer_schema SET number = 999")
    with pytest.raises(StoreError, match="newer Sociometer"):
        Store(postgres).flush()
