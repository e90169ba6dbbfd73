"""`runs --watch` shows the runs in progress until none is left."""

import json

import pytest
from engine.teams import CountingServer, command, end_all, finish, start, wait_for

from sociometer.cli.main import run_command


@pytest.fixture
def server():
    with CountingServer(0.3) as running:
        yield running
    end_all()


def watched(place, capsys):
    capsys.readouterr()
    assert run_command(["runs", "--watch", "--every", "0.3", "--json", "--store", str(place)]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_it_counts_over_all_workers_and_shows_each(server, postgres, capsys):
    process = start(command(server, "--workers", 2), postgres)
    wait_for(lambda: len(server.received) > 5)
    looks = watched(postgres, capsys)
    finish(process)
    assert looks[-1] == []
    seen = [look[0] for look in looks if look]
    assert all(one["planned"] == 90 and 0 <= one["left"] <= 90 for one in seen)
    assert any(one["rate"] for one in seen)
    assert any(one["leases"] for one in seen)
    assert max(len(one["workers"]) for one in seen) == 2
    assert max(worker.get("in_flight", 0) for one in seen for worker in one["workers"]) <= 8


def test_it_shows_a_run_on_a_store_file(server, tmp_path, capsys):
    process = start(command(server), tmp_path / "s.db")
    wait_for(lambda: len(server.received) > 5)
    looks = watched(tmp_path / "s.db", capsys)
    finish(process)
    assert looks[0][0]["left"] is None
    assert looks[0][0]["workers"] == []
    assert looks[-1] == []


def test_the_table_names_runs_and_workers(server, postgres, capsys):
    process = start(command(server, "--workers", 2), postgres)
    wait_for(lambda: len(server.received) > 5)
    assert run_command(["runs", "--watch", "--every", "0.3", "--store", postgres]) == 0
    finish(process)
    shown = capsys.readouterr().out
    assert "Runs in progress" in shown
    assert "Workers" in shown
    assert "No run is in progress." in shown
