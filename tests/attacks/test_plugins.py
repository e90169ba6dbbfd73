"""Installed packages that are broken: they are named, and no command succeeds that did nothing."""

import sys

import pytest

import sociometer as sm
from sociometer.cli.main import run_command
from sociometer.models import registry

PLAYER = """
from sociometer.core.player import Player
from sociometer.core.conversation import Identity, Reply, Usage

class Mine(Player):
    identity = Identity("mine", "x")
    async def answer(self, request):
        return {reply}

def make(name, options):
    return Mine()
"""
UNLOADABLE = {
    "raises": "raise RuntimeError('boom')",
    "ends the process": "import sys\nsys.exit(0)",
    "has a syntax error": "def (",
    "has no such function": "other = 1",
    "is a number": "make = 7",
    "makes nothing": "def make(name, options): return None",
    "makes a text": "def make(name, options): return 'player'",
    "fails to make": "def make(name, options): raise KeyError('k')",
    "makes a player without identity": PLAYER.format(reply="Reply('B')").replace("identity =", "other ="),
}


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Installs a package with a provider."""

    def install(code):
        (tmp_path / "of_attackers.py").write_text(code, encoding="utf-8")
        info = tmp_path / "of_attackers-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: of-attackers\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text("[sociometer.models]\nmine = of_attackers:make\n")
        monkeypatch.syspath_prepend(str(tmp_path))
        registry._installed.cache_clear()

    yield install
    registry._installed.cache_clear()
    sys.modules.pop("of_attackers", None)


def play(tmp_path, model="mine/x"):
    words = ["run", "sesi", "--model", model, "--limit", "3"]
    return run_command([*words, "--store", str(tmp_path / "s.db")])


@pytest.mark.parametrize("code", UNLOADABLE.values(), ids=UNLOADABLE)
def test_a_provider_that_cannot_be_used_is_named_and_others_work(tmp_path, installed, capsys, code):
    installed(code)
    assert play(tmp_path) == 2
    said = capsys.readouterr().err
    assert said.startswith("error: the provider 'mine' (of_attackers:make)")
    assert len(said.splitlines()) == 1
    assert run_command(["list", "models"]) == 0
    assert play(tmp_path, "baseline/random") == 0


@pytest.mark.parametrize(
    "reply",
    [
        "None",
        "'B'",
        "7",
        "Reply(None)",
        "Reply('B\\ud800')",
        "Reply('B', finish=None)",
        "Reply('B', usage=None)",
        "Reply('B', served_model=b'x')",
        "Reply('B', calls=None)",
    ],
)
def test_what_is_no_reply_is_a_failure_of_the_provider_and_no_answer(tmp_path, installed, capsys, reply):
    installed(PLAYER.format(reply=reply))
    assert play(tmp_path) == 4
    assert "3 failed: provider error" in capsys.readouterr().err


def test_an_impossible_usage_of_a_provider_counts_as_not_reported(tmp_path, installed, capsys):
    installed(PLAYER.format(reply="Reply('B', usage=Usage(10**30, 'many'))"))
    assert play(tmp_path) == 0
    assert "token" not in capsys.readouterr().err
    (run,) = sm.runs(store=tmp_path / "s.db")
    assert (run.spent().unmetered, run.spent().input_tokens) == (3, 0)
    assert run_command(["check", "store", "--store", str(tmp_path / "s.db")]) == 0


def test_a_function_that_ends_the_process_is_no_success(tmp_path, monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "quitter.py").write_text("import sys\nsys.exit(0)\n", encoding="utf-8")
    assert play(tmp_path, "python/quitter:reply") == 2
    assert "SystemExit" in capsys.readouterr().err
