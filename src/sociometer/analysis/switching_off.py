"""The loss when neurons are switched off: a matrix of drops with intervals, and whether any drop is specific."""

from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from sociometer.analysis.clusters import Floats, Integers, Labels
from sociometer.analysis.intervals import clustered_mean_interval
from sociometer.analysis.multiplicity import holm
from sociometer.analysis.shuffles import p_value, shuffled_within
from sociometer.core.measure import Interval


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
