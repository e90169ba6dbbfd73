"""Reliability against R's psych package on the attitude data of base R."""

import numpy as np
import pytest

from sociometer.statistics.reliability import (
    cronbach_alpha,
    item_statistics,
    items_to_look_at,
    repeatability,
    standard_error_of_measurement,
)

# R: datasets::attitude (Chatterjee and Price 1977): 30 departments × 7 ratings.
ATTITUDE = np.array(
    """43,51,30,39,61,92,45;63,64,51,54,63,73,47;71,70,68,69,76,86,48;61,63,45,47,54,84,35;81,78,56,66,71,83,47;
    43,55,49,44,54,49,34;58,67,42,56,66,68,35;71,75,50,55,70,66,41;72,82,72,67,71,83,31;67,61,45,47,62,80,41;
    64,53,53,58,58,67,34;67,60,47,39,59,74,41;69,62,57,42,55,63,25;68,83,83,45,59,77,35;77,77,54,72,79,77,46;
    81,90,50,72,60,54,36;74,85,64,69,79,79,63;65,60,65,75,55,80,60;65,70,46,57,75,85,46;50,58,68,54,64,78,52;
    50,40,33,34,43,64,33;64,61,52,62,66,80,41;53,66,52,50,63,80,37;40,37,42,58,50,57,49;63,54,42,48,66,75,33;
    66,77,66,63,88,76,72;78,75,58,74,80,78,49;48,57,44,45,51,83,38;85,85,71,71,77,74,55;82,82,39,59,64,78,39""".replace(
        ";", ","
    )
    .replace("\n", "")
    .split(","),
    dtype=float,
).reshape(30, 7)


def test_alpha_and_feldt_interval_equal_psych():
    # R: psych::alpha(attitude)$total$raw_alpha; psych::alpha.ci(.84314277, n.obs = 30, n.var = 7)
    found = cronbach_alpha(ATTITUDE)
    assert found.value == pytest.approx(0.84314277, abs=1e-8)
    assert (found.interval.low, found.interval.high) == pytest.approx((0.73937569, 0.91577307), abs=1e-6)


def test_discrimination_equals_psych_r_drop():
    # R: psych::alpha(attitude)$item.stats$r.drop
    expected = [0.67126206, 0.74210971, 0.56071111, 0.71444550, 0.78627559, 0.26503434, 0.46081055]
    found = item_statistics(ATTITUDE, list("abcdefg"), top=100)
    assert [entry.discrimination for entry in found] == pytest.approx(expected, abs=1e-7)


def test_the_share_right_of_an_item_is_high_where_it_is_easy():
    table = [[1, 0], [1, 0], [1, 1], [0, 0]]
    assert [one.share_right for one in item_statistics(table, ["easy", "hard"])] == [0.75, 0.25]
    assert [one.share_right for one in item_statistics(table, ["easy", "hard"], top=None)] == [None, None]


def test_too_few_subjects_say_so():
    found = cronbach_alpha(ATTITUDE[:4])
    assert found.value is None
    assert "too few people: 4, at least 10" in found.note
    families = cronbach_alpha(ATTITUDE[:4], families=list("abcd"))
    assert "too few distinct subjects: 4, at least 10" in families.note


def test_alpha_over_models_has_an_interval_only_from_ten_families_on():
    found = cronbach_alpha(ATTITUDE, families=[place // 10 for place in range(30)])
    assert found.value == pytest.approx(0.84314277, abs=1e-8) and found.interval.low is None
    assert found.note == "no interval: the models are of 3 families, 10 are needed"
    wide = cronbach_alpha(ATTITUDE, families=[place // 3 for place in range(30)]).interval
    assert wide.low < 0.843 < wide.high and wide.clusters == 10
    twins = cronbach_alpha(np.repeat(ATTITUDE, 3, axis=0), families=[place // 3 for place in range(90)]).interval
    assert twins.high - twins.low > 0.9 * (0.91577307 - 0.73937569), "three copies of a model are no more than one"


def test_parallel_items_reach_the_reliability_they_were_made_with():
    rng = np.random.default_rng(1)
    truth = rng.normal(size=(4000, 1))
    table = truth + rng.normal(size=(4000, 8))
    expected = 8 / 9  # Spearman-Brown: kρ / (1 + (k − 1)ρ) of 8 items with ρ = .5
    assert cronbach_alpha(table).value == pytest.approx(expected, abs=0.01)


def test_standard_error_of_measurement_of_the_seceu_norm():
    # 15 √(1 − .94) = 3.67, the people's standard error in EQ points
    assert standard_error_of_measurement(15, 0.94) == pytest.approx(3.674, abs=1e-3)


def test_repeats_that_never_change_are_fully_repeatable():
    steady = np.repeat([[0.0], [1.0], [1.0]], 3, axis=1)
    found = repeatability(steady)
    assert found.icc == pytest.approx(1.0)


def test_where_nothing_ever_varies_there_is_no_icc():
    found = repeatability(np.ones((4, 3)))
    assert found.icc is None


def test_repeats_that_are_coin_tosses_are_not():
    rng = np.random.default_rng(2)
    found = repeatability(rng.integers(0, 2, (400, 4)))
    assert found.icc == pytest.approx(0.0, abs=0.06)


def test_an_item_with_a_wrong_key_is_one_to_look_at():
    rng = np.random.default_rng(3)
    ability = np.linspace(-4, 4, 40)[:, None]
    table = (ability + rng.logistic(size=(40, 20)) > 0).astype(float)
    table[:, 4] = 1 - table[:, 4]
    table[:, 5] = 0
    names = [f"item {number}" for number in range(20)]
    flagged = items_to_look_at(item_statistics(table, names))
    assert flagged[0].item == "item 4"
    assert "check the key" in flagged[0].concerns[0]
    assert "item 5" in [entry.item for entry in flagged]


def test_noise_alone_flags_hardly_any_key_and_a_reversed_key_is_still_found():
    rng = np.random.default_rng(4)
    noise = [(rng.random((12, 100)) < 0.5).astype(float) for _ in range(20)]
    flagged = [one for table in noise for one in item_statistics(table, [str(n) for n in range(100)])
               if any("weak subjects" in concern for concern in one.concerns)]  # fmt: skip
    assert len(flagged) <= 10, "2,000 items without any signal"
    ability = np.linspace(0.1, 0.9, 30)
    table = (rng.random((30, 60)) < ability[:, None]).astype(float)
    table[:, 0] = 1 - (ability > 0.5)
    found = {one.item: one.concerns for one in item_statistics(table, [str(n) for n in range(60)])}
    assert any("weak subjects" in concern for concern in found["0"])


def test_items_of_one_story_count_as_one_part():
    """Six items of a story share its error: alpha over items is far above the correlation with a parallel form."""
    rng = np.random.default_rng(11)
    ability, stories = rng.normal(size=(400, 1)), np.repeat(np.arange(8), 6)

    def form():
        return ability + np.repeat(rng.normal(0, 2, (400, 8)), 6, axis=1) + rng.normal(0, 1.5, (400, 48))

    one, two = form(), form()
    parallel = np.corrcoef(one.sum(axis=1), two.sum(axis=1))[0, 1]
    assert cronbach_alpha(one).value > parallel + 0.2
    assert cronbach_alpha(one, stories).value == pytest.approx(parallel, abs=0.05)


def test_parts_of_unequal_length_do_not_lower_alpha():
    rng = np.random.default_rng(12)
    items = rng.normal(size=(3000, 1)) + rng.normal(0, 2, (3000, 24))
    uneven = np.repeat(np.arange(4), [12, 6, 4, 2])
    assert cronbach_alpha(items, uneven).value == pytest.approx(cronbach_alpha(items).value, abs=0.02)


def test_repeats_give_the_share_right_in_all_and_the_unstable_items():
    found = repeatability([[1, 1, 1], [1, 0, 1], [0, 0, 0], [0, 0, 1]], ["a", "b", "c", "d"])
    assert found.all_right == 0.25
    assert found.unstable == ("b", "d")
    assert repeatability([[0.5, 0.7], [0.1, 0.1]]).all_right is None
