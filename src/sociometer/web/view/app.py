"""The application of `sociometer view`: which page belongs to which path."""

from collections.abc import Callable, Mapping, Sequence
from threading import Thread

from aiohttp import web

from sociometer.core.card import Card
from sociometer.core.errors import UsageError
from sociometer.core.instrument import Instrument
from sociometer.store.place import StorePlace
from sociometer.web.guard import SessionsInMemory
from sociometer.web.owner import add_owner
from sociometer.web.serving import Place, application, serve
from sociometer.web.view.item import beside_picture, item_page
from sociometer.web.view.pictures import figure_picture
from sociometer.web.view.run import download, run_page
from sociometer.web.view.runs import front, run_states, runs_page
from sociometer.web.view.side_by_side import side_by_side_page, two_transcripts_page
from sociometer.web.view.stores import STORES, OpenStores

PORT = 8765


def view_application(desk: OpenStores) -> web.Application:
    """The pages of the stores."""
    sessions = SessionsInMemory()
    app = application(sessions.find)
    add_owner(app, sessions, "/")
    app[STORES] = desk
    app.router.add_get("/", front)
    app.router.add_get("/s/{store}/", runs_page)
    app.router.add_get("/s/{store}/states", run_states)
    app.router.add_get("/s/{store}/side-by-side", side_by_side_page)
    app.router.add_get("/s/{store}/side-by-side/item", two_transcripts_page)
    app.router.add_get("/s/{store}/run/{run}/", run_page)
    app.router.add_get(r"/s/{store}/run/{run}/figure/{number:\d{1,4}}", figure_picture)
    app.router.add_get("/s/{store}/run/{run}/item", item_page)
    app.router.add_get("/s/{store}/run/{run}/download.csv", download)
    app.router.add_get("/s/{store}/run/{run}/download.jsonl", download)
    app.router.add_get("/s/{store}/run/{run}/beside", beside_picture)
    return app


def serve_view(
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
    # The first page of a run need not wait for its instrument to be imported.
    Thread(target=lambda: [load(name) for name in cards], daemon=True).start()
    serve(view_application(OpenStores(stores, load, cards)), place, tell)
