"""Which neurons respond to each ability: the sets with the highest scores, their overlap and their density."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from sociometer.core.inner_model import Traces
from sociometer.instruments.socialeval.abilities import ABILITIES, DIMENSIONS, dimension_of
from sociometer.instruments.socialeval.inside.labels import Labelled, p_value, shuffled_within
from sociometer.instruments.socialeval.inside.view import NeuronResult
from sociometer.instruments.socialeval.items import BOTH
from sociometer.statistics.intervals import Floats, Integers, cluster_codes

_MOST_NUMBERS = 8_000_000
"""The maximum number of scores in memory at once (32 MB)."""
Half = NDArray[np.float32]


def top_sets(
    traces: Traces, reference: Traces, chosen: Integers, label_sets: Integers, kinds: int, k: int
) -> NDArray[np.int32]:
    """The k neurons with the highest scores, for each row of labels and each label: rows × labels × k.

    Labels are those of the chosen utterances. A neuron's number is layer × width + place. Texts with the label −1 are
    left out. One layer is in memory at a time.
    """
    rows = len(label_sets)
    best = np.full((rows, kinds, k), -np.inf, dtype=np.float32)
    found = np.full((rows, kinds, k), -1, dtype=np.int32)
    step = max(1, _MOST_NUMBERS // (kinds * traces.width))
    for layer in range(traces.layers):
        squares, weights = traces.squares(layer)[chosen], traces.weights(layer)
        usual = reference.squares(layer)[chosen].sum(axis=0, dtype=np.float64) / reference.tokens[chosen].sum()
        for at in range(0, rows, step):
            some = label_sets[at : at + step]
            scores = label_scores(squares, traces.tokens[chosen], some, kinds, usual.astype(np.float32), weights)
            _merge(best[at : at + step], found[at : at + step], scores, layer * traces.width)
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


def neuron_results(
    items: Sequence[Labelled],
    traces: Traces,
    reference: Traces,
    *,
    top: int,
    least: int,
    shuffles: int,
    seed: int,
    track: Callable[[Sequence[str], str], Iterator[str]],
) -> list[NeuronResult]:
    """The sets of each language, and of both together if there are two."""
    languages = [item.question.language for item in items]
    names = sorted(set(languages))
    results = []
    for language in track([*names, *([BOTH] if len(names) > 1 else [])], "neurons, language by language"):
        rows: Integers = np.flatnonzero([language in (BOTH, name) for name in languages])
        result = _result(language, items, traces, reference, rows, (top, least, shuffles, seed))
        results += [result] if result is not None else []
    return results


def _result(
    language: str,
    every: Sequence[Labelled],
    traces: Traces,
    reference: Traces,
    rows: Integers,
    options: tuple[int, int, int, int],
) -> NeuronResult | None:
    items, (top, least, shuffles, seed) = [every[row] for row in rows], options
    counts = Counter(item.ability for item in items)
    abilities = [ability for ability in ABILITIES if counts[ability] >= least]
    dimensions = [list(DIMENSIONS).index(dimension_of(ability)) for ability in abilities]
    if len(set(dimensions)) < 2 or len(set(dimensions)) == len(dimensions):
        return None
    labels = np.array([abilities.index(item.ability) if item.ability in abilities else -1 for item in items])
    groups, _ = cluster_codes([(item.question.cluster, item.question.language) for item in items], len(items))
    label_sets = shuffled_within(labels.astype(np.int64), groups, shuffles, seed)
    sets = top_sets(traces, reference, rows, label_sets, len(abilities), top)
    true, *null = (set_statistics(row, np.array(dimensions), traces.layers, traces.width) for row in sets)

    def mean(name: str) -> float:
        return float(np.mean([getattr(row, name) for row in null])) if null else float("nan")

    return NeuronResult(
        language=language,
        top=top,
        abilities=tuple(abilities),
        items=int(np.count_nonzero(labels >= 0)),
        overlaps=tuple(tuple(round(float(value), 5) for value in row) for row in true.overlaps),
        within=true.within,
        within_null=mean("within"),
        between=true.between,
        between_null=mean("between"),
        separation=true.separation,
        p_separation=p_value(true.separation, np.array([row.separation for row in null])),
        density=true.density,
        density_null=mean("density"),
        p_density=p_value(true.density, np.array([row.density for row in null])),
        layer_density=tuple(map(float, true.layer_density)),
    )
