"""Statistics of items: difficulty, discrimination, and which items a person should check."""

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike

from sociometer.analysis.clusters import Floats

MINIMUM_SUBJECTS = 5


class ItemStatistics(Struct, frozen=True):
    """One item over subjects; `concerns` are the reasons to check it."""

    item: str
    difficulty: float | None
    discrimination: float | None
    subjects: int
    concerns: tuple[str, ...] = ()


def item_statistics(table: ArrayLike, items: Sequence[str], *, top: float | None = 1.0) -> list[ItemStatistics]:
    """Statistics of every item from subjects × items, with values from 0 to `top`; None is a scale without a top.

    Difficulty is 1 − mean/top; None without a top. Discrimination is the correlation of the item with the total of the
    other items (corrected item-total correlation); None for too few subjects, or without variation.
    Reference: Allen, M. J., and Yen, W. M. (1979). Introduction to Measurement Theory, chapter 6.
    """
    scores = np.asarray(table, dtype=np.float64)
    if scores.shape[1] != len(items):
        raise ValueError(f"{scores.shape[1]} columns but {len(items)} item names")
    subjects = scores.shape[0]
    means = scores.mean(axis=0) / top if top else None
    rest = scores.sum(axis=1, keepdims=True) - scores
    correlations = _column_correlations(scores, rest)
    found = []
    for index, item in enumerate(items):
        r = float(correlations[index])
        known = subjects >= MINIMUM_SUBJECTS and not np.isnan(r)
        mean = None if means is None else float(means[index])
        discrimination = r if known else None
        concerns = _concerns(mean, discrimination, subjects)
        found.append(ItemStatistics(item, None if mean is None else 1 - mean, discrimination, subjects, concerns))
    return found


def items_to_look_at(statistics: Sequence[ItemStatistics]) -> list[ItemStatistics]:
    """The items with concerns, lowest discrimination first."""
    flagged = [entry for entry in statistics if entry.concerns]
    return sorted(flagged, key=lambda entry: (entry.discrimination is None, entry.discrimination or 0.0))


def _concerns(mean: float | None, discrimination: float | None, subjects: int) -> tuple[str, ...]:
    if subjects < MINIMUM_SUBJECTS:
        return ()
    concerns = []
    if discrimination is not None and discrimination < 0:
        concerns.append("weak subjects do better on it than strong ones: check the key")
    elif discrimination is not None and discrimination < 0.1:
        concerns.append("does not distinguish subjects")
    if mean is not None and mean >= 1 - 1e-12:
        concerns.append("every subject has the highest score")
    if mean is not None and mean <= 1e-12:
        concerns.append("no subject scores at all: check the key")
    return tuple(concerns)


def _column_correlations(one: Floats, two: Floats) -> Floats:
    first, second = one - one.mean(axis=0), two - two.mean(axis=0)
    scale = np.sqrt(np.square(first).sum(axis=0) * np.square(second).sum(axis=0))
    result: Floats = np.full(scale.shape, np.nan)
    np.divide((first * second).sum(axis=0), scale, out=result, where=scale > 1e-12)
    return result
