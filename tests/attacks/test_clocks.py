"""The clock of this machine is set while a run plays: nothing is paid for twice, and nothing waits."""

import itertools
import time

import sociometer as sm

DAY = 86_400


def test_a_run_plays_on_while_the_clock_jumps(tmp_path, monkeypatch, openai_server, key):
    jumps, real = itertools.cycle((-DAY, 0, DAY, 400 * DAY, -(10**9))), time.time
    monkeypatch.setattr(time, "time", lambda: real() + next(jumps))
    how = {"base_url": openai_server.url, "store": tmp_path / "s.db"}
    run = sm.run("sesi", "openai/m", limit=40, max_requests=40, **how)
    assert (run.status, len(openai_server.received)) == ("finished", 40)
    events = [event for one in run.episodes() for event in run.transcript(one.item.id)]
    assert all(0 <= event.reply.seconds < 900 for event in events if hasattr(event, "reply"))
