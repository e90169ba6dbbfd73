"""Sets of neurons that respond most to each label, and the loss when they are switched off."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from sociometer.core.measure import Interval
from sociometer.instruments.socialeval.inside.probe import p_of_best, p_value, shuffled_within
from sociometer.statistics.intervals import Floats, Integers, Labels, clustered_mean_interval
from sociometer.statistics.paired import holm

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


class Drop(Struct, frozen=True):
    """The mean drop on the items of one label after the neurons of another (or the same) were switched off."""

    switched_off: str
    measured_on: str
    drop: float
    interval: Interval
    items: int
    against_none: float
    """The drop against the whole model, which includes what switching off any neurons costs."""


class Specificity(Struct, frozen=True):
    """How much larger the drop is on the label's own items than on the others, with the test of it."""

    label: str
    own: float
    others: float
    difference: float
    p_value: float
    p_adjusted: float


class Drops(Struct, frozen=True):
    """The matrix, row by row, and the test of each row."""

    matrix: tuple[Drop, ...]
    rows: tuple[Specificity, ...]

    def specific(self, level: float = 0.05) -> tuple[str, ...]:
        """The labels whose neurons matter more for their own items than for the others, after Holm's correction."""
        return tuple(row.label for row in self.rows if row.p_adjusted <= level and row.difference > 0)


def drops(
    labels: Sequence[str],
    whole: Floats,
    without: Floats,
    control: Floats,
    owner: Integers,
    clusters: Labels,
    groups: Integers,
    *,
    draws: int = 2000,
    seed: int = 0,
) -> Drops:
    """The matrix of drops from the score of every item under every condition.

    `whole` is each item's score with all neurons; `without` (labels × items) without those of a label; `control`
    (labels × items) without as many random ones, mean over the random sets. `owner` is each item's label. The drop of
    an item is control − without. The test shuffles the items' labels within `groups`; p-values are corrected for the
    number of labels (Holm).
    """
    effects = control - without
    matrix = tuple(
        _drop(labels, row, column, effects, whole - without[row], owner, clusters)
        for row in range(len(labels))
        for column in range(len(labels))
        if (owner == column).any()
    )
    shuffles = shuffled_within(owner, groups, draws, seed)
    rows = [_row(effects[place], shuffles == place) for place in range(len(labels))]
    adjusted = holm([row[3] for row in rows])
    named = zip(labels, rows, adjusted, strict=True)
    return Drops(matrix, tuple(Specificity(label, *row, float(p)) for label, row, p in named))


def _drop(
    labels: Sequence[str],
    row: int,
    column: int,
    effects: Floats,
    against_none: Floats,
    owner: Integers,
    clusters: Labels,
) -> Drop:
    chosen = np.flatnonzero(owner == column)
    values = effects[row, chosen]
    interval = clustered_mean_interval(values, [clusters[place] for place in chosen.tolist()], binary=False)
    mean = float(against_none[chosen].mean())
    return Drop(labels[row], labels[column], float(values.mean()), interval, int(chosen.size), mean)


def _row(effects: Floats, own: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> tuple[float, float, float, float]:
    """Means on the own items and on the others, their difference, its p-value; row 0 of `own` is the true one."""
    sizes = own.sum(axis=1)
    inside = (own @ effects) / np.maximum(sizes, 1)
    outside = (~own @ effects) / np.maximum(own.shape[1] - sizes, 1)
    difference = inside - outside
    return float(inside[0]), float(outside[0]), float(difference[0]), p_value(float(difference[0]), difference[1:])
