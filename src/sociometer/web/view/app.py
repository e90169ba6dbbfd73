"""The application of `sociometer view`: which page belongs to which path."""

import asyncio
from collections.abc import Callable, Mapping, Sequence

import msgspec
from aiohttp import web

from sociometer.core.card import Card
from sociometer.core.errors import UsageError
from sociometer.core.instrument import Instrument
from sociometer.store.place import StorePlace
from sociometer.store.runs import RunSearch
from sociometer.web.enter import add_owner
from sociometer.web.guard import OWNER, OneTimeTokens, SessionsInMemory, only
from sociometer.web.language import Words, words_for
from sociometer.web.serving import Place, Server, application, until_stopped
from sociometer.web.view.item import item_page
from sociometer.web.view.pictures import PICTURES, Pictures, beside_picture, figure_picture
from sociometer.web.view.run import download, run_page
from sociometer.web.view.runs import ROWS, RunRow, front, run_row, runs_page
from sociometer.web.view.side_by_side import side_by_side_page, two_transcripts_page
from sociometer.web.view.stores import STORES, OpenStores


@only(OWNER)
async def run_states(request: web.Request) -> web.StreamResponse:
    """The rows of the runs that the query names as they are now, and the number of all runs."""
    desk, name, words = request.app[STORES], request.match_info["store"], words_for(request)
    ids = tuple(request.query.getall("run", []))[:ROWS]
    rows, count = await asyncio.to_thread(_look, desk, name, ids)
    body = msgspec.json.encode({"count": count, "runs": [_state(row, words) for row in rows]})
    return web.Response(body=body, content_type="application/json")


def _look(desk: OpenStores, name: str, ids: tuple[str, ...]) -> tuple[list[RunRow], int]:
    with desk.opened(name) as store:
        found = store.runs.found(RunSearch(ids=ids, limit=ROWS)) if ids else ()
        return [run_row(desk, store, record) for record in found], store.runs.count(RunSearch())


def _state(row: RunRow, words: Words) -> dict[str, object]:
    """A row as the page's script reads it: with the text of its status and cost in the page's language."""
    shown = {"finished": row.finished, "shown": words(row.status), "cost": words(row.cost), "bounds": words(row.bounds)}
    return {**msgspec.structs.asdict(row), **shown}


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
    app.router.add_get("/", front)
    app.router.add_get("/s/{store}/", runs_page)
    app.router.add_get("/s/{store}/states", run_states)
    app.router.add_get("/s/{store}/side-by-side", side_by_side_page)
    app.router.add_get("/s/{store}/side-by-side/item", two_transcripts_page)
    app.router.add_get("/s/{store}/run/{run}/", run_page)
    app.router.add_get("/s/{store}/run/{run}/figure/{number}", figure_picture)
    app.router.add_get("/s/{store}/run/{run}/item", item_page)
    app.router.add_get("/s/{store}/run/{run}/download.csv", download)
    app.router.add_get("/s/{store}/run/{run}/download.jsonl", download)
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
