"""A store, a name or a file from somebody else names no path and runs no code."""

import sqlite3
import sys
from contextlib import closing

import pytest

from sociometer.cli.main import run_command
from sociometer.core.errors import UsageError
from sociometer.models.python import load_function
from sociometer.store.sqlite import RunLock


@pytest.mark.parametrize("run", ["../../victim", "/etc/victim", "a/b", "..", "x\0y"])
def test_a_run_id_is_never_a_path(tmp_path, run):
    victim = tmp_path / "victim.lock"
    victim.write_text("precious")
    with RunLock(tmp_path / "store" / "s.db", run):
        locks = list((tmp_path / "store" / "s.db.locks").iterdir())
        assert [lock.parent.name for lock in locks] == ["s.db.locks"]
    assert victim.read_text() == "precious"


@pytest.mark.parametrize("name", ["", ":f", "..x:f", "m:", "m:f.", "a b:f", "m:f()", "os:system;x", "m"])
def test_a_name_that_is_no_function_is_told_in_one_sentence(name):
    with pytest.raises(UsageError, match=r"is not a function; write python/package\.module:function"):
        load_function(name)


def test_such_a_name_ends_a_command_without_a_traceback(capsys):
    assert run_command(["run", "sesi", "--model", "python/..x:f", "--limit", "1", "--no-project"]) == 2
    assert capsys.readouterr().err.startswith("error: 'python/..x:f' is not a function")


CODE = """
from pathlib import Path
Path("ran").touch()
def reply(messages):
    return "B"
"""


def test_code_that_a_stored_run_names_runs_only_if_it_is_named_again(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "of_others.py").write_text(CODE)
    words = ["--store", str(tmp_path / "s.db"), "--quiet"]
    model = ["--model", "python/of_others:reply", "--limit", "3", "--max-requests", "1", "--name", "theirs"]
    assert run_command(["run", "sesi", *model, "--no-project", *words]) == 3
    sys.modules.pop("of_others")
    (tmp_path / "ran").unlink()
    capsys.readouterr()
    assert run_command(["resume", "theirs", "--max-requests", "9", *words]) == 2
    assert "--code python/of_others:reply" in capsys.readouterr().err
    assert not (tmp_path / "ran").exists()
    assert run_command(["resume", "theirs", "--max-requests", "9", "--code", "python/of_others:reply", *words]) == 0
    assert (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "words", [["runs"], ["check", "store"], ["run", "sesi", "--model", "baseline/random", "--limit", "1"]]
)
def test_the_database_of_another_program_is_refused_and_left_as_it_is(tmp_path, capsys, words):
    path = tmp_path / "photos.sqlite"
    with closing(sqlite3.connect(path)) as photos:
        photos.execute("CREATE TABLE photo (name TEXT)")
        photos.commit()
    before = path.read_bytes()
    assert run_command([*words, "--store", str(path)]) == 5
    assert "belongs to another program" in capsys.readouterr().err
    assert path.read_bytes() == before
