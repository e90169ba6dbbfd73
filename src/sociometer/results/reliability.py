"""Reliability of a task from stored runs: coefficients over subjects, repeatability, and item statistics."""

from collections.abc import Mapping, Sequence

import numpy as np
from msgspec import Struct, structs

from sociometer.core.card import MeasureCard
from sociometer.core.errors import UsageError
from sociometer.results.candidates import (
    NO_SCORED_ITEM,
    Candidate,
    common_items,
    differing_settings,
    short_run_note,
    why_not_comparable,
)
from sociometer.results.leaderboard import ranked_measure
from sociometer.statistics.item_values import ItemValue, item_values, shared_items
from sociometer.statistics.reliability import (
    ItemStatistics,
    Reliability,
    Repeatability,
    cronbach_alpha,
    item_statistics,
    items_to_look_at,
    repeatability,
    split_half,
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


def task_reliability(
    candidates: Sequence[Candidate], measure: str = "", include_short: bool = False
) -> TaskReliability:
    """Reliability of one measure, from those runs of one task that can be compared with the first.

    Only the first run of each subject counts. A run that would halve the shared items is left out, unless
    `include_short`.
    """
    able = [candidate for candidate in candidates if not candidate.failed]
    notes = [f"{candidate.label}: {candidate.failed}" for candidate in candidates if candidate.failed]
    if not able:
        why = "; ".join(notes) or "no run was given"
        raise UsageError(f"no run has scores to compute reliability from: {why}.")
    card = ranked_measure(able[0], measure)
    read = [(candidate, item_values(candidate.view, card.value)) for candidate in able]
    notes += [f"{candidate.label}: {NO_SCORED_ITEM}" for candidate, values in read if not values]
    read = [(candidate, values) for candidate, values in read if values]
    if not read:
        raise UsageError("no run has scores to compute reliability from: " + "; ".join(notes) + ".")
    first, start = read[0]
    distinct: dict[str, dict[str, ItemValue]] = {}
    for candidate, values in read:
        who = candidate.view.subject or candidate.label
        if who in distinct:
            notes.append(f"{candidate.label}: another run of {who}; only one run per subject counts")
            continue
        reason = why_not_comparable(first, candidate, (start, values))
        if reason:
            notes.append(f"{candidate.label} is left out: not comparable with {first.label}, {reason}")
            continue
        distinct[who] = values
        notes += [
            f"settings of {first.label} and {candidate.label} differ in {text}"
            for text in differing_settings(first, candidate)
        ]
    common = common_items(list(distinct.values()), include_short)
    names = list(distinct)
    notes += [short_run_note(names[place], has, common.items) for place, has in common.short.items()]
    distinct = {names[place]: distinct[names[place]] for place in common.kept}
    shared = shared_items(list(distinct.values()))
    table = shared.values.T
    coefficients: tuple[Reliability, ...] = ()
    statistics: list[ItemStatistics] = []
    if len(shared.items) >= 2:
        parts, lengths = story_sums(table, shared.clusters)
        if len(lengths) < 2:
            notes.append("the shared items belong to one story, so that its parts cannot be compared")
        else:
            coefficients = (cronbach_alpha(parts, lengths), split_half(parts))
            coefficients = tuple(structs.replace(one, items=len(shared.items)) for one in coefficients)
        if 1 < len(lengths) < len(shared.items):
            notes.append(f"the {len(shared.items)} items of {len(lengths)} stories count as {len(lengths)} parts")
        statistics = item_statistics(table, shared.items, top=_top(card))
    else:
        notes.append("the runs share fewer than two scored items")
    repeats = {who: found for who, values in distinct.items() if (found := repeats_of(values)) is not None}
    return TaskReliability(
        first.card.name,
        first.task,
        card.name,
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
