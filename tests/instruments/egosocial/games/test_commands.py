"""What the games offer on the command line, on a context without a store."""

import asyncio

import pytest

from sociometer.core.errors import MachineryError, UsageError
from sociometer.core.settings import Settings
from sociometer.instruments.egosocial import commands


class Kept:
    """A run that was rehearsed, as commands see a stored one."""

    def __init__(self, show, tasks, subject):
        self.id = self.reference = "kept"
        self.instrument, self.subject, self.tasks = "egosocial", subject, tasks
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
    """A workbench that opens kept runs."""

    def __init__(self, **runs):
        self._runs = runs

    def run(self, reference):
        return self._runs[reference]


def test_the_sheet_has_every_decision_or_some_of_them(rehearsal, baseline):
    run = Kept(rehearsal(baseline("oracle"), deals=3), ("blackjack",), "one")
    rows = commands.beliefs([run], None, 0)
    assert len(rows) >= 3 and {len(row.shown) for row in rows} == {4}
    assert len(commands.beliefs([run], 2, 0)) == 2


def out_of_order(request):
    raise MachineryError("no answer could be had")


def test_a_run_without_blackjack_has_nothing_to_grade(rehearsal, baseline, script):
    context = FakeContext(
        n=Kept(rehearsal(baseline("random"), opponents=("level-1",), rounds=1), ("numbers",), "one"),
        e=Kept(rehearsal(script(out_of_order), deals=1), ("blackjack",), "one"),
    )
    with pytest.raises(UsageError, match="run kept played numbers, but not blackjack"):
        commands.grade(context, Settings({"run": "n"}))
    with pytest.raises(UsageError, match="nothing to grade"):
        commands.beliefs([context.run("e")], None, 0)
