"""Figures as pictures: rendered on the server, so that a page needs no script or style for them."""

import asyncio
from functools import lru_cache
from typing import get_args

from aiohttp import web

from sociometer.core.errors import UsageError, unknown
from sociometer.core.measure import Figure
from sociometer.reporting.figures import run_figures
from sociometer.reporting.plot import drawn
from sociometer.statistics.charts.theme import Mode
from sociometer.web.guard import OWNER, only
from sociometer.web.view.runs import VIEWED, ViewedStore

WIDTHS = (640, 340)
_INSIDE = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
State = tuple[object, ...]
"""What changes when the figures of a run may change."""


def drawable(figure: Figure | None) -> bool:
    """Whether a figure is a picture and not a table."""
    return figure is not None and (figure.chart is not None or bool(figure.svg))


def figures_of(viewed: ViewedStore, run: str) -> tuple[tuple[Figure, ...], State]:
    """The figures of a run as it is now."""
    with viewed.opened() as store:
        record = store.runs.get(run)
        state = (record.finished, *store.episodes.counts(record.id))
    return _figures(viewed, record.id, state), state


@lru_cache(maxsize=16)
def _figures(viewed: ViewedStore, run: str, state: State) -> tuple[Figure, ...]:
    with viewed.opened() as store:
        return run_figures(viewed.run(store, run))


@lru_cache(maxsize=400)
def _picture_of(viewed: ViewedStore, run: str, state: State, number: int, mode: Mode, width: int) -> bytes | None:
    figures = _figures(viewed, run, state)
    return drawn(figures[number], "svg", mode=mode, width=width) if drawable(figures[number]) else None


@only(OWNER)
async def figure_picture(request: web.Request) -> web.StreamResponse:
    """A figure of a run."""
    viewed, run = request.app[VIEWED], request.match_info["run"]
    number, (mode, width) = int(request.match_info["number"]), look_of(request)

    def make() -> bytes | None:
        figures, state = figures_of(viewed, run)
        return _picture_of(viewed, run, state, number, mode, width) if number < len(figures) else None

    return picture(await asyncio.to_thread(make))


def place_of(request: web.Request) -> tuple[str, str, int]:
    """The task, item and repeat that a link names."""
    query = request.query
    repeat = query.get("repeat", "0")
    if not repeat.isdecimal() or len(repeat) > 7:
        raise UsageError(f"repeat must be a whole number, not '{repeat}'.")
    return query.get("task", ""), query.get("item", ""), int(repeat)


def look_of(request: web.Request) -> tuple[Mode, int]:
    """The theme and the width of a picture."""
    looks = {f"{mode} {width}": (mode, width) for mode in get_args(Mode) for width in WIDTHS}
    asked = f"{request.query.get('mode', 'light')} {request.query.get('width', WIDTHS[0])}"
    if asked not in looks:
        raise unknown("look of a picture", asked, looks)
    return looks[asked]


def picture(body: bytes | None) -> web.Response:
    """A picture as a response; 404 if there is none."""
    if body is None:
        raise web.HTTPNotFound
    # A picture that is opened by itself is a document: it may run and load nothing.
    return web.Response(body=body, content_type="image/svg+xml", headers={"Content-Security-Policy": _INSIDE})
