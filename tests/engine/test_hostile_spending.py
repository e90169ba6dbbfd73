"""Caps hold against servers that overspend, answer rubbish or never answer, and against kills."""

import json
import time

import pytest

import forked
from servers.faults import Fault
from servers.openai import OpenAIServer
from sociometer.cli.main import run_command
from sociometer.store.store import Store

PRICES = '["vllm/m"]\ninput = 1.0\noutput = 10.0\nas_of = 2026-01-01\n'


class Greedy(OpenAIServer):
    """Reports far more tokens than it was allowed to write."""

    def good(self, path, body, fault):
        answer = super().good(path, body, fault)
        answer["usage"] = {"prompt_tokens": 500, "completion_tokens": 50_000, "total_tokens": 50_500}
        return answer


@pytest.fixture
def words(tmp_path, monkeypatch):
    """The words of `run sesi` against a server."""
    monkeypatch.setenv("SOCIOMETER_PRICES", str(tmp_path / "prices.toml"))
    (tmp_path / "prices.toml").write_text(PRICES, encoding="utf-8")

    def made(server, *more):
        return ["run", "sesi", "-o", "in-flight=16", "--model", f"vllm/m@{server.url}#1", *more,
                "--store", str(tmp_path / "s.db"), "--quiet", "--json"]  # fmt: skip

    return made


@pytest.fixture
def sociometer(words, capsys):
    """Plays `run sesi` against a server; gives the exit code, what it printed as JSON, and standard error."""

    def play(server, *more):
        code = run_command(words(server, *more))
        out, err = capsys.readouterr()
        return code, json.loads(out), err

    return play


@pytest.mark.parametrize("cap", [("--max-tokens", "200000"), ("--max-cost", "2")])
def test_a_server_that_does_not_keep_to_its_limit_is_asked_once(sociometer, cap):
    with Greedy() as server:
        code, (played,), _ = sociometer(server, *cap)
    assert code == 3
    assert len(server.received) == 1
    assert "ignores its reply limit" in played["ending"]["reason"]
    assert played["output_tokens"] == 50_000


@pytest.mark.parametrize(
    "fault",
    [
        Fault(raw=b'{"usage": {"prompt_tokens": 500, "completion_tokens": 200}, "choices": "none"}'),
        Fault(500, "worked on it, then failed"),
        Fault(drop=True),
        Fault(delay_seconds=30),  # longer than the run waits
    ],
)
def test_what_a_server_may_have_worked_on_counts_against_the_cap(sociometer, fault):
    with OpenAIServer() as server:
        server.fault_of = lambda number: fault
        more = ("--max-cost", "0.03", "-o", "retries=5", "-o", "timeout=0.2", "--limit", "40", "-o", "reply-tokens=200")
        code, _, err = sociometer(server, *more)
    # A SESI prompt has less than 2,000 bytes and a reply at most 200 tokens: at worst $0.004 a request.
    assert 4 <= len(server.received) <= 0.03 / 0.0025, (len(server.received), err)
    assert code in (2, 3, 4), err


def test_a_request_that_was_refused_costs_nothing(sociometer):
    with OpenAIServer() as server:
        server.fault_of = lambda number: (
            Fault(429, "slow down", headers={"Retry-After": "0.01"}) if number % 2 else None
        )
        code, (played,), _ = sociometer(server, "--max-cost", "0.05", "--limit", "20", "-o", "retries=8")
    assert (code, played["done"]) == (0, 20)
    assert played["retries"] >= 10


def test_a_cap_on_requests_holds_over_two_kills(sociometer, words, tmp_path):
    with OpenAIServer() as server:
        server.fault_of = lambda number: Fault(delay_seconds=0.3)
        for _ in range(2):
            process = forked.start(["-m", "sociometer.cli.main", *words(server, "--max-requests", "60")])
            before = len(server.received)
            while len(server.received) < before + 8 and process.poll() is None:
                time.sleep(0.01)
            process.kill()
            process.wait()
        server.fault_of = None
        assert sociometer(server, "--max-requests", "60")[0] == 3
        assert len(server.received) <= 60
        with Store(tmp_path / "s.db") as store:
            (record,) = store.runs.all()
            assert store.journal.spent(record.id).requests == 60


def test_a_cap_that_covers_no_request_is_said_before_anything_is_sent(sociometer):
    with OpenAIServer() as server:
        code, told, _ = sociometer(server, "--max-tokens", "3000", "-o", "reply-tokens=4000")
        assert code == 2
        assert "is less than one request" in told["error"]
        assert "-o reply-tokens" in told["error"]
        assert server.received == []


def test_a_run_whose_caps_left_room_ends_without_an_allowance(sociometer, tmp_path):
    with OpenAIServer() as server:
        code, (played,), _ = sociometer(server, "--max-cost", "1", "--limit", "20")
    assert (code, played["done"]) == (0, 20)
    with Store(tmp_path / "s.db") as store:
        (record,) = store.runs.all()
        spent = store.journal.spent(record.id)
        assert (spent.requests, spent.charged_tokens, spent.charged_cost) == (20, 0, 0)
