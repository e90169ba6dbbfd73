"""Whatever the server does wrong: everything finishes, nothing is lost, nothing is scored that was not answered."""

import time

import pytest

from servers import faults
from sociometer.core.config import RunConfig
from sociometer.core.errors import UsageError
from sociometer.engine.engine import Engine
from sociometer.engine.replies import RetryPolicy
from sociometer.engine.throttle import Throttle
from sociometer.instruments import load
from sociometer.store.store import Store

STORM = (
    faults.RATE_LIMIT,
    faults.wait(0.05),
    faults.wait_until(0.5),
    faults.SERVER_ERROR,
    faults.BAD_GATEWAY,
    faults.UNAVAILABLE,
    faults.OVERLOADED,
    faults.DROPPED,
    faults.TRUNCATED,
    faults.MALFORMED,
    faults.slow(0.05),
    faults.NO_USAGE,
    faults.WRONG_USAGE,
)
FAMILIES = {"openai_server": "openai", "anthropic_server": "anthropic"}


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(RetryPolicy, "wait_seconds", lambda self, attempt, after: (after or 0.0) + 0.002)


def play(tmp_path, server, family, **changes):
    config = RunConfig(
        **{
            "instrument": "_template",
            "subject": f"{family}/m",
            "base_url": server.url,
            "revision": "1",
            "repeats": 20,
            "in_flight": 4,
            **changes,
        }
    )
    with Store(tmp_path / "s.db") as store:
        played = Engine(store, lambda name: load(name)).run(config)
        scored = [episode for episode in played.run.view().episodes() if episode.score]
        return played, scored


@pytest.mark.parametrize("fixture", FAMILIES)
def test_a_storm_of_passing_faults_costs_retries_and_nothing_else(fixture, request, tmp_path, key):
    server = request.getfixturevalue(fixture)
    server.fault_of = lambda number: STORM[number % 26] if number % 26 < len(STORM) else None
    played, scored = play(tmp_path, server, FAMILIES[fixture])
    assert played.ending.status == "finished"
    assert not played.progress.failed
    assert len(scored) == 80
    assert played.progress.retries > 0
    assert len(server.received) == 80 + played.progress.retries


@pytest.mark.parametrize("fixture", FAMILIES)
def test_a_server_that_never_answers_stops_the_run_after_a_few_requests(fixture, request, tmp_path, key):
    server = request.getfixturevalue(fixture)
    server.fault_of = lambda number: faults.SERVER_ERROR
    played, scored = play(tmp_path, server, FAMILIES[fixture], repeats=1, retries=1)
    assert scored == [] and played.progress.done == 0
    assert (played.ending.status, played.ending.cause) == ("stopped", "unreachable")
    assert played.ending.reason.startswith("no request was answered: ") and "status 500" in played.ending.reason
    assert 1 <= played.progress.failed.total() < 4 and len(server.received) <= 8
    assert played.run.status == "stopped", "it is kept, since failed requests may have been paid for"


def test_a_wrong_key_ends_the_run_at_once_and_is_never_written_down(openai_server, tmp_path, key):
    openai_server.fault_of = lambda number: faults.WRONG_KEY
    with pytest.raises(UsageError) as told:
        play(tmp_path, openai_server, "openai")
    assert key not in str(told.value)
    assert len(openai_server.received) <= 5
    for path in tmp_path.rglob("*"):
        if path.is_file():
            assert key.encode() not in path.read_bytes()


def test_a_deadline_is_kept_for_each_request(openai_server, tmp_path, key):
    openai_server.fault_of = lambda number: faults.slow(60) if number == 0 else None
    played, scored = play(tmp_path, openai_server, "openai", repeats=1, timeout_seconds=0.5, in_flight=1)
    assert len(scored) == 4
    assert played.progress.retries >= 1


def test_overload_halves_the_requests_in_flight(openai_server, tmp_path, key, monkeypatch):
    limits = []
    halve = Throttle.slow_down

    def watched(self, *words):
        halve(self, *words)
        limits.append(self.limit)

    monkeypatch.setattr(Throttle, "slow_down", watched)
    openai_server.fault_of = lambda number: faults.OVERLOADED if number < 8 else None
    played, scored = play(tmp_path, openai_server, "openai", in_flight=8)
    assert len(scored) == 80
    assert played.progress.retries == 8
    assert limits[0] == 4
    assert min(limits) >= 1


def test_nobody_is_sent_before_retry_after_has_passed(openai_server, tmp_path, key):
    moments = []

    def fault(number):
        moments.append(time.monotonic())
        return faults.wait(1) if number == 0 else None

    openai_server.fault_of = fault
    _, scored = play(tmp_path, openai_server, "openai", repeats=1, in_flight=1)
    assert len(scored) == 4
    assert moments[1] - moments[0] > 0.9
