"""Commands load only the libraries that they need: most of the time of a short command is the loading."""

import subprocess
import sys

import pytest

from sociometer.cli.main import run_command

HEAVY = ("aiohttp", "jinja2", "numpy", "rich", "scipy.optimize", "scipy.special", "scipy.stats", "vl_convert")
READ_AND_TELL = """
import sys
from sociometer.cli.main import run_command
for line in sys.argv[2:]:
    code = run_command(line.split())
    assert code == 0, (code, line)
    print("Loaded:", *(name for name in sys.argv[1].split() if name in sys.modules), file=sys.stderr)
"""
PLAY = "--model baseline/random --limit 1 --quiet"


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Two small runs of SESI."""
    path = tmp_path_factory.mktemp("loaded") / "store.db"
    for model in ("baseline/random", "baseline/oracle"):
        words = ["run", "sesi", "--model", model, "--limit", "12", "--quiet", "--store", str(path)]
        assert run_command(words) == 0
    return path


def loaded(*commands: str) -> list[set[str]]:
    """The heavy libraries that are loaded after each of some commands, all in a process of their own."""
    program = [sys.executable, "-c", READ_AND_TELL, " ".join(HEAVY), *commands]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told = [line.split() for line in done.stderr.splitlines()]
    return [set(names) for mark, *names in filter(None, told) if mark == "Loaded:"]


def test_the_package_can_be_run_as_a_module():
    done = subprocess.run([sys.executable, "-m", "sociometer", "list"], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "socialeval" in done.stdout


def test_commands_that_show_what_there_is_load_no_heavy_library(store):
    assert loaded("list", "list sesi", "list models", "run --help", f"runs --store {store}")[-1] == set()


def test_playing_showing_and_ranking_loads_no_large_library(store, tmp_path):
    new = f"--store {tmp_path / 'new.db'}"
    games = "--task worlds --task blackjack --task numbers --task holdem"
    instruments = ("sesi", f"egosocial {games}", "sage", "seceu", "socialeval")
    played = [f"run {name} {PLAY} {new}" for name in instruments]
    shown = (f"show last --store {store}", f"compare sesi --store {store}")
    assert loaded(*played, *shown)[-1] <= {"numpy", "scipy.special"}


def test_comparisons_load_no_library_of_the_page_and_the_page_loads_no_scipy_stats(store, tmp_path):
    report = f"report all --to {tmp_path / 'page.html'} --store {store}"
    compared, page = loaded(f"compare all --fail-if worse --store {store}", report)
    assert compared == {"numpy", "scipy.special"}
    assert page == {"numpy", "scipy.special", "jinja2", "vl_convert"}
