"""Cochran's Q by hand, its p-value under dependence, and the size beside a noise floor."""

import numpy as np
import pytest

from sociometer.instruments.sesi.probing import cochran_q, spread

# Cochran (1950) gives Q from column totals G and row totals L: (k-1)(k sum G^2 - (sum G)^2) / (k sum L - sum L^2).
BY_HAND = np.array([[1, 1, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1], [0, 0, 0], [1, 0, 0]], dtype=float)


def test_q_is_worked_by_hand():
    """G = 5, 3, 1; L = 2, 1, 2, 3, 0, 1: Q = 2 (3 * 35 - 81) / (3 * 9 - 19) = 6."""
    found = cochran_q([BY_HAND])
    assert found.statistic == pytest.approx(6.0)


def test_two_conditions_give_mcnemars_statistic():
    """Ten items lost, two won: (10 - 2)^2 / 12."""
    table = np.array([[1, 0]] * 10 + [[0, 1]] * 2 + [[1, 1]] * 5, dtype=float)
    found = cochran_q([table])
    assert found.statistic == pytest.approx(64 / 12)
    exact = 2 * sum(_binomial(12, k) for k in range(3)) / 2**12
    assert found.p_value == pytest.approx(exact, abs=0.01)


def _binomial(n, k):
    return np.prod([(n - i) / (i + 1) for i in range(k)])


def test_items_that_never_change_tell_nothing():
    assert cochran_q([np.ones((8, 4))]).p_value == 1
    padded = np.vstack([BY_HAND, np.ones((50, 3)), np.zeros((50, 3))])
    assert cochran_q([padded]).statistic == pytest.approx(6.0)


def test_under_no_effect_the_p_value_is_uniform():
    rng = np.random.default_rng(3)
    p_values = [cochran_q([(rng.random((40, 5)) < 0.5).astype(float)], draws=199).p_value for _ in range(200)]
    assert 0.02 <= np.mean(np.array(p_values) <= 0.05) <= 0.09
    assert np.mean(p_values) == pytest.approx(0.5, abs=0.07)


def permuted_p(table, rng, draws=199):
    """The test that assumes exchangeable conditions: they are permuted within items."""
    centred = table - table.mean(axis=1, keepdims=True)
    observed = np.square(centred.sum(axis=0)).sum()
    sums = (rng.permuted(centred, axis=1).sum(axis=0) for _ in range(draws))
    return (1 + sum(np.square(one).sum() >= observed for one in sums)) / (1 + draws)


def test_roles_that_share_their_answers_do_not_make_the_test_liberal():
    """No effect: 21 roles in three kinds of prompt; within a kind, most answers to an item are the same."""
    rng, flipped, permuted = np.random.default_rng(11), [], []
    for _ in range(50):
        difficulty = rng.random((60, 1))
        kinds = (rng.random((60, 3)) < difficulty).astype(float)
        roles = np.repeat(kinds, 21, axis=1)
        alone = rng.random(roles.shape) < 0.2
        roles[alone] = (rng.random(roles.shape) < difficulty)[alone]
        table = np.column_stack([(rng.random((60, 1)) < difficulty).astype(float), roles])
        flipped.append(cochran_q([table], draws=99).p_value)
        permuted.append(permuted_p(table, rng))
    assert np.mean(np.array(flipped) <= 0.05) <= 0.09
    assert np.mean(np.array(permuted) <= 0.05) > 0.12, "permuting conditions finds effects where there are none"


def test_a_role_that_differs_is_found():
    rng = np.random.default_rng(12)
    chances = np.full(22, 0.5)
    chances[5:9] = 0.75
    found = [cochran_q([(rng.random((80, 22)) < chances).astype(float)], draws=199).p_value for _ in range(20)]
    assert np.mean(np.array(found) <= 0.05) > 0.8


def test_copies_of_one_subject_are_no_further_evidence():
    """Subjects that answer alike share their items, so flipping items together gives the p-value of one."""
    rng = np.random.default_rng(5)
    table = (rng.random((30, 4)) < [0.5, 0.5, 0.6, 0.65]).astype(float)
    one, many = cochran_q([table]), cochran_q([table] * 6)
    assert many.p_value == pytest.approx(one.p_value, abs=0.02)


def test_several_subjects_with_the_same_effect_are_more_evidence_than_one():
    rng = np.random.default_rng(8)
    tables = [(rng.random((60, 3)) < [0.5, 0.5, 0.62]).astype(float) for _ in range(6)]
    assert cochran_q(tables).p_value < min(cochran_q([table]).p_value for table in tables)


def test_clusters_move_together():
    table = np.repeat(BY_HAND, 4, axis=0)
    labels = np.repeat(np.arange(6), 4)
    assert cochran_q([table], labels).p_value > cochran_q([table]).p_value


def test_a_single_condition_is_refused():
    with pytest.raises(ValueError, match="at least two conditions"):
        cochran_q([np.ones((3, 1))])


def test_the_size_is_the_root_mean_square_difference_from_the_control():
    control = np.array([1.0, 1.0, 0.0, 0.0] * 5)
    moved = np.column_stack([np.ones(20), np.zeros(20)])
    assert spread([control], [moved]).size == pytest.approx(0.5)
    assert spread([control], [moved]).floor is None


def test_a_factor_no_larger_than_placebos_is_not_above_the_floor():
    rng = np.random.default_rng(2)
    control = (rng.random(120) < 0.5).astype(float)
    flips = [np.where(rng.random(120) < 0.2, 1 - control, control) for _ in range(12)]
    found = spread([control], [np.column_stack(flips[:6])], [np.column_stack(flips[6:])])
    assert found.interval.low < 0 < found.interval.high
    strong = np.column_stack([np.zeros(120)] * 3)
    found = spread([control], [strong], [np.column_stack(flips[6:])])
    assert found.interval.low > 0.2


def test_the_interval_above_the_floor_covers_the_true_size():
    rng, covered = np.random.default_rng(3), 0
    for _ in range(60):
        chances = rng.uniform(0.3, 0.8, 150)
        control, moved, idle = (
            (rng.random((150, count)) < (chances + more)[:, None]).astype(float)
            for count, more in ((1, 0.0), (1, 0.1), (5, 0.0))
        )
        found = spread([control[:, 0]], [moved], [idle])
        covered += found.interval.low <= 0.1 <= found.interval.high
    assert covered >= 52
