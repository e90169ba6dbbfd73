"""The interval over items and wordings covers the true mean as often as it says, where items alone do not."""

import numpy as np
import pytest

from sociometer.instruments.seceu.method_result import crossed_mean
from sociometer.statistics.intervals import clustered_mean_interval


def simulated(rng, items=40, wordings=4, item=0.5, wording=0.3, rest=0.5):
    return (
        2.0
        + rng.normal(0, item, (items, 1))
        + rng.normal(0, wording, (1, wordings))
        + rng.normal(0, rest, (items, wordings))
    )


def test_a_hand_worked_example():
    rows = np.tile([[1.0], [3.0]], (10, 1))
    assert crossed_mean(np.hstack([rows, rows + 2]))[0] == pytest.approx(3)


def test_it_covers_the_truth_where_wordings_differ():
    rng = np.random.default_rng(5)
    over_both = over_items = 0
    for _ in range(300):
        table = simulated(rng)
        _, both = crossed_mean(table)
        items = clustered_mean_interval(table[:, 0], binary=False, draws=500)
        over_both += both.low <= 2 <= both.high
        over_items += items.low <= 2 <= items.high
    assert over_both / 300 > 0.92
    assert over_items / 300 < 0.6


def test_without_differences_between_wordings_it_is_that_of_items():
    table = np.repeat(np.random.default_rng(1).normal(2, 0.5, (40, 1)), 3, axis=1)
    mean, interval = crossed_mean(table)
    error = table[:, 0].std(ddof=1) / np.sqrt(40)
    assert interval.high - mean == pytest.approx(2.02 * error, rel=0.01)


def test_few_items_have_no_interval_and_one_wording_is_refused():
    assert crossed_mean(np.ones((4, 3)) + np.eye(4, 3))[1].too_few
    with pytest.raises(ValueError, match="at least two items by two wordings"):
        crossed_mean([[1.0], [2.0]])
