"""Stated power is the power one gets, and matches R."""

import math

import numpy as np
import pytest
from scipy import optimize, stats

from sociometer.statistics.paired import item_differences, sign_flip_test
from sociometer.statistics.power import (
    binary_power,
    detectable_difference,
    paired_power,
    smallest_detectable,
    smallest_detectable_binary,
)


def test_smallest_detectable_equals_r_power_t_test():
    # R: power.t.test(n = 50, sd = 1, power = .8, type = "paired") gives delta = 0.4041845753
    assert smallest_detectable(1 / math.sqrt(50), 50) == pytest.approx(0.4041845753, abs=1e-5)


def test_power_at_no_difference_is_the_level():
    assert paired_power(0.0, 1.0, 100) == pytest.approx(0.05, abs=1e-6)


def test_power_of_right_or_wrong_items_by_hand():
    # ten items, all discordant: zero is excluded if the difference exceeds 1.96 √(12 / (1 + 3.841/12)) = 5.9, so 8 to 2
    assert binary_power(10, 1.0, 0.0) == pytest.approx(1.0)
    assert binary_power(10, 0.5, 0.5) == pytest.approx(2 * (1 + 10 + 45) / 1024)
    # three items can never exclude zero: 3 < 1.96 √(5 / (1 + 3.841/5)) = 3.3
    assert binary_power(3, 1.0, 0.0) == 0.0


def test_stated_power_of_continuous_pairs_is_within_three_points():
    rng = np.random.default_rng(30)
    n = 80
    truth = smallest_detectable(1 / math.sqrt(n), n)
    rows = rng.normal(truth, 1.0, (2000, n))
    found = sum(sign_flip_test(row, draws=1000) < 0.05 for row in rows) / 2000
    assert found == pytest.approx(0.8, abs=0.03)


def test_stated_power_of_binary_pairs_is_within_three_points():
    rng = np.random.default_rng(31)
    n, discordant = 200, 0.3
    truth = smallest_detectable_binary(n, discordant)
    up, down = (discordant + truth) / 2, (discordant - truth) / 2
    draws = rng.random((2000, n))
    differences = (draws < up).astype(int) - (draws > 1 - down)
    zeros = np.zeros(n)
    # The interval depends on how many differ in which direction, not on their order.
    rows, times = np.unique(np.sort(differences), axis=0, return_counts=True)
    above = [item_differences(zeros, row, binary=True).interval().low > 0 for row in rows]
    found = np.average(above, weights=times)
    assert found == pytest.approx(0.8, abs=0.03)


@pytest.mark.parametrize(("difference", "discordant", "items"), [(0.05, 0.05, 157), (0.1, 0.2, 152), (0.1, 0.3, 230)])
def test_the_power_that_is_stated_is_the_share_of_intervals_that_exclude_zero(difference, discordant, items):
    rng = np.random.default_rng(3)
    gained, lost = (discordant + difference) / 2, (discordant - difference) / 2
    drawn = rng.choice([1.0, -1.0, 0.0], p=[gained, lost, 1 - discordant], size=(2000, items))
    # The interval depends on how many differ in which direction, not on their order.
    rows, times = np.unique(np.sort(drawn), axis=0, return_counts=True)
    found = [item_differences(np.maximum(-row, 0), np.maximum(row, 0), binary=True).interval() for row in rows]
    excluded = [one.low > 0 or one.high < 0 for one in found]
    assert np.average(excluded, weights=times) == pytest.approx(binary_power(items, gained, lost), abs=0.03)


def test_more_items_detect_less():
    finds = [smallest_detectable_binary(n, 0.25) for n in (50, 200, 800)]
    assert finds == sorted(finds, reverse=True)
    assert math.isnan(smallest_detectable_binary(3, 0.5)), "three items can show nothing at this level"


@pytest.mark.parametrize("level", [0.9, 0.95, 0.99, 1 - 0.05 / 117])
def test_the_smallest_detectable_difference_is_the_root_that_scipy_finds(level):
    def shortfall(shift: float, clusters: int, power: float) -> float:
        freedom = clusters - 1
        critical = stats.t.ppf(0.5 + level / 2, freedom)
        upper, lower = stats.nct.sf(critical, freedom, shift), stats.nct.cdf(-critical, freedom, shift)
        return float(np.nan_to_num(upper, nan=1.0) + np.nan_to_num(lower, nan=0.0)) - power

    for clusters in (3, 10, 20, 137, 2_000):
        for power in (0.5, 0.8, 0.95):
            found = smallest_detectable(1.0, clusters, power=power, level=level)
            root = optimize.brentq(shortfall, found / 2, 2 * found, args=(clusters, power), xtol=1e-13)
            assert found == pytest.approx(root, rel=1e-11)
            assert smallest_detectable(3.0, clusters, power=power, level=level) == 3 * found


@pytest.mark.parametrize(("n", "repeats", "moved"), [(30, 10, 0.0), (60, 5, 0.0), (60, 5, 0.1)])
def test_with_repeats_the_difference_that_is_called_detectable_is_found_in_four_of_five(n, repeats, moved):
    """Half of the items are always right or wrong, half by chance; the better model is better on all that have room."""
    rng = np.random.default_rng([n, repeats])

    def pair(better: float) -> tuple[np.ndarray, np.ndarray]:
        chances = np.where(rng.random(n) < 0.5, rng.random(n) < 0.8, rng.beta(2, 1.2, n))
        other = np.where(rng.random(n) < moved, 1 - np.round(chances), chances)
        steps = np.linspace(-1, 1, 201)
        means = [np.clip(other + step, 0, 1).mean() - chances.mean() for step in steps]
        other = np.clip(other + steps[np.searchsorted(means, better)], 0, 1)
        return tuple((rng.random((repeats, n)) < one).mean(axis=0) for one in (chances, other))

    stated = [detectable_difference(item_differences(*pair(0), binary=True).summary(), level=0.95) for _ in range(30)]
    found = [item_differences(*pair(float(np.mean(stated))), binary=True).interval().low > 0 for _ in range(250)]
    assert 0.75 <= np.mean(found) <= 0.97
