"""The page of one run: its numbers, tables and figures, and every item."""

import asyncio
import math
from collections.abc import Iterable
from typing import Any

from aiohttp import web
from msgspec import Struct, structs

from sociometer.core.card import Card, MeasureCard
from sociometer.core.errors import unknown
from sociometer.core.measure import Figure, Measure, Summary
from sociometer.core.task import Score
from sociometer.results.candidates import contamination_note
from sociometer.results.corrected import correction_note, corrections
from sociometer.statistics.formatting import group_text, interval_text, known_errors, number
from sociometer.store.episodes import ScoredEpisode
from sociometer.store.records import RunRecord
from sociometer.web.guard import OWNER, only, visitor_of
from sociometer.web.language import in_language
from sociometer.web.rendering import later, streamed
from sociometer.web.view.runs import RunRow, page_number, run_row
from sociometer.web.view.stores import STORES, OpenStores

ITEMS = 100
SHOWN = {
    "": "all",
    "lowest": "lowest first",
    "highest": "highest first",
    "unreadable": "unreadable",
    "failed": "failed",
}


class MeasureRow(Struct, frozen=True):
    """One number of a run as text."""

    title: str
    group: str
    value: str
    interval: str
    items: int
    unreadable: int
    errors: int | None
    note: str
    primary: bool


class ItemRow(Struct, frozen=True):
    """One episode in the list of items."""

    item: str
    repeat: int
    value: str
    facets: str
    unreadable: int
    failure: str


class ItemList(Struct, frozen=True):
    """The part of a run's items that a page shows."""

    rows: list[ItemRow]
    count: int
    pages: int


class RunHead(Struct, frozen=True):
    """What is known about a run without reading its episodes."""

    record: RunRecord
    row: RunRow
    card: Card
    settings: dict[str, Any]
    stand_ins: tuple[str, ...]
    failures: dict[str, int]

    def task(self, wanted: str) -> str:
        """The task that a link names, or the first."""
        tasks = self.record.manifest.config.tasks
        if wanted and wanted not in tasks:
            raise unknown(f"task of {self.record.id}", wanted, tasks)
        return wanted or tasks[0]


@only(OWNER)
async def run_page(request: web.Request) -> web.StreamResponse:
    """One run; the numbers, the figures and the items are sent as soon as they are ready."""
    desk, store, run = request.app[STORES], request.match_info["store"], request.match_info["run"]
    head = await asyncio.to_thread(read_head, desk, store, run)
    task, shown = head.task(request.query.get("task", "")), request.query.get("shown", "")
    if shown not in SHOWN:
        raise unknown("order of items", shown, SHOWN)
    words, at = request.query.get("q", ""), page_number(request)
    run = head.record.id
    return await streamed(
        request,
        "run.html",
        **in_language(request),
        visitor=visitor_of(request),
        desk=desk,
        store=store,
        head=head,
        task=task,
        tasks=[(name, head.card.task_title(name)) for name in head.record.manifest.config.tasks],
        summary=later(lambda: _summary(desk, store, run, task)),
        measures=lambda summary: measure_rows(summary, head.card, task),
        figures=later(lambda: _figures(desk, store, run)),
        items=later(lambda: _items(desk, store, run, task, shown, words, at)),
        shown=shown,
        orders=SHOWN,
        words=words,
        number=at,
    )


def read_head(desk: OpenStores, name: str, run: str) -> RunHead:
    """The head of a run's page."""
    with desk.opened(name) as store:
        stored = desk.run(store, run)
        return RunHead(
            stored.record,
            run_row(store, stored.record),
            desk.instrument(stored.instrument).card,
            {name: value for name, value in stored.settings.items() if value not in (None, "", ())},
            stored.stand_ins,
            stored.failures(),
        )


def _summary(desk: OpenStores, name: str, run: str, task: str) -> Summary:
    with desk.opened(name) as store:
        stored = desk.run(store, run)
        summary = stored.summary(task)
        by_people = (correction_note(one) for one in corrections(stored) if one.task == task)
        checked = contamination_note(stored, task)
        return structs.replace(summary, notes=(*((checked,) if checked else ()), *summary.notes, *by_people))


def _figures(desk: OpenStores, name: str, run: str) -> tuple[Figure, ...]:
    with desk.opened(name) as store:
        return desk.run(store, run).figures()


def measure_rows(summary: Summary, card: Card, task: str) -> list[MeasureRow]:
    """The measures of a task, the primary ones first and each in its unit."""
    known = {measure.name: measure for measure in card.measures_of(task)}
    rows = [
        _measure_row(measure, errors, known.get(measure.name))
        for measure, errors in zip(summary.measures, known_errors(summary.measures), strict=True)
    ]
    return sorted(rows, key=lambda row: not (row.primary and not row.group))


def _measure_row(measure: Measure, errors: int | None, known: MeasureCard | None) -> MeasureRow:
    unit = known.unit if known else "number"
    return MeasureRow(
        known.title if known else measure.name,
        group_text(measure.group),
        number(measure.value, unit),
        interval_text(measure.interval, unit),
        measure.items,
        measure.unreadable,
        errors,
        measure.note,
        bool(known and known.primary),
    )


def primary(card: Card, task: str) -> MeasureCard | None:
    """The primary measure of a task that is a mean over items."""
    return next((measure for measure in card.measures_of(task) if measure.primary and measure.value), None)


def _items(desk: OpenStores, name: str, run: str, task: str, shown: str, words: str, at: int) -> ItemList:
    with desk.opened(name) as store:
        record = store.runs.get(run)
        measure = primary(desk.instrument_of(record).card, task)
        start = ITEMS * (at - 1)
        if not shown and not words:
            # In the order that they were played only one page is read.
            some = store.episodes.scored(run, task, limit=ITEMS, offset=start)
            rows, count = [item_row(one, measure) for one in some], store.episodes.count(run, task)
        else:
            found = chosen(store.episodes.scored(run, task), shown, words, measure)
            rows, count = [item_row(one, measure) for one in found[start : start + ITEMS]], len(found)
    return ItemList(rows, count, max(1, math.ceil(count / ITEMS)))


def chosen(
    episodes: Iterable[ScoredEpisode], shown: str, words: str, measure: MeasureCard | None
) -> list[ScoredEpisode]:
    """The episodes that match the filters, in the requested order; failed ones come last."""
    found = [one for one in episodes if all(word.lower() in one.item.lower() for word in words.split())]
    if shown == "failed":
        return [one for one in found if one.failure is not None]
    if shown == "unreadable":
        return [one for one in found if one.score is not None and one.score.unreadable]
    if shown and measure is not None:
        sign = 1.0 if shown == "lowest" else -1.0
        found.sort(key=lambda one: (one.score is None, sign * (value_of(one.score, measure) or 0.0)))
    return found


def value_of(score: Score | None, measure: MeasureCard | None) -> float | None:
    """The value of an episode in a measure."""
    return score.values.get(measure.value) if score is not None and measure is not None else None


def item_row(one: ScoredEpisode, measure: MeasureCard | None) -> ItemRow:
    """An episode as text."""
    value = value_of(one.score, measure)
    return ItemRow(
        one.item,
        one.repeat,
        "" if value is None or measure is None else number(value, measure.unit),
        group_text(one.score.facets) if one.score else "",
        one.score.unreadable if one.score else 0,
        f"{one.failure.kind}: {one.failure.message}" if one.failure else "",
    )
