"""What the games offer on the command line, on a context without a store."""

import asyncio

import pytest

from rehearsal import Rehearsal
from sociometer.core.errors import MachineryError, UsageError
from sociometer.core.settings import Settings
from sociometer.instruments import load
from sociometer.instruments.egosocial import commands


class Kept:
    """A run that was rehearsed, as commands see a stored one."""

    def __init__(self, show, tasks, subject):
        self.id, self.instrument, self.subject, self.tasks = "kept", "egosocial", subject, tasks
        self._shows = {task: asyncio.run(_all(show, task)) for task in tasks}
        self._views = {task: show.play_all(task) for task in tasks}

    def view(self, task=""):
        return self._views[task or self.tasks[0]]

    def transcript(self, item, task="", repeat=0):
        return self._shows[task][item]


async def _all(show, task):
    items = list(show.instrument.task(task).items(show.source()))
    return {item.id: (await show.play(task, item)).events for item in items}


class FakeContext:
    """A workbench that opens kept runs and writes nothing."""

    def __init__(self, **runs):
        self._runs = runs
        self.written = {}

    def run(self, reference):
        return self._runs[reference]

    def write(self, path, text):
        self.written[str(path)] = text
        return str(path)


def test_grading_writes_a_sheet_and_says_how_to_read_it_back(rehearsal, baseline):
    context = FakeContext(r=Kept(rehearsal(baseline("oracle"), deals=3), ("blackjack",), "one"))
    found = commands.grade(context, Settings({"run": "r", "to": "sheet.csv", "graded": None, "judge": False}))
    assert found.wrote == ("sheet.csv",)
    assert context.written["sheet.csv"].count("blackjack-0-00") >= 3
    assert "--graded sheet.csv" in found.notes[0]


def test_a_judge_grades_every_belief_and_its_agreement_is_printed(rehearsal, baseline, script):
    show = rehearsal(baseline("oracle"), deals=3)
    kept = Kept(show, ("blackjack",), "one")
    asked = script('{"grade": 9}', name="judge")

    class Judging(FakeContext):
        def play(self, task, items):
            room = Rehearsal(load("egosocial"), {"judge": asked})
            view = room.play_all(task, items)
            return type("Run", (), {"view": lambda self, task: view})()

    found = commands.grade(Judging(r=kept), Settings({"run": "r", "to": None, "graded": None, "judge": True}))
    (table,) = found.tables
    assert [row[:2] for row in table.rows] == [("judge", "self"), ("judge", "external")]
    assert all(row[3] == 1 for row in table.rows)
    decisions = sum(len(episode.outcome.decisions) for episode in kept.view("blackjack").episodes())
    assert len(asked.asked) == 2 * decisions
    assert "most likely" in asked.asked[1].messages[0].content


def test_the_papers_scale_has_a_threshold_of_its_own(rehearsal, baseline, script):
    kept = Kept(rehearsal(baseline("oracle"), deals=2), ("blackjack",), "one")

    class Judging(FakeContext):
        def play(self, task, items):
            judge = script('{"grade": 80}', name="judge")
            view = Rehearsal(load("egosocial"), {"judge": judge}, {"judge-scale": "100"}).play_all(task, items)
            return type("Run", (), {"view": lambda self, task: view})()

    found = commands.grade(Judging(r=kept), Settings({"run": "r", "to": None, "graded": None, "judge": True}))
    assert all(row[3] == 0 for row in found.tables[0].rows)
    assert "grades above 85 count as right" in found.tables[0].note


def out_of_order(request):
    raise MachineryError("no answer could be had")


def test_a_run_without_blackjack_has_nothing_to_grade(rehearsal, baseline, script):
    context = FakeContext(
        n=Kept(rehearsal(baseline("random"), opponents=("level-1",), rounds=1), ("numbers",), "one"),
        e=Kept(rehearsal(script(out_of_order), deals=1), ("blackjack",), "one"),
    )
    with pytest.raises(UsageError, match="run kept played numbers but not blackjack"):
        commands.grade(context, Settings({"run": "n", "to": "sheet.csv", "graded": None, "judge": False}))
    with pytest.raises(UsageError, match="nothing to grade"):
        commands.grade(context, Settings({"run": "e", "to": "sheet.csv", "graded": None, "judge": False}))
    assert context.written == {}
