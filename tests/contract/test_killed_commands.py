"""A command that changes several files, and is killed between any two changes, leaves nothing half done.

What is there after the kill is what was there before, or all of it; or repeating the command completes it.
"""

import shutil
from contextlib import closing

import pytest

import sociometer as sm
from killed import kill_everywhere
from sociometer.cli.main import run_command
from sociometer.store.labels import LabelBook
from sociometer.store.studies import StudyBook

AT = ("--store", "s.db")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A store with a run, a study and a sheet for raters, and a table of scores."""
    folder = tmp_path_factory.mktemp("made")
    run = sm.run("sesi", model="baseline/random", limit=3, name="one", store=folder / "s.db").id
    at = ["--store", str(folder / "s.db")]
    assert run_command(["study", "create", "sesi", "--name", "spring", "--limit", "1", *at]) == 0
    assert run_command(["sheet", "write", run, "--of", "accuracy", "--to", str(folder / "q.csv"), *at]) == 0
    (folder / "scores.csv").write_text("item,subject,score\na,m,1\nb,m,0\n", encoding="utf-8")
    return folder


def runs_of(folder, store="s.db"):
    """Every run of a store with its state and its number of episodes."""
    found = sm.runs(store=folder / store) if (folder / store).exists() else ()
    return sorted((run.instrument, run.subject, run.state, len(list(run.episodes()))) for run in found)


def a_file(folder):
    path = folder / "rows.jsonl"
    return path.read_bytes() if path.exists() else b""


def a_copy(folder):
    if not (folder / "copy.db").exists():
        return []
    with (
        closing(StudyBook(folder / "copy.db.studies")) as studies,
        closing(LabelBook(folder / "copy.db.labels")) as labels,
    ):
        return [runs_of(folder, "copy.db"), studies.names(), [len(labels.units(one.name)) for one in labels.sheets()]]


def sheets(folder):
    with closing(LabelBook(folder / "s.db.labels")) as book:
        drawn = {one.name: len(book.units(one.name)) for one in book.sheets()}
    return drawn, sorted(path.name for path in folder.glob("new.*"))


def studies(folder):
    with closing(StudyBook(folder / "s.db.studies")) as book:
        return book.names()


COMMANDS = {
    "export": (("export", "one", "--to", "rows.jsonl", *AT), a_file, True),
    "import csv": (("import", "csv", "scores.csv", *AT), runs_of, False),
    "store copy": (("store", "copy", "s.db", "copy.db"), a_copy, False),
    "sheet write": (("sheet", "write", "one", "--of", "trapped", "--to", "new.csv", *AT), sheets, False),
    "study create": (("study", "create", "sesi", "--name", "new", "--limit", "1", *AT), studies, True),
}
"""Each with what it makes, and whether that is there wholly or not at all; else repeating the command completes it."""


@pytest.mark.parametrize("name", COMMANDS)
def test_a_killed_command_leaves_nothing_half_done(name, made, tmp_path, monkeypatch):
    command, look, at_once = COMMANDS[name]
    shutil.copytree(made, tmp_path / "whole")
    before = look(tmp_path / "whole")
    killed, ended = kill_everywhere(tmp_path, *command)
    after = look(ended)
    assert before != after and len(killed) >= 1, f"{len(killed)} kills"
    for folder in killed:
        if at_once:
            assert look(folder) in (before, after), folder.name
        monkeypatch.chdir(folder)
        code = run_command([*command])
        assert code == 0 or (code == 2 and look(folder) == after), folder.name  # 2: it is there already
        assert look(folder) == after, folder.name
