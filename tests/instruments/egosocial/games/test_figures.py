"""The games' figures and replays."""

import pytest

from sociometer.core.task import SummarisedRun
from sociometer.instruments.egosocial.figures import beside, figures
from sociometer.instruments.egosocial.games.replay import replay
from tests.instruments.egosocial.games.notation import as_text

SETTINGS = {"deals": 3, "matches": 4, "hands": 2, "ask": "each"}


@pytest.fixture
def runs(rehearsal, baseline):
    show = rehearsal(baseline("random"), **SETTINGS)
    return [
        SummarisedRun(f"run-{task}", task, "baseline/random", dict(SETTINGS), show.summarise(task))
        for task in ("blackjack", "numbers", "holdem")
    ]


def test_every_game_has_its_figures(runs):
    names = {figure.name for figure in figures(runs)}
    assert {"beliefs-slope", "number-learning-slope", "number-rounds", "number-regret"} <= names
    assert {"holdem-styles", "holdem-by-hands", "blackjack"} <= names


def test_the_papers_opponents_have_the_papers_figure_and_no_learner(rehearsal, baseline):
    show = rehearsal(baseline("random"), opponents=("level-1", "level-2", "level-3"))
    drawn = {one.name: one for one in figures([SummarisedRun("r", "numbers", "x", {}, show.summarise("numbers"))])}
    names = set(drawn)
    lines = {point["series"] for point in drawn["beliefs-level-2"].chart["data"]["values"]}
    assert lines == {"x", "the opponent's numbers"}, "every line has a name for the legend"
    assert {"beliefs-level-1", "beliefs-level-2", "beliefs-level-3", "number-learning-level-1"} <= names
    assert not {"number-rounds", "number-regret"} & names


def test_each_figure_shows_exactly_one_thing_and_its_charts_can_be_drawn(runs):
    convert = pytest.importorskip("vl_convert")
    for figure in figures(runs):
        assert sum((figure.chart is not None, figure.table is not None, bool(figure.svg))) == 1
        if figure.chart is not None and figure.name in (
            "beliefs-slope",
            "number-rounds",
            "number-regret",
            "holdem-styles",
            "blackjack",
        ):
            assert "<svg" in convert.vegalite_to_svg(figure.chart)


@pytest.mark.parametrize("task", ["blackjack", "numbers", "holdem"])
def test_a_replay_stands_beside_every_match(task, rehearsal, baseline):
    show = rehearsal(baseline("random"), **SETTINGS)
    episode = next(show.play_all(task).episodes())
    figure = beside(episode.item, episode.outcome)
    assert figure == replay(episode.item, episode.outcome)
    assert len(as_text(figure).splitlines()) == len(figure.table.rows) + 1


def test_a_replay_marks_every_default_and_says_why_there_is_no_prediction(script, play):
    cheat = script('{"prediction": 50, "choice": 500, "action": "steal"}')
    numbers = play("numbers", cheat, rounds=1).episode
    (row,) = replay(numbers.item, numbers.outcome).table.rows
    assert (row[1], row[4]) == ("none (illegal)", "50 (default)")
    mute = play("numbers", script("?", '{"prediction": 1, "choice": 0}'), rounds=1).episode
    assert replay(mute.item, mute.outcome).table.rows[0][1] == "none (illegal, unreadable)"
    holdem = play("holdem", cheat).episode
    mine = [row[4] for row in replay(holdem.item, holdem.outcome).table.rows if row[3] == "subject" and row[4]]
    theirs = [row[4] for row in replay(holdem.item, holdem.outcome).table.rows if row[3] == "opponent" and row[4]]
    assert mine
    assert all(action.endswith(" (default)") for action in mine)
    assert not any("default" in action for action in theirs)


def test_what_is_no_game_has_no_replay():
    assert replay(object(), object()) is None
