"""Conditions against a control: ratio, stars, corrections; Wilcoxon as R computes it."""

import pytest

from sociometer.statistics.paired import changes, signed_rank, stars


def test_stars_are_those_of_the_sesi_figure():
    # SESI Fig. 3: ns p > .05, * < .05, ** < .01, *** < .001, **** < .0001
    assert [stars(p) for p in (0.2, 0.05, 0.049, 0.009, 0.0009, 0.00009)] == ["ns", "ns", "*", "**", "***", "****"]


def test_a_condition_that_gains_six_of_ten_items():
    control = [0] * 6 + [1] * 14
    better = [1] * 20
    found = changes({"high": (control, better, None), "same": (control, control, None)})
    assert found[0].ratio == pytest.approx((1.0 - 0.7) / 0.7)
    assert found[0].paired.p_value == pytest.approx(2 / 64), "six discordant items, all one way"
    assert found[0].stars == "*"
    assert found[0].p_holm == pytest.approx(4 / 64)
    assert found[1].stars == "ns"


def test_a_control_of_nothing_has_no_ratio():
    assert changes({"x": ([0] * 12, [1] * 12, None)})[0].ratio is None


def test_signed_rank_equals_r_on_the_depression_data():
    # Hollander and Wolfe (1973), p. 29f; R: ?wilcox.test, V = 40, p-value = 0.0390625
    before = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30]
    after = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29]
    found = signed_rank(after, before)
    assert found.statistic == 5.0, "the smaller of V = 40 and 45 - 40"
    assert found.p_value == pytest.approx(0.0390625)
    assert found.effect == pytest.approx((40 - 5) / 45)
