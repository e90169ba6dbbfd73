"""The start of a study: consent, questions about the person, a code; and the return with the code."""

from hmac import compare_digest

from aiohttp import web

from sociometer.web.guard import landing, set_cookie
from sociometer.web.rendering import see_other
from sociometer.web.study.book import shown_code
from sociometer.web.study.pages import BOOK, CODES, KEEP_SECONDS, STUDY, form_of, study_page
from sociometer.web.study.words import words_of

LONGEST_ABOUT = 500


def _check_link(request: web.Request) -> None:
    """Answers 404 without the secret of the link, so that others do not learn that there is a study."""
    if not compare_digest(request.match_info["secret"].encode(), request.app[STUDY].secret.encode()):
        raise web.HTTPNotFound


@landing
async def welcome_page(request: web.Request) -> web.StreamResponse:
    """What the study is, what is stored, and the form to take part."""
    _check_link(request)
    return study_page(request, "study_welcome.html", problem="", about={})


@landing
async def join(request: web.Request) -> web.StreamResponse:
    """Creates a participant who agreed to take part, and shows the code once."""
    _check_link(request)
    given, study = await form_of(request), request.app[STUDY]
    about = {name: given.get(f"about-{place}", "").strip() for place, name in enumerate(study.questions)}
    about = {name: said[:LONGEST_ABOUT] for name, said in about.items() if said}
    if given.get("agree") != "yes":
        problem = words_of(study.language)["must agree"]
        return study_page(request, "study_welcome.html", status=422, problem=problem, about=about)
    joined = request.app[BOOK].join(study, about)
    if joined is None:
        raise web.HTTPForbidden(text=words_of(study.language)["full"])
    participant, code = joined
    response = study_page(request, "study_code.html", code=shown_code(code))
    set_cookie(request, response, request.app[BOOK].open_session(participant), KEEP_SECONDS)
    return response


@landing
async def come_back(request: web.Request) -> web.StreamResponse:
    """Exchanges a code for a session; limits the rate of guesses."""
    _check_link(request)
    who, study = request.remote or "", request.app[STUDY]
    request.app[CODES].check(who)
    found = request.app[BOOK].with_code(study.name, (await form_of(request)).get("code", ""))
    if found is None:
        problem = words_of(study.language)["wrong code"]
        return study_page(request, "study_welcome.html", status=403, problem=problem, about={})
    request.app[CODES].forgive(who)
    response = see_other("/take")
    set_cookie(request, response, request.app[BOOK].open_session(found), KEEP_SECONDS)
    return response
