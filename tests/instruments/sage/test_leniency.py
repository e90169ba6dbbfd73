"""Leniency and the link between two simulators' scales, by hand."""

import pytest

from sociometer.instruments.sage.leniency import leniency


def test_leniency_and_calibration_by_hand():
    reference = {"a": {"x": 10.0, "y": 30.0}, "b": {"x": 20.0, "y": 40.0}}
    twice = {name: {item: 20 + 2 * value for item, value in values.items()} for name, values in reference.items()}
    found = leniency("kind", twice, reference)
    assert found.dialogues == 4 and found.difference.difference == pytest.approx(20 + 25)
    assert found.slope == pytest.approx(0.5)
    assert found.calibrated(20 + 2 * 33.0) == pytest.approx(33)
    assert found.error == pytest.approx(0), "the line of either subject hits the other"
    assert leniency("kind", {"z": {"x": 1.0}}, reference) is None


def test_a_calibration_that_rests_on_one_subject_is_refused():
    reference, kind = {"a": {"x": 10.0, "y": 30.0}}, {"a": {"x": 40.0, "y": 50.0}, "b": {"x": 60.0}}
    found = leniency("kind", kind, reference)
    assert found.difference.difference == pytest.approx(25)
    assert found.error is None and found.calibrated(50.0) is None
    assert found.interval(50.0).too_few


def test_the_error_of_a_calibration_is_what_it_misses_on_subjects_left_out():
    # kinder by 10 to one subject and by 30 to the other: a line from either misses the other by 20
    reference = {"a": {"x": 10.0, "y": 30.0}, "b": {"x": 10.0, "y": 30.0}}
    kind = {"a": {"x": 20.0, "y": 40.0}, "b": {"x": 40.0, "y": 60.0}}
    found = leniency("kind", kind, reference)
    assert found.gaps == {"a": pytest.approx(10), "b": pytest.approx(30)}
    assert found.error == pytest.approx(20)
    bounds = found.interval(40.0)
    assert (bounds.low, bounds.high, bounds.clusters) == (0, 100, 2), "two subjects tell little"
    assert found.alike < 0.01 and found.misses == {
        "a": pytest.approx(7.07, abs=0.01),
        "b": pytest.approx(-7.07, abs=0.01),
    }
