"""What a measure prints."""

import pytest

from sociometer.core.errors import NotFound
from sociometer.core.measure import NO_VARIATION, Interval, Measure, Summary


def test_a_measure_is_printed_with_its_interval():
    measure = Measure("accuracy", 0.26666, interval=Interval(0.17, 0.39), items=60)
    assert str(measure) == "accuracy 0.267 [0.170, 0.390], 60 items"
    assert str(Measure("accuracy", 0.5, interval=Interval(None, None), items=3)) == "accuracy 0.500, 3 items"
    assert str(Measure("accuracy", None)) == "accuracy: no value"


def test_an_interval_that_was_widened_says_so():
    found = Interval(0.4, 0.6, 0.95, "Wilson", 40).widened(0.5, 1.25)
    assert (found.low, found.high) == (0.375, 0.625) and found.method == "Wilson, 1.25 times as wide"
    assert Interval(0.4, 0.6, 0.95, "Wilson", 40).widened(0.5, 1).method == "Wilson"
    same = Interval(0.5, 0.5, 0.95, NO_VARIATION, 40)
    assert same.widened(0.5, 2) == same, "it has no width"


def test_an_interval_prints_as_its_bounds_and_says_where_it_has_none():
    assert str(Interval(0.7798995, 0.94)) == "[0.7799, 0.94]"
    assert str(Interval(None, None)) == "too few"
    assert str(Interval(0.92, 0.92, method=NO_VARIATION)) == "the same on every item"
    summary = Summary((Measure("evenness", 0.92, interval=Interval(0.92, 0.92, method=NO_VARIATION), items=12),))
    assert "the same on every item" in str(summary) and "0.92  0.92" not in str(summary)
    with pytest.raises(NotFound, match="did you mean 'evenness'"):
        summary.measure("EVENNESS")
