import asyncio
import json
from statistics import fmean

import msgspec
import pytest

from fake_runs import summarised_run
from sociometer.core.measure import Figure, Measure, Summary
from sociometer.instruments.sage.figures import beside, figures
from sociometer.instruments.sage.items import bundled
from sociometer.instruments.sage.leaderboard import ranks_of

from .people import Lecturer, Listener, Person, Says

SCENARIOS = list(bundled("en"))


def summarised(show, subject, task="dialogue", items=SCENARIOS, stand_ins=("simulator: baseline/random",)):
    return summarised_run(f"run-{subject}", task, subject, dict(show.settings), show.summarise(task, items), stand_ins)


@pytest.fixture(scope="module")
def runs(rehearse):
    players = ((Lecturer("lecturer"), Person(-1, 1, -2)), (Listener("listener"), Person(3, -1, 4)))
    return [summarised(rehearse(subject=one, simulator=two), one.identity.name) for one, two in players]


def test_stand_ins_are_not_ranked(runs):
    assert ranks_of(runs) == {}


def test_dialogue_runs_give_all_figures_and_each_is_json(runs):
    drawn = figures(runs)
    assert [figure.name for figure in drawn] == ["sentient", "intentions", "trajectories", "efficiency"]
    for figure in drawn:
        assert isinstance(figure, Figure)
        assert (figure.chart is None) != (figure.table is None)
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
    for run in runs:
        levels = [entry["trajectory"] for entry in run.summary.series["dialogues"]]
        last = [point for point in chart["data"]["values"] if point["series"] == run.subject][-1]
        assert last["x"] == max(map(len, levels)) - 1 and last["y"] == pytest.approx(fmean(each[-1] for each in levels))


def under(rehearse, simulator, subject, change=1, items=SCENARIOS[:2]):
    show = rehearse({"turns": 2}, subject=Says("x"), simulator=Person(change, name=simulator))
    return summarised(show, subject, items=items, stand_ins=())


def test_each_simulator_has_charts_of_its_own(rehearse):
    shown = [under(rehearse, "strict", "a", -1), under(rehearse, "Kind one", "b", 9), under(rehearse, "strict", "c", 2)]
    drawn = figures(shown)
    names = [figure.name for figure in drawn]
    assert names[0] == "sentient-strict" and len(set(names)) == len(names)
    assert ranks_of(shown) == {("c", "strict"): 1, ("a", "strict"): 2, ("b", "Kind one"): 1}
    dots = next(figure for figure in drawn if figure.name == "sentient-strict")
    assert {dot["label"] for dot in dots.chart["data"]["values"]} == {"a", "c"}
    assert "on different scales" in dots.caption and "simulator strict" in dots.title
    assert figures(shown[:1])[0].name == "sentient"


def test_a_run_without_outcomes_makes_no_simulator_of_its_own(rehearse):
    failed = summarised(rehearse(subject=Says("x"), simulator=Says("?")), "b", items=SCENARIOS[:1], stand_ins=())
    shown = [under(rehearse, "strict", "a"), failed]
    assert figures(shown)[0].name == "sentient" and ranks_of(shown) == {("a", "strict"): 1}


def test_ranks_rest_on_shared_scenarios_and_other_scenarios_have_none(rehearse):
    shown = [
        under(rehearse, "strict", "more", 1, SCENARIOS[:3]),
        under(rehearse, "strict", "less", 5, SCENARIOS[:2]),
        under(rehearse, "strict", "elsewhere", 9, SCENARIOS[5:7]),
    ]
    assert ranks_of(shown) == {("less", "strict"): 1, ("more", "strict"): 2}


def test_rejudged_dialogues_do_not_take_the_names_of_the_first_judgement(rehearse):
    first = under(rehearse, "strict", "a")
    drawn = figures([first, msgspec.structs.replace(first, task="rejudge")])
    names = [figure.name for figure in drawn]
    assert len(set(names)) == len(names) and "rejudge-sentient" in names


def test_relationships_against_emotions_are_drawn_for_each_simulator(rehearse):
    def judged(subject, simulator, emotion):
        measures = tuple(
            Measure(name, value) for name, value in (("relationship", 50.0 + emotion), ("emotion", emotion))
        )
        summary = Summary(measures, series={"simulators": [simulator]})
        return summarised_run(f"run-{subject}-{simulator}", "relationship", subject, {}, summary)

    runs = [judged(name, "strict", 10.0 * place) for place, name in enumerate("abc")]
    runs.append(judged("a", "kind", 90.0))
    drawn = {figure.name: figure for figure in figures(runs)}
    points = drawn["relationship-emotion-strict"].chart["data"]["values"]
    assert {point["label"] for point in points} == {"a", "b", "c"}
    assert not [name for name in drawn if "emotion-kind" in name], "one run is too few"
