"""Monotone curves through published points."""

import numpy as np
import pytest

from sociometer.statistics.monotone_curve import MonotoneCurve


def test_a_monotone_curve_passes_through_its_points_and_never_turns():
    curve = MonotoneCurve([1, 2, 3, 4], [90, 60, 40, 10], increasing=False)
    assert curve([1, 2, 3, 4]) == pytest.approx([90, 60, 40, 10])
    assert (np.diff(curve(np.linspace(0, 5, 200))) <= 1e-9).all()
    assert float(curve(99)) == 10


def test_crossing_points_are_averaged_not_followed():
    curve = MonotoneCurve([1, 2, 3, 4], [0, 3, 1, 4])
    assert curve([2, 3]) == pytest.approx([2, 2])
