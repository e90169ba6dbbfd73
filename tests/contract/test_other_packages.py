"""An instrument and a provider that come from another package."""

import json
import shlex

import pytest

import forked
from installed_package import install_quiz

PATH = "import sys; sys.path.insert(0, sys.argv.pop(1))\n"
"""Has the package of the first argument, as with PYTHONPATH."""
PROGRAM = """
import contextlib, io, json, sys
from sociometer.cli.main import run_command
printed = []
for words in json.load(sys.stdin):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        code = run_command(words)
    assert code == 0, words
    printed.append(out.getvalue())
print(json.dumps(printed))
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    return install_quiz(tmp_path_factory.mktemp("package"))


def start_with(package, program, *words, stdin=forked.DEVNULL):
    return forked.start(["-c", PATH + program, package, *words], stdin=stdin, stdout=forked.PIPE, stderr=forked.PIPE)


@pytest.fixture
def sociometer(package, tmp_path, monkeypatch):
    """Runs commands, one after another, in a process of its own that has the package; gives what each printed."""
    monkeypatch.chdir(tmp_path)

    def call(*commands):
        process = start_with(package, PROGRAM, stdin=forked.PIPE)
        printed, call.warned = process.communicate(json.dumps([shlex.split(one) for one in commands]))
        assert process.returncode == 0, call.warned
        return json.loads(printed)

    return call


def test_an_instrument_of_another_package_is_found_played_and_reported(sociometer, tmp_path):
    cards, models, played, _, _, compared = sociometer(
        "list --json",
        "list models",
        "run oldquiz --model oldecho/amy --store s.db --json",
        "run oldquiz --model baseline/random --store s.db --quiet",
        "report all --to page.html --store s.db",
        "compare all --store s.db",
    )
    assert "oldquiz" in [card["name"] for card in json.loads(cards)]
    assert "oldecho/NAME" in models
    (run,) = json.loads(played)
    assert (run["done"], run["errors"]) == (6, {})
    assert run["summaries"]["talks"]["measures"][0]["name"] == "ascent"
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Old quiz" in page
    assert "oldecho/amy" in page
    assert "oldquiz" in compared


def test_an_entry_point_that_names_no_instrument_is_said_by_name_and_all_else_works(package, sociometer):
    points = package / "oldquiz-1.0.dist-info" / "entry_points.txt"
    before = points.read_text()
    points.write_text("[sociometer.instruments]\nbroken = nowhere.at_all\n")
    try:
        (cards,) = sociometer("list --json")
        assert "sesi" in [card["name"] for card in json.loads(cards)]
        assert "'broken' names 'nowhere.at_all'" in sociometer.warned
    finally:
        points.write_text(before)


def test_a_fault_in_the_program_has_an_exit_code_that_no_verdict_has(package):
    broken = package / "oldquiz" / "instrument.py"
    before = broken.read_text()
    broken.write_text("raise ValueError('a fault')\n")
    main = "from sociometer.cli.main import main; main()"
    try:
        process = start_with(package, main, "check", "oldquiz", "--json")
        printed, told = process.communicate()
    finally:
        broken.write_text(before)
    assert process.returncode == 70
    assert "Traceback" in told
    said = json.loads(printed)
    assert said["exit_code"] == 70
    assert "ValueError: a fault" in said["error"]
