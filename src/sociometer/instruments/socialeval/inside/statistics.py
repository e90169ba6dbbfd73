"""Statistics of vectors and neurons: silhouettes, t-SNE, and sets of neurons."""

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from sociometer.core.errors import UsageError
from sociometer.core.inner_model import Traces
from sociometer.statistics.intervals import Floats, Integers

_AT_ONCE = 4096


def cosine_distances(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """1 − cosine of each pair of rows; a row of zeros is at distance 1 from all others."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = vectors / np.where(lengths > 0, lengths, 1)
    distances = np.clip(1 - unit @ unit.T, 0, 2).astype(np.float32)
    np.fill_diagonal(distances, 0)
    return distances


def silhouettes(distances: NDArray[np.float32], label_sets: Integers) -> NDArray[np.float64]:
    """The mean silhouette of each row of labels (label sets × items; labels are 0, 1, …).

    s = (b − a) / max(a, b), a the mean distance to the others with the same label, b the smallest mean distance to the
    items of another label. An item that is alone with its label has 0.
    """
    kinds = int(label_sets.max()) + 1
    step = max(1, _AT_ONCE // kinds)
    parts = [_batch(distances, label_sets[at : at + step], kinds) for at in range(0, len(label_sets), step)]
    return np.concatenate(parts)


def _batch(distances: NDArray[np.float32], label_sets: Integers, kinds: int) -> NDArray[np.float64]:
    sets, items = label_sets.shape
    indicator = (label_sets[:, :, None] == np.arange(kinds)).astype(np.float32)
    sizes = indicator.sum(axis=1)[:, None, :]
    flat = indicator.transpose(1, 0, 2).reshape(items, sets * kinds)
    sums = (distances @ flat).reshape(items, sets, kinds).transpose(1, 0, 2)
    own = indicator.astype(bool)
    own_size = np.broadcast_to(sizes, sums.shape)[own].reshape(sets, items)
    inside = sums[own].reshape(sets, items) / np.maximum(own_size - 1, 1)
    others = np.where(own | (sizes == 0), np.inf, sums / np.maximum(sizes, 1)).min(axis=2)
    larger = np.maximum(inside, others)
    values = np.where(
        (own_size > 1) & np.isfinite(others) & (larger > 0), (others - inside) / np.where(larger > 0, larger, 1), 0.0
    )
    return np.asarray(values.mean(axis=1), dtype=np.float64)


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


_PERPLEXITY = 30
_COMPONENTS = 50


def plane(vectors: NDArray[np.float32], *, seed: int = 0) -> NDArray[np.float64]:
    """Two coordinates for each row, centred and scaled to a spread of one.

    The first 50 principal components go into t-SNE, with perplexity 30, or a quarter of the rows if that is less.
    """
    rows = len(vectors)
    if rows < 4:
        raise UsageError(f"{rows} utterances are too few for a plane; t-SNE needs at least 4.")
    try:
        from sklearn.manifold import TSNE
    except ImportError:
        raise UsageError(
            "looking inside a model needs the extra 'inside'; install it with: pip install 'sociometer[inside]'."
        ) from None
    left, sizes, _ = np.linalg.svd(vectors - vectors.mean(axis=0), full_matrices=False)
    components = (left * sizes)[:, :_COMPONENTS]
    if not np.any(components):
        return np.zeros((rows, 2))
    perplexity = max(1.0, min(_PERPLEXITY, (rows - 1) / 4))
    fitted = TSNE(perplexity=perplexity, init="pca", random_state=seed % 2**32).fit_transform(components)
    points = np.asarray(fitted, dtype=np.float64)
    points -= points.mean(axis=0)
    return points / max(float(points.std()), 1e-9)


_MOST_NUMBERS = 8_000_000
"""The maximum number of scores in memory at once (32 MB)."""

Half = NDArray[np.float32]


class Neurons:
    """The neurons on chosen utterances, and on the reference text; one layer is in memory at a time."""

    def __init__(self, traces: Traces, reference: Traces, rows: Integers) -> None:
        self._traces = traces
        self._rows = rows
        self._reference = reference
        self.layers = traces.layers
        self.width = traces.width
        self.tokens: Floats = traces.tokens[rows]

    def squares(self, layer: int) -> NDArray[np.float32]:
        """The sum of squares of each neuron over the tokens of each utterance."""
        return self._traces.squares(layer)[self._rows]

    def reference(self, layer: int) -> NDArray[np.float32]:
        """The mean square of each neuron over the tokens of the reference text."""
        sums = self._reference.squares(layer)[self._rows].sum(axis=0, dtype=np.float64)
        return np.asarray(sums / self._reference.tokens[self._rows].sum(), dtype=np.float32)

    def weights(self, layer: int) -> NDArray[np.float32]:
        """The mean absolute weight that each neuron feeds."""
        return self._traces.weights(layer)


def top_sets(values: Neurons, label_sets: Integers, kinds: int, k: int) -> NDArray[np.int32]:
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
    """The statistics of the sets of one row of labels; `layer_density` has one value per layer."""

    overlaps: Floats
    within: float
    between: float
    density: float
    layer_density: Floats

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
    sizes = member.sum(axis=2).T
    common = flat @ flat.T
    every = sizes.sum(axis=0)
    overlaps = common / np.maximum(every[:, None] + every - common, 1)
    pair = np.triu(np.ones((kinds, kinds), dtype=bool), 1)
    same = pair & (dimensions[:, None] == dimensions)
    shares = sizes / np.maximum(sizes.sum(axis=0), 1)
    entropy = -(shares * np.log(np.where(shares > 0, shares, 1))).sum(axis=0)
    density = float(1 - entropy.mean() / np.log(layers)) if layers > 1 else 1.0
    within, between = float(overlaps[same].mean()), float(overlaps[pair & ~same].mean())
    return SetStatistics(overlaps, within, between, density, sizes.mean(axis=1) / width)
