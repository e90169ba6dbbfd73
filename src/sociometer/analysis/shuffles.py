"""Permutation tests that shuffle labels within groups, and the correction for the best of many."""

import numpy as np

from sociometer.analysis.clusters import Floats, Integers


def shuffled_within(labels: Integers, groups: Integers, draws: int, seed: int) -> Integers:
    """The labels as given in the first row, then `draws` rows in which they are shuffled inside each group.

    A group (a tree) keeps its own number of each label, so that what a tree has in common cannot look like an effect
    of the labels.
    """
    generator = np.random.default_rng(seed)
    result = np.tile(labels, (draws + 1, 1))
    for group in np.unique(groups):
        places = np.flatnonzero(groups == group)
        if places.size > 1:
            result[1:, places] = generator.permuted(result[1:, places], axis=1)
    return result


def p_value(observed: float, null: Floats) -> float:
    """The share of values at least as large as the observed one, which is counted among them: (1 + b) / (1 + m)."""
    return float((1 + np.count_nonzero(null >= observed - 1e-12)) / (1 + null.size))


def p_of_best(observed: Floats, null: Floats) -> Floats:
    """p-values of several statistics, each compared with the largest of every shuffle (Westfall and Young 1993).

    `observed` has one value per statistic (a layer), `null` is shuffles × statistics, shuffled together. The
    probability of any false finding among all statistics is then at most the level.
    """
    largest = null.max(axis=1)
    return np.array([p_value(float(value), largest) for value in observed])
