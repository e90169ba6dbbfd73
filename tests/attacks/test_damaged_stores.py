"""A damaged store is reported record by record: no command ends in a traceback, and no changed number is shown."""

import json
import random
import shutil
import sqlite3
import zlib
from contextlib import closing
from itertools import islice

import pytest

from servers.faults import Fault
from servers.openai import OpenAIServer
from sociometer.cli.main import run_command
from sociometer.core.errors import StoreError
from sociometer.store.texts import pack, unpack

DERIVED = {"summary", "model", "allowance"}
"""Tables whose rows are computed again where they are needed, or decide no number."""
UNIMPORTANT = {
    "journal.model", "journal.created", "journal.origin", "attempt.created", "episode.created", "item.position",
    "run.origin",
}  # fmt: skip


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A store with a run of a paid model, one answer of which failed, and a run of a baseline."""
    folder = tmp_path_factory.mktemp("whole")
    with OpenAIServer() as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", "sk-test-1234567890")
        server.fault_of = lambda number: Fault(status=400, message="no") if number == 2 else Fault()
        paid = ["--model", f"openai/m@{server.url}", "--name", "paid"]
        for words in (["sesi", *paid], ["seceu", "--model", "baseline/random", "--name", "free"]):
            run_command(["run", *words, "--limit", "4", "--quiet", "--store", str(folder / "s.db")])
    with closing(sqlite3.connect(folder / "s.db")) as store:
        store.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return folder / "s.db"


@pytest.fixture
def path(whole, tmp_path):
    return shutil.copy(whole, tmp_path / "s.db")


def change(path, statement, *values):
    with closing(sqlite3.connect(path, isolation_level=None)) as store:
        assert store.execute(statement, values).rowcount != 0


def verify(path, capsys):
    capsys.readouterr()
    code = run_command(["check", "store", "--store", str(path), "--json"])
    told = json.loads(capsys.readouterr().out)
    assert code == (1 if told["findings"] else 0)
    return told["findings"]


def columns_of(path):
    with closing(sqlite3.connect(path)) as store:
        for (table,) in store.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            for row in store.execute(f"PRAGMA table_info({table})").fetchall():
                if store.execute(f"SELECT count({row[1]}) FROM {table}").fetchone()[0]:
                    yield table, row[1]


def damaged(value):
    """Some of what a value can become: another type, cut, with one bit changed."""
    chance = random.Random(repr(value))
    raw = bytearray(value if isinstance(value, bytes) else str(value).encode())
    if raw:
        raw[chance.randrange(len(raw))] ^= chance.randrange(1, 256)
    else:
        raw += b"x"
    yield from (bytes(raw), raw[: len(raw) // 2], "\0")


def test_every_damaged_column_is_reported_and_nothing_ends_in_a_traceback(whole, tmp_path, capsys):
    tried = 0
    for table, column in columns_of(whole):
        with closing(sqlite3.connect(whole)) as store:
            query = f"SELECT {column} FROM {table} WHERE {column} IS NOT NULL ORDER BY 1 DESC"
            value = store.execute(query).fetchone()[0]
        for other in islice(damaged(value), tried % 3, tried % 3 + 1):
            copy = shutil.copy(whole, tmp_path / "s.db")
            try:
                change(copy, f"UPDATE {table} SET {column} = ? WHERE {column} = ?", other, value)
            except sqlite3.IntegrityError:
                continue
            tried += 1
            found = verify(copy, capsys)
            # What is not a number counts as 0, in place of a 0.
            if table not in DERIVED and f"{table}.{column}" not in UNIMPORTANT and value != 0:
                assert found, (table, column, value, other)
            words = ["export", "paid", "--to", str(tmp_path / "e.jsonl")]
            assert run_command([*words, "--store", str(copy)]) in (0, 2, 5)
            assert run_command(["runs", "--store", str(copy)]) == 0, "one damaged run does not hide the others"
    assert tried > 40


@pytest.mark.parametrize("schema", [-1, 7, 10, 2**31 - 1, -(2**31)])
def test_an_odd_schema_number_is_told_in_one_sentence(path, schema, capsys):
    with closing(sqlite3.connect(path)) as store:
        store.execute(f"PRAGMA user_version = {schema}")
    for words in (["check", "store"], ["runs"], ["resume", "paid"]):
        assert run_command([*words, "--store", str(path)]) == 5
        assert f"schema {schema}" in capsys.readouterr().err


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER t AFTER INSERT ON score BEGIN DELETE FROM attempt; END",
        "CREATE VIEW more AS SELECT 1",
        "ALTER TABLE run ADD COLUMN more",
        "DROP TABLE score",
    ],
)
def test_tables_that_are_not_ours_are_refused(path, statement, capsys):
    with closing(sqlite3.connect(path)) as store:
        store.execute(statement)
        store.commit()
    for words in (
        ["check", "store"],
        ["store", "rescore", "free"],
        ["store", "copy", str(path), str(path.with_name("copy.db"))],
    ):
        assert run_command([*words, *(["--store", str(path)] if words[1] != "copy" else [])]) == 5
        assert "not those of a store" in capsys.readouterr().err


@pytest.mark.parametrize("column", ["subject", "instrument", "name", "config_hash", "created", "status", "finished"])
def test_the_labels_of_a_run_are_under_a_checksum(path, column, capsys):
    other = {"created": 1.0, "finished": 2.0, "status": "stopped"}.get(column, "other")
    change(path, f"UPDATE run SET {column} = ? WHERE name = 'free'", other)
    (finding,) = verify(path, capsys)
    assert finding["where"].startswith("seceu-")
    assert run_command(["show", finding["where"], "--store", str(path)]) == 5
    assert run_command(["runs", "--store", str(path)]) == 0
    shown = capsys.readouterr().out
    assert "damaged" in shown
    assert "sesi" in shown


@pytest.mark.parametrize("column", ["cost", "output_tokens", "input_tokens", "run", "charged_tokens"])
@pytest.mark.parametrize("table", ["journal", "attempt"])
def test_spending_that_was_changed_is_found(path, table, column, capsys):
    change(path, f"UPDATE {table} SET {column} = 7")
    assert "not those that it ended with" in verify(path, capsys)[0]["what"]


def test_a_failure_that_was_changed_is_found(path, capsys):
    change(path, "UPDATE episode SET failure_kind = 'timeout' WHERE failure_kind IS NOT NULL")
    assert "checksum" in verify(path, capsys)[0]["what"]


def test_rescoring_replaces_damaged_scores_and_summaries(path, capsys):
    before = run_json(path, capsys)
    change(path, "UPDATE score SET body = X'02' || randomblob(40)")
    change(path, "UPDATE summary SET body = X'02' || randomblob(40)")
    assert all("rescore" in one["next_step"] for one in verify(path, capsys) if "summary" in one["what"])
    for run in ("free", "paid"):
        assert run_command(["store", "rescore", run, "--store", str(path)]) == 0
    assert verify(path, capsys) == []
    assert run_json(path, capsys) == before


def run_json(path, capsys):
    capsys.readouterr()
    assert run_command(["show", "free", "--store", str(path), "--json"]) == 0
    return json.loads(capsys.readouterr().out)["summaries"]


@pytest.mark.parametrize("ending", ["jsonl", "csv"])
@pytest.mark.parametrize("lost", ["item", "episode"])
def test_an_export_that_lost_rows_ends_with_an_error(path, ending, lost, capsys):
    column = {"item": "id", "episode": "item"}[lost]
    change(path, f"DELETE FROM {lost} WHERE rowid IN (SELECT max(rowid) FROM {lost})" if lost == "episode" else
           f"DELETE FROM item WHERE {column} = (SELECT max(id) FROM item WHERE run LIKE 'seceu%')")  # fmt: skip
    run = "free"
    assert run_command(["export", run, "--to", str(path.with_name(f"e.{ending}")), "--store", str(path)]) == 5
    assert "damaged or missing" in capsys.readouterr().err


def test_a_reply_that_is_missing_is_not_exported_as_an_empty_one(path, capsys):
    change(path, "DELETE FROM journal")
    assert run_command(["export", "paid", "--to", str(path.with_name("e.jsonl")), "--store", str(path)]) == 5
    assert verify(path, capsys)


def test_a_compressed_row_cannot_fill_the_memory(path, capsys, peak_memory):
    packer = zlib.compressobj(9)
    first, more = (packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    bomb = b"\x01" + first + 255 * more
    assert len(bomb) < 1_000_000
    with peak_memory() as peak, pytest.raises(StoreError, match="128 MB"):
        unpack(bomb)
    assert peak() < 300_000_000
    change(path, "UPDATE text SET body = ? WHERE hash = (SELECT min(hash) FROM text)", bomb)
    assert verify(path, capsys)
    for size in (0, 511, 512, 100_000):
        assert unpack(pack(bytes(size))) == bytes(size)


def test_a_huge_row_cannot_fill_the_memory(path, capsys, peak_memory):
    change(path, "UPDATE run SET manifest = zeroblob(?) WHERE name = 'paid'", 140_000_000)
    with peak_memory() as peak:
        assert run_command(["runs", "--store", str(path)]) == 5
    assert peak() < 100_000_000
    assert "damaged" in capsys.readouterr().err


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER t AFTER INSERT ON score EXECUTE FUNCTION f()",
        "ALTER TABLE score RENAME TO other; CREATE VIEW score AS SELECT *, g() AS more FROM other",
        "ALTER TABLE run ADD COLUMN more TEXT",
        "ALTER TABLE score DROP CONSTRAINT score_pkey",
        "ALTER TABLE attempt ALTER COLUMN run SET DEFAULT g()",
        "ALTER TABLE attempt ADD CHECK (g() <> '')",
        "CREATE INDEX more ON attempt (g(), run)",
        "CREATE RULE r AS ON INSERT TO attempt DO ALSO SELECT g()",
        "DROP TABLE score",
    ],
)
def test_tables_of_a_database_that_are_not_ours_are_refused(postgres, statement, capsys):
    psycopg = pytest.importorskip("psycopg")
    assert run_command(["run", "sesi", "--model", "baseline/random", "--limit", "1", "--store", postgres]) == 0
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("CREATE FUNCTION f() RETURNS trigger IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'")
        connection.execute("CREATE FUNCTION g() RETURNS text IMMUTABLE LANGUAGE sql AS 'SELECT current_user::text'")
        connection.execute(statement)
    for words in (["runs"], ["check", "store"]):
        assert run_command([*words, "--store", postgres]) == 5
        assert "not those of a store" in capsys.readouterr().err


def test_the_tables_of_another_program_in_a_database_are_left_alone(postgres, capsys):
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("CREATE TABLE photo (name TEXT)")
        for words in (["runs"], ["run", "sesi", "--model", "baseline/random", "--limit", "1"]):
            assert run_command([*words, "--store", postgres]) == 5
            assert "tables of another program" in capsys.readouterr().err
        found = connection.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").fetchone()
    assert found == (1,)
