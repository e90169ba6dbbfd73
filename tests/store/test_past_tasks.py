"""Runs of tasks that the installed instrument no longer has: read, shown, compared and exported, never scored anew.

`fixtures/past_tasks` was made with EgoSocialArena 11 and SocialEval 11, which had a task `ladder`: two runs of it with
two items of `worlds` (`stories-random`, `stories-first`), one alone (`visits`), and the file of the first.
"""

import gzip
import hashlib
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import sociometer as sm
from sociometer.cli.main import run_command
from sociometer.core.errors import UsageError
from sociometer.instruments import cards

EGOSOCIAL, SOCIALEVAL = (cards()[name].version for name in ("egosocial", "socialeval"))
MADE = Path(__file__).parents[1] / "fixtures" / "past_tasks"
EXPORTED = "82fa63e1eaa354fb165fb4079396d649784fc2f3b7df70a1f79b9e1f5db7c05a"
"""The SHA-256 of the JSON lines of `stories-random` as the version that made it wrote them."""
NOTE = "has no task 'ladder': its numbers stay those of version 11 (Sociometer 0.2.0)."


@pytest.fixture
def store(tmp_path):
    path = tmp_path / "past.db"
    path.write_bytes(gzip.decompress((MADE / "store.db.gz").read_bytes()))
    return path


@pytest.fixture
def command(store, capsys):
    def run(*words):
        code = run_command([*words, "--store", str(store)])
        shown = capsys.readouterr()
        return code, shown.out + shown.err

    return run


def test_the_numbers_of_the_version_that_made_them_are_listed_and_shown(command):
    code, text = command("runs", "--format", "csv")
    assert code == 0 and "2.5 (too few)" in text and "ladder, worlds" in text
    code, text = command("show", "stories-random")
    assert code == 0 and f"egosocial {EGOSOCIAL} {NOTE}" in text
    assert "ladder\tSpan\tall\t2.5\ttoo few (2 independent items)" in text
    code, text = command("show", "visits")
    assert code == 0 and "Reached\tall\t40.8" in text and f"socialeval {SOCIALEVAL} {NOTE}" in text


def test_its_items_and_transcripts_can_be_read(command):
    code, text = command("show", "stories-random", "--items")
    assert code == 0 and "ladder-0-en-third-000" in text
    code, text = command("show", "visits", "ladder-0-1-000-en")
    assert code == 0 and "turned out" in text and "score: reached" in text


def test_two_such_runs_are_compared_without_a_better_one(command):
    """Which direction is better is not stored."""
    code, text = command("compare", "stories-random", "stories-first", "--task", "ladder")
    assert code == 0 and "egosocial/ladder: stories-first against stories-random" in text
    assert "better" not in text


def test_a_gate_on_such_a_task_does_not_pass(command):
    words = ("compare", "stories-random", "stories-first", "--task", "ladder", "--fail-unless", "no-worse")
    assert command(*words, "--margin", "3")[0] == 1


def test_exported_rows_are_those_that_its_own_version_wrote(command, tmp_path):
    assert command("export", "stories-random", "--to", str(tmp_path / "rows.jsonl"))[0] == 0
    assert hashlib.sha256((tmp_path / "rows.jsonl").read_bytes()).hexdigest() == EXPORTED
    assert command("export", "stories-random", "--to", str(tmp_path / "rows.csv"))[0] == 0
    assert "ladder-0-en-first-001" in (tmp_path / "rows.csv").read_text(encoding="utf-8")


def test_a_page_shows_it_beside_a_run_of_the_installed_version(command, tmp_path, store):
    sm.run("egosocial", model="baseline/oracle", tasks=("worlds",), limit=2, store=store)
    code, _ = command("report", "stories-random", "last", "--to", str(tmp_path / "page.html"))
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert code == 0 and "has no task" in page and "Span" in page


def test_only_the_tasks_that_are_there_are_rescored(command, store):
    code, text = command("store", "rescore", "stories-random")
    assert code == 0 and NOTE in text and "ladder\tSpan\tall\t2.5" in text
    code, text = command("store", "rescore", "visits")
    assert code == 2 and text == f"error: nothing can be rescored: socialeval {SOCIALEVAL} {NOTE}\n"
    with pytest.raises(UsageError, match=r"cannot be rescored: egosocial .* has no task 'ladder'"):
        sm.get_run("stories-random", store=store).rescore("ladder")


def test_check_reads_it_and_finds_what_was_changed(command, store):
    code, text = command("check", "store")
    assert code == 0 and "3 runs checked: no findings." in text and NOTE in text
    with closing(sqlite3.connect(store)) as file, file:
        file.execute("UPDATE score SET body = zeroblob(40) WHERE task = 'ladder' AND item = 'ladder-0-en-third-000'")
    code, text = command("check", "store", "stories-random")
    assert code == 1 and "ladder-0-en-third-000" in text and "restore the store from a backup" in text


def test_it_cannot_be_resumed_or_written_as_a_file_to_check(command, tmp_path):
    code, text = command("resume", "visits")
    assert code == 2 and "was made with socialeval version 11, but version" in text
    code, text = command("export", "visits", "--to", str(tmp_path / "visits.sociometer"))
    assert code == 2 and "only with the version that made it" in text
    assert not (tmp_path / "visits.sociometer").exists()


def test_its_file_is_to_be_checked_with_the_version_that_made_it(tmp_path, capsys):
    path = MADE / "stories-random.sociometer"
    said = (
        f"error: {path}: was made with egosocial version 11 (Sociometer 0.2.0); version {EGOSOCIAL} is installed, and"
        " tasks and scores differ between versions: check it with the version that made it.\n"
    )
    for words in (["check", str(path)], ["import", "run", str(path), "--store", str(tmp_path / "new.db")]):
        assert run_command(words) == 6
        assert capsys.readouterr().err == said


def test_python_reads_it(store):
    run = next(one for one in sm.runs(store=store) if one.record.name == "stories-random")
    assert run.summary("ladder").measure("span").value == pytest.approx(2.5, abs=0.05)
    episode = next(run.episodes("ladder"))
    assert json.loads(json.dumps(episode.outcome))["picks"] and episode.item.questions == 4
