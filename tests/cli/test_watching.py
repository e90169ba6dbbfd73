"""`runs --watch` shows the runs in progress until none is left."""

import json
import os
import threading
import time

import pytest

import forked
from servers.openai import OpenAIServer
from sociometer.cli.main import run_command
from sociometer.cli.runs import WatchedRun, _print


@pytest.fixture
def playing(tmp_path, monkeypatch):
    """The place of a store in which another process plays a run; each look lets it play on for a while."""
    answers, sleep = threading.Semaphore(10), time.sleep

    def look(seconds):
        answers.release(40)
        sleep(seconds)

    with OpenAIServer() as server:
        server.say = lambda body: "A"
        server.fault_of = lambda number: answers.acquire() and None
        words = [
            "run", "sesi", "--model", f"vllm/m@{server.url}#1", "--limit", "30",
            "--repeats", "3", "-o", "in-flight=8", "--quiet", "--json", "--no-project",
        ]  # fmt: skip
        process = forked.start(
            ["-m", "sociometer.cli.main", *words],
            env={**os.environ, "SOCIOMETER_STORE": str(tmp_path / "s.db")},
            stdout=forked.PIPE,
            stderr=forked.PIPE,
        )
        try:
            ends = time.monotonic() + 120
            while len(server.received) < 6:
                assert time.monotonic() < ends and process.poll() is None
                time.sleep(0.02)
            monkeypatch.setattr("sociometer.cli.runs.time.sleep", look)
            yield str(tmp_path / "s.db")
            answers.release(100)
            out, err = process.communicate(timeout=120)
            assert process.returncode == 0, f"{out}\n{err}"
        finally:
            process.kill()
            process.communicate()


def test_it_counts_the_episodes_until_the_run_ends(playing, capsys):
    assert run_command(["runs", "--watch", "--every", "0.3", "--json", "--store", playing]) == 0
    looks = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert looks[-1] == []
    seen = [look[0] for look in looks if look]
    assert all(one["planned"] == 90 and 0 <= one["done"] <= 90 and one["failed"] == 0 for one in seen)
    assert seen[0]["rate"] is None
    assert any(one["rate"] for one in seen)


def test_the_table_names_the_runs(capsys):
    _print([WatchedRun("sesi-abc", "vllm/m", 3, 0, 90, None, 4, 500, "$0.01")], 0)
    shown = capsys.readouterr().out
    assert "Runs in progress" in shown
    assert "vllm/m" in shown
