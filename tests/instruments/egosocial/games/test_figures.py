"""The games' figures."""

import pytest

from fake_runs import summarised_run
from sociometer.instruments.egosocial.figures import figures

SETTINGS = {"deals": 3, "matches": 4, "hands": 2, "drawn": 3}


@pytest.fixture
def runs(rehearsal, baseline):
    show = rehearsal(baseline("random"), **SETTINGS)
    return [
        summarised_run(f"run-{task}", task, "baseline/random", dict(SETTINGS), show.summarise(task))
        for task in ("blackjack", "numbers", "holdem")
    ]


def test_every_game_has_its_figures(runs):
    names = {figure.name for figure in figures(runs)}
    assert {"beliefs-slope", "number-rounds", "holdem-accuracy", "blackjack-accuracy"} <= names


def test_the_papers_opponents_have_the_papers_figure_and_no_curve_by_round(rehearsal, baseline):
    show = rehearsal(baseline("random"), opponents=("level-1", "level-2", "level-3"))
    drawn = {one.name: one for one in figures([summarised_run("r", "numbers", "x", {}, show.summarise("numbers"))])}
    names = set(drawn)
    lines = {point["series"] for point in drawn["beliefs-level-2"].chart["data"]["values"]}
    assert lines == {"x", "the opponent's numbers"}, "every line has a name for the legend"
    assert {"beliefs-level-1", "beliefs-level-2", "beliefs-level-3"} <= names
    assert "number-rounds" not in names


def test_each_figure_shows_exactly_one_thing_and_its_charts_can_be_drawn(runs):
    convert = pytest.importorskip("vl_convert")
    for figure in figures(runs):
        assert (figure.chart is None) != (figure.table is None)
        if figure.chart is not None and figure.name in ("beliefs-slope", "number-rounds", "holdem-accuracy"):
            assert "<svg" in convert.vegalite_to_svg(figure.chart)
