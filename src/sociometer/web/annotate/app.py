"""The application of `sociometer annotate open`: which page belongs to which path."""

from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

from aiohttp import web

from sociometer.core.errors import SociometerError
from sociometer.core.instrument import Instrument
from sociometer.engine.engine import Engine
from sociometer.results.corrected import JudgeAndPeople, judge_and_people
from sociometer.store.labels import LabelBook, Queue, book_path
from sociometer.store.store import Store
from sociometer.web.annotate.board import FIND_RUN, board_page
from sociometer.web.annotate.rating import BOOK, QUEUE, own_page, rate, rate_page, sign_in, welcome_page
from sociometer.web.guard import ADDRESS, RATER
from sociometer.web.serving import Place, guest_application, serve


def annotate_application(
    queue: Queue, book: LabelBook, find: Callable[[Queue], JudgeAndPeople | None] = lambda queue: None
) -> web.Application:
    """The pages of one queue; `find` compares the judge with people."""
    app = guest_application(RATER, partial(book.session, queue.name), queue.language)
    app[QUEUE], app[BOOK], app[FIND_RUN] = queue, book, find
    app.router.add_get("/join/{secret}", welcome_page)
    app.router.add_post("/join/{secret}", sign_in)
    app.router.add_get("/rate", rate_page)
    app.router.add_post("/rate", rate)
    app.router.add_get("/own", own_page)
    app.router.add_get("/owner", board_page)
    return app


def compared(store: Path, load: Callable[..., Instrument], book: LabelBook, queue: Queue) -> JudgeAndPeople | None:
    """The judge compared with people on the measure that a queue labels; None if the run no longer exists."""
    if queue.measured is None:
        return None
    try:
        with Store(store) as opened:
            run = Engine(opened, load).stored(queue.measured.run)
            return judge_and_people(run, queue, book)
    except SociometerError:
        return None


def serve_queue(
    store: Path, name: str, load: Callable[..., Instrument], place: Place, tell: Callable[[str, str], None]
) -> None:
    """Serves a queue until Ctrl-C; `tell` gets the raters' link, and a link for the owner that works once."""
    with closing(LabelBook(book_path(store))) as book:
        queue = book.queue(name)
        app = annotate_application(queue, book, lambda one: compared(store, load, book, one))
        serve(app, place, lambda owner: tell(f"{app[ADDRESS].url}/join/{queue.secret}", owner))
