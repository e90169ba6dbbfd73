"""The application of `sociometer view`: which page belongs to which path."""

import asyncio
from collections.abc import Callable, Mapping, Sequence

import msgspec
from aiohttp import web

from sociometer.core.card import Card
from sociometer.core.errors import SociometerError, UsageError
from sociometer.core.instrument import Instrument
from sociometer.store.place import StorePlace
from sociometer.store.runs import RunSearch
from sociometer.web.enter import add_owner
from sociometer.web.guard import OWNER, OneTimeTokens, SessionsInMemory, only
from sociometer.web.language import Words, words_for
from sociometer.web.serving import Place, Server, application, until_stopped
from sociometer.web.view.item import item_page
from sociometer.web.view.pictures import PICTURES, Pictures, beside_picture, figure_picture
from sociometer.web.view.run import run_page
from sociometer.web.view.runs import ROWS, RunRow, front, run_row, runs_page
from sociometer.web.view.side_by_side import side_by_side_page, two_transcripts_page
from sociometer.web.view.stores import STORES, OpenStores

EVERY_SECONDS = 1.0
_QUIET_ROUNDS = 15
_MOST_STREAMS = 64
OPEN_STREAMS = web.AppKey("open_streams", set[asyncio.Task[object]])


@only(OWNER)
async def run_events(request: web.Request) -> web.StreamResponse:
    """The rows of the runs that the query names, each time one changes, and the number of all runs."""
    desk, name = request.app[STORES], request.match_info["store"]
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
    desk: OpenStores,
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


def _look(desk: OpenStores, name: str, ids: tuple[str, ...]) -> tuple[dict[str, RunRow], int]:
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


PORT = 8765


def view_application(
    desk: OpenStores, tokens: OneTimeTokens, used: Callable[[], None] = lambda: None
) -> web.Application:
    """The pages; `used` is called each time a token was exchanged for a session."""
    sessions = SessionsInMemory()
    app = application(sessions)
    add_owner(app, sessions, tokens, used, "/")
    app[STORES] = desk
    app[PICTURES] = Pictures()
    app[OPEN_STREAMS] = set()
    app.on_shutdown.append(end_streams)
    app.router.add_get("/", front)
    app.router.add_get("/s/{store}/", runs_page)
    app.router.add_get("/s/{store}/events", run_events)
    app.router.add_get("/s/{store}/side-by-side", side_by_side_page)
    app.router.add_get("/s/{store}/side-by-side/item", two_transcripts_page)
    app.router.add_get("/s/{store}/run/{run}/", run_page)
    app.router.add_get("/s/{store}/run/{run}/figure/{number}", figure_picture)
    app.router.add_get("/s/{store}/run/{run}/item", item_page)
    app.router.add_get("/s/{store}/run/{run}/beside", beside_picture)
    return app


async def serve_view(
    stores: Sequence[StorePlace],
    load: Callable[[str], Instrument],
    cards: Mapping[str, Card],
    place: Place,
    tell: Callable[[str], None],
) -> None:
    """Serves the pages until Ctrl-C; `tell` gets a link each time one is needed."""
    for path in stores:
        if not path.exists():
            raise UsageError(
                f"{path}: there is no store here. Start one with: sociometer run INSTRUMENT --model MODEL; or give"
                " --store another file."
            )
    tokens = OneTimeTokens()

    def tell_link() -> None:
        tell(f"{server.address.url}/enter?token={tokens.make()}")

    server = Server(view_application(OpenStores(stores, load, cards), tokens, tell_link), place)
    await server.start()
    # The first page of a run need not wait for its instrument to be imported.
    warming = asyncio.create_task(asyncio.to_thread(lambda: [load(name) for name in cards]))
    try:
        tell_link()
        await until_stopped()
    finally:
        await warming
        await server.stop()
