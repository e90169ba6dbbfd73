"""Silhouettes agree with the definition, worked by hand and by scikit-learn."""

import numpy as np
import pytest

from sociometer.instruments.socialeval.inside.states import cosine_distances, silhouettes


def test_four_points_worked_by_hand():
    """a = 1, b = (4 + 5) / 2 for the outer points; a = 1, b = (3 + 4) / 2 for the inner ones."""
    places = np.array([0.0, 1.0, 4.0, 5.0])
    distances = np.abs(places[:, None] - places).astype(np.float32)
    (value,) = silhouettes(distances, np.array([[0, 0, 1, 1]]))
    assert value == pytest.approx((2 * (3.5 / 4.5) + 2 * (2.5 / 3.5)) / 4)


def test_an_item_alone_with_its_label_has_zero():
    distances = np.abs(np.array([0.0, 1.0, 9.0])[:, None] - np.array([0.0, 1.0, 9.0])).astype(np.float32)
    (value,) = silhouettes(distances, np.array([[0, 0, 1]]))
    assert value == pytest.approx((8 / 9 + 7 / 8) / 3)


def test_many_label_sets_give_what_scikit_learn_gives():
    metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")
    generator = np.random.default_rng(3)
    vectors = generator.normal(size=(60, 12)).astype(np.float32)
    labels = generator.integers(0, 5, size=(7, 60))
    distances = cosine_distances(vectors)
    wanted = [metrics.silhouette_score(distances, row, metric="precomputed") for row in labels]
    assert silhouettes(distances, labels) == pytest.approx(wanted, abs=1e-5)


def test_opposite_and_empty_vectors_have_the_distances_two_and_one():
    distances = cosine_distances(np.array([[1.0, 0.0], [-2.0, 0.0], [0.0, 0.0]], dtype=np.float32))
    assert distances[0, 1] == pytest.approx(2)
    assert distances[0, 2] == pytest.approx(1)
    assert (np.diag(distances) == 0).all()
