"""What the pages of a study use: the study, its book, and the sender of the request."""

from typing import Any

from aiohttp import web

from sociometer.core.card import Card
from sociometer.store.store import Store
from sociometer.web.guard import RateLimit, visitor_of
from sociometer.web.rendering import page
from sociometer.web.study.book import StudyBook
from sociometer.web.study.records import Participant, Study
from sociometer.web.study.seats import Seats
from sociometer.web.study.words import words_of

STUDY = web.AppKey("study", Study)
CARD = web.AppKey("card", Card)
BOOK = web.AppKey("book", StudyBook)
STORE = web.AppKey("store", Store)
SEATS = web.AppKey("seats", Seats)
CODES = web.AppKey("codes", RateLimit)
KEEP_SECONDS = 90 * 86_400


def study_page(request: web.Request, name: str, *, status: int = 200, **context: Any) -> web.Response:
    """A page in the language of the study."""
    study = request.app[STUDY]
    return page(
        name, status=status, study=study, language=study.language, words=words_of(study.language),
        secret=study.secret, **context,
    )  # fmt: skip


def participant_of(request: web.Request) -> Participant:
    """The participant of this study who sent the request."""
    found = request.app[BOOK].participant(visitor_of(request).who)
    if found is None or found.study != request.app[STUDY].name:
        raise web.HTTPForbidden(text="This browser has no session of this study.")
    return found


async def form_of(request: web.Request) -> dict[str, str]:
    """The text fields of a form."""
    return {name: value for name, value in (await request.post()).items() if isinstance(value, str)}
