"""The application of `sociometer study open`: which page belongs to which path."""

import asyncio
import contextlib
import signal
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path

from aiohttp import web

from sociometer.core.errors import UsageError
from sociometer.core.instrument import Instrument
from sociometer.store.store import Store
from sociometer.web.enter import add_owner
from sociometer.web.guard import OneTimeTokens, RateLimit, SessionsInMemory, SessionsOfBoth
from sociometer.web.serving import Place, Server, application
from sociometer.web.study.book import StudyBook, book_path, study_lock
from sociometer.web.study.ending import end_page, stored_page, withdraw
from sociometer.web.study.overview import overview_page
from sociometer.web.study.pages import BOOK, CARD, CODES, SEATS, STORE, STUDY
from sociometer.web.study.records import Study
from sociometer.web.study.seats import Seats
from sociometer.web.study.taking import answer, answer_check, take_page
from sociometer.web.study.welcome import come_back, join, welcome_page

PORT = 8766
_ROUND_SECONDS = 60.0


def study_application(
    study: Study,
    store: Store,
    book: StudyBook,
    load: Callable[..., Instrument],
    tokens: OneTimeTokens | None = None,
    used: Callable[[], None] = lambda: None,
) -> web.Application:
    """The pages of one study; `used` is called each time the owner's token was exchanged for a session."""
    owners = SessionsInMemory()
    app = application(SessionsOfBoth(owners, book))
    add_owner(app, owners, tokens or OneTimeTokens(), used, "/owner")
    app[STUDY] = study
    app[CARD] = load(study.config.instrument).card
    app[BOOK] = book
    app[STORE] = store
    app[SEATS] = Seats(store, load, book)
    app[CODES] = RateLimit(10, 60.0, 100)
    app.cleanup_ctx.append(_tidy)
    app.router.add_get("/join/{secret}", welcome_page)
    app.router.add_post("/join/{secret}", join)
    app.router.add_post("/join/{secret}/code", come_back)
    app.router.add_get("/take", take_page)
    app.router.add_post("/take", answer)
    app.router.add_post("/check", answer_check)
    app.router.add_get("/end", end_page)
    app.router.add_get("/stored", stored_page)
    app.router.add_post("/withdraw", withdraw)
    app.router.add_get("/owner", overview_page)
    return app


def refuse_unconfirmed(study: Study, confirmed: Mapping[str, str]) -> None:
    """Raises a UsageError if a role's model has an address or is a function and the user did not name it again."""
    for role, model in study.config.roles.items():
        if ("@" in model or model.startswith("python/")) and confirmed.get(role) != model:
            raise UsageError(
                f"role '{role}' of study {study.name} is played by {model}; confirm that with --role {role}={model}."
            )
    for role, model in confirmed.items():
        if study.config.roles.get(role) != model:
            raise UsageError(
                f"study {study.name} has no role '{role}' played by {model}; roles are set by 'study create'."
            )


async def _tidy(app: web.Application) -> AsyncIterator[None]:
    """Ends the runs of inactive participants, and all runs when the server stops."""

    async def rounds() -> None:
        while True:
            await asyncio.sleep(_ROUND_SECONDS)
            await app[SEATS].leave_idle()

    task = asyncio.create_task(rounds())
    yield
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
    await app[SEATS].close()


def serve_study(
    store: Path,
    name: str,
    load: Callable[..., Instrument],
    place: Place,
    tell: Callable[[str, str], None],
    *,
    confirmed: Mapping[str, str],
) -> None:
    """Serves a study until Ctrl-C; `tell` gets the link for participants, and a link for the owner that works once.

    `confirmed` are the roles that the user named again: if only a file names an address or a function, no key is sent
    to it and it is not called. The pages and the runs have their own thread, because every run would otherwise handle
    Ctrl-C itself.
    """
    stopped = threading.Event()
    book = StudyBook(book_path(store))
    try:
        study = book.study(name)
        refuse_unconfirmed(study, confirmed)
    except BaseException:
        book.close()
        raise
    failure: list[BaseException] = []

    async def main() -> None:
        # One server a study: nobody else may delete or play what this one holds in memory.
        with study_lock(store, name), Store(store) as opened:
            tokens = OneTimeTokens()

            def tell_links() -> None:
                url = server.address.url
                tell(f"{url}/join/{study.secret}", f"{url}/enter?token={tokens.make()}")

            server = Server(study_application(study, opened, book, load, tokens, tell_links), place)
            await server.start()
            tell_links()
            await asyncio.to_thread(stopped.wait)
            await server.stop()

    def work() -> None:
        try:
            asyncio.run(main())
        except BaseException as error:
            failure.append(error)
        finally:
            stopped.set()

    before = signal.signal(signal.SIGTERM, lambda *_: stopped.set())
    thread = threading.Thread(target=work, name="study")
    thread.start()
    try:
        while not stopped.wait(0.5):
            pass
    except KeyboardInterrupt:
        stopped.set()
    finally:
        thread.join()
        signal.signal(signal.SIGTERM, before)
        book.close()
    if failure:
        raise failure[0]
