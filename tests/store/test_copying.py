"""`copy` merges one store into another, on SQLite and PostgreSQL alike, and loses nothing on the way."""

import sqlite3
import time
from contextlib import closing

import pytest

from servers.paid import Server, config, engine_with
from sociometer.cli.main import run_command
from sociometer.core.conversation import Usage
from sociometer.core.errors import MachineryError, UsageError
from sociometer.store.copying import copy_store
from sociometer.store.place import parse_place
from sociometer.store.records import Charge, RunStatus
from sociometer.store.store import Store, database_at

TABLES = {
    "text": "hash, body", "run": "*", "item": "*", "episode": "*", "score": "*", "summary": "*", "attempt": "*",
    "allowance": "*", "model": "identity",
}  # fmt: skip
JOURNAL = (
    "SELECT key, identity, run, messages, reply, input_tokens, output_tokens, cost, charged_tokens, charged_cost,"
    " created, origin FROM journal JOIN model ON model.id = journal.model"
)


def contents(place):
    """Every row of a store, without the numbers that models have in it."""
    with closing(database_at(parse_place(place)).connect()) as connection:
        rows = {name: connection.execute(f"SELECT {columns} FROM {name}") for name, columns in TABLES.items()}
        rows["journal"] = connection.execute(JOURNAL)
        return {name: sorted(map(tuple, found.fetchall()), key=repr) for name, found in rows.items()}


def copy(source, target):
    return copy_store(parse_place(source), parse_place(target), trust=True)


@pytest.fixture
def filled(tmp_path):
    """A store with a finished run, a run with failures, attempts and an allowance, and a run of a baseline."""
    path = tmp_path / "filled.db"
    with Store(path) as store:
        engine_with(store, Server("B")).run(config(repeats=3))
        broken = Server("A", fail=lambda number, request: MachineryError("no", "broken") if number % 2 else None)
        run = engine_with(store, broken).run(config(repeats=2, seed=1)).run
        for _ in range(3):
            store.journal.count_attempt(run.id, Usage(1, 2), Charge(0.5, 3))
        insert = "INSERT INTO allowance (run, requests, tokens, cost) VALUES (?, 20, 30, 1.5)"
        store.writer.queue(lambda batch: batch.execute(insert, (run.id,)))
    assert (
        run_command(["run", "sesi", "--model", "baseline/random", "--limit", "5", "--quiet", "--store", str(path)]) == 0
    )
    return str(path)


def test_a_store_copied_there_and_back_is_identical(filled, place, tmp_path):
    copied = copy(filled, place)
    assert (copied.runs, copied.episodes, copied.replies) == (3, 12 + 8 + 5, 12 + 4)
    copy(place, str(tmp_path / "back.db"))
    assert contents(place) == contents(filled)
    assert contents(str(tmp_path / "back.db")) == contents(filled)
    assert contents(filled)["attempt"]
    assert run_command(["check", "store", "--store", place]) == 0


def test_copying_twice_adds_nothing(filled, place):
    copy(filled, place)
    again = copy(filled, place)
    assert (again.runs, again.episodes, again.replies) == (0, 0, 0)
    assert contents(place) == contents(filled)


def test_two_stores_are_merged(filled, place, tmp_path):
    with Store(tmp_path / "other.db") as store:
        other = engine_with(store, Server("C", revision="9")).run(config(name="other")).run.id
    copy(str(tmp_path / "other.db"), place)
    copy(filled, place)
    found = contents(place)
    both = contents(filled), contents(str(tmp_path / "other.db"))
    for name in ("run", "episode", "journal", "score", "summary"):
        assert found[name] == sorted(both[0][name] + both[1][name], key=repr), name
    with Store(place) as store:
        assert store.runs.get(other).status is RunStatus.FINISHED


def test_a_failed_episode_gets_its_outcome_from_the_other_store(filled, place, tmp_path):
    copy(filled, place)
    with Store(filled) as store:
        failed = next(run for run in store.runs.all() if store.episodes.failures(run.id))
        server = Server("A")
        engine_with(store, server).resume(failed.id)
    copied = copy(filled, place)
    assert copied.episodes == server.total == 4
    with Store(place) as store:
        assert store.episodes.counts(failed.id) == (8, 0)
    assert run_command(["check", "store", failed.id, "--store", place]) == 0
    older = contents(str(filled))["episode"]
    assert contents(place)["episode"] == older


def test_a_run_of_the_same_id_that_is_another_run_is_refused(filled, place):
    copy(filled, place)
    with closing(sqlite3.connect(filled, isolation_level=None)) as other:
        other.execute("UPDATE run SET config_hash = 'other' WHERE id = (SELECT min(id) FROM run)")
    before = contents(place)
    with pytest.raises(UsageError, match="both stores have a run"):
        copy(filled, place)
    assert contents(place) == before


def test_a_store_is_not_copied_into_itself(filled):
    with pytest.raises(UsageError, match="into itself"):
        copy(filled, filled)


def test_only_its_owner_can_read_a_copy(filled, tmp_path):
    copy(filled, str(tmp_path / "copy.db"))
    assert (tmp_path / "copy.db").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("name", ["none.db", "empty.db"])
def test_a_source_that_is_no_store_is_refused_and_not_written(name, place, tmp_path):
    (tmp_path / "empty.db").touch()
    with pytest.raises(UsageError, match="no store"):
        copy(str(tmp_path / name), place)
    assert not (tmp_path / "none.db").exists()
    assert not (tmp_path / "empty.db").stat().st_size


def test_a_copy_is_a_snapshot(filled, place, monkeypatch):
    """What is written while a store is copied is either in the copy with everything it refers to, or not in it."""
    from sociometer.store import copying

    really, before = copying._Copy._table, contents(filled)

    def slow(self, table, *words):
        if table.name == "episode":
            with Store(filled) as store:
                engine_with(store, Server("Z", revision=str(time.time()))).run(config())
        return really(self, table, *words)

    monkeypatch.setattr(copying._Copy, "_table", slow)
    copy(filled, place)
    assert contents(place) == before


def test_a_copy_that_was_interrupted_is_completed_by_the_same_command(filled, place):
    copy(filled, place)
    complete = contents(place)
    with closing(database_at(parse_place(place)).connect()) as connection:
        connection.execute("UPDATE run SET status = 'playing', finished = NULL, totals = NULL")
    copy(filled, place)
    assert contents(place)["run"] == complete["run"]


def test_spending_that_is_copied_alone_counts_in_the_totals_of_a_run(filled, place):
    copy(filled, place)
    with Store(filled) as store:
        failed = next(run for run in store.runs.all() if store.episodes.failures(run.id))
        store.journal.count_attempt(failed.id, Usage(100, 200), Charge(7.0, 300))
    copy(filled, place)
    with Store(place) as store:
        assert store.totals(store.runs.get(failed.id)).spent == store.journal.spent(failed.id)
