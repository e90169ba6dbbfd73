"""Leniency and the link between two simulators' scales, by hand."""

import numpy as np
import pytest

from sociometer.instruments.sage.leniency import leniency


def test_leniency_and_calibration_by_hand():
    reference = {"a": {"x": 10.0, "y": 30.0}, "b": {"x": 20.0, "y": 40.0}}
    twice = {name: {item: 20 + 2 * value for item, value in values.items()} for name, values in reference.items()}
    found = leniency("kind", twice, reference)
    assert found.dialogues == 4 and found.difference.difference == pytest.approx(20 + 25)
    assert (found.slope, found.calibrated(100.0)) == (1, 55), "two subjects show a shift, no slope"
    many = {f"s{n}": {"x": 10.0 * n, "y": 10.0 * n} for n in range(5)}
    bent = leniency("kind", {name: {i: 20 + 2 * v for i, v in row.items()} for name, row in many.items()}, many)
    assert bent.slope == pytest.approx(0.5) and bent.calibrated(20 + 2 * 33.0) == pytest.approx(33)
    assert bent.error == pytest.approx(0), "the line of four subjects hits the fifth"
    assert leniency("kind", {"z": {"x": 1.0}}, reference) is None


def test_a_calibration_that_rests_on_one_subject_is_refused():
    reference, kind = {"a": {"x": 10.0, "y": 30.0}}, {"a": {"x": 40.0, "y": 50.0}, "b": {"x": 60.0}}
    found = leniency("kind", kind, reference)
    assert found.difference.difference == pytest.approx(25)
    assert found.error is None and found.calibrated(50.0) is None
    assert found.interval(50.0).too_few


def test_the_error_of_a_calibration_is_what_it_misses_on_subjects_left_out():
    # kinder by 10 to one subject and by 30 to the other: a shift from either misses the other by 20
    reference = {"a": {"x": 10.0, "y": 30.0}, "b": {"x": 10.0, "y": 30.0}}
    kind = {"a": {"x": 20.5, "y": 39.5}, "b": {"x": 40.5, "y": 59.5}}
    found = leniency("kind", kind, reference)
    assert found.gaps == {"a": pytest.approx(10), "b": pytest.approx(30)}
    assert found.error == pytest.approx(20)
    bounds = found.interval(40.0)
    assert (bounds.low, bounds.high, bounds.clusters) == (0, 100, 2), "two subjects tell little"
    assert found.alike < 0.01 and found.misses == {
        "a": pytest.approx(10),
        "b": pytest.approx(-10),
    }


def test_unequal_noise_does_not_tilt_the_link():
    """A plain shift of 10 whose dialogues are three times as noisy as those of the reference."""
    rng = np.random.default_rng(8)
    misses = []
    for _ in range(60):
        truth = {f"s{n}": 30 + 6.0 * n for n in range(7)}
        reference = {name: {f"x{i}": at + rng.normal(0, 8) for i in range(20)} for name, at in truth.items()}
        kind = {name: {f"x{i}": at + 10 + rng.normal(0, 24) for i in range(20)} for name, at in truth.items()}
        misses.append(leniency("kind", kind, reference).calibrated(90.0) - 80.0)
    assert np.sqrt(np.mean(np.square(misses))) < 8
