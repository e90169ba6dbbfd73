"""Neurons: the sets that respond most to each ability, tested against shuffled labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sociometer.core.inner_model import Traces
from sociometer.instruments.socialeval.abilities import dimension_of
from sociometer.instruments.socialeval.inside.neuron_sets import compare_sets
from sociometer.instruments.socialeval.inside.passages import Labelled
from sociometer.instruments.socialeval.inside.probe import shuffled_within
from sociometer.instruments.socialeval.inside.representing import dimension_place, in_order
from sociometer.instruments.socialeval.inside.view import NeuronResult
from sociometer.statistics.intervals import Floats, Integers, cluster_codes

BOTH = "both"


class Neurons:
    """The neurons on chosen utterances, and on the reference text; one layer is in memory at a time."""

    def __init__(self, traces: Traces, rows: Integers, reference: Traces, reference_rows: Integers) -> None:
        self._traces = traces
        self._rows = rows
        self._reference = reference
        self._reference_rows = reference_rows
        self.layers = traces.layers
        self.width = traces.width
        self.tokens: Floats = traces.tokens[rows]

    def squares(self, layer: int) -> NDArray[np.float32]:
        """The sum of squares of each neuron over the tokens of each utterance."""
        return self._traces.squares(layer)[self._rows]

    def reference(self, layer: int) -> NDArray[np.float32]:
        """The mean square of each neuron over the tokens of the reference text."""
        sums = self._reference.squares(layer)[self._reference_rows].sum(axis=0, dtype=np.float64)
        return np.asarray(sums / self._reference.tokens[self._reference_rows].sum(), dtype=np.float32)

    def weights(self, layer: int) -> NDArray[np.float32]:
        """The mean absolute weight that each neuron feeds."""
        return self._traces.weights(layer)


def rows_of(languages: Sequence[str], language: str) -> Integers:
    """The places of a language; all places for `both`, or if the language is nowhere (a reference text of its own)."""
    found = [place for place, name in enumerate(languages) if language in (BOTH, name)]
    return np.array(found or range(len(languages)), dtype=np.int64)


def neuron_results(
    items: Sequence[Labelled],
    traces: Traces,
    reference: Traces,
    reference_languages: Sequence[str],
    *,
    top: int,
    least: int,
    shuffles: int,
    seed: int,
) -> list[NeuronResult]:
    """The sets of each language, and of both together if there are two."""
    languages = [item.question.language for item in items]
    names = sorted(set(languages))
    results = []
    for language in [*names, *([BOTH] if len(names) > 1 else [])]:
        rows = rows_of(languages, language)
        values = Neurons(traces, rows, reference, rows_of(reference_languages, language))
        result = _result(language, [items[row] for row in rows], values, top, least, shuffles, seed)
        results += [result] if result is not None else []
    return results


def _result(
    language: str, items: Sequence[Labelled], values: Neurons, top: int, least: int, shuffles: int, seed: int
) -> NeuronResult | None:
    counts = Counter(item.ability for item in items)
    abilities = in_order([ability for ability, count in counts.items() if count >= least])
    dimensions = [dimension_place(dimension_of(ability)) for ability in abilities]
    if len(set(dimensions)) < 2 or len(set(dimensions)) == len(dimensions):
        return None
    labels = np.array([abilities.index(item.ability) if item.ability in abilities else -1 for item in items])
    groups, _ = cluster_codes([(item.question.cluster, item.question.language) for item in items], len(items))
    label_sets = shuffled_within(labels.astype(np.int64), groups, shuffles, seed)
    test = compare_sets(values, label_sets, dimensions, top, seed=seed)
    true, null = test.true, test.null

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
        p_within=test.p_within,
        between=true.between,
        between_null=mean("between"),
        separation=true.separation,
        separation_null=mean("separation"),
        p_separation=test.p_separation,
        p_dimensions=test.p_dimensions,
        density=true.density,
        density_null=mean("density"),
        p_density=test.p_density,
        layer_density=tuple(map(float, true.layer_density)),
        layer_separation=tuple(map(float, true.layer_separation)),
        p_layers=tuple(map(float, test.p_layers)),
    )
