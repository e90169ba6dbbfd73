"""The way in: the one-time token of the printed link becomes a session, and a session can be ended."""

from collections.abc import Callable

from aiohttp import web

from sociometer.web.guard import ADDRESS, SESSIONS, OneTimeTokens, RateLimit, SessionsInMemory, landing, set_cookie
from sociometer.web.rendering import page, see_other
from sociometer.web.view.desk import DESK

OWNER = "owner"
TOKENS = web.AppKey("tokens", OneTimeTokens)
ATTEMPTS = web.AppKey("attempts", RateLimit)
USED: web.AppKey[Callable[[], None]] = web.AppKey("used", Callable)  # type: ignore[arg-type]


@landing
async def enter_page(request: web.Request) -> web.StreamResponse:
    """A form with the token: it is not used up by a program that only looks at the link."""
    return page("enter.html", token=request.query.get("token", ""))


@landing
async def enter(request: web.Request) -> web.StreamResponse:
    """Exchanges the token for a session."""
    who = request.remote or ""
    request.app[ATTEMPTS].check(who)
    given = (await request.post()).get("token", "")
    if not isinstance(given, str) or not request.app[TOKENS].use(given):
        raise web.HTTPForbidden(text="This link was used before or is of another server. The terminal shows a new one.")
    request.app[ATTEMPTS].forgive(who)
    sessions = request.app[SESSIONS]
    assert isinstance(sessions, SessionsInMemory)
    response = see_other("/")
    set_cookie(request, response, sessions.open(OWNER))
    request.app[USED]()
    return response


async def leave(request: web.Request) -> web.StreamResponse:
    """Ends the session."""
    sessions, address = request.app[SESSIONS], request.app[ADDRESS]
    assert isinstance(sessions, SessionsInMemory)
    sessions.close(request.cookies.get(address.cookie, ""))
    response = page("message.html", title="Session ended", message="Restart the command for a new link.")
    response.del_cookie(address.cookie, path="/")
    return response


async def front(request: web.Request) -> web.StreamResponse:
    """The first store."""
    return see_other(f"/s/{next(iter(request.app[DESK].stores))}/")
