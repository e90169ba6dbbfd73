"""What a comparison needs: never more power than two runs that differ so much can have."""

import numpy as np
import pytest

from fake_runs import card, fake_run
from sociometer.results.planning import Spread, _pair
from sociometer.statistics.item_values import item_values
from sociometer.statistics.paired import item_differences

MEASURE = card().measure[0]


def test_runs_that_are_alike_do_not_promise_the_impossible():
    """Two checkpoints disagree on 1 % of the items; a difference of 5 points disagrees on at least 5 %."""
    values = [1, 0] * 100
    one, two = (
        item_values(fake_run(name, row), "correct") for name, row in (("A", values), ("B", [0, 1, *values[2:]]))
    )
    spread = _pair(MEASURE, one, two)
    assert spread.binary and spread.stable + spread.chance == pytest.approx(0.01)
    assert [spread.items(size, 1) for size in (0.05, 0.1)] == [157, 78]
    assert spread.items(0.05, 5) == 157, "repeats do not go below the floor"
    assert spread.power(0.05, 69, 1) == pytest.approx(0.13, abs=0.005)


@pytest.mark.parametrize(("difference", "discordant", "items"), [(0.05, 0.05, 157), (0.1, 0.2, 152), (0.1, 0.3, 230)])
def test_the_power_that_is_stated_is_the_share_of_intervals_that_exclude_zero(difference, discordant, items):
    rng = np.random.default_rng(3)
    stated = Spread(discordant, 0.0, 1.0, "", True).power(difference, items, 1)
    drawn = rng.choice([1.0, -1.0, 0.0], p=[(discordant + difference) / 2, (discordant - difference) / 2,
                                            1 - discordant], size=(2000, items))  # fmt: skip
    found = [item_differences(np.maximum(-row, 0), np.maximum(row, 0), binary=True).interval() for row in drawn]
    assert np.mean([one.low > 0 or one.high < 0 for one in found]) == pytest.approx(stated, abs=0.03)
