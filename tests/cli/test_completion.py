"""Shell completion by click: what a user gets on Tab for commands, instruments, models and runs."""

import os
import subprocess
import sys

import pytest

from sociometer.cli.main import main, run_command


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A store with a named run."""
    store = tmp_path_factory.mktemp("completed") / "s.db"
    words = ["run", "sesi", "--model", "baseline/random", "--limit", "2", "--name", "my-first", "--quiet"]
    assert run_command([*words, "--store", str(store), "--no-project"]) == 0
    return store


def environment(line, store):
    return {
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(line.split(" ")) - 1),
        "_SOCIOMETER_COMPLETE": "bash_complete",
        "SOCIOMETER_STORE": str(store),
    }


@pytest.fixture
def offered(monkeypatch, capsys):
    def ask(line, store):
        for name, value in environment(line, store).items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(sys, "stderr", sys.stderr)  # it is closed, so that no error is shown
        with pytest.raises(SystemExit, match="0"):
            main()
        return [answer.partition(",")[2] for answer in capsys.readouterr().out.splitlines()]

    return ask


def test_tab_offers_runs_in_a_shell(store):
    asked = {**os.environ, **environment("sociometer compare last my", store)}
    done = subprocess.run([sys.executable, "-m", "sociometer"], env=asked, capture_output=True, text=True)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "plain,my-first\n")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("sociometer comp", ["compare"]),
        ("sociometer run soc", ["socialeval"]),
        ("sociometer run sesi --model baseline/or", ["baseline/oracle"]),
        ("sociometer show my", ["my-first"]),
        ("sociometer run --offi", ["--official"]),
        ("sociometer nonsense x", []),
    ],
)
def test_tab_offers_what_can_follow(store, offered, line, words):
    assert offered(line, store) == words


def test_a_missing_store_offers_the_newest_run_only_and_is_not_created(offered, tmp_path):
    assert offered("sociometer show ", tmp_path / "none.db") == ["last"]
    assert not (tmp_path / "none.db").exists()
