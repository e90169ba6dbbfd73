"""Paired differences: against R and published examples, and honest under the null."""

import itertools

import numpy as np
import pytest
from scipy import stats

from sociometer.statistics.intervals import clustered_mean_interval
from sociometer.statistics.paired import item_differences, mcnemar, paired_difference, sign_flip_test, simultaneous

# Student's sleep data (R: datasets::sleep), extra hours of ten people under two drugs.
DRUG_1 = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
DRUG_2 = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]


def width(interval):
    return interval.high - interval.low


def test_mcnemar_equals_r_on_agresti_approval_ratings():
    # Agresti, Categorical Data Analysis, Table 10.1 (150 and 86 changed); R: binom.test(86, 236)$p.value
    assert mcnemar(150, 86) == pytest.approx(3.71593614e-05, rel=1e-7)


@pytest.mark.parametrize("counts", [(0, 1), (0, 9), (3, 3), (4, 7), (61, 40), (500, 500), (1_200, 1_100)])
def test_mcnemar_equals_the_binomial_distribution_of_scipy(counts):
    found, n, low = mcnemar(*counts), sum(counts), min(counts)
    assert found == pytest.approx(min(1.0, 2 * stats.binom.cdf(low, n, 0.5)), rel=1e-12)


def test_mcnemar_by_hand():
    # 1 against 6: 2 (1 + 7) / 2^7 = 0.125
    assert mcnemar(1, 6) == pytest.approx(0.125)
    assert mcnemar(0, 0) == 1.0


def test_interval_of_agresti_ratings_is_bonett_and_price():
    # (b + 1 - c - 1) / (n + 2) = -64/1602, SE^2 = ((151 + 87)/1602 - (64/1602)^2) / 1602
    first = [1] * 794 + [1] * 150 + [0] * 86 + [0] * 570
    second = [1] * 794 + [0] * 150 + [1] * 86 + [0] * 570
    found = paired_difference(first, second)
    centre = -64 / 1602
    half = 1.959963985 * np.sqrt(((151 + 87) / 1602 - centre**2) / 1602)
    assert (found.interval.low, found.interval.high) == pytest.approx((centre - half, centre + half))
    assert found.difference == pytest.approx(-64 / 1600)
    assert found.p_value == pytest.approx(3.71593614e-05, rel=1e-7), "the sign flip of single items is McNemar"


def test_sleep_data_standard_error_and_effect_equal_the_paired_t_test():
    # R: t.test(extra[group==2]-extra[group==1]): mean 1.58, t = 4.0621277
    found = paired_difference(DRUG_1, DRUG_2)
    assert found.difference == pytest.approx(1.58)
    assert found.difference / found.standard_error == pytest.approx(4.0621277)
    assert found.effect == pytest.approx(4.0621277 / np.sqrt(10))


def test_interval_of_the_sleep_data_is_nearly_that_of_the_t_test_on_the_side_of_the_short_tail():
    # R: t.test gives [0.7001142, 2.4598858]; one difference of ten is zero, so a tenth of an item is added on each side
    found = paired_difference(DRUG_1, DRUG_2).interval
    assert found.low == pytest.approx(0.70, abs=0.06)
    # one difference is 4.6: Johnson moves the bound by (1 + 2 · 2.262²) · 1.75 / 6√10 = 1.04 errors of 0.40
    assert found.high == pytest.approx(2.46 + 0.42, abs=0.06)


def test_differences_without_zeros_have_the_interval_of_the_t_test():
    rng = np.random.default_rng(3)
    values = 1 + rng.normal(0, 1, 8) * np.array([[1], [-1]])
    values = values.ravel()
    found = paired_difference(np.zeros(16), values).interval
    expected = stats.ttest_1samp(values, 0).confidence_interval()
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))


def test_skewed_differences_move_only_the_bound_of_the_longer_tail():
    values = np.random.default_rng(4).exponential(1, 15)
    found, turned = (item_differences(np.zeros(15), sign * values, binary=False) for sign in (1, -1))
    expected = stats.ttest_1samp(values, 0).confidence_interval()
    assert found.interval().low == pytest.approx(expected.low)
    assert found.interval().high > expected.high + 0.1
    assert (turned.interval().low, turned.interval().high) == pytest.approx(
        (-found.interval().high, -found.interval().low)
    )


def test_intervals_of_skewed_differences_hold_from_twelve_items_on():
    rng = np.random.default_rng(20_261)
    for items in (12, 20):
        made = [item_differences(np.zeros(items), rng.exponential(1, items), binary=False) for _ in range(3000)]
        assert np.mean([found.low <= 1 <= found.high for found in (one.interval() for one in made)]) > 0.925


def test_the_p_value_is_the_error_rate_at_which_the_interval_touches_zero():
    rng = np.random.default_rng(5)
    for shift in (-0.2, 0.4, 0.9, -1.6):
        found = item_differences(np.zeros(14), rng.exponential(1, 14) + shift - 0.8, binary=False)
        p = found.p_value()
        narrow, wide = found.interval(1 - 1.001 * p), found.interval(1 - 0.999 * p)
        assert not narrow.low <= 0 <= narrow.high and wide.low <= 0 <= wide.high


def test_one_difference_among_many_zeros_does_not_exclude_zero():
    found = item_differences(np.zeros(24), np.array([50.0] * 3 + [0.0] * 21), binary=False).interval()
    assert found.low < 0 < 6.25 < found.high


def test_permutation_p_of_the_sleep_data_is_the_exact_enumeration():
    differences = np.subtract(DRUG_2, DRUG_1)
    flips = np.array(list(itertools.product((-1, 1), repeat=10))) @ differences
    expected = (np.abs(flips) >= differences.sum() - 1e-9).mean()
    assert expected == pytest.approx(4 / 1024), "all differences but a zero are positive"
    assert sign_flip_test(differences) == pytest.approx(expected)


def test_clusters_flip_as_one_and_the_convolution_equals_enumeration():
    rng = np.random.default_rng(2)
    differences = rng.integers(-1, 2, 48)
    labels = np.repeat(np.arange(12), 4)
    sums = differences.reshape(12, 4).sum(axis=1)
    flips = np.array(list(itertools.product((-1, 1), repeat=12))) @ sums
    expected = (np.abs(flips) >= abs(sums.sum())).mean()
    assert sign_flip_test(differences, labels) == pytest.approx(expected)


def test_random_flips_agree_with_the_convolution():
    rng = np.random.default_rng(4)
    differences = rng.integers(-1, 2, 200) + 0.0
    exact = sign_flip_test(differences)
    drawn = sign_flip_test(differences * 1.5, draws=20_000)
    assert drawn == pytest.approx(exact, abs=0.015)


def test_swapping_the_subjects_turns_the_sign_and_nothing_else():
    rng = np.random.default_rng(6)
    one, two = rng.integers(0, 2, 80), rng.integers(0, 2, 80)
    forth, back = paired_difference(one, two), paired_difference(two, one)
    assert forth.difference == -back.difference
    assert forth.p_value == pytest.approx(back.p_value)
    assert forth.interval.low == pytest.approx(-back.interval.high)


def test_equal_answers_leave_an_interval_of_some_width():
    found = paired_difference([1, 0] * 20, [1, 0] * 20)
    assert found.p_value == 1.0
    assert found.interval.low < 0 < found.interval.high


def test_few_clusters_give_no_interval_but_a_difference():
    found = paired_difference([0, 0, 1, 1], [1, 1, 1, 1])
    assert found.interval.too_few
    assert found.difference == 0.5


def test_pairing_narrows_what_two_separate_intervals_leave_open():
    rng = np.random.default_rng(8)
    easy = rng.normal(0, 3, 100)
    one, two = easy + rng.normal(size=100), easy + rng.normal(size=100) + 0.6
    paired = paired_difference(one, two)
    assert width(paired.interval) < width(clustered_mean_interval(two)) / 1.5


def test_unequal_lengths_are_refused():
    with pytest.raises(ValueError, match="3 of the first, 2 of the second"):
        paired_difference([1, 0, 1], [1, 0])


def test_false_alarms_on_clustered_binary_pairs_stay_below_six_percent():
    rng = np.random.default_rng(20)
    simulations, trees, episodes = 2000, 40, 5
    rates = rng.beta(2, 2, (simulations, trees))
    shape = (simulations, trees, episodes)
    one, two = (rng.random(shape) < rates[:, :, None] for _ in range(2))
    sums = (two.astype(int) - one).reshape(simulations, -1)
    labels = np.repeat(np.arange(trees), episodes)
    alarms = sum(sign_flip_test(row, labels) < 0.05 for row in sums)
    assert alarms / simulations <= 0.06


def test_false_alarms_on_continuous_pairs_stay_near_five_percent():
    rng = np.random.default_rng(21)
    differences = rng.exponential(size=(2000, 60)) - rng.exponential(size=(2000, 60))
    alarms = sum(sign_flip_test(row, draws=1000) < 0.05 for row in differences)
    assert 0.035 <= alarms / 2000 <= 0.06


def test_rounding_alone_gives_no_effect_size():
    first = [0.1 * place for place in range(30)]
    assert paired_difference(first, [value + 0.1 for value in first]).effect is None


def test_stories_of_unequal_size_have_fewer_degrees_of_freedom():
    rng = np.random.default_rng(4)
    equal, unequal = np.repeat(np.arange(20), 5), np.repeat(np.arange(20), [43, *[3] * 19])
    values = rng.normal(0, 1, 100)
    assert item_differences(np.zeros(100), values, equal).freedom == 19
    found = item_differences(np.zeros(100), values, unequal)
    assert found.freedom == pytest.approx(100**2 / (43**2 + 19 * 9) - 1)
    touching = found.interval(1 - found.p_value())
    assert min(abs(touching.low), abs(touching.high)) == pytest.approx(0, abs=1e-9)


def test_few_clusters_divide_the_error_rate_by_the_number_of_comparisons():
    influence = np.random.default_rng(1).normal(size=(39, 6))
    few = simultaneous(influence, [0.01] * 6, 39)
    assert few.level == pytest.approx(1 - 0.05 / 6) and few.p_values == pytest.approx([0.06] * 6)
    assert simultaneous(influence, [0.01] * 6, 40).level < few.level


@pytest.mark.parametrize("comparisons", [2, 3, 4, 6, 10])
def test_independent_comparisons_have_the_exact_joint_level_and_p(comparisons):
    independent, _ = np.linalg.qr(np.random.default_rng(3).standard_normal((500, comparisons)))
    found = simultaneous(independent, [0.05] * comparisons, 500)
    assert found.level == pytest.approx(0.95 ** (1 / comparisons), abs=5e-4)
    assert found.p_values == pytest.approx([1 - 0.95**comparisons] * comparisons, abs=0.003)


def test_pairs_of_columns_hold_together_as_if_each_had_a_column():
    influence = np.random.default_rng(4).normal(size=(80, 6))
    first, second = zip(*itertools.combinations(range(6), 2), strict=True)
    columns = np.column_stack([influence, influence[:, list(second)] - influence[:, list(first)]])
    apart = simultaneous(columns, [0.01] * 6 + [1.0] * 15, 80)
    found = simultaneous(influence, [0.01] * 6, 80, alike=[range(6)])
    assert found.level == pytest.approx(apart.level, abs=5e-4)
    assert found.p_values == pytest.approx(apart.p_values[:6], abs=0.01)
    assert simultaneous(influence, [0.01] * 6, 20, alike=[range(6)]).level == 1 - 0.05 / 21


def test_the_standard_error_of_repeated_items_is_not_held_up_by_whole_items():
    rng = np.random.default_rng(5)
    one, two = (rng.binomial(10, 0.9, 30) / 10 for _ in range(2))
    found = item_differences(one, two, binary=True).summary()
    assert found.standard_error == pytest.approx(float((two - one).std(ddof=1)) / 30**0.5)
