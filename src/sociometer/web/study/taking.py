"""The page with one question, and what happens to the answer."""

from aiohttp import web

from sociometer.core.conversation import Allocation
from sociometer.core.errors import SociometerError
from sociometer.web.guard import PARTICIPANT, only, visitor_of
from sociometer.web.rendering import see_other
from sociometer.web.study.attention import Check, check_due, checks_of
from sociometer.web.study.forms import BadAnswer, fields_of, pattern_of, reply_of
from sociometer.web.study.pages import BOOK, SEATS, STUDY, form_of, participant_of, study_page
from sociometer.web.study.player import Question
from sociometer.web.study.seats import Paused
from sociometer.web.study.words import words_of

WAIT_SECONDS = 6.0
"""How long a request waits for the next question before it shows that another role is still answering."""


@only(PARTICIPANT)
async def take_page(request: web.Request) -> web.StreamResponse:
    """The current question, or the end."""
    question = await _question(request)
    if (check := _check_due(request)) is not None:
        return _check_page(request, check)
    if question is not None:
        return _question_page(request, question)
    if request.app[SEATS].finished(participant_of(request)):
        return see_other("/end")
    return study_page(request, "study_wait.html", visitor=visitor_of(request))


@only(PARTICIPANT)
async def answer(request: web.Request) -> web.StreamResponse:
    """Takes an answer, waits until it is on disk, and goes to the next question."""
    participant, study, seats = participant_of(request), request.app[STUDY], request.app[SEATS]
    given = await form_of(request)
    question = await _question(request)
    number = given.get("number", "")
    if question is None or number != str(question.number):
        # Sent twice, or from a page that was left open: the answer that counts is the first.
        return see_other("/take")
    try:
        said = reply_of(question.answer_format, given)
    except BadAnswer as error:
        return _question_page(request, question, error.problem, given)
    pattern = pattern_of(question.answer_format, given)
    await seats.give(participant, study, question.number, said, WAIT_SECONDS, pattern)
    return see_other("/take")


@only(PARTICIPANT)
async def answer_check(request: web.Request) -> web.StreamResponse:
    """Takes the answer to an attention check that is due."""
    participant, given, check = participant_of(request), await form_of(request), _check_due(request)
    if check is None or given.get("number") != str(check.number):
        return see_other("/take")
    said = given.get("answer", "")
    if said not in check.options:
        return _check_page(request, check, "choose one")
    request.app[BOOK].add_check(participant.id, check.number, said == check.right)
    return see_other("/take")


def _check_due(request: web.Request) -> Check | None:
    """The attention check before the next question, if one is due."""
    study, participant = request.app[STUDY], participant_of(request)
    if not study.attention:
        return None
    done, planned = request.app[SEATS].progress(participant)
    answered = request.app[BOOK].checks(participant.id)
    return check_due(checks_of(study, participant.id, planned), answered, done)


def _check_page(request: web.Request, check: Check, problem: str = "") -> web.Response:
    known = words_of(request.app[STUDY].language)
    return study_page(
        request,
        "study_check.html",
        status=422 if problem else 200,
        visitor=visitor_of(request),
        check=check,
        problem=known[problem] if problem else "",
    )


async def _question(request: web.Request) -> Question | None:
    """The participant's current question; if the study cannot continue, a page that says so."""
    study = request.app[STUDY]
    words = words_of(study.language)
    try:
        return await request.app[SEATS].question(participant_of(request), study, WAIT_SECONDS)
    except Paused as error:
        raise web.HTTPServiceUnavailable(text=words["paused"], headers={"Retry-After": "600"}) from error
    except SociometerError as error:
        raise web.HTTPConflict(text=words["changed"]) from error


def _question_page(
    request: web.Request, question: Question, problem: str = "", given: dict[str, str] | None = None
) -> web.Response:
    wanted = question.answer_format
    total = f"{wanted.total:g}" if isinstance(wanted, Allocation) else ""
    done, planned = request.app[SEATS].progress(participant_of(request))
    known = words_of(request.app[STUDY].language)
    return study_page(
        request,
        "study_question.html",
        status=422 if problem else 200,
        visitor=visitor_of(request),
        question=question,
        fields=fields_of(wanted),
        total=total,
        problem=known[problem].format(total=total) if problem else "",
        given=given or {},
        done=done,
        planned=planned,
    )
