"""Caps hold against servers that overspend, answer rubbish or never answer, and against kills."""

import json
import subprocess
import sys
import time

import pytest

from servers.faults import Fault
from servers.openai import OpenAIServer
from sociometer.store.store import Store

PRICES = '["vllm/m"]\ninput = 1.0\noutput = 10.0\nas_of = 2026-01-01\n'


class Greedy(OpenAIServer):
    """Reports far more tokens than it was allowed to write."""

    def good(self, path, body, fault):
        answer = super().good(path, body, fault)
        answer["usage"] = {"prompt_tokens": 500, "completion_tokens": 50_000, "total_tokens": 50_500}
        return answer


@pytest.fixture
def sociometer(tmp_path, monkeypatch):
    """Starts `run sesi` in a process of its own against a server."""
    monkeypatch.setenv("SOCIOMETER_PRICES", str(tmp_path / "prices.toml"))
    (tmp_path / "prices.toml").write_text(PRICES, encoding="utf-8")

    def start(server, *words, command=("run", "sesi", "-o", "in-flight=16")):
        base = ("--model", f"vllm/m@{server.url}#1") if command[0] == "run" else ()
        return subprocess.Popen(
            [sys.executable, "-m", "sociometer.cli.main", *command, *base, *words,
             "--store", str(tmp_path / "s.db"), "--quiet", "--json"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    return start


def finish(process, code):
    out, err = process.communicate(timeout=120)
    assert process.returncode == code, err + out
    return json.loads(out), err


@pytest.mark.parametrize("cap", [("--max-tokens", "200000"), ("--max-cost", "2")])
def test_a_server_that_does_not_keep_to_its_limit_is_asked_once(sociometer, cap):
    with Greedy() as server:
        (played,), _ = finish(sociometer(server, *cap), 3)
    assert len(server.received) == 1
    assert "ignores its reply limit" in played["ending"]["reason"]
    assert played["output_tokens"] == 50_000


@pytest.mark.parametrize(
    "fault",
    [
        Fault(raw=b'{"usage": {"prompt_tokens": 500, "completion_tokens": 200}, "choices": "none"}'),
        Fault(500, "worked on it, then failed"),
        Fault(drop=True),
        Fault(delay_seconds=30),
    ],
)
def test_what_a_server_may_have_worked_on_counts_against_the_cap(sociometer, fault):
    with OpenAIServer() as server:
        server.fault_of = lambda number: fault
        words = ("--max-cost", "0.03", "-o", "retries=5", "-o", "timeout=1", "--limit", "40", "-o", "reply-tokens=200")
        process = sociometer(server, *words)
        _, err = process.communicate(timeout=120)
    # A SESI prompt has less than 2,000 bytes and a reply at most 200 tokens: at worst $0.004 a request.
    assert 4 <= len(server.received) <= 0.03 / 0.0025, (len(server.received), err)
    assert process.returncode in (2, 3, 4), err


def test_a_request_that_was_refused_costs_nothing(sociometer):
    with OpenAIServer() as server:
        server.fault_of = lambda number: (
            Fault(429, "slow down", headers={"Retry-After": "0.01"}) if number % 2 else None
        )
        (played,), _ = finish(sociometer(server, "--max-cost", "0.05", "--limit", "20", "-o", "retries=8"), 0)
    assert played["done"] == 20
    assert played["retries"] >= 10


def test_a_cap_on_requests_holds_over_three_kills(sociometer, tmp_path):
    with OpenAIServer() as server:
        server.fault_of = lambda number: Fault(delay_seconds=0.3)
        for _ in range(3):
            process = sociometer(server, "--max-requests", "60")
            before = len(server.received)
            while len(server.received) < before + 8 and process.poll() is None:
                time.sleep(0.01)
            process.kill()
            process.communicate()
        server.fault_of = None
        finish(sociometer(server, "--max-requests", "60"), 3)
        assert len(server.received) <= 60
        with Store(tmp_path / "s.db") as store:
            (record,) = store.runs.all()
            assert store.journal.spent(record.id).requests == 60


def test_a_cap_that_covers_no_request_is_said_before_anything_is_sent(sociometer):
    with OpenAIServer() as server:
        told, _ = finish(sociometer(server, "--max-tokens", "3000", "-o", "reply-tokens=4000"), 2)
        assert "is less than one request" in told["error"]
        assert "-o reply-tokens" in told["error"]
        assert server.received == []


def test_a_run_whose_caps_left_room_ends_without_an_allowance(sociometer, tmp_path):
    with OpenAIServer() as server:
        (played,), _ = finish(sociometer(server, "--max-cost", "1", "--limit", "20"), 0)
    assert played["done"] == 20
    with Store(tmp_path / "s.db") as store:
        (record,) = store.runs.all()
        spent = store.journal.spent(record.id)
        assert (spent.requests, spent.charged_tokens, spent.charged_cost) == (20, 0, 0)
