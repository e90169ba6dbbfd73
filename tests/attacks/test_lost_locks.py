"""A process that lost its run, or its store, sends nothing more: not beside another process, and not for nobody."""

import asyncio
import json
import os
import random
import shutil
import time

import pytest

import forked
from servers import faults
from sociometer.core.config import Caps
from sociometer.engine.budget import Budget
from sociometer.engine.fence import Fence
from sociometer.store.sqlite import lock_path
from sociometer.store.store import Store

ITEMS, REPEATS, IN_FLIGHT, STUCK = 4, 25, 4, 24
PLAY = """
import json, sys
from sociometer.core.config import Caps, RunConfig
from sociometer.core.errors import SociometerError
from sociometer.engine.engine import Engine
from sociometer.instruments import load
from sociometer.store.store import Store
store, url, *cap = sys.argv[1:]
caps = Caps(max_requests=int(cap[0])) if cap else Caps()
config = RunConfig(
    instrument="_template", subject="vllm/m", base_url=url, revision="1", repeats=25, in_flight=4, caps=caps
)
try:
    with Store(store) as opened:
        played = Engine(opened, load).run(config)
        print(json.dumps([str(played.ending.status), played.ending.reason]))
except SociometerError as error:
    print(json.dumps([type(error).__name__, str(error)]))
"""


class Playing:
    """A process that plays the run."""

    def __init__(self, store, server, *cap):
        self.server = server
        self.process = forked.start(["-c", PLAY, str(store), server.url, *map(str, cap)], stdout=forked.PIPE)

    def until(self, requests):
        """Wait until the server has got so many requests."""
        while len(self.server.received) < requests and self.process.poll() is None:
            time.sleep(0.002)
        return self

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def end(self):
        told = self.process.stdout.read()
        self.process.wait()
        self.process.stdout.close()
        return json.loads(told)


@pytest.fixture
def server(openai_server):
    openai_server.fault_of = lambda number: faults.slow(0.02)
    return openai_server


@pytest.fixture
def stuck(server):
    """A server whose answers to a few requests take so long that much happens meanwhile."""
    server.fault_of = lambda number: faults.slow(6.0 if STUCK - IN_FLIGHT < number <= STUCK else 0.02)
    return server


def test_a_process_whose_lock_was_removed_stops_and_no_other_plays_beside_it(stuck, tmp_path):
    store = tmp_path / "s.db"
    first = Playing(store, stuck).until(STUCK)
    shutil.rmtree(lock_path(store, "").parent)
    second = Playing(store, stuck).until(40)
    kind, told = first.end()
    assert kind == "LostRun" and "was removed while the run was played" in told
    assert second.end() == ["finished", ""]
    assert len(stuck.received) <= ITEMS * REPEATS + IN_FLIGHT


def delete(store):
    store.unlink()


def move(store):
    store.rename(store.with_name("moved.db"))


def replace(store):
    other = store.with_name("other.db")
    with Store(other) as opened:
        opened.flush()
    other.replace(store)


def overwrite(store):
    with store.open("r+b") as opened:
        opened.write(b"\0" * 4096)


@pytest.mark.parametrize("harm", [delete, move, replace, overwrite])
def test_nothing_is_sent_for_a_store_that_is_gone_or_another(server, tmp_path, harm):
    store = tmp_path / "s.db"
    playing = Playing(store, server).until(20)
    harm(store)
    sent = len(server.received)
    kind, told = playing.end()
    assert kind == "LostRun" and str(store) in told
    assert len(server.received) <= sent + 2 * IN_FLIGHT < ITEMS * REPEATS


def test_after_a_move_the_former_file_has_what_was_answered_and_is_played_on(server, tmp_path):
    store = tmp_path / "s.db"
    playing = Playing(store, server).until(20)
    folder = tmp_path / "moved"
    folder.mkdir()
    for path in tmp_path.glob("s.db*"):
        path.rename(folder / path.name)
    playing.end()
    assert Playing(folder / "s.db", server).end()[0] == "finished"
    assert len(server.received) <= ITEMS * REPEATS + IN_FLIGHT


def drop(place, kinds="lock"):
    """The database drops the connections that hold runs; returns how many."""
    import psycopg

    which = "application_name LIKE 'sociometer, process%'" if kinds == "lock" else "application_name LIKE 'sociometer%'"
    with psycopg.connect(place, autocommit=True) as connection:
        query = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {which} AND datname = current_database()"
        return len(connection.execute(query).fetchall())


def test_a_dropped_connection_lets_no_second_process_play_beside(stuck, postgres):
    first = Playing(postgres, stuck).until(STUCK)
    assert drop(postgres)
    second = Playing(postgres, stuck).until(40)
    kind, told = first.end()
    assert kind == "LostRun" and "nothing more is sent here" in told
    assert second.end() == ["finished", ""]
    assert len(stuck.received) <= ITEMS * REPEATS + IN_FLIGHT


def test_a_second_process_is_told_who_plays(stuck, postgres):
    first = Playing(postgres, stuck).until(STUCK)
    kind, told = Playing(postgres, stuck).end()
    assert kind == "Busy" and f"in progress in process {first.process.pid} on " in told
    assert first.end()[0] == "finished"


@pytest.mark.parametrize("kinds", ["lock", "all"])
def test_after_dropped_connections_a_process_alone_plays_on_and_asks_nothing_twice(server, postgres, kinds):
    first = Playing(postgres, server)
    for requests in (20, 40, 60):
        first.until(requests)
        assert drop(postgres, kinds)
    assert first.end() == ["finished", ""]
    assert len(server.received) == ITEMS * REPEATS


def test_who_comes_back_after_another_has_played_sends_nothing(stuck, postgres):
    """The connection is lost, another process plays some requests and ends, and the lock is free again."""
    first = Playing(postgres, stuck).until(STUCK)
    drop(postgres, "all")
    Playing(postgres, stuck).until(60).kill()
    sent = len(stuck.received)
    kind, told = first.end()
    assert kind == "LostRun" and "another process played run" in told
    assert len(stuck.received) <= sent + IN_FLIGHT


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_kills_and_cut_connections_near_a_cap_send_nothing_above_it(kind, server, tmp_path, request):
    """Killed again and again, with two processes at once and connections cut: the cap holds to the request."""
    store = tmp_path / "s.db" if kind == "sqlite" else request.getfixturevalue("postgres")
    lots, cap = random.Random(int(os.environ.get("SEED", "5"))), 60
    for _ in range(int(os.environ.get("KILLS", "8"))):
        playing = [Playing(store, server, cap) for _ in range(lots.choice((1, 1, 2)))]
        playing[0].until(min(cap, len(server.received) + lots.randrange(1, 12)))
        if kind == "postgres" and lots.random() < 0.7:
            drop(store, lots.choice(("lock", "all")))
            time.sleep(lots.random() * 0.2)
        for process in playing:
            process.kill()
        assert len(server.received) <= cap
    told = Playing(store, server, cap).end()
    assert told[0] == "stopped" and len(server.received) <= cap
    assert Playing(store, server).end() == ["finished", ""]


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_asking_before_each_request_costs_less_than_thirty_microseconds(kind, tmp_path, request):
    place = tmp_path / "s.db" if kind == "sqlite" else request.getfixturevalue("postgres")
    with Store(place) as store:
        store.flush()
        with store.hold("sesi-abc") as held:
            assert asyncio.run(seconds_a_check(Fence(held, store.journal, "sesi-abc", Budget(Caps())))) < 30e-6


async def seconds_a_check(fence):
    """The time of one check: the best of several rounds, since other processes run beside this test."""
    rounds = []
    for _ in range(20):
        began = time.perf_counter()
        for _ in range(200):
            await fence.check()
        rounds.append((time.perf_counter() - began) / 200)
    return min(rounds)
