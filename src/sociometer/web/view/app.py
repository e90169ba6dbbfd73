"""The application of `sociometer view`: which page belongs to which path."""

from collections.abc import Callable, Mapping
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
from sociometer.web.view.runs import VIEWED, ViewedStore, run_states, runs_page
from sociometer.web.view.side_by_side import side_by_side_page, two_transcripts_page


def view_application(viewed: ViewedStore) -> web.Application:
    """The pages of the store."""
    sessions = SessionsInMemory()
    app = application(sessions.find)
    add_owner(app, sessions, "/")
    app[VIEWED] = viewed
    app.router.add_get("/", runs_page)
    app.router.add_get("/states", run_states)
    app.router.add_get("/side-by-side", side_by_side_page)
    app.router.add_get("/side-by-side/item", two_transcripts_page)
    app.router.add_get("/run/{run}/", run_page)
    app.router.add_get(r"/run/{run}/figure/{number:\d{1,4}}", figure_picture)
    app.router.add_get("/run/{run}/item", item_page)
    app.router.add_get("/run/{run}/download.csv", download)
    app.router.add_get("/run/{run}/download.jsonl", download)
    app.router.add_get("/run/{run}/beside", beside_picture)
    return app


def serve_view(
    path: StorePlace,
    load: Callable[[str], Instrument],
    cards: Mapping[str, Card],
    place: Place,
    tell: Callable[[str], None],
) -> None:
    """Serves the pages until Ctrl-C; `tell` gets a link each time one is needed."""
    if not path.exists():
        raise UsageError(
            f"{path}: there is no store here. Start one with: sociometer run INSTRUMENT --model MODEL; or give"
            " --store another file."
        )
    # The first page of a run need not wait for its instrument to be imported.
    Thread(target=lambda: [load(name) for name in cards], daemon=True).start()
    serve(view_application(ViewedStore(path, load, cards)), place, tell)
