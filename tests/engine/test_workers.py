"""Several processes play one run: nothing is paid for twice, caps and limits hold for all, scores are the same."""

import os
import random
import signal
import time

import pytest

from databases import fresh_database, own_server
from engine.teams import (
    LEASE_SECONDS,
    CountingServer,
    Gate,
    command,
    end_all,
    finish,
    living,
    numbers,
    start,
    wait_for,
    workers,
)
from servers import faults
from sociometer.store.store import Store

EPISODES = 90


@pytest.fixture
def server():
    with CountingServer() as running:
        yield running
    end_all()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The numbers of one process on a store file."""
    path = tmp_path_factory.mktemp("whole") / "s.db"
    with CountingServer(0) as server:
        finish(start(command(server), path))
        assert len(server.received) == EPISODES
    return numbers(path)


def test_three_workers_share_a_run_and_its_limit_in_flight(server, postgres, undisturbed):
    finish(start(command(server, "--workers", 3), postgres))
    assert numbers(postgres) == undisturbed
    assert len(server.received) == EPISODES
    assert 4 < server.most_at_once <= 8


def test_workers_that_are_killed_lose_only_what_was_in_flight(server, postgres, undisturbed):
    server.delay_seconds = 0.1
    process = start(command(server, "--workers", 2), postgres)
    rng = random.Random(1)
    for served in sorted(rng.sample(range(5, 70), 2)):
        wait_for(lambda served=served: len(server.received) > served)
        os.kill(rng.choice(living(postgres)), signal.SIGKILL)
    finish(process)
    assert numbers(postgres) == undisturbed
    assert EPISODES <= len(server.received) <= EPISODES + 2 * 8


def test_a_cap_holds_for_all_workers_and_all_kills(server, postgres):
    server.delay_seconds = 0.1
    process = start(command(server, "--workers", 2, "--max-requests", 50), postgres)
    wait_for(lambda: len(server.received) > 10)
    os.kill(living(postgres)[0], signal.SIGKILL)
    finish(process, 3)
    # What was in flight or reserved at the kill is charged.
    assert 50 - 8 - 8 <= len(server.received) <= 50
    with Store(postgres) as store:
        (record,) = store.runs.all()
        assert store.journal.spent(record.id).requests == 50


def test_ctrl_c_drains_all_workers_and_a_resumed_run_asks_nothing_twice(server, postgres, undisturbed):
    server.delay_seconds = 0.2
    process = start(command(server, "--workers", 2), postgres)
    wait_for(lambda: len(server.received) > 20)
    process.send_signal(signal.SIGINT)
    finish(process, 130)
    assert len(server.received) < EPISODES
    assert workers(postgres) == []
    server.delay_seconds = 0
    finish(start(["resume", "last", "--quiet", "--workers", 2], postgres))
    assert numbers(postgres) == undisturbed
    assert len(server.received) == EPISODES


def test_a_worker_joins_from_elsewhere_and_the_rest_is_played_when_the_first_has_gone(server, postgres, undisturbed):
    server.delay_seconds = 2.0
    first = start(command(server), postgres)
    wait_for(lambda: len(server.received) > 5)
    second = start(["work", "last", "--lease", LEASE_SECONDS, "--quiet"], postgres)
    wait_for(lambda: len(workers(postgres)) == 2)
    server.delay_seconds = 0.1
    first.kill()
    first.communicate()
    finish(second)
    assert numbers(postgres) == undisturbed
    assert len(server.received) <= EPISODES + 8
    finish(start(["work", "last", "--quiet"], postgres))
    assert len(server.received) <= EPISODES + 8


def test_a_rate_limit_told_to_one_worker_slows_all(server, postgres, undisturbed):
    server.delay_seconds = 0.1
    server.fault_of = lambda number: faults.wait(4) if number == 30 else faults.slow(0.1)
    finish(start(command(server, "--workers", 2), postgres))
    assert numbers(postgres) == undisturbed
    said = server.times[30]
    # The others learn of it within a second, and what they had sent by then comes through.
    assert [moment - said for moment in server.times if 1.5 < moment - said < 4] == []


def test_a_worker_cut_off_from_the_database_sends_nothing_more_and_comes_back(server, postgres, undisturbed):
    server.delay_seconds = 2.0
    gate = Gate(postgres)
    first = start(command(server), postgres)
    wait_for(lambda: len(server.received) > 5)
    second = start(["work", "last", "--lease", LEASE_SECONDS, "--quiet"], gate.address)
    wait_for(lambda: len(workers(postgres)) == 2)
    server.delay_seconds = 0.5
    time.sleep(2.5)
    gate.close()
    wait_for(lambda: len(workers(postgres)) == 1)
    gate.open()
    server.delay_seconds = 0.05
    finish(first)
    finish(second)
    gate.end()
    assert numbers(postgres) == undisturbed
    assert len(server.received) <= EPISODES + 8


@pytest.mark.scale
def test_workers_wait_for_a_database_that_restarts(server, undisturbed):
    """On a server of its own, which nobody else uses."""
    server.delay_seconds = 0.1
    with own_server() as own, fresh_database(own.get_uri()) as address:
        process = start(command(server, "--workers", 2), address)
        wait_for(lambda: len(server.received) > 20)
        own._stop()
        time.sleep(3)
        own.ensure_postgres_running()
        finish(process)
        assert numbers(address) == undisturbed
    assert len(server.received) <= EPISODES + 8


@pytest.mark.scale
@pytest.mark.parametrize("seed", range(4))
def test_four_workers_are_killed_at_random_moments(seed, server, postgres, undisturbed):
    server.delay_seconds = 0.3
    rng = random.Random(seed)
    process = start(command(server, "--workers", 4), postgres)
    for served in sorted(rng.sample(range(3, 70), 3)):
        wait_for(lambda served=served: len(server.received) > served)
        time.sleep(rng.random() * 0.3)
        if process.poll() is None and living(postgres):
            os.kill(rng.choice(living(postgres)), signal.SIGKILL)
    finish(process)
    assert numbers(postgres) == undisturbed
    assert EPISODES <= len(server.received) <= EPISODES + 3 * 8


def test_workers_need_a_shared_store(server, tmp_path):
    process = start(command(server, "--workers", 2), tmp_path / "s.db")
    assert "postgresql://USER@HOST/DATABASE" in finish(process, 2)
    process = start(["work", "last"], tmp_path / "s.db")
    finish(process, 2)
