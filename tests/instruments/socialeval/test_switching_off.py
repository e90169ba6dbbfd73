"""A drop on the own items is told from one on all items, and from none."""

import numpy as np
import pytest

from sociometer.instruments.socialeval.inside.statistics import drops
from sociometer.instruments.socialeval.inside.tables import causation_in_words
from sociometer.instruments.socialeval.inside.view import CausationResult

LABELS = ("trust", "teamwork", "optimism")
OWNER = np.arange(90) % 3
TREES = np.arange(90) // 6


def measured(own, everywhere, seed=0):
    """Scores of 90 items in 15 trees, if neurons cost `own` on their own items and `everywhere` on all."""
    generator = np.random.default_rng(seed)
    whole = generator.normal(0.6, 0.1, size=90)
    without = np.stack([whole - everywhere - own * (label == OWNER) for label in range(3)])
    without += generator.normal(0, 0.05, size=without.shape)
    control = whole + generator.normal(0, 0.05, size=without.shape)
    return drops(LABELS, whole, without, control, OWNER, TREES.tolist(), TREES, draws=500)


def test_a_specific_loss_is_found_with_its_size_and_interval():
    found = measured(0.2, 0.05)
    assert found.specific() == LABELS
    matrix = {(drop.switched_off, drop.measured_on): drop for drop in found.matrix}
    assert matrix["trust", "trust"].drop == pytest.approx(0.25, abs=0.03)
    assert matrix["trust", "trust"].interval.low > 0.2
    assert matrix["trust", "optimism"].drop == pytest.approx(0.05, abs=0.03)
    assert found.rows[0].difference == pytest.approx(0.2, abs=0.04)


def test_a_loss_on_all_items_alike_is_not_specific():
    assert measured(0.0, 0.3).specific() == ()


def test_without_a_loss_something_looks_specific_in_about_one_study_of_twenty():
    """The level is that of the whole matrix: 40 studies of three rows each, 5 % expected."""
    assert sum(bool(measured(0.0, 0.0, seed).specific()) for seed in range(40)) <= 5


def test_a_gain_on_the_own_items_is_not_specific():
    assert measured(-0.2, 0.0).specific() == ()


def test_a_certain_but_tiny_difference_is_not_a_finding():
    """Without noise any difference is significant; three millionths of a point are still no effect."""
    whole = np.full(90, 0.6)
    cost = np.array([0.3, 3e-8, 3e-8])[:, None] * (np.arange(3)[:, None] == OWNER)
    found = drops(LABELS, whole, whole - cost, np.tile(whole, (3, 1)), OWNER, TREES.tolist(), TREES, draws=500)
    assert all(row.p_adjusted < 0.05 for row in found.rows)
    assert found.specific() == ("trust",)


def test_the_finding_names_the_size_and_its_interval():
    found = measured(0.2, 0.05)
    result = CausationResult("ability", "texts", 1, 5, 90, 15, 0.6, 1.0, found.matrix, found.rows, found.specific())
    row = found.rows[0]
    assert f"trust {100 * row.difference:.1f} points (95 %: {100 * row.interval.low:.1f} to" in causation_in_words(
        result
    )
