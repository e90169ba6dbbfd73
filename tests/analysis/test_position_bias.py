"""The test of position bias, as R computes it."""

import pytest

from sociometer.analysis.position_bias import position_bias


def test_a_subject_that_always_says_a_is_seen():
    found = position_bias([0] * 40, [0, 1, 2, 3] * 10, 4)
    assert found.most == 0
    assert found.p_value < 1e-10
    # R: chisq.test(c(30, 20, 25, 45))$p.value
    picks = [0] * 30 + [1] * 20 + [2] * 25 + [3] * 45
    assert position_bias(picks, picks, 4).p_value == pytest.approx(0.008616778498)
