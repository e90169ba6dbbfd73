"""`check store` finds what was changed behind the store's back; `store copy` copies; a read-only store can be read."""

import json
import os
import shutil
import sqlite3
import tempfile
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

import forked
import sociometer
from servers.openai import OpenAIServer
from servers.paid import Server, config, engine_with
from sociometer.cli.main import run_command
from sociometer.store.store import Store


@pytest.fixture
def path(tmp_path):
    """A store with one run of a paid model (journaled) and one of a baseline."""
    with Store(tmp_path / "s.db") as store:
        engine_with(store, Server("B")).run(config(repeats=2))
    words = ["run", "sesi", "--model", "baseline/random", "--limit", "4", "--quiet"]
    assert run_command([*words, "--store", str(tmp_path / "s.db")]) == 0
    return tmp_path / "s.db"


def findings(path, capsys, *words):
    capsys.readouterr()
    code = run_command(["check", "store", *words, "--store", str(path), "--json"])
    found = json.loads(capsys.readouterr().out)["findings"]
    assert code == (1 if found else 0)
    return found


def change(path, statement, *values):
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        assert other.execute(statement, values).rowcount != 0


def flipped(path, table, column, where="1"):
    """Flips one bit in the middle of a stored value."""
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        rowid, body = other.execute(f"SELECT {_key(table)}, {column} FROM {table} WHERE {where}").fetchone()
        body = bytearray(body)
        body[len(body) // 2] ^= 1
        other.execute(f"UPDATE {table} SET {column} = ? WHERE {_key(table)} = ?", (bytes(body), rowid))


def _key(table):
    return {"text": "hash", "journal": "key", "score": "item", "summary": "run", "run": "id"}.get(table, "rowid")


def test_an_untouched_store_has_no_findings(path, capsys):
    assert findings(path, capsys) == []


@pytest.mark.parametrize(
    ("table", "column", "where"),
    [
        ("text", "body", "1"),
        ("journal", "reply", "1"),
        ("episode", "outcome", "run LIKE 'sesi-%'"),
        ("episode", "events", "run LIKE 'sesi-%'"),
        ("score", "body", "run LIKE 'sesi-%'"),
        ("summary", "body", "run LIKE 'sesi-%'"),
    ],
)
def test_one_flipped_bit_is_found_and_the_next_step_is_said(path, capsys, table, column, where):
    flipped(path, table, column, where)
    found = findings(path, capsys)
    assert found
    assert all(one["next_step"] for one in found)


def test_a_flipped_bit_in_a_vote_is_not_shown_as_a_number(path, capsys):
    flipped(path, "episode", "outcome", "run LIKE 'sesi-%'")
    assert run_command(["store", "rescore", "sesi", "--store", str(path)]) == 5
    assert "checksum does not match" in capsys.readouterr().err


def test_rows_that_change_places_are_found(path, capsys):
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        rows = other.execute("SELECT rowid, outcome FROM episode WHERE run LIKE 'sesi-%' LIMIT 2").fetchall()
        for (rowid, _), (_, outcome) in zip(rows, reversed(rows), strict=True):
            other.execute("UPDATE episode SET outcome = ? WHERE rowid = ?", (outcome, rowid))
    assert findings(path, capsys)


def test_scores_and_summaries_that_do_not_follow_are_mended_by_rescoring(path, capsys):
    change(
        path,
        "DELETE FROM score WHERE run LIKE 'sesi-%' AND item = (SELECT min(item) FROM score WHERE run LIKE 'sesi-%')",
    )
    (score, summary) = findings(path, capsys, "sesi")
    assert "1 scores do not follow" in score["what"]
    assert "summary does not follow" in summary["what"]
    assert "sociometer store rescore sesi-" in score["next_step"]
    assert run_command(["store", "rescore", "sesi", "--store", str(path)]) == 0
    assert findings(path, capsys, "sesi") == []


def test_a_copy_is_whole_also_while_a_run_is_played(tmp_path, capsys):
    with OpenAIServer() as server:
        copied = threading.Event()
        server.fault_of = lambda number: (number < 40 or copied.wait()) and None
        process = forked.start(
            ["-m", "sociometer.cli.main", "run", "sesi", "--model", f"vllm/m@{server.url}", "-o", "in-flight=2",
             "--quiet", "--store", tmp_path / "s.db"],
        )  # fmt: skip
        while len(server.received) < 41:
            time.sleep(0.01)
        assert run_command(["store", "copy", str(tmp_path / "s.db"), str(tmp_path / "copy.db")]) == 0
        assert process.poll() is None
        process.kill()
        process.wait()
        copied.set()
    assert findings(tmp_path / "copy.db", capsys) == []
    with Store(tmp_path / "copy.db") as store:
        (record,) = store.runs.all()
        assert 10 < store.episodes.counts(record.id)[0] <= 40
    assert run_command(["store", "copy", str(tmp_path / "s.db"), str(tmp_path / "copy.db")]) == 0
    assert findings(tmp_path / "copy.db", capsys) == []


@pytest.mark.skipif(not hasattr(os, "seteuid") or os.geteuid() != 0, reason="needs another user to be refused")
def test_a_store_that_cannot_be_written_is_read(path, capsys):
    folder = Path(tempfile.mkdtemp(dir="/var/tmp"))
    copy = Path(shutil.copy(path, folder / "s.db"))
    copy.chmod(0o444)
    folder.chmod(0o555)
    os.seteuid(65534)
    try:
        if not os.access(sociometer.__file__, os.R_OK, effective_ids=True):
            pytest.skip("another user cannot read the source here")
        for words in (["runs"], ["show", "sesi"], ["check", "store", "sesi"]):
            assert run_command([*words, "--store", str(copy)]) == 0, capsys.readouterr().err
        assert "sesi" in capsys.readouterr().out
        assert run_command(["store", "rescore", "sesi", "--store", str(copy)]) == 5
    finally:
        os.seteuid(0)
        folder.chmod(0o755)
        shutil.rmtree(folder)
