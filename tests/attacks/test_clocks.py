"""The clock of this machine is wrong, or is set while a run plays: nothing is paid for twice, and nothing waits."""

import itertools
import time
from types import SimpleNamespace

import pytest

import sociometer as sm
from servers.batches import SERVERS
from sociometer.engine.batches import lane
from sociometer.models import anthropic

DAY = 86_400
ITEMS = 6


def clock(wall):
    return SimpleNamespace(time=wall, monotonic=time.monotonic)


@pytest.fixture(params=SERVERS)
def play(request, tmp_path, monkeypatch, key):
    """A run in a batch whose confirmation is lost, and that the provider shows late; gives how often each is paid."""
    monkeypatch.setattr(lane, "_QUIET_SECONDS", 0.05)
    monkeypatch.setattr(lane, "_FIRST_POLL_SECONDS", 0.02)
    monkeypatch.setattr(lane, "_SETTLING_SECONDS", 8.0)
    monkeypatch.setattr(lane, "_LOOK_SECONDS", 0.1)
    monkeypatch.setattr(anthropic, "_POLL_SECONDS", 0.02)

    def played(wall, hidden=1):
        monkeypatch.setattr(lane, "time", clock(wall))
        with SERVERS[request.param]() as server:
            lost = iter([True])
            server.after_create, server.hidden = lambda: next(lost, False), hidden
            how = {"base_url": server.url, "limit": ITEMS, "batch": True, "revision": "1"}
            run = sm.run("sesi", f"{request.param}/m", store=tmp_path / "s.db", **how)
            assert (run.status, run.failures()) == ("finished", {})
            return len(server.batches), set(server.paid.values())

    return played


def test_a_clock_that_is_set_while_a_batch_is_looked_for_pays_nothing_twice(play):
    looks = itertools.count()
    assert play(lambda: time.time() + (3600 if next(looks) > 2 else 0)) == (1, {1})


@pytest.mark.parametrize("hours", [-14, 14])
def test_a_clock_in_the_wrong_time_zone_finds_its_batch(play, hours):
    assert play(lambda: time.time() + hours * 3600, hidden=0) == (1, {1})


def test_a_run_plays_on_while_the_clock_jumps(tmp_path, monkeypatch, openai_server, key):
    jumps, real = itertools.cycle((-DAY, 0, DAY, 400 * DAY, -(10**9))), time.time
    monkeypatch.setattr(time, "time", lambda: real() + next(jumps))
    how = {"base_url": openai_server.url, "store": tmp_path / "s.db"}
    run = sm.run("sesi", "openai/m", limit=40, max_requests=40, **how)
    assert (run.status, len(openai_server.received)) == ("finished", 40)
    events = [event for one in run.episodes() for event in run.transcript(one.item.id)]
    assert all(0 <= event.reply.seconds < 900 for event in events if hasattr(event, "reply"))
