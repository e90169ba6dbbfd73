"""Calibration by hand-worked examples and on simulated subjects."""

from types import SimpleNamespace

import numpy as np
import pytest

from sociometer.core.measure import Summary
from sociometer.core.settings import Settings
from sociometer.core.task import Episode, Forecast, Item, RunView, Score
from sociometer.statistics.calibration import (
    BRIER,
    BY_TEXT,
    ERROR,
    OVERCONFIDENCE,
    calibrated_range,
    calibration_error,
    with_calibration,
)


def test_two_bins_by_hand():
    # bin 0.6 to 0.7: confidence 0.65, 1 of 2 right; bin 0.9 to 1: confidence 0.95, 2 of 2 right
    confidence = np.array([0.65, 0.65, 0.95, 0.95])
    assert calibration_error(confidence, np.array([[1.0, 0.0, 1.0, 1.0]])) == pytest.approx(0.5 * 0.15 + 0.5 * 0.05)
    assert calibration_error(np.array([1.0, 0.95]), np.array([[1.0, 0.0]])) == pytest.approx(abs(1 - 1.95) / 2)


def test_a_calibrated_subject_is_in_its_range_and_an_overconfident_one_is_not():
    random = np.random.default_rng(0)
    inside = 0
    for _ in range(100):
        confidence = random.uniform(0.25, 1.0, 60)
        low, high = calibrated_range(confidence, draws=400)
        inside += low <= calibration_error(confidence, (random.random((1, 60)) < confidence) * 1.0)[0] <= high
    assert inside >= 88
    right = (random.random((1, 60)) < 0.6) * 1.0
    assert calibration_error(np.full(60, 0.99), right)[0] > calibrated_range(np.full(60, 0.99))[1]


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
    assert summary.measure(ERROR).value == pytest.approx(0.2)
    assert summary.measure(ERROR).interval is None and "perfectly calibrated" in summary.measure(ERROR).note
    assert summary.measure(OVERCONFIDENCE).value == pytest.approx(-0.2)
    assert "probabilities" in summary.notes[1]


def test_several_questions_of_an_item_are_kept_apart():
    made = [(forecast(question="first", brier=0.2), forecast(question="third", brier=0.4))] * 3
    summary = with_calibration(lambda run: Summary(()))(view(*made))
    found = {measure.group["telling"]: measure.value for measure in summary.measures if measure.name == BRIER}
    assert found == {"first": pytest.approx(0.2), "third": pytest.approx(0.4)}
