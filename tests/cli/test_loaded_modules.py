"""Commands load only the libraries that they need: most of the time of a short command is the loading."""

import subprocess
import sys

import pytest

HEAVY = ("aiohttp", "jinja2", "numpy", "rich", "scipy.optimize", "scipy.special", "scipy.stats", "vl_convert")
READ_AND_TELL = """
import sys
from sociometer.cli.main import run_command
code = run_command(sys.argv[2:])
assert code == 0, code
print(*(name for name in sys.argv[1].split() if name in sys.modules), file=sys.stderr)
"""


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Two small runs of SESI."""
    path = tmp_path_factory.mktemp("loaded") / "store.db"
    for model in ("baseline/random", "baseline/oracle"):
        loaded("run", "sesi", "--model", model, "--limit", "12", "--quiet", "--store", str(path))
    return path


def loaded(*command: str) -> set[str]:
    """The heavy libraries that a command loads, in a process of its own."""
    program = [sys.executable, "-c", READ_AND_TELL, " ".join(HEAVY), *command]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stderr.splitlines()[-1].split())


def test_the_package_can_be_run_as_a_module():
    done = subprocess.run([sys.executable, "-m", "sociometer", "list"], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "socialeval" in done.stdout


@pytest.mark.parametrize("command", [["list"], ["list", "sesi"], ["list", "models"], ["run", "--help"]])
def test_commands_that_show_what_there_is_load_no_heavy_library(command):
    assert loaded(*command) == set()


def test_the_list_of_runs_loads_no_heavy_library(store):
    assert loaded("runs", "--store", str(store)) == set()


def test_playing_and_showing_a_run_of_independent_items_loads_no_large_library(store, tmp_path):
    model = ["--model", "baseline/random", "--limit", "12", "--quiet"]
    assert loaded("run", "sesi", *model, "--store", str(tmp_path / "new.db")) <= {"numpy", "scipy.special"}
    assert loaded("show", "last", "--store", str(store)) <= {"numpy", "scipy.special"}
    assert loaded("compare", "sesi", "--store", str(store)) <= {"numpy", "scipy.special"}


@pytest.mark.parametrize("instrument", ["egosocial", "sage", "seceu", "socialeval"])
def test_no_instrument_needs_scipy_stats_to_play(instrument, tmp_path):
    model = ["--model", "baseline/random", "--limit", "3", "--quiet"]
    found = loaded("run", instrument, *model, "--store", str(tmp_path / "new.db"))
    assert found <= {"numpy", "scipy.special"}


def test_comparisons_load_no_library_of_the_page_and_the_page_loads_no_scipy_stats(store, tmp_path):
    assert loaded("compare", "all", "--fail-if", "worse", "--store", str(store)) == {"numpy", "scipy.special"}
    page = loaded("report", "all", "--to", str(tmp_path / "page.html"), "--store", str(store))
    assert page == {"numpy", "scipy.special", "jinja2", "vl_convert"}
