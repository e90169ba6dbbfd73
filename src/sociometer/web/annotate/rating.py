"""The raters' pages: sign in with a code, label one unit per page, skip with a reason, and come back."""

import re
import time
from collections.abc import Mapping
from typing import Any

from aiohttp import web

from sociometer.results.corrected import PART, unsettled
from sociometer.store.labels import Asked, Label, LabelBook, Queue, Unit
from sociometer.web.guard import CODES, RATER, address_of, check_secret, form_of, landing, only, set_cookie, visitor_of
from sociometer.web.owner import texts
from sociometer.web.rendering import page, see_other

QUEUE = web.AppKey("queue", Queue)
BOOK = web.AppKey("label_book", LabelBook)
LONGEST_REASON = 500
SHOWN_LETTERS = 90


class BadLabel(Exception):
    """A form that makes no label; the text is a key of `texts/rating.*.toml`."""


@landing
async def welcome_page(request: web.Request) -> web.StreamResponse:
    """Asks for the code."""
    check_secret(request, request.app[QUEUE].secret)
    return rater_page(request, "rate_welcome.html")


@landing
async def sign_in(request: web.Request) -> web.StreamResponse:
    """Exchanges a code for a session; limits the rate of guesses."""
    check_secret(request, request.app[QUEUE].secret)
    who, queue, book = address_of(request), request.app[QUEUE], request.app[BOOK]
    request.app[CODES].check(who)
    rater = book.with_code(queue.name, (await form_of(request)).get("code", ""))
    if rater is None:
        return rater_page(request, "rate_welcome.html", "wrong code", 403)
    request.app[CODES].forgive(who)
    response = see_other("/rate")
    set_cookie(request, response, book.open_session(queue.name, rater))
    return response


@only(RATER)
async def rate_page(request: web.Request) -> web.StreamResponse:
    """The unit that the query names, or the next one without a label."""
    wanted = request.query.get("unit", "")
    if wanted:
        _own_unit(request, wanted)
        return _unit_page(request, wanted)
    labels = own_labels(request)
    tasks = request.app[BOOK].tasks(request.app[QUEUE].name, rater_of(request))
    waiting = next((given.unit for given in tasks if given.unit not in labels), None)
    if waiting is not None:
        return _unit_page(request, waiting)
    if any(label.skipped for label in labels.values()):
        return see_other("/own")
    return rater_page(request, "rate_done.html")


@only(RATER)
async def rate(request: web.Request) -> web.StreamResponse:
    """Stores a label, or the reason why the unit was skipped."""
    queue, book, rater = request.app[QUEUE], request.app[BOOK], rater_of(request)
    given = await form_of(request)
    unit = _own_unit(request, given.get("unit", ""))
    began = given.get("began", "")
    seconds = max(0.0, time.time() - float(began)) if began.replace(".", "", 1).isdecimal() and len(began) < 20 else 0.0
    try:
        if given.get("action") == "skip":
            reason = given.get("reason", "").strip()[:LONGEST_REASON]
            if not reason:
                raise BadLabel("need reason")
            book.put(queue.name, Label(unit.id, rater, skipped=reason, seconds=round(seconds, 1)))
        else:
            answers = {asked.column: _answer(asked, given) for asked in queue.asked}
            book.put(queue.name, Label(unit.id, rater, answers, seconds=round(seconds, 1)))
            settle(request, unit)
    except BadLabel as error:
        return _unit_page(request, unit.id, str(error), given)
    return see_other("/rate")


@only(RATER)
async def own_page(request: web.Request) -> web.StreamResponse:
    """The rater's own labels, those skipped first, each with a link to change it."""
    units = request.app[BOOK].units(request.app[QUEUE].name)
    labels = sorted(own_labels(request).values(), key=lambda label: not label.skipped)
    rows = [(label, _first_words(units[label.unit])) for label in labels if label.unit in units]
    return rater_page(request, "rate_own.html", rows=rows, named=answer_name)


def _first_words(unit: Unit) -> str:
    """The beginning of the text that tells units apart."""
    replies = [text for name, text in unit.shown.items() if name in LAST_REPLY]
    text = max(replies or unit.shown.values(), key=len, default=unit.id)
    return text if len(text) <= SHOWN_LETTERS else text[:SHOWN_LETTERS] + " …"


def answer_name(asked: Asked, said: str) -> str:
    """An answer as the page names it."""
    if asked.names and said in asked.values:
        return asked.names[asked.values.index(said)]
    return {"y": "yes", "n": "no"}.get(said, said)


TALK = ("talk", "对话")
LAST_REPLY = ("last reply", "最后一条回复")
PART_QUESTION = ("question", "问题")
_SPEAKER = re.compile(r"^([^\s:：][^:：\n]{0,19})[:：] ?", re.MULTILINE)


def turns_of(text: str) -> list[tuple[str, str]]:
    """A dialogue as (speaker, words); only the first two speakers count, so that words before a colon stay words."""
    names: dict[str, None] = {}
    starts = []
    for found in _SPEAKER.finditer(text):
        if len(names) < 2 or found[1] in names:
            names[found[1]] = None
            starts.append(found)
    if not starts or starts[0].start():
        return [("", text)]
    ends = [*(one.start() for one in starts[1:]), len(text)]
    return [(one[1], text[one.end() : end].strip()) for one, end in zip(starts, ends, strict=True)]


def settle(request: web.Request, unit: Unit) -> None:
    """Gives a unit to one more rater if those who have labelled it disagree."""
    queue, book = request.app[QUEUE], request.app[BOOK]
    if not unsettled(queue, [one for one in book.labels(queue.name) if one.unit == unit.id]):
        return
    tasks = {rater: book.tasks(queue.name, rater) for rater in book.present_raters(queue.name)}
    free = [rater for rater, given in tasks.items() if unit.id not in [one.unit for one in given]]
    if free:
        book.give(queue.name, min(free, key=lambda rater: len(tasks[rater])), unit.id)


def _own_unit(request: web.Request, name: str) -> Unit:
    """A unit of the rater's own; 403 for those of others."""
    book, queue = request.app[BOOK], request.app[QUEUE]
    own = [given.unit for given in book.tasks(queue.name, rater_of(request))]
    unit = book.unit(queue.name, name) if name in own else None
    if unit is None:
        raise web.HTTPForbidden(text="This unit belongs to another rater.")
    return unit


def _answer(asked: Asked, given: Mapping[str, str]) -> str:
    said = given.get(f"answer-{asked.column}", "").strip()
    if asked.problem(said):
        raise BadLabel("choose one" if asked.values else "a number")
    return said if asked.values else f"{float(said):g}"


def _unit_page(
    request: web.Request, name: str, problem: str = "", given: Mapping[str, str] | None = None
) -> web.Response:
    queue, book = request.app[QUEUE], request.app[BOOK]
    tasks, labels = book.tasks(queue.name, rater_of(request)), own_labels(request)
    before = labels.get(name)
    filled = dict(given or {}) or {
        f"answer-{column}": said for column, said in (before.answers if before else {}).items()
    }
    unit = _own_unit(request, name)
    settles = any(one.unit == name and one.settles for one in tasks)
    others = [one for one in book.labels(queue.name) if one.unit == name and one.rater != rater_of(request)]
    return rater_page(
        request, "rate_unit.html", problem, visitor=visitor_of(request), unit=unit, settles=settles,
        # Only who settles a disagreement sees what others said, without their names and in no order of theirs.
        others=sorted((one.answers for one in others if one.answers), key=str) if settles else [],
        leads=PART_QUESTION if PART in unit.key else (), named=answer_name, turns_of=turns_of,
        talk_columns=TALK, reply_columns=LAST_REPLY, planned=len(tasks), given=filled, began=f"{time.time():.1f}",
        done=sum(bool(label.answers) for label in labels.values()),
        skipped=sum(bool(label.skipped) for label in labels.values()),
    )  # fmt: skip


def rater_page(request: web.Request, name: str, problem: str = "", status: int = 422, **context: Any) -> web.Response:
    """A page in the language of the queue; `problem` is the key of what is wrong with a form, which gives `status`."""
    queue, words = request.app[QUEUE], texts("rating", request.app[QUEUE].language)
    return page(
        name, status=status if problem else 200, queue=queue, language=queue.language, words=words,
        problem=words[problem] if problem else "", **context,
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
