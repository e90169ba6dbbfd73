"""The page with all runs of a store: progress, cost and failures of each."""

import asyncio
import math
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import msgspec
from aiohttp import web
from msgspec import Struct

from sociometer.core.card import Card
from sociometer.core.config import model_label
from sociometer.core.conversation import SUBJECT
from sociometer.core.errors import StoreError
from sociometer.core.instrument import Instrument
from sociometer.statistics.formatting import chance_of, interval_text, number
from sociometer.store.place import StorePlace
from sociometer.store.records import RunRecord, RunStatus
from sociometer.store.runs import RunSearch
from sociometer.store.store import Store
from sociometer.store.stored_run import StoredRun, first_score, status_of
from sociometer.web.guard import OWNER, only, visitor_of
from sociometer.web.owner import Words, owner_page, words_for

ROWS = 50
MOST_PAGES = 10_000


class ViewedStore:
    """The store that the pages show, and the instruments of its runs; each request opens the store for itself."""

    def __init__(self, path: StorePlace, load: Callable[..., Instrument], cards: Mapping[str, Card]) -> None:
        self.path = path
        self.cards = dict(cards)
        self._load_card = load
        self._load = lru_cache(maxsize=None)(load)

    def opened(self) -> Store:
        """The store, for reading."""
        return Store(self.path)

    def run(self, store: Store, run: str) -> StoredRun:
        record = store.runs.get(run)
        return StoredRun(store, record, self.instrument_of(record))

    def instrument_of(self, record: RunRecord) -> Instrument:
        """The instrument of a run; an imported benchmark brings its own card and cannot be loaded by name."""
        card = record.manifest.card
        return self._load(record.instrument) if card is None else self._load_card(record.instrument, card)


VIEWED = web.AppKey("viewed", ViewedStore)


async def view_page(request: web.Request, name: str, **context: Any) -> web.Response:
    """A page about the store, rendered in a thread: its slow parts are given as functions."""
    context |= {"visitor": visitor_of(request), "cards": request.app[VIEWED].cards, "store": request.app[VIEWED].path}
    return await asyncio.to_thread(lambda: owner_page(request, name, **context))


class RunRow(Struct, frozen=True):
    """A run as the list shows it."""

    id: str
    name: str
    instrument: str
    subject: str
    model: str
    status: str
    created: float
    done: int
    failed: int
    planned: int
    requests: int
    tokens: int
    cost: str
    score: str = ""
    """The first primary measure of a run that has ended: “62 %”."""
    bounds: str = ""
    chance: str = ""
    measure: str = ""
    others: dict[str, str] = {}
    """The models in the other roles."""

    @property
    def finished(self) -> int:
        """Episodes that have ended, failed ones included."""
        return self.done + self.failed


def run_row(viewed: ViewedStore, store: Store, record: RunRecord) -> RunRow:
    """The current row of a run in the list."""
    totals = store.totals(record)
    done, failed, spent = totals.done, totals.failed, totals.spent
    spec = model_label(record.manifest.config.subject)
    return RunRow(
        id=record.id,
        name=record.name,
        instrument=record.instrument,
        subject=record.subject,
        model="" if spec == record.subject else spec,
        status="imported" if record.manifest.imported else str(status_of(store, record)),
        created=record.created,
        done=done,
        failed=failed,
        planned=record.manifest.episodes,
        requests=spent.requests,
        tokens=spent.input_tokens + spent.output_tokens,
        cost=_cost(spent.cost, spent.priced, spent.unpriced),
        others={role: who.label for role, who in record.manifest.roles.items() if role != SUBJECT},
        **_score(viewed, store, record),
    )


def _score(viewed: ViewedStore, store: Store, record: RunRecord) -> dict[str, str]:
    card = record.manifest.card or viewed.cards.get(record.instrument)
    try:
        found = first_score(store, record, card) if card and record.status is not RunStatus.PLAYING else None
    except StoreError:
        return {"score": "damaged"}
    if card is None or found is None:
        return {}
    known, measure, summary = found
    chance = chance_of(known, card, summary, on_official=record.manifest.whose_items != "bundled")
    return {
        "measure": known.title,
        "score": number(measure.value, known.unit, interval=measure.interval),
        "bounds": interval_text(measure.interval, known.unit, "too few items for an interval"),
        "chance": "" if chance is None else number(chance, known.unit),
    }


def _cost(cost: float, priced: int, unpriced: int) -> str:
    if not priced:
        return "unknown" if unpriced else "–"
    known = f"${cost:.4f}" if cost >= 0.001 or not cost else f"${cost:.2g}"
    return known + (f" + {unpriced} unpriced" if unpriced else "")


@only(OWNER)
async def runs_page(request: web.Request) -> web.StreamResponse:
    """The list of runs, searched and filtered as the query says."""
    viewed = request.app[VIEWED]
    number = page_number(request)
    search = RunSearch(
        words=request.query.get("q", ""),
        instrument=request.query.get("instrument", ""),
        status=request.query.get("status", ""),
        limit=ROWS,
        offset=ROWS * (number - 1),
    )
    rows, count = await asyncio.to_thread(_found, viewed, search, search)
    return await view_page(
        request,
        "runs.html",
        search=search,
        statuses=[str(status) for status in RunStatus],
        rows=rows,
        count=count,
        number=number,
        pages=max(1, math.ceil(count / ROWS)),
    )


@only(OWNER)
async def run_states(request: web.Request) -> web.StreamResponse:
    """The rows of the runs that the query names as they are now, and the number of all runs."""
    viewed, words = request.app[VIEWED], words_for(request)
    ids = tuple(request.query.getall("run", []))[:ROWS]
    rows, count = await asyncio.to_thread(_found, viewed, RunSearch(ids=ids, limit=ROWS), RunSearch())
    body = msgspec.json.encode({"count": count, "runs": [_state(row, words) for row in rows]})
    return web.Response(body=body, content_type="application/json")


def _state(row: RunRow, words: Words) -> dict[str, object]:
    """A row as the page's script reads it: with the text of its status and cost in the page's language."""
    shown = {
        "finished": row.finished,
        "shown": words(row.status),
        "cost": words(row.cost),
        "bounds": words.bounds(row.bounds),
    }
    return {**msgspec.structs.asdict(row), **shown}


def _found(viewed: ViewedStore, search: RunSearch, counted: RunSearch) -> tuple[list[RunRow], int]:
    with viewed.opened() as store:
        return [run_row(viewed, store, record) for record in store.runs.found(search)], store.runs.count(counted)


def page_number(request: web.Request) -> int:
    """The requested page of a long list; the first if the query is not valid."""
    given = request.query.get("page", "1")
    return min(MOST_PAGES, max(1, int(given))) if given.isdecimal() and len(given) < 8 else 1
