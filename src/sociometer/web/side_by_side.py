"""Runs side by side: the verdict of `compare`, the items on which they differ, and both transcripts of an item."""

import asyncio
import math
from collections.abc import Iterable, Sequence

from aiohttp import web
from msgspec import Struct, structs

from sociometer.core.card import MeasureCard
from sociometer.core.errors import UsageError, unknown
from sociometer.results.candidates import run_labels
from sociometer.results.comparison import Comparison, compare, comparison_table
from sociometer.results.corrected import corrected_measures
from sociometer.statistics.formatting import number
from sociometer.store.episodes import ScoredEpisode
from sociometer.web.guard import OWNER, only
from sociometer.web.rendering import later
from sociometer.web.viewed import (
    ITEMS,
    VIEWED,
    ItemPlayed,
    ViewedStore,
    drawable,
    is_folded,
    item_title,
    page_number,
    place_of,
    primary,
    read_item,
    value_of,
    view_page,
)

MOST_RUNS = 6
ORDERS = {
    "first": "first run ahead of second",
    "second": "second run ahead of first",
    "difference": "largest difference",
    "": "order of items",
}


class Sides(Struct, frozen=True):
    """What is compared: the runs with their labels, the task, and the tasks that all of them have."""

    runs: tuple[str, ...]
    labels: tuple[str, ...]
    task: str
    tasks: tuple[tuple[str, str], ...]
    measure: MeasureCard | None


class PairedList(Struct, frozen=True):
    """The items on one page, and how often each of the first two runs is ahead on all items."""

    rows: list[tuple[str, str, list[str]]]
    """The item, its title, and the value of each run; a failure or a missing item has no value."""
    count: int
    pages: int
    ahead: tuple[int, int, int]
    """Items on which the first is ahead, the second is, and neither."""


@only(OWNER)
async def side_by_side_page(request: web.Request) -> web.StreamResponse:
    """The runs that the query names, item by item."""
    viewed = request.app[VIEWED]
    order, words, at = request.query.get("order", "first"), request.query.get("q", ""), page_number(request)
    sides = await asyncio.to_thread(_sides, viewed, request.query.getall("run", []), request.query.get("task", ""))
    if order not in ORDERS:
        raise UsageError(str(unknown("order of items", order, ORDERS)))
    return await view_page(
        request,
        "side_by_side.html",
        sides=sides,
        verdicts=later(lambda: _verdicts(viewed, sides)),
        table_of=comparison_table,
        items=later(lambda: _pairs(viewed, sides, order, words, at)),
        order=order,
        orders=ORDERS,
        words=words,
        number=at,
    )


@only(OWNER)
async def two_transcripts_page(request: web.Request) -> web.StreamResponse:
    """One item as each of the runs played it."""
    viewed, query = request.app[VIEWED], request.query
    task, item, repeat = place_of(request)

    def read() -> tuple[Sides, list[ItemPlayed | str]]:
        sides = _sides(viewed, query.getall("run", []), task)
        return sides, [_played(viewed, run, sides.task, item, repeat) for run in sides.runs]

    sides, played = await asyncio.to_thread(read)
    return await view_page(
        request,
        "two_transcripts.html",
        sides=sides,
        item=item,
        repeat=repeat,
        played=list(zip(sides.labels, played, strict=True)),
        folded=is_folded,
        drawable=drawable,
    )


def _played(viewed: ViewedStore, run: str, task: str, item: str, repeat: int) -> ItemPlayed | str:
    try:
        return read_item(viewed, run, task, item, repeat)
    except UsageError as error:
        return str(error)


def _sides(viewed: ViewedStore, given: Sequence[str], task: str) -> Sides:
    if not 2 <= len(set(given)) <= MOST_RUNS:
        raise UsageError(f"side by side needs 2 to {MOST_RUNS} runs, not {len(set(given))}; choose them in the list.")
    with viewed.opened() as store:
        runs = [viewed.run(store, run) for run in dict.fromkeys(given)]
        first = runs[0]
        other = next((run for run in runs if run.instrument != first.instrument), None)
        if other is not None:
            raise UsageError(
                f"runs side by side must be of one instrument: {first.id} is a run of {first.instrument}, {other.id} of"
                f" {other.instrument}."
            )
        shared = [known for known in first.tasks if all(known in run.tasks for run in runs)]
        if not shared:
            raise UsageError("these runs have no task in common.")
        if task and task not in shared:
            raise unknown("task of these runs", task, shared)
        card, named = first.definition.card, run_labels(runs)
        return Sides(
            tuple(run.id for run in runs),
            tuple(named[run.id] for run in runs),
            task or shared[0],
            tuple((known, card.task_title(known)) for known in shared),
            primary(card, task or shared[0]),
        )


def _verdicts(viewed: ViewedStore, sides: Sides) -> tuple[Comparison, ...]:
    """The verdict of `compare` on the runs, each against the first."""
    with viewed.opened() as store:
        compared = []
        for label, run in zip(sides.labels, (viewed.run(store, run) for run in sides.runs), strict=True):
            made = run.task(sides.task).headline(run.view(sides.task))
            compared.append(structs.replace(made, subject=label, corrected=corrected_measures(run, sides.task)))
        return compare(compared)


def _pairs(viewed: ViewedStore, sides: Sides, order: str, words: str, at: int) -> PairedList:
    start, wanted = ITEMS * (at - 1), words.lower().split()
    with viewed.opened() as store:
        tables = [_values(store.episodes.scored(run, sides.task), sides.measure) for run in sides.runs]
        items = [item for item in tables[0] if item in tables[1] and all(word in item.lower() for word in wanted)]
        sign = -1.0 if sides.measure is not None and sides.measure.better == "lower" else 1.0
        leads = {item: sign * _lead(tables[0][item], tables[1][item]) for item in items}
        if order:
            weight = {"first": -1.0, "second": 1.0}
            items.sort(key=lambda item: weight[order] * leads[item] if order in weight else -abs(leads[item]))
        shown = items[start : start + ITEMS]
        bodies = store.episodes.items(sides.runs[0], sides.task, shown)
    unit, found = sides.measure.unit if sides.measure else "number", list(leads.values())
    return PairedList(
        [
            (item, item_title(bodies.get(item, b"")), [number(table.get(item), unit) for table in tables])
            for item in shown
        ],
        len(items),
        max(1, math.ceil(len(items) / ITEMS)),
        (sum(lead > 0 for lead in found), sum(lead < 0 for lead in found), found.count(0)),
    )


def _lead(first: float | None, second: float | None) -> float:
    """How much more the first run has than the second; 0 if one of them has no value."""
    return 0.0 if first is None or second is None else first - second


def _values(episodes: Iterable[ScoredEpisode], measure: MeasureCard | None) -> dict[str, float | None]:
    """The mean over repeats of each item; None if no repeat has a value."""
    found: dict[str, list[float]] = {}
    for one in episodes:
        values = found.setdefault(one.item, [])
        if (value := value_of(one.score, measure)) is not None:
            values.append(value)
    return {item: sum(values) / len(values) if values else None for item, values in found.items()}
