"""The probe is fitted on other groups than it is tested on, weighs labels alike, and finds what is planted."""

import numpy as np
import pytest

from sociometer.instruments.socialeval.inside.statistics import (
    balanced_accuracies,
    balanced_interval,
    folds_of,
    probe_answers,
    shuffled_within,
)

ALL = np.ones(120, dtype=bool)


def study(effect, seed=0, sizes=(60, 40, 20)):
    """Vectors of 12 trees: a direction of the label, and a strong one of the tree."""
    generator = np.random.default_rng(seed)
    labels = generator.permutation(np.repeat([0, 1, 2], sizes))
    trees = np.arange(labels.size) % 12
    vectors = generator.normal(size=(labels.size, 30)) + 3 * generator.normal(size=(12, 30))[trees]
    vectors[:, :3] += effect * np.eye(3)[labels]
    return vectors.astype(np.float32), labels, trees


def accuracies(vectors, labels, trees, draws=99):
    sets = shuffled_within(labels, trees, draws, seed=5)
    return balanced_accuracies(probe_answers(vectors, sets, folds_of(trees, ALL, ALL)), sets, ALL)


def test_no_group_is_in_both_parts_of_a_fold_and_every_item_is_tested_once():
    _, _, trees = study(0)
    folds = folds_of(trees, ALL, ALL)
    assert len(folds) == 10
    assert all(not set(trees[fold.fitted]) & set(trees[fold.tested]) for fold in folds)
    assert sorted(np.concatenate([fold.tested for fold in folds])) == list(range(120))


def test_across_languages_the_translation_of_a_tested_tree_is_left_out_too():
    trees = np.tile(np.arange(12), 10)
    english = np.arange(120) < 60
    for fold in folds_of(trees, english, ~english):
        assert english[fold.fitted].all()
        assert not english[fold.tested].any()
        assert not set(trees[fold.fitted]) & set(trees[fold.tested])


def test_a_planted_direction_is_found_and_shuffled_labels_are_at_chance():
    found = accuracies(*study(3.0))
    assert found[0] > 0.6
    assert found[0] > found[1:].max()
    assert found[1:].mean() == pytest.approx(1 / 3, abs=0.03)


def test_nothing_is_found_where_nothing_is_planted():
    found = [accuracies(*study(0.0, seed)) for seed in range(2)]
    ranks = [(one >= one[0]).mean() for one in found]
    assert min(ranks) > 0.02


def test_a_frequent_label_has_no_advantage():
    vectors, labels, trees = study(0.0, sizes=(100, 10, 10))
    answers = probe_answers(vectors, labels[None], folds_of(trees, ALL, ALL))[0]
    assert np.bincount(answers, minlength=3).max() < 75


def test_one_matrix_for_all_shuffles_gives_what_fitting_each_alone_gives():
    vectors, labels, trees = study(1.0)
    folds = folds_of(trees, ALL, ALL)
    sets = shuffled_within(labels, trees, 3, seed=2)
    together = probe_answers(vectors, sets, folds)
    assert all(
        (probe_answers(vectors, row[None], folds)[0] == answers).all()
        for row, answers in zip(sets, together, strict=True)
    )


def test_the_interval_stays_between_zero_and_one_and_needs_ten_clusters():
    labels = np.repeat([0, 1, 2], 20)
    answers = labels.copy()
    answers[:3] = 1
    interval = balanced_interval(answers, labels, [place % 12 for place in range(60)])
    assert 0.8 < interval.low < 0.95 <= interval.high <= 1
    assert balanced_interval(answers, labels, [place % 9 for place in range(60)]).too_few
