"""What the pages of a queue use, and who sent the request."""

from typing import Any

from aiohttp import web

from sociometer.store.labels import Label, LabelBook, Queue
from sociometer.web.annotate.words import words_of
from sociometer.web.guard import RATER, RateLimit, visitor_of
from sociometer.web.rendering import page

QUEUE = web.AppKey("queue", Queue)
BOOK = web.AppKey("label_book", LabelBook)
CODES = web.AppKey("rater_codes", RateLimit)


class RaterSessions:
    """The sessions of the raters of one queue."""

    def __init__(self, book: LabelBook, queue: str) -> None:
        self._book, self._queue = book, queue

    def find(self, cookie: str) -> tuple[str, str] | None:
        """The role and the rater behind a cookie."""
        rater = self._book.session(self._queue, cookie)
        return None if rater is None else (RATER, rater)


def rater_page(request: web.Request, name: str, *, status: int = 200, **context: Any) -> web.Response:
    """A page in the language of the queue."""
    queue = request.app[QUEUE]
    return page(
        name, status=status, queue=queue, language=queue.language, words=words_of(queue.language),
        secret=queue.secret, **context,
    )  # fmt: skip


def rater_of(request: web.Request) -> str:
    """The rater who sent the request."""
    return visitor_of(request).who


def own_labels(request: web.Request) -> dict[str, Label]:
    """The rater's own labels, by unit; labels of others are not read."""
    book, queue, rater = request.app[BOOK], request.app[QUEUE], rater_of(request)
    tasks = book.tasks(queue.name, rater)
    found = (book.label(queue.name, given.unit, rater) for given in tasks)
    return {label.unit: label for label in found if label is not None}
