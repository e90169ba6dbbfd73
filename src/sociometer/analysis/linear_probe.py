"""Linear probe: how well a linear function of a vector predicts its label, for groups that it was not fitted on.

The probe is ridge regression on indicators of the labels, each divided by the number of its items, so that a frequent
label has no advantage; the largest value is the answer. Its score is the balanced accuracy, the mean over labels of
the share of items classified correctly. Fitting is linear in the labels: one matrix per fold answers for all shuffles
at once.
"""

import warnings
from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from sociometer.analysis.clusters import Floats, Integers, Labels, cluster_codes, cluster_sums
from sociometer.analysis.interval_methods import CLUSTER_BOOTSTRAP, NO_VARIATION
from sociometer.analysis.intervals import MINIMUM_CLUSTERS, bootstrap_means, expanded_percentiles, too_few
from sociometer.core.measure import Interval

FOLDS = 10
RIDGE = 1.0
"""The ridge, as a multiple of the mean square of a vector's length."""
_COLUMNS = 8192


class Fold(Struct, frozen=True):
    """The items that a probe is fitted on and those it is tested on; they share no group."""

    fitted: Integers
    tested: Integers


def folds_of(groups: Integers, fit_on: NDArray[np.bool_], test_on: NDArray[np.bool_], most: int = FOLDS) -> list[Fold]:
    """At most `most` folds; each group is tested in one and is then left out of the fit, in every language.

    Groups are dealt out by size, the largest first, each to the fold with the fewest items.
    """
    names, sizes = np.unique(groups[test_on], return_counts=True)
    count = min(most, names.size)
    filled, fold_of = np.zeros(count), dict[int, int]()
    for place in np.argsort(-sizes, kind="stable"):
        fold = int(np.argmin(filled))
        filled[fold] += sizes[place]
        fold_of[int(names[place])] = fold
    number = np.array([fold_of.get(int(group), -1) for group in groups])
    folds = [
        Fold(np.flatnonzero(fit_on & (number != fold)), np.flatnonzero(test_on & (number == fold)))
        for fold in range(count)
    ]
    return [fold for fold in folds if fold.fitted.size and fold.tested.size]


def probe_answers(
    vectors: NDArray[np.float32], label_sets: Integers, folds: Sequence[Fold], *, ridge: float = RIDGE
) -> Integers:
    """What the probe answers for every item that some fold tests, for each row of labels; −1 for other items."""
    kinds = int(label_sets.max()) + 1
    kernel = (vectors @ vectors.T).astype(np.float64)
    answers = np.full(label_sets.shape, -1, dtype=np.int64)
    step = max(1, _COLUMNS // kinds)
    for fold in folds:
        weights = _weights(kernel, fold, ridge).astype(np.float32)
        for at in range(0, len(label_sets), step):
            rows = label_sets[at : at + step][:, fold.fitted]
            indicator = (rows[:, :, None] == np.arange(kinds)).astype(np.float32)
            sizes = indicator.sum(axis=1)
            flat = indicator.transpose(1, 0, 2).reshape(fold.fitted.size, -1)
            scores = (weights @ flat).reshape(fold.tested.size, len(rows), kinds) / np.maximum(sizes, 1)
            # a label that the fit has not seen is never the answer
            scores = np.where(sizes > 0, scores, -np.inf)
            answers[at : at + step, fold.tested] = scores.argmax(axis=2).T
    return answers


def _weights(kernel: Floats, fold: Fold, ridge: float) -> Floats:
    """The matrix that turns the labels of the fitted items into scores of the tested ones (with an intercept)."""
    fitted = kernel[np.ix_(fold.fitted, fold.fitted)]
    across = kernel[np.ix_(fold.tested, fold.fitted)]
    means = fitted.mean(axis=0)
    centred = fitted - means - means[:, None] + means.mean()
    across = across - means - across.mean(axis=1, keepdims=True) + means.mean()
    penalty = ridge * max(float(np.trace(centred)) / fold.fitted.size, 1e-12)
    weights = np.linalg.solve(centred + penalty * np.eye(fold.fitted.size), across.T).T
    return np.asarray(weights - weights.mean(axis=1, keepdims=True), dtype=np.float64)


def balanced_accuracies(answers: Integers, label_sets: Integers, tested: NDArray[np.bool_]) -> Floats:
    """The balanced accuracy of each row over the labels that its tested items have."""
    answers, labels = answers[:, tested], label_sets[:, tested]
    right = answers == labels
    kinds = int(label_sets.max()) + 1
    shares = np.full((len(labels), kinds), np.nan)
    for kind in range(kinds):
        of_kind = labels == kind
        sizes = of_kind.sum(axis=1)
        shares[:, kind] = np.where(sizes > 0, (right & of_kind).sum(axis=1) / np.maximum(sizes, 1), np.nan)
    return np.asarray(np.nanmean(shares, axis=1), dtype=np.float64)


def balanced_interval(
    answers: Integers, labels: Integers, clusters: Labels, *, level: float = 0.95, draws: int = 2000
) -> Interval:
    """Interval of the balanced accuracy: whole clusters are drawn with replacement, and each label weighs the same."""
    codes, count = cluster_codes(clusters, labels.size)
    if count < MINIMUM_CLUSTERS:
        return too_few(count, level)
    _, kinds = np.unique(labels, return_inverse=True)
    own = kinds[:, None] == np.arange(kinds.max() + 1)
    right = (answers == labels)[:, None]
    if right.all() or not right.any():
        return Interval(float(right.all()), float(right.all()), level, NO_VARIATION, count)
    sums, sizes = (cluster_sums(table.astype(np.float64), codes, count)[0] for table in (own & right, own))
    with warnings.catch_warnings():
        # a draw may lack every item of every label
        warnings.simplefilter("ignore", RuntimeWarning)
        sample = np.nanmean(bootstrap_means(sums, sizes, draws=draws), axis=1)
    low, high = expanded_percentiles(sample, count, level)
    return Interval(low, high, level, CLUSTER_BOOTSTRAP, count)
