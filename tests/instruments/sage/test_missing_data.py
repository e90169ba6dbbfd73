"""Bounds of a mean with missing observations."""

import pytest

from sociometer.instruments.sage.scoring import missing_bounds


def test_missing_dialogues_are_bounded_by_the_worst_and_the_best():
    assert missing_bounds([50.0, 70.0], 2, 0.0, 100.0) == pytest.approx((30.0, 80.0))
    assert missing_bounds([], 0, 0.0, 1.0) == (0.0, 1.0)
