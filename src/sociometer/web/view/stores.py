"""The stores that the pages show, and the instruments that made their runs."""

import asyncio
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from aiohttp import web

from sociometer.core.card import Card
from sociometer.core.errors import unknown
from sociometer.core.instrument import Instrument
from sociometer.store.place import StorePlace
from sociometer.store.records import RunRecord
from sociometer.store.store import Store
from sociometer.store.stored_run import StoredRun
from sociometer.web.guard import visitor_of
from sociometer.web.owner import owner_page


class OpenStores:
    """The stores by the name they have in links, and the instruments; each request opens the store separately."""

    def __init__(
        self, stores: Sequence[StorePlace], load: Callable[..., Instrument], cards: Mapping[str, Card]
    ) -> None:
        self.stores = _named(stores)
        self.cards = dict(cards)
        self._load_card = load
        self._load = lru_cache(maxsize=None)(load)

    @contextmanager
    def opened(self, name: str) -> Iterator[Store]:
        """The store of that name, for reading."""
        if name not in self.stores:
            raise unknown("store", name, self.stores)
        with Store(self.stores[name]) as store:
            yield store

    def run(self, store: Store, run: str) -> StoredRun:
        record = store.runs.get(run)
        return StoredRun(store, record, self.instrument_of(record))

    def instrument_of(self, record: RunRecord) -> Instrument:
        """The instrument of a run; an imported benchmark brings its own card and cannot be loaded by name."""
        card = record.manifest.card
        return self._load(record.instrument) if card is None else self._load_card(record.instrument, card)


def _named(stores: Sequence[StorePlace]) -> dict[str, StorePlace]:
    """The stores by the name of their file without ending, numbered if several have the same."""
    named: dict[str, StorePlace] = {}
    for path in stores:
        stem = re.sub(r"[^\w-]+", "-", path.stem) or "store"
        free = next(name for name in (stem, *(f"{stem}-{n}" for n in range(2, len(stores) + 2))) if name not in named)
        named[free] = path
    return named


STORES = web.AppKey("desk", OpenStores)


async def view_page(request: web.Request, name: str, **context: Any) -> web.Response:
    """A page about a store, rendered in a thread: its slow parts are given as functions."""
    context |= {"visitor": visitor_of(request), "desk": request.app[STORES], "store": request.match_info["store"]}
    return await asyncio.to_thread(lambda: owner_page(request, name, **context))
