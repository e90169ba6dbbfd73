"""Conditions against a control: ratio, stars, corrections; Wilcoxon as R computes it."""

import numpy as np
import pytest

from sociometer.analysis.contrast import changes, signed_rank, stars
from sociometer.analysis.missing_data import missing_bounds
from sociometer.analysis.monotone_curve import MonotoneCurve
from sociometer.analysis.position_bias import position_bias


def test_stars_are_those_of_the_sesi_figure():
    # SESI Fig. 3: ns p > .05, * < .05, ** < .01, *** < .001, **** < .0001
    assert [stars(p) for p in (0.2, 0.05, 0.049, 0.009, 0.0009, 0.00009)] == ["ns", "ns", "*", "**", "***", "****"]


def test_a_condition_that_gains_six_of_ten_items():
    control = [0] * 6 + [1] * 14
    better = [1] * 20
    found = changes(control, {"high": better, "same": control})
    assert found[0].ratio == pytest.approx((1.0 - 0.7) / 0.7)
    assert found[0].paired.p_value == pytest.approx(2 / 64), "six discordant items, all one way"
    assert found[0].stars == "*"
    assert found[0].p_holm == pytest.approx(4 / 64)
    assert found[1].stars == "ns"


def test_a_control_of_nothing_has_no_ratio():
    assert changes([0] * 12, {"x": [1] * 12})[0].ratio is None


def test_signed_rank_equals_r_on_the_depression_data():
    # Hollander and Wolfe (1973), p. 29f; R: ?wilcox.test, V = 40, p-value = 0.0390625
    before = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30]
    after = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29]
    found = signed_rank(after, before)
    assert found.statistic == 5.0, "the smaller of V = 40 and 45 - 40"
    assert found.p_value == pytest.approx(0.0390625)
    assert found.effect == pytest.approx((40 - 5) / 45)


def test_missing_dialogues_are_bounded_by_the_worst_and_the_best():
    assert missing_bounds([50.0, 70.0], 2, 0.0, 100.0) == pytest.approx((30.0, 80.0))
    assert missing_bounds([], 0, 0.0, 1.0) == (0.0, 1.0)


def test_a_monotone_curve_passes_through_its_points_and_never_turns():
    curve = MonotoneCurve([1, 2, 3, 4], [90, 60, 40, 10], increasing=False)
    assert curve([1, 2, 3, 4]) == pytest.approx([90, 60, 40, 10])
    assert (np.diff(curve(np.linspace(0, 5, 200))) <= 1e-9).all()
    assert float(curve(99)) == 10


def test_crossing_points_are_averaged_not_followed():
    curve = MonotoneCurve([1, 2, 3, 4], [0, 3, 1, 4])
    assert curve([2, 3]) == pytest.approx([2, 2])
    assert curve.leave_one_out_errors().size == 2


def test_the_slope_of_a_percentile_curve_holds_all_people():
    x = np.linspace(-4, 4, 41)
    curve = MonotoneCurve(x, 1 / (1 + np.exp(-2 * x)))
    grid = np.linspace(-4, 4, 4001)
    assert np.trapezoid(curve.slope(grid), grid) == pytest.approx(1.0, abs=0.01)


def test_a_subject_that_always_says_a_is_seen():
    found = position_bias([0] * 40, [0, 1, 2, 3] * 10, 4)
    assert found.most == 0
    assert found.p_value < 1e-10
    # R: chisq.test(c(30, 20, 25, 45))$p.value
    picks = [0] * 30 + [1] * 20 + [2] * 25 + [3] * 45
    assert position_bias(picks, picks, 4).p_value == pytest.approx(0.008616778498)
