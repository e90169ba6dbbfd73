import asyncio
import json

import pytest

from sociometer.core.measure import Figure
from sociometer.core.task import SummarisedRun
from sociometer.instruments.sage.figures import beside, figures, leaderboard_table
from sociometer.instruments.sage.items import bundled

from .people import Lecturer, Listener, Person, Says

SCENARIOS = list(bundled("en"))


def summarised(show, subject, task="dialogue", items=SCENARIOS, stand_ins=("simulator: appraisal",)):
    return SummarisedRun(f"run-{subject}", task, subject, dict(show.settings), show.summarise(task, items), stand_ins)


@pytest.fixture
def runs(rehearse):
    players = (Lecturer("lecturer"), Listener("listener"))
    return [summarised(rehearse(subject=player), player.identity.name) for player in players]


def test_the_leaderboard_is_ordered_and_says_what_is_a_stand_in(runs):
    table = leaderboard_table(runs)
    assert [row[1].split(" · ")[0] for row in table.rows] == ["listener", "lecturer"]
    assert all(row[-1] == "stand-in: not ranked" and row[0] is None for row in table.rows)
    assert "no leaderboard" in table.note
    assert all(row[3] <= row[2] <= row[4] for row in table.rows)


def test_dialogue_runs_give_all_figures_and_each_is_json(runs):
    drawn = figures(runs)
    assert [figure.name for figure in drawn] == ["leaderboard", "sentient", "intentions", "trajectories", "efficiency"]
    for figure in drawn:
        assert isinstance(figure, Figure)
        assert (figure.chart is None) != (figure.table is None)
        assert "no leaderboard" in figure.caption
        json.dumps(figure.chart)


def test_a_run_without_outcomes_is_drawn_without_crashing(rehearse):
    show = rehearse(subject=Says("x"), simulator=Says("unreadable"))
    assert figures([summarised(show, "x", items=SCENARIOS[:1])])


def test_beside_a_transcript_stands_the_curve_with_the_inner_thoughts(rehearse, care_home):
    episode = asyncio.run(rehearse(subject=Listener("listener")).play("dialogue", care_home)).episode
    figure = beside(care_home, episode.outcome)
    points = figure.chart["data"]["values"]
    assert tuple(point["y"] for point in points) == episode.outcome.trajectory
    first = episode.outcome.turns[0].judgement
    assert first.activity in points[1]["note"] and first.feeling in points[1]["note"]
    assert beside(care_home, "something else") is None


def test_a_finished_dialogue_stays_in_the_mean_trajectory(runs):
    chart = next(figure.chart for figure in figures(runs) if figure.name == "trajectories")
    values = chart["data"]["values"]
    turns = {}
    for step in values:
        turns.setdefault(step["path"], []).append(step["turn"])
    assert len({tuple(sorted(each)) for each in turns.values()}) == 1


def test_subjects_are_named_with_their_simulator_only_where_simulators_differ(rehearse):
    shown = []
    for name in ("strict", "kind"):
        show = rehearse({"turns": 2}, subject=Says("x"), simulator=Person(1, name=name))
        shown.append(summarised(show, "model", items=SCENARIOS[:1], stand_ins=()))
    assert {row[1] for row in figures(shown)[0].table.rows} == {"model · strict", "model · kind"}
    assert {row[1] for row in figures(shown[:1])[0].table.rows} == {"model"}
