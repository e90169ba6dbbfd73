"""Several servers as one model: the load is spread, a server that fails is left out, and no reply is kept twice."""

import asyncio
import sqlite3

import pytest

from servers import faults
from servers.openai import OpenAIServer
from sociometer.cli.main import run_command
from sociometer.core.config import RunConfig
from sociometer.core.conversation import Request, assistant, user
from sociometer.core.errors import UsageError
from sociometer.engine.engine import Engine
from sociometer.engine.replies import RetryPolicy
from sociometer.instruments import load
from sociometer.models.registry import ModelOptions, resolve
from sociometer.store.store import Store


@pytest.fixture
def three():
    servers = [OpenAIServer().__enter__() for _ in range(3)]
    yield servers
    for server in servers:
        if not server._loop.is_closed():
            server.__exit__()


def spec(servers):
    return f"vllm/m@{','.join(server.url for server in servers)}#weights-1"


def play(store, servers, **changes):
    config = RunConfig(
        **{"instrument": "_template", "subject": spec(servers), "repeats": 60, "in_flight": 4, **changes}
    )
    return Engine(store, load).run(config)


def kept(store):
    with sqlite3.connect(store.path) as connection:
        return connection.execute("SELECT count(*) FROM journal").fetchone()[0]


def test_all_servers_get_their_share(tmp_path, three):
    for server in three:
        server.fault_of = lambda number: faults.slow(0.005)
    with Store(tmp_path / "s.db") as store:
        played = play(store, three)
        assert played.progress.done == 240
        assert kept(store) == 240
    assert sum(server.served for server in three) == 240
    assert min(server.served for server in three) > 40


def test_one_dies_one_is_overloaded_and_one_hangs(tmp_path, three, monkeypatch):
    monkeypatch.setattr(RetryPolicy, "wait_seconds", lambda self, attempt, after: (after or 0.0) + 0.01)
    dying, overloaded, hanging = three
    died = []

    def die(number):
        if number == 20:
            died.append(dying.served)
            dying._loop.stop()
        return faults.slow(0.01)

    dying.fault_of = die
    overloaded.fault_of = lambda number: faults.wait(0.1) if number % 5 == 4 else faults.slow(0.01)
    hanging.fault_of = lambda number: faults.slow(60) if number < 6 else faults.slow(0.01)
    with Store(tmp_path / "s.db") as store:
        played = play(store, three, timeout_seconds=2.0)
        assert died
        assert played.ending.status == "finished"
        assert not played.progress.failed
        assert played.progress.done == 240
        assert kept(store) == 240
        # Nothing that was stored was asked again: what the servers wrote is in the journal, but for the replies that
        # the dying server could not send.
        assert 240 <= sum(server.served for server in three) <= 240 + 4
        # The server that hung was tried again, and took part when it answered.
        assert hanging.served > 6


def test_a_server_that_is_down_from_the_start_is_left_out(tmp_path, three):
    with OpenAIServer() as down:
        address = down.url
    down = type("Down", (), {"url": address})
    with Store(tmp_path / "s.db") as store:
        played = play(store, [down, *three[:2]], repeats=5)
        assert played.progress.done == 20
        assert played.progress.retries == 0


def test_if_all_are_down_the_run_ends_at_once(tmp_path, three, monkeypatch):
    monkeypatch.setattr(RetryPolicy, "wait_seconds", lambda self, attempt, after: 0.01)
    for server in three:
        server.__exit__()
    with Store(tmp_path / "s.db") as store, pytest.raises(UsageError, match="cannot reach"):
        play(store, three)


def test_a_rate_limit_of_all_closes_the_gate_until_the_first_is_ready(tmp_path, three):
    for server in three:
        server.fault_of = lambda number: faults.wait(0.3) if number == 0 else None
    with Store(tmp_path / "s.db") as store:
        played = play(store, three, repeats=5)
        assert played.progress.done == 20
        # One refusal of each server: nobody asked again before the wait was over.
        assert [len(server.received) - server.served for server in three] == [1, 1, 1]


def test_the_next_turn_of_a_dialogue_goes_to_the_same_server(three):
    player = resolve("vllm/m", ModelOptions(base_url=",".join(server.url for server in three)))

    async def talk(name):
        messages = (user(name),)
        for turn in range(4):
            reply = await player.answer(Request("subject", messages))
            messages = (*messages, assistant(reply.text), user(f"{name} turn {turn}"))

    async def both():
        for name in "abcdef":
            await talk(name)
        await player.close()

    asyncio.run(both())
    homes = {}
    for server in three:
        for received in server.received:
            homes.setdefault(received.body["messages"][0]["content"], set()).add(server.port)
    assert len(homes) == 6
    assert all(len(ports) == 1 for ports in homes.values())


def test_a_command_spreads_its_items_over_several_servers(tmp_path, three):
    words = ["run", "sesi", "--model", spec(three), "--limit", "12", "--store", str(tmp_path / "s.db")]
    assert run_command(words) == 0
    assert sum(server.served for server in three) == 12
    assert min(server.served for server in three) > 0


def test_an_address_that_is_given_twice_is_refused(three):
    with pytest.raises(UsageError, match="given twice"):
        resolve("vllm/m", ModelOptions(base_url=f"{three[0].url},{three[0].url}/"))


def test_each_address_is_checked(three):
    with pytest.raises(UsageError, match="not a base URL"):
        resolve("vllm/m", ModelOptions(base_url=f"{three[0].url},http://"))
