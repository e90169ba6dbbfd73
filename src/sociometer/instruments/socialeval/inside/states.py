"""What the states of each layer represent: the silhouettes of dimensions and abilities, and the plane of one layer."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from sociometer.core.errors import UsageError
from sociometer.core.inner_model import Traces
from sociometer.core.lazy import require
from sociometer.instruments.socialeval.inside.labels import Labelled, p_of_best, shuffled_within
from sociometer.instruments.socialeval.inside.view import LEVELS, LayerResult, Representation, Spot
from sociometer.statistics.intervals import Floats, Integers, cluster_codes

_AT_ONCE = 4096
_PERPLEXITY = 30
_COMPONENTS = 50
Floats32 = NDArray[np.float32]


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


def plane(vectors: NDArray[np.float32], *, seed: int = 0) -> NDArray[np.float64]:
    """Two coordinates for each row, centred and scaled to a spread of one.

    The first 50 principal components go into t-SNE, with perplexity 30, or a quarter of the rows if that is less.
    """
    rows = len(vectors)
    if rows < 4:
        raise UsageError(f"{rows} utterances are too few for a plane; t-SNE needs at least 4.")
    manifold = require("inside", "sklearn.manifold")
    left, sizes, _ = np.linalg.svd(vectors - vectors.mean(axis=0), full_matrices=False)
    components = (left * sizes)[:, :_COMPONENTS]
    if not np.any(components):
        return np.zeros((rows, 2))
    perplexity = max(1.0, min(_PERPLEXITY, (rows - 1) / 4))
    fitted = manifold.TSNE(perplexity=perplexity, init="pca", random_state=seed % 2**32).fit_transform(components)
    points = np.asarray(fitted, dtype=np.float64)
    points -= points.mean(axis=0)
    return points / max(float(points.std()), 1e-9)


class Study:
    """The labels and shuffles of one level in one language; the same for every layer."""

    def __init__(
        self, level: str, language: str, items: Sequence[Labelled], least: int, shuffles: int, seed: int
    ) -> None:
        self.level, self.language = level, language
        own = [place for place, item in enumerate(items) if item.question.language == language]
        counts = Counter(_label(items[place], level) for place in own)
        chosen = [place for place in own if counts[_label(items[place], level)] >= least]
        self.rows = np.array(chosen, dtype=np.int64)
        labels, self.kinds = cluster_codes([_label(items[place], level) for place in chosen], len(chosen))
        trees, self.trees = cluster_codes([items[place].question.cluster for place in chosen], len(chosen))
        self.label_sets = shuffled_within(labels, trees, shuffles, seed)

    @property
    def possible(self) -> bool:
        """Whether there are at least two labels and two trees."""
        return self.kinds > 1 and self.trees > 1


def _label(item: Labelled, level: str) -> str:
    return item.dimension if level == "dimension" else item.ability


def representations(
    items: Sequence[Labelled],
    traces: Traces,
    *,
    least: int,
    shuffles: int,
    seed: int,
    track: Callable[[Sequence[int], str], Iterator[int]],
) -> tuple[Representation, ...]:
    """Every layer, for each level and language; one layer is in memory at a time."""
    languages = sorted({item.question.language for item in items})
    codes, _ = cluster_codes([item.question.language for item in items], len(items))
    studies = [Study(level, language, items, least, shuffles, seed) for level, language in product(LEVELS, languages)]
    studies = [study for study in studies if study.possible]
    seen: list[list[Floats]] = [[] for _ in studies]
    for layer in track(range(traces.layers + 1), "silhouettes, layer by layer"):
        vectors = centred(traces.states(layer), codes)
        for study, found in zip(studies, seen, strict=True):
            found.append(silhouettes(cosine_distances(vectors[study.rows]), study.label_sets))
    return tuple(_summed_up(study, found) for study, found in zip(studies, seen, strict=True))


def centred(states: Floats32, languages: Integers) -> Floats32:
    """The states minus the mean of their language, each coordinate divided by its spread.

    Without this a few large coordinates, and the language itself, would decide every distance.
    """
    result = states.astype(np.float32, copy=True)
    for language in np.unique(languages):
        result[languages == language] -= result[languages == language].mean(axis=0)
    spread = result.std(axis=0)
    return np.asarray(result / np.where(spread > 1e-8, spread, 1.0), dtype=np.float32)


def _summed_up(study: Study, found: Sequence[Floats]) -> Representation:
    """The silhouettes of the true labels (first) in each layer, compared with those of the shuffled ones."""
    table = np.stack(found, axis=1)
    p_values = p_of_best(table[0], table[1:])
    layers = tuple(
        LayerResult(place, float(table[0, place]), float(table[1:, place].mean()), float(p_values[place]))
        for place in range(len(found))
    )
    return Representation(study.level, study.language, len(study.rows), study.trees, layers)


def spots(items: Sequence[Labelled], traces: Traces, layer: int, seed: int) -> Iterator[Spot]:
    """The plane (t-SNE) of one layer."""
    codes, _ = cluster_codes([item.question.language for item in items], len(items))
    points = plane(centred(traces.states(layer), codes), seed=seed)
    for item, (x, y) in zip(items, points.tolist(), strict=True):
        question = item.question
        yield Spot(layer, round(x, 3), round(y, 3), item.ability, question.language, question.id)
