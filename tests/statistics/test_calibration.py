"""Calibration by hand-worked examples."""

from types import SimpleNamespace

import pytest

from sociometer.core.measure import Summary
from sociometer.core.settings import Settings
from sociometer.core.task import Episode, Forecast, Item, RunView, Score
from sociometer.statistics.calibration import BRIER, BY_TEXT, OVERCONFIDENCE, with_calibration


def view(*forecasts):
    def walk():
        for place, made in enumerate(forecasts):
            score = Score(values={"correct": 1.0}, forecasts=made)
            yield Episode(Item(id=str(place)), 0, SimpleNamespace(), score, None)

    return RunView(walk, Settings({}))


def forecast(**more):
    return Forecast(**{"right": True, "confidence": 0.8, "brier": 0.1, "letter_mass": 1.0, **more})


def test_a_run_of_free_replies_has_no_calibration():
    summary = Summary(())
    assert with_calibration(lambda run: summary)(view((), ())) is summary


def test_calibration_comes_beside_the_other_measures_with_a_note():
    made = [(forecast(brier=0.1 * place, text_right=bool(place % 2), text_brier=0.5),) for place in range(12)]
    summary = with_calibration(lambda run: Summary((), notes=("first",)))(view(*made))
    assert summary.measure(BRIER).value == pytest.approx(0.55)
    assert summary.measure(BRIER).interval.low < 0.55 < summary.measure(BRIER).interval.high
    assert summary.measure(BY_TEXT).value == pytest.approx(0.5)
    assert summary.measure(OVERCONFIDENCE).value == pytest.approx(-0.2)
    assert "probabilities" in summary.notes[1]


def test_several_questions_of_an_item_are_kept_apart():
    made = [(forecast(question="first", brier=0.2), forecast(question="third", brier=0.4))] * 3
    summary = with_calibration(lambda run: Summary(()))(view(*made))
    found = {measure.group["telling"]: measure.value for measure in summary.measures if measure.name == BRIER}
    assert found == {"first": pytest.approx(0.2), "third": pytest.approx(0.4)}
