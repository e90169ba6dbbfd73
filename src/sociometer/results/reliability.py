"""Reliability of a task from stored runs: coefficients over subjects, repeatability, and item statistics."""

from collections.abc import Mapping, Sequence

import numpy as np
from msgspec import Struct, structs

from sociometer.core.card import MeasureCard
from sociometer.core.task import AnyRun
from sociometer.results.leaderboard import comparable
from sociometer.statistics.item_values import ItemValue
from sociometer.statistics.reliability import (
    ItemStatistics,
    Reliability,
    Repeatability,
    cronbach_alpha,
    item_statistics,
    items_to_look_at,
    repeatability,
    story_sums,
)


class TaskReliability(Struct, frozen=True):
    """Reliability coefficients over distinct subjects, repeatability by subject, and items to check."""

    instrument: str
    task: str
    measure: str
    subjects: tuple[str, ...]
    coefficients: tuple[Reliability, ...]
    repeats: dict[str, Repeatability]
    items: tuple[ItemStatistics, ...]
    look_at: tuple[ItemStatistics, ...]
    notes: tuple[str, ...] = ()


def task_reliability(candidates: Sequence[AnyRun], measure: str = "") -> TaskReliability:
    """Reliability of one measure, from those runs of one task that can be compared with the first.

    Only the first run of each subject counts. A run that would halve the shared items is left out.
    """
    found = comparable(candidates, measure, what="used for reliability", once=True)
    shared, notes = found.shared, [*found.left_out, *found.differing]
    first = found.kept[0]
    distinct = {one.name or one.subject: table for one, table in zip(found.kept, found.tables, strict=True)}
    table = shared.values.T
    coefficients: tuple[Reliability, ...] = ()
    statistics: list[ItemStatistics] = []
    if len(shared.items) >= 2:
        parts, lengths = story_sums(table, shared.clusters)
        if len(lengths) < 2:
            notes.append("the shared items belong to one story, so that its parts cannot be compared")
        else:
            coefficients = (structs.replace(cronbach_alpha(parts, lengths), items=len(shared.items)),)
        if 1 < len(lengths) < len(shared.items):
            notes.append(f"the {len(shared.items)} items of {len(lengths)} stories count as {len(lengths)} parts")
        statistics = item_statistics(table, shared.items, top=_top(found.card))
    else:
        notes.append("the runs share fewer than two scored items")
    repeats = {who: again for who, values in distinct.items() if (again := repeats_of(values)) is not None}
    return TaskReliability(
        first.card.name,
        first.task,
        found.card.name,
        tuple(distinct),
        coefficients,
        repeats,
        tuple(statistics),
        tuple(items_to_look_at(statistics)),
        tuple(notes),
    )


def _top(card: MeasureCard) -> float | None:
    """The highest value of a measure that starts at zero; None for a distance, which has none."""
    return None if card.better == "lower" or not card.top else card.top


def repeats_of(values: Mapping[str, ItemValue]) -> Repeatability | None:
    """Repeatability over the items with the largest number of repeats."""
    if not values:
        return None
    often = max(len(entry.repeats) for entry in values.values())
    played = [entry for entry in values.values() if len(entry.repeats) == often]
    if often < 2 or len(played) < 2:
        return None
    table, names = np.array([entry.repeats for entry in played]), [entry.item for entry in played]
    return repeatability(table, names, [entry.cluster for entry in played])
