"""Equivalence is shown by data, never by the absence of a difference."""

import numpy as np
import pytest

from sociometer.statistics.paired import equivalence_of, paired_difference


def equivalent(first, second, margin):
    paired = paired_difference(first, second, draws=1)
    return equivalence_of(paired.difference, paired.standard_error, paired.clusters, margin).equivalent


def test_two_one_sided_tests_by_hand():
    # t = (0.1 + 0.5)/0.2 = 3 and (0.1 - 0.5)/0.2 = -2 on 24 degrees; R: pt(-2, 24) = 0.02847
    found = equivalence_of(0.1, 0.2, 25, 0.5)
    assert found.p_value == pytest.approx(0.0284699, abs=1e-6)
    assert found.equivalent
    # the 90 % interval 0.1 ± 1.710882 × 0.2 lies inside the margin
    assert found.interval.high == pytest.approx(0.1 + 1.710882 * 0.2, abs=1e-5)


def test_few_noisy_items_do_not_show_equivalence():
    rng = np.random.default_rng(1)
    assert not equivalent(rng.normal(size=12), rng.normal(size=12), 0.2)


def test_identical_right_or_wrong_answers_need_enough_items():
    assert not equivalent([1, 0] * 6, [1, 0] * 6, 0.05)
    assert equivalent([1, 0] * 300, [1, 0] * 300, 0.05)


def test_a_true_difference_at_the_margin_is_called_equivalent_at_most_at_the_level():
    rng = np.random.default_rng(2)
    rows = rng.normal(0.3, 1.0, (2000, 100))
    calls = sum(equivalence_of(row.mean(), row.std(ddof=1) / 10, 100, 0.3).equivalent for row in rows)
    assert calls / 2000 <= 0.06
