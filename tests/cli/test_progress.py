"""Progress on a terminal: a bar for the run, one for all runs, nothing left behind; plain lines when piped."""

import io
import re
import sys
import time
from collections import Counter

import pytest

import sociometer as sm
from sociometer.core.config import Caps
from sociometer.core.conversation import Usage
from sociometer.engine.budget import Budget
from sociometer.engine.progress import Progress
from sociometer.engine.runner import Ending
from sociometer.reporting.progress import ProgressDisplay, downloads, line, track, working
from sociometer.store.records import RunStatus


class Terminal(io.StringIO):
    """A stream that claims to be a terminal."""

    def isatty(self):
        return True


@pytest.fixture
def on_terminal(monkeypatch):
    """Makes standard error a terminal; within the test, since pytest replaces it between setup and call."""

    def make():
        monkeypatch.setenv("COLUMNS", "100")
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setattr(sys, "stderr", Terminal())
        return sys.stderr

    return make


def text_of(stream):
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", stream.getvalue())


def play(display, runs, terminal=None):
    """Plays runs; each ends when its bar is on the terminal, which is drawn now and then."""
    for place in range(runs):
        progress = Progress(f"sesi · model-{place}", Budget(Caps()), 4, done=2)
        display.started(f"sesi-{place}", progress)
        while terminal is not None and not re.search(rf"model-{place} [━╸╺]+ +50%", text_of(terminal)):
            time.sleep(0.01)
        progress.done = 4
        display.ended(f"sesi-{place}", Ending(RunStatus.FINISHED))


def test_a_notebook_has_one_line_that_is_written_again(monkeypatch):
    monkeypatch.setitem(sys.modules, "ipykernel", sys)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with ProgressDisplay() as display:
        progress = Progress("sesi · model", Budget(Caps()), 4, done=2)
        display.started("sesi-1", progress)
        while "2/4 done" not in sys.stderr.getvalue():
            time.sleep(0.01)
        display.ended("sesi-1", Ending(RunStatus.FINISHED))
    first, *lines = sys.stderr.getvalue().splitlines()
    assert first == "sesi-1  sesi · model" and all("2/4 done" in line for line in lines)
    assert sys.stderr.getvalue().count("\n") == 2


def test_bars_of_the_run_and_of_all_runs(on_terminal):
    terminal = on_terminal()
    with ProgressDisplay() as display:
        display.expect(2)
        play(display, 2, terminal)
    shown = text_of(terminal)
    assert re.search(r"sesi · model-0 [━╸╺]+ +50%", shown)
    assert "all runs" in shown
    assert "1 of 2 runs done" in shown
    assert "sesi-1  sesi · model-1  4/4 done" in shown
    assert max(len(line) for line in re.split(r"[\r\n]", shown)) <= 100


def test_one_run_has_one_bar(on_terminal):
    terminal = on_terminal()
    with ProgressDisplay() as display:
        display.expect(1)
        play(display, 1, terminal)
    assert "all runs" not in text_of(terminal)


def test_quiet_shows_nothing(on_terminal):
    terminal = on_terminal()
    with ProgressDisplay(quiet=True) as display:
        play(display, 1)
    assert terminal.getvalue() == ""


def test_other_long_work_is_shown_on_a_terminal_only(on_terminal, monkeypatch):
    terminal = on_terminal()
    assert list(track(["a", "b", "c"], "checking runs")) == ["a", "b", "c"]
    with working("writing"), downloads() as told:
        told("file.json", 500_000, 1_000_000)
    shown = text_of(terminal)
    assert "checking runs" in shown and "2 of 3" in shown
    assert "file.json" in shown and "0.5 MB" in shown
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert list(track(["a", "b"], "checking runs")) == ["a", "b"]
    with working("writing"), downloads() as told:
        told("file.json", 1, 2)
    assert sys.stderr.getvalue() == ""


def test_long_work_prints_a_plain_line_now_and_then_when_piped(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    monkeypatch.setattr("sociometer.reporting.progress._PLAIN_SECONDS", 0.0)
    assert list(track(["a", "b", "c"], "states")) == ["a", "b", "c"]
    assert "states: 2 of 3 done" in sys.stderr.getvalue().splitlines()
    assert list(track(["a", "b"], "states", quiet=True)) == ["a", "b"]
    assert len(sys.stderr.getvalue().splitlines()) == 3


def test_a_slow_rate_is_given_by_the_minute():
    progress = Progress("sesi · local/m", Budget(Caps()), 10, started=time.monotonic() - 60)
    progress.done = 3
    assert "3.0/min" in line(progress)
    progress.done = 9
    assert "0.1/s" in line(progress)


def test_items_that_failed_are_told_from_those_that_were_scored():
    progress = Progress("sesi · m", Budget(Caps()), 192, done=100, failed=Counter({"unreachable": 92}))
    assert line(progress).startswith("192/192 done · 100 scored, 92 failed: unreachable · ")
    progress.failed["timeout"] = 1
    assert " · 100 scored, 93 failed: 1 timeout, 92 unreachable · " in line(progress)


def test_tokens_and_cost_are_left_out_for_a_model_that_counts_no_tokens(tmp_path, capsys):
    sm.run("sesi", lambda messages: "A", limit=3, store=tmp_path / "s.db", progress=True)
    said = capsys.readouterr().err
    assert re.search(r"^3/3 done · [\d.]+/s · \d+ s$", said, re.MULTILINE)
    counted = lambda messages: sm.Reply("A", usage=Usage(10, 2))  # noqa: E731
    sm.run("sesi", counted, limit=3, store=tmp_path / "s.db", progress=True)
    assert "3/3 done · 36 tokens · cost unknown · " in capsys.readouterr().err
