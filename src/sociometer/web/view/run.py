"""The page of one run: its numbers, tables and figures, and every item."""

import asyncio
import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
from aiohttp import web
from msgspec import Struct, structs

from sociometer.core.card import Card, MeasureCard
from sociometer.core.conversation import Exchange
from sociometer.core.errors import unknown
from sociometer.core.measure import Summary
from sociometer.core.task import Score
from sociometer.reporting.tables import measure_rows
from sociometer.results.candidates import contamination_note
from sociometer.results.corrected import correction_note, corrections
from sociometer.results.export import export_run
from sociometer.statistics.formatting import group_text, number
from sociometer.store.episodes import ScoredEpisode
from sociometer.store.records import RunRecord
from sociometer.store.store import Store
from sociometer.web.guard import OWNER, only
from sociometer.web.rendering import later, tongue
from sociometer.web.view.pictures import figures_of
from sociometer.web.view.runs import VIEWED, RunRow, ViewedStore, page_number, run_row, view_page

ITEMS = 100
_DOWNLOADS = {"csv": "text/csv", "jsonl": "application/x-ndjson"}
LEAST_TITLE, LONGEST_TITLE = 25, 90
"""A text of an item with fewer bytes is a name or a kind; one with more letters is cut."""
SHOWN = {
    "": "all",
    "lowest": "lowest first",
    "highest": "highest first",
    "unreadable": "unreadable",
    "failed": "failed",
}


class ItemList(Struct, frozen=True):
    """The part of a run's items that a page shows."""

    rows: list[tuple[ScoredEpisode, str, str]]
    """Each with its title and its value."""
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
    viewed, run = request.app[VIEWED], request.match_info["run"]
    head = await asyncio.to_thread(read_head, viewed, run)
    task, shown = head.task(request.query.get("task", "")), request.query.get("shown", "")
    if shown not in SHOWN:
        raise unknown("order of items", shown, SHOWN)
    words, at = request.query.get("q", ""), page_number(request)
    run = head.record.id
    return await view_page(
        request,
        "run.html",
        head=head,
        task=task,
        tasks=[(name, head.card.task_title(name)) for name in head.record.manifest.config.tasks],
        summary=later(lambda: _summary(viewed, run, task)),
        measures=lambda summary: sorted(
            measure_rows(summary, head.card, task), key=lambda row: bool(row.group or not row.card.primary)
        ),
        figures=later(lambda: figures_of(viewed, run)[0]),
        items=later(lambda: _items(viewed, run, task, shown, words, at)),
        group_text=group_text,
        shown=shown,
        orders=SHOWN,
        words=words,
        number=at,
    )


def read_head(viewed: ViewedStore, run: str) -> RunHead:
    """The head of a run's page."""
    with viewed.opened() as store:
        stored = viewed.run(store, run)
        return RunHead(
            stored.record,
            run_row(viewed, store, stored.record),
            stored.definition.card,
            {name: value for name, value in stored.settings.items() if value not in (None, "", (), False)},
            stored.stand_ins,
            stored.failures(),
        )


def _summary(viewed: ViewedStore, run: str, task: str) -> Summary:
    with viewed.opened() as store:
        stored = viewed.run(store, run)
        summary = stored.summary(task)
        by_people = (correction_note(one) for one in corrections(stored) if one.task == task)
        checked = contamination_note(stored, task)
        return structs.replace(summary, notes=(*((checked,) if checked else ()), *summary.notes, *by_people))


@only(OWNER)
async def download(request: web.Request) -> web.StreamResponse:
    """The file that `sociometer export` writes of a run, as CSV or JSON lines."""
    viewed, run = request.app[VIEWED], request.match_info["run"]
    ending = request.path.rpartition(".")[2]

    def make() -> tuple[str, bytes]:
        with viewed.opened() as store, TemporaryDirectory() as folder:
            stored, path = viewed.run(store, run), Path(folder) / f"run.{ending}"
            export_run(stored, path)
            return stored.id, path.read_bytes()

    named, body = await asyncio.to_thread(make)
    headers = {"Content-Disposition": f'attachment; filename="{named}.{ending}"'}
    return web.Response(body=body, content_type=_DOWNLOADS[ending], charset="utf-8", headers=headers)


def primary(card: Card, task: str) -> MeasureCard | None:
    """The primary measure of a task that is a mean over items."""
    return next((measure for measure in card.measures_of(task) if measure.primary and measure.value), None)


def _items(viewed: ViewedStore, run: str, task: str, shown: str, words: str, at: int) -> ItemList:
    with viewed.opened() as store:
        record = store.runs.get(run)
        measure = primary(viewed.instrument_of(record).card, task)
        start = ITEMS * (at - 1)
        if not shown and not words:
            # In the order that they were played only one page is read.
            some, count = (
                list(store.episodes.scored(run, task, limit=ITEMS, offset=start)),
                store.episodes.count(run, task),
            )
        else:
            matching = _with_words(store, run, task, words) if words else store.episodes.scored(run, task)
            found = chosen(matching, shown, measure)
            some, count = found[start : start + ITEMS], len(found)
        bodies = store.episodes.items(run, task, [one.item for one in some])
    unit = measure.unit if measure else "number"
    rows = [
        (one, item_title(bodies.get(one.item, b"")), "" if value is None else number(value, unit))
        for one in some
        for value in (value_of(one.score, measure),)
    ]
    return ItemList(rows, count, max(1, math.ceil(count / ITEMS)))


def _with_words(store: Store, run: str, task: str, words: str) -> Iterator[ScoredEpisode]:
    """The episodes whose id, item or replies have all of the words."""
    wanted = [word.lower() for word in words.split()]
    for one in store.episodes.scored(run, task):
        text = one.item + store.episodes.items(run, task, [one.item]).get(one.item, b"").decode("utf-8", "replace")
        if not all(word in text.lower() for word in wanted):
            said = store.episodes.transcript(run, task, one.item, one.repeat)
            text += " ".join(event.reply.text for event in said if isinstance(event, Exchange))
        if all(word in text.lower() for word in wanted):
            yield one


def item_title(body: bytes) -> str:
    """The beginning of an item's text; empty if it has none, such as a game."""
    texts = _texts(msgspec.json.decode(body) if body else {})
    sentences = (text for text in texts if len(text.encode()) >= LEAST_TITLE and (" " in text or tongue(text) == "zh"))
    found = next((" ".join(text.split()) for text in sentences), "")
    return found if len(found) <= LONGEST_TITLE else found[:LONGEST_TITLE].rsplit(" ", 1)[0] + " …"


def _texts(value: Any) -> Iterator[str]:
    """All texts of an item in their order, without names."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, part in value.items():
            if name not in ("id", "cluster"):
                yield from _texts(part)
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part)


def chosen(episodes: Iterable[ScoredEpisode], shown: str, measure: MeasureCard | None) -> list[ScoredEpisode]:
    """The episodes that match the filter, in the requested order; failed ones come last."""
    found = list(episodes)
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
