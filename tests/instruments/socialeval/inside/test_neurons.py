"""Planted neurons are the top ones, their overlap follows the dimensions, and without them nothing is found."""

import numpy as np
import pytest

from sociometer.instruments.socialeval.inside.labels import p_value, shuffled_within
from sociometer.instruments.socialeval.inside.neurons import label_scores, set_statistics, top_sets

LAYERS, WIDTH, TEXTS, KINDS = 4, 50, 120, 6
DIMENSIONS = [0, 0, 1, 1, 2, 2]


class Planted:
    """Each label has two neurons of its own and one that it shares with its dimension, all in layer 2."""

    layers, width = LAYERS, WIDTH

    def __init__(self, effect, seed=0):
        generator = np.random.default_rng(seed)
        self.labels = np.arange(TEXTS) % KINDS
        self.trees = np.arange(TEXTS) // 12
        self.tokens = np.full(TEXTS, 10.0)
        values = generator.chisquare(10, size=(TEXTS, LAYERS, WIDTH))
        for text, label in enumerate(self.labels):
            values[text, 2, [2 * label, 2 * label + 1, 20 + DIMENSIONS[label]]] += effect
        self.values = values.astype(np.float32)

    def squares(self, layer):
        return self.values[:, layer]

    def weights(self, layer):
        return np.ones(WIDTH, dtype=np.float32)


class Reference:
    """The wrong utterances: every neuron has a mean square of one."""

    tokens = np.full(TEXTS, 10.0)

    def squares(self, layer):
        return np.full((TEXTS, WIDTH), 10.0, dtype=np.float32)


def compared(effect, seed=0):
    values = Planted(effect, seed)
    sets = top_sets(
        values, Reference(), np.arange(TEXTS), shuffled_within(values.labels, values.trees, 99, seed=1), KINDS, 3
    )
    true, *null = (set_statistics(row, np.array(DIMENSIONS), LAYERS, WIDTH) for row in sets)
    return sets[0], true, p_value(true.separation, np.array([row.separation for row in null]))


def test_the_planted_neurons_are_found_and_separate_the_dimensions():
    sets, found, p = compared(60.0)
    for label, neurons in enumerate(sets):
        assert set(neurons) == {2 * WIDTH + place for place in (2 * label, 2 * label + 1, 20 + DIMENSIONS[label])}
    assert found.within == pytest.approx(1 / 5)
    assert found.between == 0
    assert found.density == pytest.approx(1)
    assert p <= 0.05


def test_nothing_is_found_where_nothing_is_planted():
    assert min(compared(0.0, seed)[2] for seed in range(4)) > 0.03


def test_a_score_is_the_weight_times_the_norm_beyond_the_reference():
    """Two texts of one label: √((9 + 23) / (1 + 1)) − √4 = 2, times the weight 3."""
    scores = label_scores(
        np.array([[9.0], [23.0], [99.0]], dtype=np.float32), np.array([1.0, 1.0, 1.0]), np.array([[0, 0, -1]]), 1,
        np.array([4.0], dtype=np.float32), np.array([3.0], dtype=np.float32),
    )  # fmt: skip
    assert scores[0, 0, 0] == pytest.approx(6.0)


def test_the_best_of_all_layers_are_kept():
    values = Planted(0.0)
    (sets,) = top_sets(values, Reference(), np.arange(TEXTS), values.labels[None], KINDS, 5)
    by_layer = [
        label_scores(
            values.squares(layer), values.tokens, values.labels[None], KINDS, np.ones(WIDTH), values.weights(0)
        )
        for layer in range(LAYERS)
    ]
    scores = np.concatenate(by_layer, axis=2)[0]
    for label in range(KINDS):
        assert set(sets[label]) == set(np.argsort(-scores[label])[:5])


def test_overlap_and_density_worked_by_hand():
    """Sets {0, 1}, {1, 2} and {0, 10}, two layers of ten: a third of the first two is common."""
    found = set_statistics(np.array([[0, 1], [1, 2], [0, 10]], dtype=np.int32), np.array([0, 0, 1]), 2, 10)
    assert found.within == pytest.approx(1 / 3)
    assert found.between == pytest.approx((1 / 3 + 0) / 2)
    assert found.density == pytest.approx(1 - (0 + 0 + 1) / 3)
    assert found.layer_density == pytest.approx([(2 + 2 + 1) / 30, 1 / 30])
