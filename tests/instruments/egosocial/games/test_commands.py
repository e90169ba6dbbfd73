"""What the games offer on the command line, on a context without a store."""

import asyncio
import shutil

import pytest

from rehearsal import Rehearsal
from sociometer.core.errors import MachineryError, UsageError
from sociometer.core.settings import Settings
from sociometer.instruments import load
from sociometer.instruments.egosocial import commands
from sociometer.instruments.egosocial.games.holdem.net import WEIGHTS
from sociometer.instruments.egosocial.games.numbers.rules import OPPONENTS


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


def test_babysitting_sets_the_same_items_side_by_side(rehearsal, baseline, script):
    few = {"matches": 6, "opponents": ("level-1", "level-2"), "rounds": 5}
    steady = Kept(rehearsal(baseline("random"), **few), ("numbers", "holdem"), "someone")
    weak = script('{"prediction": 1, "choice": 100, "action": "fold"}', name="weak")
    seated = Kept(rehearsal(baseline("random"), weak, **few), ("numbers", "holdem"), "someone")
    found = commands.babysitting(FakeContext(a=steady, b=seated), Settings({"steady": "a", "seated": "b"}))
    (table,) = found.tables
    assert "weak" in table.title
    rows = {(row[0], row[1]): row for row in table.rows}
    assert rows["holdem", "chips a hand"][8] == 6
    # whoever folds at once loses its blind, so the subject wins every hand
    assert rows["holdem", "chips a hand"][3] > 0
    assert ("numbers", "words in a reply") in rows


def test_one_match_against_a_model_under_eight_names_shows_no_significance(rehearsal, script):
    names = {"opponents": tuple(OPPONENTS), "rounds": 3}
    subject = script('{"prediction": 40, "choice": 27}', name="someone")
    steady = Kept(rehearsal(subject, **names), ("numbers",), "someone")
    seated = Kept(
        rehearsal(subject, script('{"prediction": 1, "choice": 9}', name="other"), **names), ("numbers",), "someone"
    )
    (table,) = commands.babysitting(FakeContext(a=steady, b=seated), Settings({"steady": "a", "seated": "b"})).tables
    (error,) = [row for row in table.rows if row[1] == "absolute error"]
    assert error[3] == 31
    assert error[5:] == (None, None, None, 1)


def test_babysitting_refuses_swapped_runs_and_one_given_twice(rehearsal, baseline, script):
    few = {"opponents": ("level-1",), "rounds": 2}
    steady = Kept(rehearsal(baseline("random"), **few), ("numbers",), "someone")
    other = script('{"prediction": 1, "choice": 9}', name="other")
    seated = Kept(rehearsal(baseline("random"), other, **few), ("numbers",), "someone")
    context = FakeContext(a=steady, b=seated)
    with pytest.raises(UsageError, match="against other, not the steady opponent"):
        commands.babysitting(context, Settings({"steady": "b", "seated": "a"}))
    with pytest.raises(UsageError, match="--seated needs one with --role"):
        commands.babysitting(context, Settings({"steady": "a", "seated": "a"}))


def test_babysitting_refuses_runs_of_which_nothing_was_scored(rehearsal, baseline):
    empty = Kept(rehearsal(baseline("random")), (), "someone")
    empty.tasks, empty._views = ("numbers",), {"numbers": rehearsal(baseline("random")).play_all("numbers", [])}
    with pytest.raises(UsageError, match="nothing to compare"):
        commands.babysitting(FakeContext(a=empty, b=empty), Settings({"steady": "a", "seated": "b"}))


def test_babysitting_refuses_two_different_subjects_and_runs_without_a_game(rehearsal, baseline):
    numbers = Kept(rehearsal(baseline("random"), opponents=("level-1",)), ("numbers",), "one")
    other = Kept(rehearsal(baseline("random"), opponents=("level-1",)), ("numbers",), "two")
    cards = Kept(rehearsal(baseline("random"), deals=1), ("blackjack",), "one")
    context = FakeContext(a=numbers, b=other, c=cards)
    with pytest.raises(UsageError, match="different subjects"):
        commands.babysitting(context, Settings({"steady": "a", "seated": "b"}))
    with pytest.raises(UsageError, match="share no game"):
        commands.babysitting(context, Settings({"steady": "a", "seated": "c"}))


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
    assert "would calibrate it" in table.note
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


def test_characters_need_enough_hands_to_mean_something():
    with pytest.raises(UsageError, match="100 or more"):
        commands.characters(FakeContext(), Settings({"over": 5, "weights": None}))
    (table,) = commands.characters(FakeContext(), Settings({"over": 200, "weights": None})).tables
    assert len(table.rows) == 24


def test_characters_of_ones_own_opponents_are_measured_too(tmp_path):
    for style in ("aggressive", "conservative"):
        shutil.copy(WEIGHTS / f"{style}-1.npz", tmp_path / f"{style}-7.npz")
    (table,) = commands.characters(FakeContext(), Settings({"over": 200, "weights": str(tmp_path)})).tables
    assert {row[1] for row in table.rows} == {7}
    with pytest.raises(UsageError, match="no seed with both styles"):
        commands.characters(FakeContext(), Settings({"over": 200, "weights": str(tmp_path / "none")}))
