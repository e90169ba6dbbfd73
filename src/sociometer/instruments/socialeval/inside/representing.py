"""Representations: silhouettes and probes of every layer, and the plane of some."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from sociometer.core.inner_model import Pooling, Traces
from sociometer.instruments.socialeval.abilities import ABILITIES, DIMENSIONS
from sociometer.instruments.socialeval.inside.passages import Labelled
from sociometer.instruments.socialeval.inside.probe import (
    balanced_accuracies,
    balanced_interval,
    cosine_distances,
    folds_of,
    p_of_best,
    plane,
    probe_answers,
    shuffled_within,
    silhouettes,
)
from sociometer.instruments.socialeval.inside.view import LEVELS, Condition, LayerResult, Representation, Spot
from sociometer.statistics.intervals import Integers, cluster_codes

POOLINGS: tuple[Pooling, ...] = ("last", "mean")
MULTIPLES = 9
"""How many layers are drawn side by side."""
Floats32 = NDArray[np.float32]


class Study:
    """The labels, trees and shuffles of one level and one condition; the same for every layer."""

    def __init__(self, condition: Condition, items: Sequence[Labelled], least: int, shuffles: int, seed: int) -> None:
        self.condition = condition
        languages = {condition.fit_on, condition.test_on}
        counts = Counter((_label(item, condition.level), item.question.language) for item in items)
        chosen = [
            place
            for place, item in enumerate(items)
            if item.question.language in languages
            and all(counts[_label(item, condition.level), language] >= least for language in languages)
        ]
        self.rows = np.array(chosen, dtype=np.int64)
        self.items = [items[place] for place in chosen]
        labels, self.kinds = cluster_codes([_label(item, condition.level) for item in self.items], len(self.items))
        self.clusters = [item.question.cluster for item in self.items]
        self.trees, self.tree_count = cluster_codes(self.clusters, len(self.items))
        languages_of = np.array([item.question.language for item in self.items])
        self.tested = languages_of == condition.test_on
        groups, _ = cluster_codes(
            [(item.question.cluster, item.question.language) for item in self.items], len(self.items)
        )
        self.label_sets = shuffled_within(labels, groups, shuffles, seed)
        self.folds = folds_of(self.trees, languages_of == condition.fit_on, self.tested)

    @property
    def possible(self) -> bool:
        """Whether there are at least two labels and two trees."""
        return self.kinds > 1 and len(self.folds) > 1


def _label(item: Labelled, level: str) -> str:
    return item.dimension if level == "dimension" else item.ability


def conditions(languages: Sequence[str]) -> Iterator[Condition]:
    """Each level, each language and each pair of languages, for both ways to make one vector of an utterance."""
    for pooling in POOLINGS:
        for level in LEVELS:
            for fit_on in languages:
                for test_on in languages:
                    yield Condition(level, fit_on, test_on, pooling)


def representations(
    items: Sequence[Labelled],
    traces: Traces,
    *,
    least: int,
    shuffles: int,
    seed: int,
    track: Callable[[Sequence[int], str], Iterator[int]],
) -> tuple[Representation, ...]:
    """Every layer under every condition; one layer is in memory at a time."""
    languages = list(dict.fromkeys(item.question.language for item in items))
    codes, _ = cluster_codes([item.question.language for item in items], len(items))
    studies = [Study(condition, items, least, shuffles, seed) for condition in conditions(sorted(languages))]
    studies = [study for study in studies if study.possible]
    seen: list[list[_Layer]] = [[] for _ in studies]
    for layer in track(range(traces.layers + 1), "silhouettes and probes, layer by layer"):
        vectors = {pooling: centred(traces.states(layer, pooling), codes) for pooling in POOLINGS}
        for study, found in zip(studies, seen, strict=True):
            found.append(_Layer(study, vectors[study.condition.pooling][study.rows]))
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


class _Layer:
    """The statistics of one layer for the true labels (first) and the shuffled ones."""

    def __init__(self, study: Study, vectors: Floats32) -> None:
        answers = probe_answers(vectors, study.label_sets, study.folds)
        self.accuracies = balanced_accuracies(answers, study.label_sets, study.tested)
        clusters = [cluster for cluster, tested in zip(study.clusters, study.tested, strict=True) if tested]
        self.interval = balanced_interval(answers[0, study.tested], study.label_sets[0, study.tested], clusters)
        self.silhouettes = None if study.condition.across else silhouettes(cosine_distances(vectors), study.label_sets)


def _summed_up(study: Study, found: Sequence[_Layer]) -> Representation:
    accuracies = np.stack([layer.accuracies for layer in found], axis=1)
    p_accuracy = p_of_best(accuracies[0], accuracies[1:])
    spread = [layer.silhouettes for layer in found]
    table = None if spread[0] is None else np.stack([row for row in spread if row is not None], axis=1)
    p_spread = None if table is None else p_of_best(table[0], table[1:])
    layers = tuple(
        LayerResult(
            layer=place,
            accuracy=float(accuracies[0, place]),
            interval=found[place].interval,
            accuracy_null=float(accuracies[1:, place].mean()),
            p_accuracy=float(p_accuracy[place]),
            silhouette=None if table is None else float(table[0, place]),
            silhouette_null=None if table is None else float(table[1:, place].mean()),
            p_silhouette=None if p_spread is None else float(p_spread[place]),
        )
        for place in range(len(found))
    )
    items = int(np.count_nonzero(study.tested))
    trees = len({cluster for cluster, tested in zip(study.clusters, study.tested, strict=True) if tested})
    return Representation(study.condition, study.kinds, items, trees, layers)


def drawn_layers(layers: int, chosen: int) -> list[int]:
    """The layers to draw: the first, the last, some evenly between them; the chosen one replaces the nearest."""
    even = np.linspace(0, layers, min(MULTIPLES, layers + 1)).round().astype(int).tolist()
    nearest = min(even, key=lambda layer: abs(layer - chosen))
    return sorted({chosen if layer == nearest else layer for layer in even})


def spots(
    items: Sequence[Labelled], traces: Traces, drawn: Sequence[int], pooling: Pooling, seed: int
) -> Iterator[Spot]:
    """The plane (t-SNE) of one layer after another."""
    codes, _ = cluster_codes([item.question.language for item in items], len(items))
    for layer in drawn:
        points = plane(centred(traces.states(layer, pooling), codes), seed=seed)
        for item, (x, y) in zip(items, points.tolist(), strict=True):
            question = item.question
            yield Spot(layer, round(x, 3), round(y, 3), item.ability, question.language, question.id)


def in_order(abilities: Sequence[str]) -> list[str]:
    """Abilities in the order of the inventory, so that those of a dimension are side by side."""
    return sorted(abilities, key=ABILITIES.index)


def dimension_place(dimension: str) -> int:
    """The place of a dimension among the five."""
    return list(DIMENSIONS).index(dimension)
