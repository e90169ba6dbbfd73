"""A store of the last version, in a file or in PostgreSQL, gets its table of names once and keeps its numbers."""

import sociometer as sm
from sociometer.cli.main import run_command
from sociometer.store.database import LAST_SCHEMA
from sociometer.store.sqlite import copy_of_last_version
from sociometer.store.store import Store


def make_old(place):
    """Turn a store into one of the last version: without names, and without subjects in its manifests."""
    with Store(place) as store:
        connection = store.database.connect()
        connection.execute("DROP TABLE names")
        if store.database.remote:
            connection.execute("DELETE FROM sociometer_schema")
            connection.execute("INSERT INTO sociometer_schema VALUES (?)", (LAST_SCHEMA,))
        else:
            connection.execute(f"PRAGMA user_version = {LAST_SCHEMA}")
        connection.close()


def test_a_store_of_the_last_version_is_upgraded_once(place, tmp_path):
    for model, test in (("random", "sesi"), ("random", "seceu"), ("first", "sesi")):
        sm.run(test, f"baseline/{model}", limit=4, store=place)
    before = {run.id: run.summary() for run in sm.runs(store=place)}
    sm.run("sesi", "baseline/oracle", limit=4, name="top", store=place)
    make_old(place)
    with Store(place) as store:
        names = {entry.name for entry in store.names.every()}
        assert names == {"baseline/random", "baseline/first", "top"}
        assert not store.database.is_of_last_version()
        assert len(store.database.upgraded) == (0 if store.database.remote else 1), "a file is copied beside itself"
    after = {run.id: run.summary() for run in sm.runs(store=place)}
    assert {run: after[run] for run in before} == before
    assert len(sm.choose("baseline/random", store=place).runs) == 2
    assert copy_of_last_version(tmp_path / "s.db").exists() == (place == str(tmp_path / "s.db"))


def test_what_an_upgrade_did_is_told_once(tmp_path, capsys):
    path = tmp_path / "s.db"
    sm.run("sesi", "baseline/first", limit=4, store=path)
    make_old(path)
    told = []
    for _ in range(2):
        assert run_command(["runs", "--store", str(path)]) == 0
        told.append(capsys.readouterr().err)
    assert "s.db was made by version 0.3 and is upgraded; a copy is s.db.version-0.3" in told[0]
    assert told[1] == ""
