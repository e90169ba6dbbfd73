"""Ranks carry the doubt of the items they rest on."""

import numpy as np
import pytest
from scipy import stats

from sociometer.statistics.agreement import spearman
from sociometer.statistics.intervals import cluster_codes
from sociometer.statistics.paired import item_differences, simultaneous
from sociometer.statistics.ranking import rank_correlations, rank_intervals


def test_clear_differences_give_clear_ranks():
    items = np.random.default_rng(1).normal(size=(60, 1))
    table = items + np.array([[0.0, 2.0, 1.0]]) + np.random.default_rng(2).normal(0, 0.1, (60, 3))
    found = rank_intervals(table, ["weak", "strong", "middle"])
    assert [entry.subject for entry in found] == ["strong", "middle", "weak"]
    assert [(entry.interval.low, entry.interval.high) for entry in found] == [(1, 1), (2, 2), (3, 3)]
    assert [entry.beats for entry in found] == [("weak", "middle"), ("weak",), ()]


def test_twins_share_their_range_of_ranks():
    rng = np.random.default_rng(3)
    table = rng.integers(0, 2, (100, 2)).astype(float)
    table = np.column_stack([table, np.zeros(100)])
    found = {entry.subject: entry for entry in rank_intervals(table, ["a", "b", "none"])}
    assert (found["a"].interval.low, found["a"].interval.high) == (1, 2)
    assert found["none"].rank == 3


def test_equal_subjects_tie_for_the_better_place():
    table = np.tile(np.arange(12.0)[:, None] % 2, (1, 3))
    found = rank_intervals(table, ["a", "b", "c"])
    assert [entry.rank for entry in found] == [1, 1, 1]
    assert {(entry.interval.low, entry.interval.high) for entry in found} == {(1, 3)}


def test_a_distance_is_better_when_lower_and_few_clusters_give_no_range():
    found = rank_intervals([[2.0, 3.0], [2.5, 3.5]], ["near", "far"], higher_is_better=False)
    assert found[0].subject == "near"
    assert found[0].interval.too_few
    assert found[0].beats == ()


def test_all_ranks_hold_together_in_nearly_all_samples():
    rng = np.random.default_rng(7)
    truth = np.array([0.5, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8])
    first, last = 9 - stats.rankdata(truth, "max"), 9 - stats.rankdata(truth, "min")
    kept = 0
    for _ in range(30):
        ease = rng.normal(0, 0.15, (60, 1))
        table = (rng.random((60, 8)) < np.clip(truth + ease, 0, 1)).astype(float)
        found = {entry.subject: entry.interval for entry in rank_intervals(table, list("abcdefgh"))}
        kept += all(
            found[name].low <= low and high <= found[name].high
            for name, low, high in zip("abcdefgh", first, last, strict=True)
        )
    assert kept / 30 >= 0.9


def test_a_table_that_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="does not fit 3 subjects"):
        rank_intervals([[1.0, 2.0]], ["a", "b", "c"])


def test_rank_correlations_of_rows_equal_spearman_and_a_constant_row_has_none():
    first = np.array([[1.0, 2.0, 3.0, 4.0], [3.0, 1.0, 2.0, 2.0], [5.0, 5.0, 5.0, 5.0], [1.0, np.nan, 2.0, 3.0]])
    second = np.array([[2.0, 1.0, 4.0, 3.0], [1.0, 4.0, 2.0, 2.0], [1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0]])
    found = rank_correlations(first, second)
    assert found[:2] == pytest.approx([spearman(*rows)[0] for rows in zip(first[:2], second[:2], strict=True)])
    assert np.isnan(found[2:]).all()


@pytest.mark.parametrize("stories", [False, True])
def test_a_subject_surely_beats_those_from_which_the_interval_of_two_separates_it(stories):
    rng = np.random.default_rng(11)
    right = (rng.random((60, 5)) < np.linspace(0.2, 0.9, 5)).astype(float)
    graded = np.column_stack([rng.beta(2, 2, 60), rng.beta(4, 2, 60), np.full(60, 0.4)])
    table, names = np.column_stack([right, graded]), list("abcdefgh")
    clusters = [str(item // 3) for item in range(60)] if stories else None
    binary = [True] * 5 + [False] * 3
    found = {entry.subject: entry for entry in rank_intervals(table, names, clusters, binary=binary)}
    codes = cluster_codes(clusters, 60)[0]
    deviations = table - table.mean(axis=0)
    sums = np.stack([np.bincount(codes, weights=column) for column in deviations.T], axis=1) / 60
    each = simultaneous(sums[:, 1:] - sums[:, :1], [1.0] * 7, int(codes.max()) + 1, alike=[range(7)]).level
    for one, name in enumerate(names):
        apart = {
            other: item_differences(table[:, two], table[:, one], clusters, binary=binary[one] and binary[two])
            for two, other in enumerate(names)
            if two != one
        }
        assert found[name].beats == tuple(other for other, each_of in apart.items() if each_of.interval(each).low > 0)
