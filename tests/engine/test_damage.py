"""Kills in the middle of commands, and a write-ahead log that was deleted, leave a store that works."""

import time

import pytest

import forked
from servers.faults import slow
from servers.openai import OpenAIServer
from sociometer.cli.main import run_command
from sociometer.instruments.sesi.items import bundled
from sociometer.store.store import Store


def start(*words):
    return forked.start(["-m", "sociometer.cli.main", *words])


def is_whole(path):
    if path.suffix == ".html":
        return path.read_text(encoding="utf-8").rstrip().endswith("</html>")
    if path.suffix == ".csv":
        return len(path.read_text(encoding="utf-8").splitlines()) == 5 * len(list(bundled())) + 1
    return run_command(["check", "store", "--store", str(path)]) == 0


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    path = tmp_path_factory.mktemp("played") / "s.db"
    words = ["run", "sesi", "--model", "baseline/random", "--repeats", "5", "--quiet", "--store", str(path)]
    assert run_command(words) == 0
    return path


@pytest.mark.parametrize("command", ["rescore", "report", "export", "copy"])
def test_a_killed_command_leaves_the_store_as_it_was(command, played, tmp_path):
    out = tmp_path / {"report": "p.html", "export": "x.csv", "copy": "b.db"}.get(command, "none")
    words = {
        "rescore": ["store", "rescore", "last"],
        "report": ["report", "all", "--to", out],
        "export": ["export", "last", "--to", out],
        "copy": ["store", "copy", played, out],
    }[command]
    log = played.with_name(f"{played.name}-wal")
    process = start(*words, *([] if command == "copy" else ["--store", played]))
    while process.poll() is None and not (any(tmp_path.iterdir()) or (log.exists() and log.stat().st_size)):
        time.sleep(0.001)  # until it writes
    process.kill()
    process.wait()
    assert not out.exists() or is_whole(out)
    assert run_command(["check", "store", "--store", str(played)]) == 0
    assert run_command(["store", "rescore", "last", "--store", str(played)]) == 0


def test_a_deleted_write_ahead_log_costs_what_was_in_it_and_nothing_else(tmp_path):
    path = tmp_path / "s.db"
    with OpenAIServer() as server:
        server.fault_of = lambda number: slow(0.02)
        words = ("run", "sesi", "--model", f"vllm/m@{server.url}#1", "--quiet")
        process = start(*words, "--store", path)
        while len(server.received) < 40:
            time.sleep(0.01)
        process.kill()
        process.wait()
        for name in ("s.db-wal", "s.db-shm"):
            (tmp_path / name).unlink(missing_ok=True)
        server.fault_of = None
        assert run_command([*words, "--store", str(path)]) == 0
    assert run_command(["check", "store", "--store", str(path)]) == 0
    with Store(path) as store:
        assert max(store.episodes.counts(record.id)[0] for record in store.runs.all()) == len(list(bundled()))
