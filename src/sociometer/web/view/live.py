"""Server-sent events: changes of the runs on a page while it is open."""

import asyncio

import msgspec
from aiohttp import web

from sociometer.core.errors import SociometerError
from sociometer.store.runs import RunSearch
from sociometer.web.guard import OWNER, only
from sociometer.web.language import Words, words_for
from sociometer.web.view.desk import DESK, Desk
from sociometer.web.view.runs import ROWS, RunRow, run_row

EVERY_SECONDS = 1.0
_QUIET_ROUNDS = 15
_MOST_STREAMS = 64
OPEN_STREAMS = web.AppKey("open_streams", set[asyncio.Task[object]])


@only(OWNER)
async def run_events(request: web.Request) -> web.StreamResponse:
    """The rows of the runs that the query names, each time one changes, and the number of all runs."""
    desk, name = request.app[DESK], request.match_info["store"]
    ids = tuple(request.query.getall("run", []))[:ROWS]
    streams, task = request.app[OPEN_STREAMS], asyncio.current_task()
    if len(streams) >= _MOST_STREAMS:
        raise web.HTTPServiceUnavailable(text="Too many pages are open; close some.")
    before = await asyncio.to_thread(_look, desk, name, ids)
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    assert task is not None
    streams.add(task)
    try:
        await _follow(response, words_for(request), desk, name, ids, before)
    except (ConnectionError, SociometerError):
        pass
    finally:
        streams.discard(task)
    return response


async def _follow(
    response: web.StreamResponse,
    words: Words,
    desk: Desk,
    name: str,
    ids: tuple[str, ...],
    seen: tuple[dict[str, RunRow], int],
) -> None:
    await _send(response, "count", seen[1])
    for row in seen[0].values():
        await _send(response, "run", _event(row, words))
    quiet = 0
    while True:
        await asyncio.sleep(EVERY_SECONDS)
        now = await asyncio.to_thread(_look, desk, name, ids)
        changed = [row for run, row in now[0].items() if seen[0].get(run) != row]
        for row in changed:
            await _send(response, "run", _event(row, words))
        if now[1] != seen[1]:
            await _send(response, "count", now[1])
        quiet = 0 if changed else quiet + 1
        if quiet % _QUIET_ROUNDS == _QUIET_ROUNDS - 1:
            # A comment now and then: otherwise nobody notices that the browser has gone.
            await response.write(b": still here\n\n")
        seen = now


def _look(desk: Desk, name: str, ids: tuple[str, ...]) -> tuple[dict[str, RunRow], int]:
    with desk.opened(name) as store:
        found = store.runs.found(RunSearch(ids=ids, limit=ROWS)) if ids else ()
        return {record.id: run_row(store, record) for record in found}, store.runs.count(RunSearch())


def _event(row: RunRow, words: Words) -> dict[str, object]:
    """A row as the page's script reads it: with the text of its status and cost in the page's language."""
    shown = {"finished": row.finished, "shown": words(row.status), "cost": words(row.cost)}
    return {**msgspec.structs.asdict(row), **shown}


async def _send(response: web.StreamResponse, event: str, value: object) -> None:
    await response.write(b"event: " + event.encode() + b"\ndata: " + msgspec.json.encode(value) + b"\n\n")


async def end_streams(app: web.Application) -> None:
    """Ends the streams when the server stops: they never end by themselves."""
    streams: set[asyncio.Task[object]] = app[OPEN_STREAMS]
    for task in list(streams):
        task.cancel()
