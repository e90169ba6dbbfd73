"""Bounds against published tables; false alarms and coverage of the rule on simulated data are in bench/stopping.py."""

import numpy as np
import pytest

from sociometer.statistics.paired import item_differences
from sociometer.statistics.sequential import SHARES, blocks, bounds, drift, look, nominal_level, repeated_p_value


def test_bounds_equal_the_published_ones():
    # Jennison and Turnbull (1999), section 7.2: O'Brien-Fleming type, two-sided 5 %, equal steps
    assert bounds((0.2, 0.4, 0.6, 0.8, 1.0)) == pytest.approx((4.877, 3.357, 2.680, 2.290, 2.031), abs=5e-4)
    assert bounds((0.5, 1.0)) == pytest.approx((2.963, 1.969), abs=5e-4)
    assert bounds((1.0,)) == pytest.approx((1.960,), abs=5e-4)
    assert bounds((1.0,), 0.99) == pytest.approx((2.576,), abs=5e-4)


def test_all_looks_together_have_the_error_rate():
    rng = np.random.default_rng(1)
    steps = np.sqrt(np.diff((0.0, *SHARES)))
    paths = (rng.standard_normal((200_000, len(SHARES))) * steps).cumsum(axis=1) / np.sqrt(SHARES)
    crossed = (np.abs(paths) > np.array(bounds(SHARES))).any(axis=1).mean()
    assert crossed == pytest.approx(0.05, abs=0.002)


def test_a_repeated_p_value_is_that_of_the_bound():
    times = SHARES[:5]
    for rate in (0.01, 0.05, 0.2):
        assert repeated_p_value(1 - nominal_level(times, 1 - rate), times) == pytest.approx(rate, rel=0.05)
    assert repeated_p_value(0.03, ()) == 0.03


def test_looks_come_at_whole_blocks_and_end_with_all_items():
    assert blocks(500)[0] == 100 and blocks(500)[-1] == 500
    assert blocks(40) == (30, 32, 34, 36, 40)
    assert blocks(12) == (12,)


def rule(values, times, **options):
    return look(item_differences(np.zeros(len(values)), np.array(values, dtype=float), binary=False), times, **options)


def test_the_rule_says_better_worse_equivalent_or_futile():
    rng = np.random.default_rng(2)
    noise = rng.normal(0, 0.1, 60)
    noise -= noise.mean()
    times = (0.2, 0.3, 0.6)
    assert rule(noise + 0.2, times).verdict == "better"
    assert rule(noise - 0.2, times).verdict == "worse"
    assert rule(noise + 0.2, times, better="lower").verdict == "worse"
    assert rule(noise, times, margin=0.1).verdict == "equivalent"
    assert rule(noise, times).verdict == "cannot be decided"
    assert rule(noise + 0.025, times).verdict == ""


def test_failed_items_must_not_stop_a_run():
    rng = np.random.default_rng(2)
    noise = rng.normal(0.05, 0.1, 60)
    worst = item_differences(np.zeros(66), np.array([*noise, *[-1.0] * 6]), binary=False)
    assert rule(noise, (0.5,)).verdict == "better"
    assert rule(noise, (0.5,), extremes=[worst]).verdict == ""


def test_the_last_look_too_has_a_verdict_only_if_failed_items_cannot_change_it():
    rng = np.random.default_rng(2)
    seen = rng.normal(1, 1, 60)
    worst = item_differences(np.zeros(90), np.concatenate([seen, np.full(30, -5.0)]), binary=False)
    assert rule(seen, (0.5, 1.0)).verdict == "better"
    assert rule(seen, (0.5, 1.0), extremes=(worst,)).verdict == "cannot be decided"
    assert rule(seen, (0.5, 1.0), left_open=True).verdict == "cannot be decided"


def test_a_drift_is_found_as_often_by_chance_as_its_p_value_says():
    rng = np.random.default_rng(3)
    values = rng.choice([-1.0, 0.0, 1.0], 60, p=[0.1, 0.6, 0.3])
    found = [drift(rng.permutation(values), "equivalent") < 0.1 for _ in range(700)]
    assert np.mean(found) == pytest.approx(0.1, abs=0.03)
    assert np.mean([drift(rng.permutation(values), "better") < 0.1 for _ in range(300)]) < 0.15


def test_only_a_drift_against_the_verdict_counts():
    falling = np.sort(np.random.default_rng(3).normal(0.5, 1, 60))[::-1]
    assert drift(falling, "better") < 1e-6 and drift(falling[::-1], "better") > 0.99
    assert drift(-falling, "worse") < 1e-6 and drift(-falling[::-1], "worse") > 0.99
    assert drift(falling, "equivalent") < 1e-6 and drift(falling[::-1], "equivalent") < 1e-6
    assert drift(np.ones(30), "better") == 1.0
    assert drift(falling + 3, "better") == 1.0, "the last third alone is better too"
