"""The test of position bias, as R computes it."""

import pytest
from scipy import stats

from sociometer.statistics.measures import position_bias


def test_a_subject_that_always_says_a_is_seen():
    found = position_bias([0] * 40, [0, 1, 2, 3] * 10, 4)
    assert found.most == 0
    assert found.p_value < 1e-10
    # R: chisq.test(c(30, 20, 25, 45))$p.value
    picks = [0] * 30 + [1] * 20 + [2] * 25 + [3] * 45
    assert position_bias(picks, picks, 4).p_value == pytest.approx(0.008616778498)


def test_the_test_equals_the_chi_square_test_of_scipy():
    for counts in ([5, 5, 5, 5], [9, 1, 4, 6], [40, 2, 0, 1], [3, 2]):
        picks = [place for place, count in enumerate(counts) for _ in range(count)]
        found = position_bias(picks, [0] * len(picks), len(counts))
        assert found.p_value == pytest.approx(stats.chisquare(counts).pvalue, rel=1e-12)
