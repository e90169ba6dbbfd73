"""Figures as pictures: rendered on the server, so that a page needs no script or style for them."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar, get_args

from aiohttp import web

from sociometer.core.errors import UsageError, unknown
from sociometer.core.measure import Figure
from sociometer.reporting.plot import drawn
from sociometer.statistics.charts.theme import Mode
from sociometer.web.guard import OWNER, only
from sociometer.web.view.stores import STORES, OpenStores

WIDTHS = (640, 340)
_MOST_RUNS, _MOST_PICTURES = 16, 400
_INSIDE = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
Key = tuple[object, ...]
Made = TypeVar("Made")


class Kept(Generic[Made]):
    """A cache of recent results."""

    def __init__(self, most: int) -> None:
        self._kept: OrderedDict[Key, Made] = OrderedDict()
        self._most = most

    def get(self, key: Key, make: Callable[[], Made]) -> Made:
        """The value of a key; computed if it is not in the cache."""
        if (found := self._kept.get(key)) is not None:
            return found
        made = self._kept[key] = make()
        while len(self._kept) > self._most:
            self._kept.popitem(last=False)
        return made


class Pictures:
    """The figures of runs and their pictures, with a cache of recent ones."""

    def __init__(self) -> None:
        self.figures = Kept[tuple[Figure, ...]](_MOST_RUNS)
        self.drawn = Kept[bytes](_MOST_PICTURES)


PICTURES = web.AppKey("pictures", Pictures)


def drawable(figure: Figure) -> bool:
    """Whether a figure is a picture and not a table."""
    return figure.chart is not None or bool(figure.svg)


@only(OWNER)
async def figure_picture(request: web.Request) -> web.StreamResponse:
    """A figure of a run."""
    desk, name, run = request.app[STORES], request.match_info["store"], request.match_info["run"]
    number = _number(request)
    mode, width = _look(request)
    pictures = request.app[PICTURES]

    def make() -> bytes:
        with desk.opened(name) as store:
            stored = desk.run(store, run)
            state = (name, stored.id, stored.record.finished, *store.episodes.counts(stored.id))
            figure = _nth(pictures.figures.get(state, stored.figures), number)
            return pictures.drawn.get((*state, number, mode, width), lambda: _drawn(figure, mode, width))

    return _picture(await asyncio.to_thread(make))


@only(OWNER)
async def beside_picture(request: web.Request) -> web.StreamResponse:
    """What an instrument draws next to a transcript: a feeling curve, a tree with the path taken."""
    desk, name, run = request.app[STORES], request.match_info["store"], request.match_info["run"]
    mode, width = _look(request)
    place = place_of(request)

    def make() -> bytes:
        figure = beside(desk, name, run, *place)
        if figure is None or not drawable(figure):
            raise web.HTTPNotFound
        return _drawn(figure, mode, width)

    return _picture(await asyncio.to_thread(make))


def place_of(request: web.Request) -> tuple[str, str, int]:
    """The task, item and repeat that a link names."""
    query = request.query
    repeat = query.get("repeat", "0")
    if not repeat.isdecimal() or len(repeat) > 7:
        raise UsageError(f"repeat must be a whole number, not '{repeat}'.")
    return query.get("task", ""), query.get("item", ""), int(repeat)


def beside(desk: OpenStores, name: str, run: str, task: str, item: str, repeat: int) -> Figure | None:
    """The figure next to the transcript of an episode, if its instrument draws one."""
    with desk.opened(name) as store:
        stored = desk.run(store, run)
        draw = desk.instrument(stored.instrument).beside
        if draw is None:
            return None
        for episode in stored.episodes(task, item):
            if episode.repeat == repeat and episode.outcome is not None:
                return draw(episode.item, episode.outcome)
    return None


def _drawn(figure: Figure, mode: Mode, width: int) -> bytes:
    return drawn(figure, "svg", mode=mode, width=width)


def _nth(figures: tuple[Figure, ...], number: int) -> Figure:
    if number >= len(figures) or not drawable(figures[number]):
        raise web.HTTPNotFound
    return figures[number]


def _number(request: web.Request) -> int:
    given = request.match_info["number"]
    return int(given) if given.isdecimal() and len(given) < 5 else 9_999


def _look(request: web.Request) -> tuple[Mode, int]:
    mode, width = request.query.get("mode", "light"), request.query.get("width", str(WIDTHS[0]))
    for known in get_args(Mode):
        if mode == known and width in map(str, WIDTHS):
            return known, int(width)
    raise unknown("look of a picture", f"{mode} {width}", (f"{m} {w}" for m in get_args(Mode) for w in WIDTHS))


def _picture(body: bytes) -> web.Response:
    # A picture that is opened by itself is a document: it may run and load nothing.
    return web.Response(body=body, content_type="image/svg+xml", headers={"Content-Security-Policy": _INSIDE})
