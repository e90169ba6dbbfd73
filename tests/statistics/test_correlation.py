"""Correlations against R, and the SESI paper's thirteen models as an example of few points."""

import numpy as np
import pytest

from sociometer.statistics.agreement import spearman
from sociometer.statistics.correlation import correlation_contrast, few_families, leave_one_out, pearson

# R: datasets::attitude, columns rating, complaints, advance.
RATING = [43, 63, 71, 61, 81, 43, 58, 71, 72, 67, 64, 67, 69, 68, 77, 81, 74, 65, 65, 50, 50, 64, 53, 40, 63]
RATING += [66, 78, 48, 85, 82]
COMPLAINTS = [51, 64, 70, 63, 78, 55, 67, 75, 82, 61, 53, 60, 62, 83, 77, 90, 85, 60, 70, 58, 40, 61, 66, 37]
COMPLAINTS += [54, 77, 75, 57, 85, 82]
ADVANCE = [45, 47, 48, 35, 47, 34, 35, 41, 31, 41, 34, 41, 25, 35, 46, 36, 63, 60, 46, 52, 33, 41, 37, 49, 33]
ADVANCE += [72, 49, 38, 55, 39]


def test_pearson_equals_r_cor_test():
    found = pearson(RATING, COMPLAINTS)
    assert found.r == pytest.approx(0.8254175695, abs=1e-9)
    assert found.p_value == pytest.approx(1.987682208e-08, rel=1e-6)
    assert (found.interval.low, found.interval.high) == pytest.approx((0.6620127699, 0.9139138914), abs=1e-8)
    weak = pearson(RATING, ADVANCE)
    assert weak.p_value == pytest.approx(0.4131763295, abs=1e-8)
    assert (weak.interval.low, weak.interval.high) == pytest.approx((-0.2173255582, 0.4880848085), abs=1e-8)


def test_one_far_point_that_carries_a_correlation_is_named():
    x = [1, 2, 3, 4, 20]
    y = [2, 1, 2, 1, 20]
    found = pearson(x, y, ["a", "b", "c", "d", "outlier"])
    assert found.r > 0.9
    assert found.carried_by == "outlier"


def test_leave_one_out_equals_the_slow_way():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=9), rng.normal(size=9)
    slow = [np.corrcoef(np.delete(x, i), np.delete(y, i))[0, 1] for i in range(9)]
    assert leave_one_out(x, y) == pytest.approx(slow)


def test_a_measure_of_its_own_kind_correlates_less():
    rng = np.random.default_rng(2)
    general = rng.normal(size=60)
    table = {name: (general + 0.3 * rng.normal(size=60)).tolist() for name in ("math", "reading", "facts")}
    table["social"] = (0.3 * general + rng.normal(size=60)).tolist()
    families = [index // 3 for index in range(60)]
    own, among, apart = correlation_contrast(table, "social", families)
    assert among - own > 0.3
    assert 0 < apart.low < among - own < apart.high
    assert apart.clusters == 20


def test_few_families_have_no_interval():
    rng = np.random.default_rng(3)
    table = {name: rng.normal(size=13).tolist() for name in ("a", "b", "c")}
    families = [0, 0, 0, 1, 1, 1, 2, 2, 3, 3, 3, 4, 4]
    assert correlation_contrast(table, "a", families)[2].low is None
    found = pearson(table["a"], table["b"], families=families)
    assert found.interval.low is None and pearson(table["a"], table["b"]).interval.low is not None
    assert few_families(found.interval) == "no interval: the models are of 5 families, 10 are needed"


def test_the_interval_over_models_allows_for_their_families():
    rng = np.random.default_rng(4)
    families, held, plain = np.repeat(np.arange(12), 4), [], []
    for _ in range(150):
        table = rng.multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]], 12)[families]
        table = table + 0.3 * rng.multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]], 48)
        for kept, found in ((held, pearson(*table.T, families=families)), (plain, pearson(*table.T))):
            kept.append(found.interval.low <= 0.5 <= found.interval.high)
    assert np.mean(held) > 0.9 and np.mean(plain) < 0.8


def test_a_constant_measure_has_no_correlation():
    with pytest.raises(ValueError, match="does not vary"):
        pearson([1, 1, 1], [1, 2, 3])


def test_few_points_get_an_exact_p():
    # Four models in perfect order: 2 of the 24 orders are as extreme. Exact table for n = 5, rho = .9: 10/120.
    assert spearman([1, 2, 3, 4], [5, 6, 7, 8])[1] == pytest.approx(2 / 24)
    assert spearman([1, 2, 3, 4, 5], [1, 2, 3, 5, 4])[1] == pytest.approx(10 / 120)
    assert pearson([1, 2, 3], [1, 2, 3]).p_value == pytest.approx(2 / 6)
