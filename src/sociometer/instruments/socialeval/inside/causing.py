"""Causation: the ability questions again, with the neurons of one label switched off.

The trees are split in halves. The neurons of a label are found on one half and switched off for the questions of the
other, so that no question is tested with neurons that were chosen by it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
from msgspec import Struct

from sociometer.core.inner_model import Traces
from sociometer.instruments.socialeval.inside.neuron_sets import drops, same_layers, top_sets
from sociometer.instruments.socialeval.inside.neurons import Neurons
from sociometer.instruments.socialeval.inside.passages import Labelled, halves
from sociometer.instruments.socialeval.inside.representing import dimension_place, in_order
from sociometer.instruments.socialeval.inside.view import CausationResult
from sociometer.statistics.intervals import Floats, Integers, cluster_codes

Scores = Callable[[Sequence[int], Sequence[int], str], Floats]
"""The score of the right option (first) and whether it is the highest, for the items at these places, with these
neurons switched off: items × 2. The last argument names the condition."""


class Plan(Struct, frozen=True):
    """How the questions are played again."""

    level: str
    answers: str
    top: int
    controls: int
    most_items: int
    seed: int


def right_scores(options: Floats) -> Floats:
    """The share of the right option (first) in the options' probabilities, and whether it is the highest.

    Of options that are equally high, one is drawn: the right one counts in part.
    """
    shares = np.exp(options - options.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    highest = options == options.max(axis=1, keepdims=True)
    return np.stack([shares[:, 0], highest[:, 0] / highest.sum(axis=1)], axis=1)


def causation(
    items: Sequence[Labelled],
    traces: Traces,
    reference: Traces,
    reference_halves: Sequence[int],
    plan: Plan,
    score: Scores,
) -> CausationResult | None:
    """The matrix of drops; None if fewer than two labels are in both halves of the trees."""
    clusters = [item.question.cluster for item in items]
    half = halves(clusters)
    names = [item.dimension if plan.level == "dimension" else item.ability for item in items]
    labels = _labels(names, half, plan.level)
    if len(labels) < 2:
        return None
    owner = np.array([labels.index(name) if name in labels else -1 for name in names], dtype=np.int64)
    chosen = _sample(owner, half, plan)
    sets = [_sets(traces, reference, reference_halves, owner, half, side, len(labels), plan.top) for side in (0, 1)]
    sides = [[place for place in chosen if half[place] == side] for side in (0, 1)]
    order = [*sides[0], *sides[1]]
    whole = np.concatenate([score(places, (), "all neurons") for places in sides])
    without, control = np.empty((len(labels), len(order))), np.empty((len(labels), len(order)))
    for place, label in enumerate(labels):
        parts, random = [], []
        for side, places in enumerate(sides):
            off = sets[side][place]
            parts.append(score(places, off.tolist(), f"without {label}")[:, 0])
            seeds = [plan.seed * 1000 + place * 100 + side * 50 + draw for draw in range(plan.controls)]
            draws = [same_layers(off, traces.layers, traces.width, seed) for seed in seeds]
            random.append(
                np.mean([score(places, draw.tolist(), f"control of {label}")[:, 0] for draw in draws], axis=0)
            )
        without[place], control[place] = np.concatenate(parts), np.concatenate(random)
    groups, _ = cluster_codes([(clusters[place], items[place].question.language) for place in order], len(order))
    of_items = [clusters[place] for place in order]
    found = drops(labels, whole[:, 0], without, control, owner[order], of_items, groups, seed=plan.seed)
    return CausationResult(
        level=plan.level,
        answers=plan.answers,
        top=plan.top,
        controls=plan.controls,
        items=len(order),
        trees=len(set(of_items)),
        whole=float(whole[:, 0].mean()),
        accuracy=float(whole[:, 1].mean()),
        matrix=found.matrix,
        rows=found.rows,
        specific=found.specific(),
    )


def _labels(names: Sequence[str], half: Sequence[int], level: str) -> list[str]:
    """The labels with at least two questions in each half."""
    counts = Counter(zip(names, half, strict=True))
    found = [name for name in dict.fromkeys(names) if min(counts[name, 0], counts[name, 1]) >= 2]
    return sorted(found, key=dimension_place) if level == "dimension" else in_order(found)


def _sample(owner: Integers, half: Sequence[int], plan: Plan) -> list[int]:
    """At most so many questions, as evenly over labels and halves as there are questions."""
    generator = np.random.default_rng(plan.seed)
    cells: dict[tuple[int, int], list[int]] = {}
    for place in generator.permutation(owner.size).tolist():
        if owner[place] >= 0:
            cells.setdefault((int(owner[place]), half[place]), []).append(place)
    chosen: list[int] = []
    while len(chosen) < plan.most_items and any(cells.values()):
        for waiting in cells.values():
            if waiting and len(chosen) < plan.most_items:
                chosen.append(waiting.pop())
    return sorted(chosen)


def _sets(
    traces: Traces,
    reference: Traces,
    reference_halves: Sequence[int],
    owner: Integers,
    half: Sequence[int],
    side: int,
    kinds: int,
    top: int,
) -> Integers:
    """The neurons of each label, found on the other half of the trees."""
    rows = np.array([place for place, name in enumerate(half) if name != side and owner[place] >= 0], dtype=np.int64)
    others = [place for place, name in enumerate(reference_halves) if name != side]
    values = Neurons(traces, rows, reference, np.array(others, dtype=np.int64))
    return np.asarray(top_sets(values, owner[rows][None], kinds, top)[0], dtype=np.int64)
