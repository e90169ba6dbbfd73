"""Runs side by side: what `compare` says about them, and the items that they share."""

import math
from collections.abc import Sequence
from itertools import takewhile

from msgspec import Struct

from sociometer.core.card import Card, MeasureCard
from sociometer.core.errors import UsageError, unknown
from sociometer.core.measure import Table
from sociometer.reporting.evidence import TranscriptLine
from sociometer.results.candidates import run_labels
from sociometer.results.choice import ChosenRuns, find_run
from sociometer.results.comparison import compare
from sociometer.results.groups import study_run
from sociometer.results.leaderboard import leaderboard_sentence, leaderboard_table
from sociometer.results.runs import candidates, rank_runs
from sociometer.results.wording import comparison_table
from sociometer.store.store import Store
from sociometer.store.stored_run import StoredRun
from sociometer.web.browsing import (
    ITEMS,
    ItemPlayed,
    Place,
    ViewedStore,
    item_title,
    neighbours,
    read_item,
    value_of,
    value_text,
)

MOST_RUNS = 6


class Sides(Struct, frozen=True):
    """What is compared: the runs with their labels, the task, and the tasks that all of them have."""

    runs: tuple[str, ...]
    labels: tuple[str, ...]
    task: str
    tasks: tuple[tuple[str, str], ...]
    measure: MeasureCard | None
    card: Card


class PairedList(Struct, frozen=True):
    """The items on one page, and how often each of the first two runs is ahead on all items."""

    rows: list[tuple[str, str, list[str]]]
    """The item, its title, and the value of each run; a failure or a missing item has no value."""
    count: int
    pages: int
    ahead: tuple[int, int, int]
    """Items on which the first is ahead, the second is, and neither."""


def read_play(viewed: ViewedStore, run: str, task: str, item: str, repeat: int) -> ItemPlayed | str:
    """One play of an item in a run, or why there is none."""
    with viewed.opened() as store:
        if people := study_run(store, run, viewed.load):
            return f"{people.people} people: the page of each of them has their answer."
    try:
        return read_item(viewed, run, task, item, repeat)
    except UsageError as error:
        return str(error)


def asked_alike(transcripts: Sequence[Sequence[TranscriptLine]]) -> list[TranscriptLine]:
    """The lines with which all of several transcripts begin: what all were asked before the first reply."""

    def same(lines: tuple[TranscriptLine, ...]) -> bool:
        return lines[0].speaker != "reply" and all(line == lines[0] for line in lines)

    return [lines[0] for lines in takewhile(same, zip(*transcripts, strict=False))] if len(transcripts) > 1 else []


def read_sides(viewed: ViewedStore, given: Sequence[str], task: str) -> Sides:
    """What is compared, if these runs can be."""
    if not 2 <= len(set(given)) <= MOST_RUNS:
        raise UsageError(f"side by side needs 2 to {MOST_RUNS} runs, not {len(set(given))}; choose them in the list.")
    with viewed.opened() as store:
        # People first, then the oldest, as in `compare STUDY OLD NEW`; the list has the newest first.
        runs = [find_run(store, viewed.load, run) for run in dict.fromkeys(given)]
        runs.sort(key=lambda run: (not run.people, run.record.created))
        first = runs[0]
        other = next((run for run in runs if run.instrument != first.instrument), None)
        if other is not None:
            raise UsageError(
                f"runs side by side must be of one instrument: {first.id} is a run of {first.instrument}, {other.id} of"
                f" {other.instrument}."
            )
        shared = [known for known in first.tasks if all(known in run.tasks for run in runs)]
        if not shared:
            tasks = (f"{run.reference} has {', '.join(run.tasks)}" for run in runs)
            raise UsageError(f"these runs have no task in common: {'; '.join(tasks)}.")
        if task and task not in shared:
            raise unknown("task of these runs", task, shared)
        card, named = first.definition.card, run_labels(runs)
        return Sides(
            tuple(run.id for run in runs), tuple(named[run.id] for run in runs), task or shared[0],
            tuple((known, card.task_title(known)) for known in shared), card.primary_of(task or shared[0]),
            card,
        )  # fmt: skip


def read_verdicts(viewed: ViewedStore, sides: Sides) -> list[tuple[str, tuple[str, ...], Table | None]]:
    """What `compare` says: of two runs the verdict on the second, of more their ranks.

    Each is a sentence, the notes on it and the numbers behind it; there are none if the runs cannot be compared.
    """
    with viewed.opened() as store:
        runs = tuple(find_run(store, viewed.load, run) for run in sides.runs)
        if len(runs) > 2:
            boards = rank_runs(ChosenRuns(runs), sides.task).boards
            return [(leaderboard_sentence(one), (), leaderboard_table(one)) for one in boards]
        found = compare(candidates(runs, sides.task))
    return [(one.sentence, one.notes, comparison_table(one) if one.measures else None) for one in found]


def read_pairs(viewed: ViewedStore, sides: Sides, order: str, words: str, at: int) -> PairedList:
    """One page of the items that the first two runs have, with the words, in this order."""
    start = ITEMS * (at - 1)
    with viewed.opened() as store:
        runs, tables, leads = _paired(viewed, store, sides, order, words)
        shown = list(leads)[start : start + ITEMS]
        played = next((run.id for run in runs if not run.people), "")
        bodies = store.episodes.items(played, sides.task, shown)
    found = list(leads.values())
    ahead = sum(lead > 0 for lead in found), sum(lead < 0 for lead in found), found.count(0)
    values = {item: [value_text(table.get(item), sides.measure, sides.card) for table in tables] for item in shown}
    rows = [(item, item_title(bodies.get(item, b"")), values[item]) for item in shown]
    return PairedList(rows, len(leads), max(1, math.ceil(len(leads) / ITEMS)), ahead)


def _paired(
    viewed: ViewedStore, store: Store, sides: Sides, order: str, words: str
) -> tuple[list[StoredRun], list[dict[str, float | None]], dict[str, float]]:
    """The runs, the values of each, and in this order the items of the first two: how much the first is ahead."""
    runs, wanted = [find_run(store, viewed.load, run) for run in sides.runs], words.lower().split()
    tables = [_values(run, store, sides) for run in runs]
    items = [item for item in tables[0] if item in tables[1] and all(word in item.lower() for word in wanted)]
    sign = -1.0 if sides.measure is not None and sides.measure.better == "lower" else 1.0
    leads = {item: sign * _lead(tables[0][item], tables[1][item]) for item in items}

    def spread(item: str) -> float:
        values = [value for table in tables if (value := table.get(item)) is not None]
        return max(values, default=0.0) - min(values, default=0.0)

    keys = {"first": lambda item: -leads[item], "second": leads.__getitem__, "difference": lambda item: -spread(item)}
    return runs, tables, {item: leads[item] for item in (sorted(items, key=keys[order]) if order in keys else items)}


def read_neighbours(viewed: ViewedStore, sides: Sides, order: str, words: str, item: str) -> tuple[Place | None, ...]:
    """The items before and after one in the list of items side by side."""
    with viewed.opened() as store:
        return neighbours([(one, 0) for one in _paired(viewed, store, sides, order, words)[2]], (item, 0))


def _lead(first: float | None, second: float | None) -> float:
    """How much more the first run has than the second; 0 if one of them has no value."""
    return 0.0 if first is None or second is None else first - second


def _values(run: StoredRun, store: Store, sides: Sides) -> dict[str, float | None]:
    """The mean over repeats, or over people, of each item; None if none of them has a value."""
    found: dict[str, list[float]] = {}
    if run.people:
        scored = ((one.item.id, one.score) for one in run.episodes(sides.task))
    else:
        scored = ((one.item, one.score) for one in store.episodes.scored(run.id, sides.task))
    for item, score in scored:
        values = found.setdefault(item, [])
        if (value := value_of(score, sides.measure)) is not None:
            values.append(value)
    return {item: sum(values) / len(values) if values else None for item, values in found.items()}
