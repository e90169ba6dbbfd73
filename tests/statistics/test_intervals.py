"""Intervals respect clusters, survive 0 and 1, and say "too few" instead of guessing."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sociometer.core.measure import Interval
from sociometer.statistics.intervals import (
    bootstrap_means,
    cluster_sums,
    clustered_mean_interval,
    mean_variance,
    wilson,
)


def width(interval):
    return interval.high - interval.low


def test_wilson_equals_r_prop_test():
    # R 4.2: prop.test(15, 20, correct = FALSE)$conf.int and prop.test(0, 20, correct = FALSE)$conf.int
    assert wilson(15 / 20, 20) == pytest.approx((0.5312991224, 0.8881382986), abs=1e-9)
    assert wilson(0.0, 20) == pytest.approx((0.0, 0.1611251581), abs=1e-9)


def test_items_that_stand_alone_get_the_plain_wilson_interval():
    values = [1] * 15 + [0] * 5
    found = clustered_mean_interval(values)
    assert (found.low, found.high) == pytest.approx((0.5312991224, 0.8881382986), abs=1e-9)
    assert clustered_mean_interval(values, [""] * 20) == found


def test_cluster_robust_variance_is_the_hand_worked_one():
    # R: x<-c(1,0,1,1,0,0,1,1,1,0,1,0); g<-rep(1:4,each=3); s<-tapply(x-mean(x),g,sum); 4/3*sum(s^2)/144
    values = np.array([1, 0, 1, 1, 0, 0, 1, 1, 1, 0, 1, 0], dtype=float)
    assert mean_variance(values, np.repeat(np.arange(4), 3), 4) == pytest.approx(0.02546296296)


def test_below_ten_clusters_there_is_no_interval():
    found = clustered_mean_interval([0, 1] * 50, [index // 12 for index in range(100)])
    assert found.too_few
    assert found.low is None
    assert found.clusters == 9
    assert found.method == "too few"


@pytest.mark.parametrize("answer", [0.0, 1.0])
def test_a_perfect_or_empty_score_still_has_a_width(answer):
    found = clustered_mean_interval([answer] * 60, [index // 3 for index in range(60)])
    assert found.low is not None and found.high is not None
    assert found.high - found.low > 0.1
    assert 0 <= found.low <= answer <= found.high <= 1


def test_repeats_of_one_item_are_not_new_items():
    rng = np.random.default_rng(3)
    once = rng.integers(0, 2, 40)
    alone = clustered_mean_interval(once)
    tenfold = clustered_mean_interval(np.repeat(once, 10), items=np.repeat(np.arange(40), 10))
    assert width(alone) <= width(tenfold) <= 1.06 * width(alone)
    noisy = clustered_mean_interval(rng.integers(0, 2, 400), items=np.repeat(np.arange(40), 10))
    assert width(noisy) < width(alone) / 2.5, "answers that differ from repeat to repeat are worth more than one"


def test_skewed_values_on_a_known_scale_cover_the_mean():
    """Nine of ten values are zero, as scores of hard dialogues are; the bootstrap covers .82."""
    rng = np.random.default_rng(17)
    rows = np.where(rng.random((1000, 24)) < 0.9, 0.0, rng.uniform(0, 100, (1000, 24)))
    found = [clustered_mean_interval(row, binary=False, scale=(0, 100)) for row in rows]
    assert sum(one.low <= 5 <= one.high for one in found) >= 900
    assert clustered_mean_interval([0.0] * 24, binary=False, scale=(0, 100)).high > 5


def test_a_scale_that_the_values_leave_is_not_believed():
    values = np.random.default_rng(18).normal(3, 1, 40)
    assert clustered_mean_interval(values, binary=False, scale=(0, 1)) == clustered_mean_interval(values, binary=False)


def test_an_interval_over_like_clusters_is_wider_than_over_loose_items():
    values = np.repeat(np.arange(30) % 2, 10)
    loose = clustered_mean_interval(values)
    clustered = clustered_mean_interval(values, np.repeat(np.arange(30), 10))
    assert width(clustered) > 2.5 * width(loose)


def test_an_item_in_two_clusters_is_refused():
    with pytest.raises(ValueError, match="two clusters, 'a' and 'b'"):
        clustered_mean_interval([0, 1], ["a", "b"], items=["x", "x"])


def test_missing_values_are_refused_not_ignored():
    with pytest.raises(ValueError, match="NaN"):
        clustered_mean_interval([0.5, math.nan] * 10)


def test_the_bootstrap_is_the_same_every_time():
    values = np.random.default_rng(1).normal(size=50)
    assert clustered_mean_interval(values) == clustered_mean_interval(values)


def test_columns_may_miss_items_and_share_their_draws():
    rng = np.random.default_rng(5)
    table = rng.normal(size=(40, 2))
    table[:, 1] = table[:, 0] + 1
    codes = np.arange(40)
    sample = bootstrap_means(*cluster_sums(table, codes, 40), draws=50)
    assert sample[:, 1] == pytest.approx(sample[:, 0] + 1)
    table[3, 1] = math.nan
    assert not np.isnan(bootstrap_means(*cluster_sums(table, codes, 40), draws=50)).any()


def test_rescaling_turns_a_distance_into_an_eq():
    eq = Interval(2.0, 3.0, 0.95, "x", 40).scaled(-15 / 0.822, 100 + 15 * 2.79 / 0.822)
    assert eq.low == pytest.approx(96.17, abs=0.01)
    assert eq.high == pytest.approx(114.42, abs=0.01)
    assert Interval(None, None).scaled(2.0).too_few


@given(st.lists(st.booleans(), min_size=10, max_size=60), st.integers(1, 4))
def test_the_mean_of_binary_values_lies_inside_and_inside_zero_to_one(values, size):
    found = clustered_mean_interval(values, [index // size for index in range(len(values))])
    if not found.too_few:
        assert found.low is not None and found.high is not None
        assert 0 <= found.low <= np.mean(values) + 1e-12
        assert np.mean(values) - 1e-12 <= found.high <= 1


def test_coverage_of_clustered_binary_items_is_near_the_stated_level():
    rng = np.random.default_rng(11)
    labels = np.repeat(np.arange(25), 6)
    hits = 0
    for _ in range(600):
        rates = rng.beta(3, 1.5, 25)
        found = clustered_mean_interval(rng.random(150) < np.repeat(rates, 6), labels)
        hits += found.low <= 3 / 4.5 <= found.high
    assert 0.93 <= hits / 600 <= 0.985


def test_coverage_of_the_bootstrap_with_twelve_clusters_is_near_the_stated_level():
    rng = np.random.default_rng(12)
    labels = np.repeat(np.arange(12), 4)
    hits = 0
    for _ in range(600):
        values = np.repeat(rng.normal(size=12), 4) + rng.normal(size=48)
        found = clustered_mean_interval(values, labels, draws=800)
        hits += found.low <= 0 <= found.high
    assert 0.92 <= hits / 600 <= 0.98


def test_the_interval_of_few_skewed_scores_holds():
    """Beta(.2, 4), 12 scores: Wilson's alone holds 88 %. Another seed than the one it was chosen on."""
    rng = np.random.default_rng(31)
    found = [clustered_mean_interval(rng.beta(0.2, 4, 12), binary=False, scale=(0, 1)) for _ in range(1500)]
    assert 0.92 < np.mean([one.low <= 0.2 / 4.2 <= one.high for one in found]) < 0.97
    turned = clustered_mean_interval(1 - np.arange(12) ** 2 / 121, binary=False, scale=(0, 1))
    same = clustered_mean_interval(np.arange(12) ** 2 / 121, binary=False, scale=(0, 1))
    assert (turned.low, turned.high) == (pytest.approx(1 - same.high), pytest.approx(1 - same.low))
