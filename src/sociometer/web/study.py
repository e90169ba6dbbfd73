"""`sociometer study`: people take the same tests in the browser."""

import asyncio
import contextlib
import re
import secrets
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import closing
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from zipfile import ZIP_DEFLATED, ZipFile

from aiohttp import web
from msgspec import Struct

from sociometer.core.card import Card
from sociometer.core.conversation import Allocation
from sociometer.core.errors import UsageError, hint
from sociometer.core.instrument import Instrument
from sociometer.core.measure import Summary
from sociometer.results.participants import Scores, participants_table
from sociometer.results.study_tables import sheet_of, study_tables
from sociometer.statistics.formatting import column_decimals, estimate, interval_text, number
from sociometer.statistics.norms import ONLY_SHUFFLED
from sociometer.store import studies
from sociometer.store.erasing import Withdrawing, finish_withdrawals
from sociometer.store.store import Store
from sociometer.web import guard
from sociometer.web.errors import BAD_FORM, BadForm, Full
from sociometer.web.forms import (
    LONGEST_ABOUT,
    PeopleTexts,
    about_fields,
    about_of,
    fields_of,
    pattern_of,
    people_texts,
    reply_of,
)
from sociometer.web.rendering import Words, load_study_templates, owner_page, page, see_other, texts, words_for
from sociometer.web.seats import Question, Seats, Standing
from sociometer.web.serving import Place, guest_application, serve

PER_ADDRESS = 30
WAIT_SECONDS = 6.0
"""How long a request waits for the next question before it shows a page that waits."""
_ROUND_SECONDS = 60.0
_TICKET = re.compile(r"[\w-]{43}")
_TOO_MANY = "Too many people have joined from this network within an hour. Try again later, or ask the researchers."
STUDY = web.AppKey("study", studies.Study)
NOW = web.RequestKey("study", studies.Study)
"""The study as its owner has it now."""
CARDS: web.AppKey[dict[str, Card]] = web.AppKey("cards", dict)
BOOK = web.AppKey("book", studies.StudyBook)
STORE = web.AppKey("store", Store)
SEATS = web.AppKey("seats", Seats)
TEXTS: web.AppKey[dict[str, PeopleTexts]] = web.AppKey("texts", dict)
JOINS = web.AppKey("joins", guard.RateLimit)
LAB = web.AppKey("lab", bool)
"""Whether participants use this browser one after the other."""
PREVIEW = web.AppKey("preview", bool)
SCORES = web.AppKey("scores", Scores)
NEW_CODES: web.AppKey[dict[str, str]] = web.AppKey("new_codes", dict)


def study_page(
    request: web.Request, name: str, problem: str = "", status: int = BAD_FORM, **context: Any
) -> web.Response:
    """A page in the language of the study; `problem` is the key of what is wrong with a form, which gives `status`."""
    study = request[NOW]
    words = texts("study", study.language)
    return page(
        name,
        status=status if problem else 200,
        study=study,
        heading=study.title or words["untitled"],
        problem=words[problem].format_map(context) if problem else "",
        language=study.language,
        words=words,
        visitor=next((one for one in guard.known_visitors(request) if one.role == guard.PARTICIPANT), None),
        **{"lab": request.app[LAB], **context},
    )


async def admitted(request: web.Request) -> studies.Study:
    """The study as its owner has it now, for somebody who has its link."""
    guard.check_secret(request, request.app[STUDY].secret)
    request[NOW] = await asyncio.to_thread(request.app[BOOK].study, request.app[STUDY].name)
    return request[NOW]


async def standing_of(request: web.Request, *, withdrawing: bool = False) -> Standing:
    """How far the participant is who sent the request; who has asked to withdraw can only do that."""
    who = guard.visitor_of(request).who
    found = await request.app[SEATS].standing(who, request.app[STUDY])
    if found is None:
        raise web.HTTPForbidden(text="This browser has no session of this study.")
    if not withdrawing and found.withdrawing:
        raise Withdrawing(f"the withdrawal of {who} is not finished.")
    request[NOW] = found.study
    return found


def texts_of(request: web.Request, participant: studies.Participant) -> PeopleTexts:
    """The words of the instrument that a participant is at."""
    return request.app[TEXTS][request.app[SEATS].instrument(participant, request.app[STUDY])]


@guard.landing
async def welcome_page(request: web.Request) -> web.StreamResponse:
    """What the study is, what is stored, and the form to take part; who has joined continues."""
    study, book = await admitted(request), request.app[BOOK]
    if request.headers.get("Sec-Fetch-Site") == "cross-site":
        # The browser keeps our cookie back from a link on another site: the page opens itself once more.
        return study_page(request, "study_arrive.html", here=request.path_qs)
    # A panel may pass an answer on in the link, such as ?PROLIFIC_PID=… It fills in the form and opens nothing.
    named = [question.name for question in study.asked if question.name in request.query]
    said = {name: request.query[name].strip()[:LONGEST_ABOUT] for name in named}
    if request.app[LAB]:
        response = _welcome(request, said, lab=True)
        before = request.cookies.get(request.app[guard.ADDRESS].guest_cookie, "")
        await asyncio.to_thread(book.close_session, before)
        response.del_cookie(request.app[guard.ADDRESS].guest_cookie, path="/")
        return response
    present = await _present(request)
    if present is None:
        return _welcome(request, said)
    if _is_for(study, said, present):
        return see_other("/take")
    return _other_page(request, said)


async def _present(request: web.Request) -> studies.Participant | None:
    """The participant of this study whose session the browser has."""
    for visitor in guard.known_visitors(request):
        if visitor.role == guard.PARTICIPANT:
            participant = await asyncio.to_thread(request.app[BOOK].participant, visitor.who)
            if participant is not None and participant.study == request.app[STUDY].name:
                return participant
    return None


def _is_for(study: studies.Study, said: Mapping[str, str], participant: studies.Participant) -> bool:
    """Whether a link or form is this participant's: it has their panel id, or none."""
    ids = studies.panel_ids(study, said)
    return not any(ids.values()) or ids == studies.panel_ids(study, participant.about)


def _other_page(request: web.Request, said: Mapping[str, str]) -> web.Response:
    """Asks somebody who takes part whether to begin with another link: nothing ends a session unasked."""
    fields = [field for field in about_fields(request.app[STUDY].asked, after=False) if field.kind == "hidden"]
    given = {field.name: said.get(field.label, "") for field in fields}
    return study_page(request, "study_other.html", fields=fields, given=given)


@guard.only(guard.PARTICIPANT)
async def change_person(request: web.Request) -> web.StreamResponse:
    """Ends the session of this browser, and opens the link again with the ids that it had."""
    study, given = await admitted(request), await guard.form_of(request)
    fields = about_fields(study.asked, after=False)
    ids = {field.label: given[field.name] for field in fields if field.kind == "hidden" and given.get(field.name)}
    cookie_name = request.app[guard.ADDRESS].guest_cookie
    await asyncio.to_thread(request.app[BOOK].close_session, request.cookies.get(cookie_name, ""))
    response = see_other(f"/join/{study.secret}?{urlencode(ids)}")
    response.del_cookie(cookie_name, path="/")
    return response


def _welcome(
    request: web.Request, said: Mapping[str, str], problem: str = "", status: int = BAD_FORM, **context: Any
) -> web.Response:
    """The form to take part, filled in with what was `said`, by question or by field."""
    study = request.app[STUDY]
    fields = about_fields(study.asked, after=False)
    missing = not problem and any(field.kind == "hidden" and field.label not in said for field in fields)
    items = request.app[SEATS].count(study)
    filled = {
        "code": "",
        "asks_code": False,
        "ticket": secrets.token_urlsafe(32),
        "items": items,
        "agreed": False,
        **context,
    }
    given = {field.name: said.get(field.label, said.get(field.name, "")) for field in fields}
    problem = "link incomplete" if missing else problem
    filled["kinds"] = dict.fromkeys(_kinds(request))
    return study_page(request, "study_welcome.html", problem, status, fields=fields, given=given, **filled)


def _kinds(request: web.Request) -> Iterator[str]:
    """What the tasks of the study are to people, for the consent text."""
    for config in request.app[STUDY].parts.values():
        texts, card = request.app[TEXTS][config.instrument], request.app[CARDS][config.instrument]
        for task in config.tasks or card.default_tasks(official=config.official):
            yield "games" if task in texts.practice else "conversations" if task in texts.ended else "texts"


async def _admit(request: web.Request, participant: studies.Participant, to: str) -> web.Response:
    response = see_other(to)
    guard.set_cookie(request, response, await asyncio.to_thread(request.app[BOOK].open_session, participant))
    return response


@guard.landing
async def join(request: web.Request) -> web.StreamResponse:
    """Creates a participant who agreed to take part; a form that is sent twice makes one."""
    study, given, book = await admitted(request), await guard.form_of(request), request.app[BOOK]
    ticket = given.get("ticket", "")
    if given.get("decline"):
        return study_page(request, "study_left.html", outcome="no-consent")
    try:
        about = about_of(study.asked, given, after=False)
        if given.get("agree") != "yes" or not _TICKET.fullmatch(ticket):
            raise BadForm("must agree")
    except BadForm as error:
        return _welcome(request, given, str(error), BAD_FORM, agreed=given.get("agree") == "yes", **error.values)
    present = await _present(request)
    joined = await asyncio.to_thread(book.joined, study, ticket)
    if present is not None and (joined is None or joined.id != present.id):
        has_ids = bool(studies.panel_ids(study, about))
        if has_ids and _is_for(study, about, present):
            return see_other("/take")
        return _other_page(request, about)
    if joined is None:
        request.app[JOINS].check(guard.address_of(request))
        if not await asyncio.to_thread(book.has_place, study, about):
            raise Full(f"study {study.name} has all the participants it needs.")
    try:
        participant, code = await asyncio.to_thread(book.join, study, about, ticket)
    except studies.PanelIdUsed:
        # An id can be guessed, so it is counted like a wrong code.
        request.app[guard.CODES].check(guard.address_of(request))
        return _welcome(request, given, "panel id used", 403, asks_code=True)
    request.app[NEW_CODES][participant.id] = code
    return await _admit(request, participant, "/take" if participant.screened_out else "/code")


@guard.only(guard.PARTICIPANT)
async def code_page(request: web.Request) -> web.StreamResponse:
    """The code of somebody who has just joined; it is on no disk, so it is shown until the server stops."""
    code = request.app[NEW_CODES].get((await standing_of(request)).participant.id)
    return study_page(request, "study_code.html", code=studies.shown_code(code)) if code else see_other("/take")


@guard.landing
async def come_back(request: web.Request) -> web.StreamResponse:
    """Exchanges a code for a session; limits the rate of guesses from one network and of one code."""
    who, study = guard.address_of(request), await admitted(request)
    request.app[guard.CODES].require_room(who)
    code = (await guard.form_of(request)).get("code", "")[:40]
    found = await asyncio.to_thread(request.app[BOOK].with_code, study.name, code)
    if found is None:
        request.app[guard.CODES].check(who)
        request.app[guard.CODES].check(f"code {studies.plain_code(code)}")
        return _welcome(request, {}, "wrong code", 403, code=code, asks_code=True)
    if await asyncio.to_thread(request.app[BOOK].withdrawing, found.id):
        raise Withdrawing(f"the withdrawal of {found.id} is not finished.")
    return await _admit(request, found, "/take")


@guard.only(guard.PARTICIPANT)
async def take_page(request: web.Request) -> web.StreamResponse:
    """The current question, or the end."""
    seats, question = request.app[SEATS], None
    if (playing := seats.seated(guard.visitor_of(request).who)) is None:
        standing = await standing_of(request)
        if standing.participant.screened_out:
            return see_other("/end")
        playing = None if standing.finished else standing.participant
    if playing is not None:
        question = await seats.question(playing, request.app[STUDY], WAIT_SECONDS)
        standing = await standing_of(request)
    if (check := _check_due(standing)) is not None:
        return _check_page(request, standing, check)
    if question is not None:
        return await _question_page(request, standing, question)
    if standing.finished:
        return see_other("/end")
    return study_page(request, "study_wait.html")


@guard.only(guard.PARTICIPANT)
async def answer(request: web.Request) -> web.StreamResponse:
    """Takes an answer, waits until it is on disk, and goes to the next question."""
    given, seats, study = await guard.form_of(request), request.app[SEATS], request.app[STUDY]
    if (participant := seats.seated(guard.visitor_of(request).who)) is None:
        standing = await standing_of(request)
        participant = None if standing.finished else standing.participant
    question = None if participant is None else await seats.question(participant, study, WAIT_SECONDS)
    if participant is None or question is None or given.get("number") != str(question.number):
        # Sent twice, or from a page that was left open: the answer that counts is the first.
        return see_other("/take")
    try:
        said = reply_of(question.answer_format, given, texts_of(request, participant))
    except BadForm as error:
        standing = await standing_of(request)
        return await _question_page(request, standing, question, str(error), given=given, **error.values)
    pattern = pattern_of(question.answer_format, given)
    await seats.give(participant, study, question.number, said, WAIT_SECONDS, pattern, given.get("spent", ""))
    # Where a conversation goes on, the page has this place: the newest line and the form.
    return see_other("/take#form")


@guard.only(guard.PARTICIPANT)
async def answer_check(request: web.Request) -> web.StreamResponse:
    """Takes the answer to an attention check that is due."""
    standing, given = await standing_of(request), await guard.form_of(request)
    check = _check_due(standing)
    if check is None or given.get("number") != str(check.number):
        return see_other("/take")
    said = given.get("answer", "")
    if said not in check.options:
        return _check_page(request, standing, check, "choose one")
    await asyncio.to_thread(request.app[BOOK].add_check, standing.participant.id, check.number, said == check.right)
    return see_other("/take")


class Check(Struct, frozen=True):
    """One attention check; it is asked once `after` items are done."""

    number: int
    after: int
    options: tuple[str, ...]
    right: str


def checks_of(study: studies.Study, participant: str, planned: int) -> tuple[Check, ...]:
    """The checks of a participant: always the same ones, at random places."""
    lots = studies.check_lots(study, participant)
    made = []
    for place, after in enumerate(studies.check_places(study, lots, planned)):
        options = texts("study", study.language)["check options"].split("|")
        lots.shuffle(options)
        made.append(Check(place, after, tuple(options), lots.choice(options)))
    return tuple(made)


def _check_due(standing: Standing) -> Check | None:
    """The attention check before the next question, if one is due."""
    checks = checks_of(standing.study, standing.participant.id, standing.planned) if standing.study.attention else ()
    due = (check for check in checks if check.after <= standing.done and check.number not in standing.checks)
    return next(due, None)


def _check_page(request: web.Request, standing: Standing, check: Check, problem: str = "") -> web.Response:
    shown: dict[str, Any] = {"title": "check title", "action": "/check", "check": check}
    return study_page(request, "study_form.html", problem, done=standing.done, planned=standing.planned, **shown)


async def _question_page(
    request: web.Request, standing: Standing, question: Question, problem: str = "", **context: Any
) -> web.Response:
    wanted, shown = question.answer_format, texts_of(request, standing.participant)
    words = texts("study", request.app[STUDY].language)
    fields = fields_of(wanted, shown)
    folded = [shown.split(message.content)[1] for message in question.messages] if question.turn else []
    return study_page(
        request,
        "study_question.html",
        problem,
        question=question,
        fields=fields,
        done=standing.done,
        planned=standing.planned,
        part=words["part"].format(part=question.turn + 1) if question.turn else "",
        # Where nobody knows how many questions follow, each moves the bar less than the one before.
        share=question.turn / (question.turn + 3),
        texts=shown,
        total=f"{wanted.total:g}" if isinstance(wanted, Allocation) else "",
        goes_on=any(folded),
        happened="" if question.turn else await request.app[SEATS].what_happened(standing.participant, shown),
        **{"given": {}, **context},
    )


@guard.only(guard.PARTICIPANT)
async def end_page(request: web.Request) -> web.StreamResponse:
    """Thanks a participant who has answered everything; shows the primary numbers if the study shows any.

    Before that come the questions about the person that are asked after the items.
    """
    standing, seats = await standing_of(request), request.app[SEATS]
    participant, study = standing.participant, standing.study
    if participant.screened_out:
        return study_page(request, "study_left.html", outcome="screened-out")
    if not standing.finished:
        return see_other("/take")
    if about_fields(study.asked, after=True) and not participant.asked_after:
        return _after_page(request)
    summaries = await asyncio.to_thread(seats.summaries, participant) if study.shows != "nothing" else []
    named = {name: one.results for name, one in request.app[TEXTS].items()}
    lines = [
        (named[instrument][label], known, measure, known.human)
        for instrument, task, made in summaries
        for known in request.app[CARDS][instrument].measures_of(task)
        if (label := f"{task}.{known.name}") in named[instrument]
        and (measure := made.find(known.name)) is not None
        and measure.value is not None
    ]
    places = (place_of(summary) for *_, summary in summaries if study.shows == "place")
    wrong = sum(not passed for passed in standing.checks.values())
    return study_page(
        request,
        "study_end.html",
        lines=lines,
        preview=request.app[PREVIEW],
        outcome="failed-checks" if wrong > study.allowed_failures else "finished",
        place=next(filter(None, places), None),
        number=number,
        interval_text=interval_text,
        translate=Words(study.language),
        happened=await seats.what_happened(participant, texts_of(request, participant)),
    )


def _after_page(request: web.Request, problem: str = "", **context: Any) -> web.Response:
    fields = about_fields(request.app[STUDY].asked, after=True)
    shown = {"title": "about you", "action": "/after", "fields": fields, "given": {}, **context}
    return study_page(request, "study_form.html", problem, **shown)


@guard.only(guard.PARTICIPANT)
async def answer_after(request: web.Request) -> web.StreamResponse:
    """Takes the answers about the person after the items."""
    participant, given = (await standing_of(request)).participant, await guard.form_of(request)
    try:
        about = about_of(request.app[STUDY].asked, given, after=True)
    except BadForm as error:
        return _after_page(request, str(error), given=given, **error.values)
    await asyncio.to_thread(request.app[BOOK].add_about, participant.id, about)
    return see_other("/end")


def place_of(summary: Summary) -> dict[str, str | int]:
    """The EQ and the share of the norm's people with a worse one, as `run` shows them; empty without them or a norm."""
    norm, measures = summary.series.get("norm"), (summary.find(name) for name in ("eq", "percentile"))
    found = [one for one in measures if one and one.interval and one.interval.low is not None]
    if norm is None or len(found) < 2 or any(ONLY_SHUFFLED in one.note for one in found):
        return {}
    (eq, bounds), (percent, share) = (
        (number(one.value, unit, interval=one.interval), interval_text(one.interval, unit))
        for one, unit in zip(found, ("points", "share"), strict=True)
    )
    return {"eq": eq, "bounds": bounds, "percent": percent, "share": share, "people": int(norm["people"])}


@guard.only(guard.PARTICIPANT)
async def stored_page(request: web.Request) -> web.StreamResponse:
    """What is stored about the participant."""
    return study_page(request, "study_stored.html", about=(await standing_of(request)).participant.about)


@guard.only(guard.PARTICIPANT)
async def withdraw_page(request: web.Request) -> web.StreamResponse:
    """Deletes everything about the participant, who is asked once more before."""
    participant = (await standing_of(request, withdrawing=True)).participant
    if (await guard.form_of(request)).get("sure") != "yes":
        return study_page(request, "study_withdraw.html")
    erased = await request.app[SEATS].withdraw(participant)
    response = study_page(request, "study_withdrawn.html", erased=erased)
    request.app[NEW_CODES].pop(participant.id, None)
    response.del_cookie(request.app[guard.ADDRESS].guest_cookie, path="/")
    return response


@guard.only(guard.OWNER)
async def overview_page(request: web.Request) -> web.StreamResponse:
    """The participants of the study."""
    book, words, scores = request.app[BOOK], words_for(request), request.app[SCORES]
    study = await asyncio.to_thread(book.study, request.app[STUDY].name)
    said = partial(participants_table, say=lambda rule: words(rule.text, **rule.values))
    table = await asyncio.to_thread(said, study, book, request.app[STORE], scores)
    own, asked = len(table.columns) - len(study.questions), study.questions  # which may have the name of a column
    about = [
        "; ".join(f"{one}: {said}" for one, said in zip(asked, row[own:], strict=True) if said) for row in table.rows
    ]
    results = await asyncio.to_thread(lambda: list(scores.of_people(study.name)))
    started = await asyncio.to_thread(book.started, study.name)
    people = table.only(range(own)).records()
    return owner_page(
        request, "study_overview.html", visitor=guard.visitor_of(request), study=study, cards=request.app[CARDS],
        started=started, table=table, people=people, about=about, results=results, missing=studies.missing_rule(),
        rules=studies.flag_rules(study), number=number, estimate=estimate, preview=request.app[PREVIEW],
        digits={one: column_decimals(people, one, unit) for one, unit in table.units.items()}, places=column_decimals,
    )  # fmt: skip


@guard.only(guard.OWNER)
async def data_file(request: web.Request) -> web.StreamResponse:
    """The files of `study export`, in one archive."""
    name = request.app[STUDY].name
    tables = await asyncio.to_thread(study_tables, request.app[STORE], name, request.app[SCORES].load)
    with BytesIO() as packed:
        with ZipFile(packed, "w", ZIP_DEFLATED) as archive:
            for table, content in tables.items():
                archive.writestr(f"{name}/{table}.csv", sheet_of(content))
        sent = {"Content-Disposition": f'attachment; filename="{name}.zip"'}
        return web.Response(body=packed.getvalue(), content_type="application/zip", headers=sent)


def study_application(
    study: studies.Study,
    store: Store,
    book: studies.StudyBook,
    load: Callable[..., Instrument],
    per_address: int = PER_ADDRESS,
    *,
    lab: bool = False,
    preview: bool = False,
) -> web.Application:
    """The pages of one study; from one network address, at most `per_address` people can join in an hour.

    In a `lab` people use one browser after the other: the link begins with the next of them.
    """
    store.flush()  # creates the store, so that other commands find it before the first answer
    app = guest_application(book.session, study.language)
    instruments = {one.instrument: load(one.instrument) for one in study.parts.values()}
    app[CARDS] = {name: one.card for name, one in instruments.items()}
    app[TEXTS] = {name: people_texts(one, study.language) for name, one in instruments.items()}
    app[STUDY], app[BOOK], app[STORE], app[SEATS] = study, book, store, Seats(store, load, book)
    app[SCORES], app[JOINS] = Scores(store, load), guard.RateLimit(per_address, 3600.0, _TOO_MANY)
    app[NEW_CODES], app[LAB], app[PREVIEW] = {}, lab, preview
    app.cleanup_ctx.append(_tidy)
    app.router.add_get("/join/{secret}", welcome_page)
    app.router.add_post("/join/{secret}", join)
    app.router.add_post("/join/{secret}/code", come_back)
    app.router.add_post("/join/{secret}/other", change_person)
    app.router.add_get("/code", code_page)
    app.router.add_get("/take", take_page)
    app.router.add_post("/take", answer)
    app.router.add_post("/check", answer_check)
    app.router.add_get("/end", end_page)
    app.router.add_post("/after", answer_after)
    app.router.add_get("/stored", stored_page)
    app.router.add_post("/withdraw", withdraw_page)
    app.router.add_get("/owner", overview_page)
    app.router.add_get("/owner/data.zip", data_file)
    return app


def refuse_models(study: studies.Study, cards: Mapping[str, Card]) -> None:
    """Raises a UsageError for a study of version 0.3 in which a model talks with people: a study calls no model."""
    if study.imported:
        raise UsageError(f"the talks of study {study.name} were imported, so nobody can join it.")
    for config in study.parts.values():
        rules = {role.name: role.default for role in cards[config.instrument].role}
        models = [config.subject] * (config.subject != studies.PERSON)
        models += [model for role, model in config.roles.items() if model not in (studies.PERSON, rules.get(role))]
        if models:
            read = hint("study show", study.name)
            raise UsageError(
                f"study {study.name}, made by version 0.3, calls {models[0]}, and a study never calls a model now."
                f" What people did in it can be read: {read}."
            )


async def _tidy(app: web.Application) -> AsyncIterator[None]:
    """Finishes withdrawals, ends the runs of inactive participants, and all runs when the server stops."""

    async def rounds() -> None:
        while True:
            await asyncio.to_thread(finish_withdrawals, app[STORE].database, app[STORE].forget)
            await asyncio.sleep(_ROUND_SECONDS)
            await app[SEATS].leave_idle()

    task = asyncio.create_task(rounds())
    yield
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
    await app[SEATS].close()


def serve_study(
    store: Path, name: str, load: Callable[..., Instrument], place: Place, tell: Callable[[str, str], None],
    per_address: int = PER_ADDRESS, *, lab: bool = False, preview: bool = False,
) -> None:  # fmt: skip
    """Serves a study until Ctrl-C; `tell` gets the link for participants, and a link for the owner that works once."""
    with closing(studies.StudyBook(studies.book_path(store))) as book:
        study = book.study(name)
        refuse_models(study, {one.instrument: load(one.instrument).card for one in study.parts.values()})
        # One server a study: nobody else may delete or play what this one holds in memory.
        with studies.study_lock(store, name), Store(store) as opened:
            app = study_application(study, opened, book, load, per_address, lab=lab, preview=preview)

            def prepare() -> None:
                load_study_templates()
                app[SEATS].prepare(study)

            serve(app, place, lambda owner: tell(f"{app[guard.ADDRESS].url}/join/{study.secret}", owner), prepare)
