"""Whole runs against servers that fail: all finish, nothing is lost, nothing is scored that was not answered."""

import pytest

from servers import faults
from servers.anthropic import AnthropicServer
from servers.openai import OpenAIServer
from sociometer.core.config import RunConfig
from sociometer.core.errors import UsageError
from sociometer.engine.engine import Engine
from sociometer.engine.replies import RetryPolicy
from sociometer.instruments import load
from sociometer.store.store import Store

SERVERS = {"openai": OpenAIServer, "anthropic": AnthropicServer}
PASSING = [
    faults.RATE_LIMIT,
    faults.wait(0.05),
    faults.SERVER_ERROR,
    faults.OVERLOADED,
    faults.slow(2.0),
    faults.DROPPED,
    faults.TRUNCATED,
    faults.MALFORMED,
    faults.NOT_UTF8,
    faults.NESTED,
    faults.NESTED._replace(status=500),
    faults.error_inside(429, delay="0.02s"),
    faults.WRONG_USAGE,
]


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    """Waits as the server says, but no longer."""
    monkeypatch.setattr(RetryPolicy, "wait_seconds", lambda self, attempt, retry_after: retry_after or 0.01)


@pytest.fixture(params=SERVERS)
def server(request, key):
    with SERVERS[request.param]() as running:
        running.family = request.param
        yield running


def play(server, store, *, repeats=4, timeout=60.0):
    config = RunConfig(
        instrument="_template",
        subject=f"{server.family}/m",
        base_url=server.url,
        revision="1",
        repeats=repeats,
        in_flight=8,
        timeout_seconds=timeout,
    )
    with Store(store) as opened:
        played = Engine(opened, lambda name: load(name)).run(config)
        return played, list(played.run.view().episodes())


def test_passing_faults_cost_attempts_and_no_answers(server, tmp_path):
    _, undisturbed = play(server, tmp_path / "calm.db")
    server.received.clear()
    server.served = 0
    server.fault_of = lambda number: PASSING[number // 2 % len(PASSING)] if number % 2 else None
    played, episodes = play(server, tmp_path / "rough.db", timeout=1.0)
    assert played.ending.status == "finished"
    assert [episode.score for episode in episodes] == [episode.score for episode in undisturbed]
    assert len(server.received) > len(episodes), "some requests failed and were sent again"
    # A good answer that came too late was served and not used; every other one was used once.
    assert server.served >= len(episodes)


@pytest.mark.parametrize(("fault", "kind"), [(faults.FILTERED, "filtered"), (faults.EMPTY, "silent")])
def test_a_withheld_or_silent_reply_stays_in_the_score(server, tmp_path, fault, kind):
    server.fault_of = lambda number: fault
    played, episodes = play(server, tmp_path / "store.db")
    assert not played.progress.failed
    assert [episode.score.replies for episode in episodes] == [{kind: 1, "asked again": 1}] * len(episodes)
    assert all(episode.score.values["correct"] == 0 for episode in episodes)
    assert server.served == len(server.received) == 2 * len(episodes)


def test_a_reply_that_comes_at_the_second_question_counts_and_is_marked(server, tmp_path):
    server.fault_of = lambda number: faults.EMPTY if number % 2 else None
    _, episodes = play(server, tmp_path / "store.db")
    asked_again = [episode for episode in episodes if episode.score.replies]
    assert asked_again
    assert all(episode.score.unreadable == 0 or episode.outcome.picked is None for episode in asked_again)


def test_a_tool_call_is_kept_as_an_answer_and_paid_for_once(server, tmp_path):
    server.fault_of = lambda number: faults.TOOL_CALL
    played, episodes = play(server, tmp_path / "store.db", repeats=2)  # more would stop the run
    assert played.ending.status == "finished"
    assert len(server.received) == 2 * len(episodes), "once, and once more after the second question"
    assert all(episode.failure is None and episode.score is not None for episode in episodes)
    assert played.progress.retries == 0


def test_a_wrong_key_ends_the_run_at_once_and_is_never_stored(server, tmp_path, key):
    server.fault_of = lambda number: faults.WRONG_KEY
    with pytest.raises(UsageError) as told:
        play(server, tmp_path / "store.db", repeats=20)
    assert len(server.received) <= 16, "nothing is sent after the server has refused the key"
    stored = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert key.encode() not in stored
    assert key not in str(told.value)
