"""Sets of neurons that respond most to each label: Wanda scores, overlap, density and separation.

A neuron is one input of the last matrix of a layer's feed-forward block. Its Wanda score on some text is the mean
absolute weight it feeds times the norm of its values: w · √(mean of a² over tokens). A label's score is that on the
label's text minus that on a reference text. The k neurons with the highest score in all layers are the label's set.

The paper's words "denser" and "more isolated" are defined here, not by the paper:

- *overlap* of two sets: Jaccard's, their common neurons over all neurons of both;
- *separation*: the mean overlap of two labels of one dimension minus that of two labels of different dimensions;
- *density* of a layer: the share of its neurons that are in a label's set, mean over labels. Density of a model:
  1 − H / log(layers), H the entropy of a set's places over layers: 0 if spread evenly, 1 if all are in one layer.

Reference: Sun, M., Liu, Z., Bair, A., and Kolter, J. Z. (2024). A simple and effective pruning approach for large
language models. ICLR.
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from sociometer.analysis.clusters import Floats, Integers
from sociometer.analysis.shuffles import p_of_best, p_value

_MOST_NUMBERS = 8_000_000
"""The maximum number of scores in memory at once (32 MB)."""

Half = NDArray[np.float32]


class NeuronValues(Protocol):
    """The data about the neurons, one layer at a time, so that only one layer is in memory."""

    layers: int
    width: int
    tokens: Floats
    """The number of tokens of each text."""

    def squares(self, layer: int) -> Half:
        """The sum of squares of each neuron over the tokens of each text, texts × neurons."""
        ...

    def reference(self, layer: int) -> Half:
        """The mean square of each neuron over the tokens of the reference text."""
        ...

    def weights(self, layer: int) -> Half:
        """The mean absolute weight that each neuron feeds."""
        ...


def top_sets(values: NeuronValues, label_sets: Integers, kinds: int, k: int) -> NDArray[np.int32]:
    """The k neurons with the highest scores, for each row of labels and each label: rows × labels × k.

    A neuron's number is layer × width + place. Texts with the label −1 are left out.
    """
    rows = len(label_sets)
    best = np.full((rows, kinds, k), -np.inf, dtype=np.float32)
    found = np.full((rows, kinds, k), -1, dtype=np.int32)
    step = max(1, _MOST_NUMBERS // (kinds * values.width))
    for layer in range(values.layers):
        squares, reference, weights = values.squares(layer), values.reference(layer), values.weights(layer)
        for at in range(0, rows, step):
            scores = label_scores(squares, values.tokens, label_sets[at : at + step], kinds, reference, weights)
            _merge(best[at : at + step], found[at : at + step], scores, layer * values.width)
    return found


def label_scores(
    squares: Half, tokens: Floats, label_sets: Integers, kinds: int, reference: Half, weights: Half
) -> Half:
    """The score of each neuron of a layer for each label and each row of labels: rows × labels × neurons."""
    rows, texts = label_sets.shape
    indicator = (label_sets[:, None, :] == np.arange(kinds)[:, None]).astype(np.float32)
    totals = np.maximum(indicator @ tokens.astype(np.float32), 1e-9)
    means = (indicator.reshape(rows * kinds, texts) @ squares).reshape(rows, kinds, -1) / totals[:, :, None]
    return np.asarray((np.sqrt(np.maximum(means, 0)) - np.sqrt(reference)) * weights, dtype=np.float32)


def _merge(best: Half, found: NDArray[np.int32], scores: Half, first: int) -> None:
    """Puts the neurons of one more layer into the best so far, in place."""
    k = best.shape[2]
    numbers = np.broadcast_to(np.arange(first, first + scores.shape[2], dtype=np.int32), scores.shape)
    every, names = np.concatenate([best, scores], axis=2), np.concatenate([found, numbers], axis=2)
    kept = np.argpartition(-every, k - 1, axis=2)[:, :, :k]
    best[:] = np.take_along_axis(every, kept, axis=2)
    found[:] = np.take_along_axis(names, kept, axis=2)


class SetStatistics(Struct, frozen=True):
    """The statistics of the sets of one row of labels; the lists have one value per layer."""

    overlaps: Floats
    within: float
    between: float
    density: float
    layer_density: Floats
    layer_separation: Floats

    @property
    def separation(self) -> float:
        """How much more the sets of one dimension overlap than those of different ones."""
        return self.within - self.between


def set_statistics(sets: NDArray[np.int32], dimensions: Integers, layers: int, width: int) -> SetStatistics:
    """The statistics of one row of sets (labels × k); `dimensions` numbers the dimension of each label."""
    kinds = len(sets)
    flat = np.zeros((kinds, layers * width), dtype=np.float32)
    np.put_along_axis(flat, sets.astype(np.int64), 1.0, axis=1)
    member = flat.reshape(kinds, layers, width)
    common = np.einsum("ilw,jlw->lij", member, member, optimize=True)
    sizes = member.sum(axis=2).T
    either = sizes[:, :, None] + sizes[:, None, :] - common
    pair = np.triu(np.ones((kinds, kinds), dtype=bool), 1)
    same = pair & (dimensions[:, None] == dimensions)
    other = pair & ~same
    whole = common.sum(axis=0) / np.maximum(either.sum(axis=0), 1)
    by_layer = common / np.maximum(either, 1)
    separation = _mean(by_layer, same) - _mean(by_layer, other)
    shares = sizes / np.maximum(sizes.sum(axis=0), 1)
    entropy = -(shares * np.log(np.where(shares > 0, shares, 1))).sum(axis=0)
    density = float(1 - entropy.mean() / np.log(layers)) if layers > 1 else 1.0
    within, between = float(_mean(whole[None], same)[0]), float(_mean(whole[None], other)[0])
    return SetStatistics(whole, within, between, density, sizes.mean(axis=1) / width, separation)


def _mean(tables: Floats | Half, where: NDArray[np.bool_]) -> Floats:
    """The mean over the chosen pairs of each table; NaN if there is no such pair."""
    if not where.any():
        return np.full(len(tables), np.nan)
    return np.asarray(tables[:, where].mean(axis=1), dtype=np.float64)


class SetTest(Struct, frozen=True):
    """The sets of the true labels compared with those of shuffled ones."""

    sets: NDArray[np.int32]
    true: SetStatistics
    null: tuple[SetStatistics, ...]
    p_within: float
    p_separation: float
    p_dimensions: float
    """The test that only shuffles which labels form a dimension."""
    p_density: float
    p_layers: Floats
    """The separation of each layer, compared with the largest of all layers in each shuffle."""


def compare_sets(
    values: NeuronValues, label_sets: Integers, dimensions: Sequence[int], k: int, *, draws: int = 2000, seed: int = 0
) -> SetTest:
    """The sets of the first row of labels (the true one), tested against those of the other rows (shuffled ones)."""
    numbers = np.asarray(dimensions, dtype=np.int64)
    sets = top_sets(values, label_sets, numbers.size, k)
    true, *null = (set_statistics(row, numbers, values.layers, values.width) for row in sets)
    layer_null = np.array([row.layer_separation for row in null]).reshape(len(null), values.layers)
    return SetTest(
        sets[0],
        true,
        tuple(null),
        p_within=p_value(true.within, np.array([row.within for row in null])),
        p_separation=p_value(true.separation, np.array([row.separation for row in null])),
        p_dimensions=_p_dimensions(true.overlaps, numbers, draws, seed),
        p_density=p_value(true.density, np.array([row.density for row in null])),
        p_layers=p_of_best(true.layer_separation, layer_null) if null else np.ones(values.layers),
    )


def _p_dimensions(overlaps: Floats, dimensions: Integers, draws: int, seed: int) -> float:
    """The p-value of the separation if the dimensions are assigned to the labels at random, with their sizes kept."""
    generator = np.random.default_rng(seed)
    rows = np.vstack([dimensions, generator.permuted(np.tile(dimensions, (draws, 1)), axis=1)])
    above = np.triu_indices(dimensions.size, 1)
    pairs = overlaps[above]
    same = rows[:, above[0]] == rows[:, above[1]]
    inside, outside = same.sum(axis=1), (~same).sum(axis=1)
    separation = (same @ pairs) / np.maximum(inside, 1) - (~same @ pairs) / np.maximum(outside, 1)
    return p_value(float(separation[0]), separation[1:])


def same_layers(neurons: Integers, layers: int, width: int, seed: int) -> Integers:
    """As many random neurons in each layer as the given set has there, and none of the set."""
    generator = np.random.default_rng(seed)
    chosen = []
    for layer in range(layers):
        own = neurons[neurons // width == layer] % width
        free = np.setdiff1d(np.arange(width), own)
        chosen.append(layer * width + generator.choice(free, size=min(own.size, free.size), replace=False))
    return np.concatenate(chosen).astype(np.int64)
