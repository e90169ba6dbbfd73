"""Signs the owner in: exchanges the one-time token of the printed link for a session, and ends sessions."""

from collections.abc import Callable

from aiohttp import web

from sociometer.web.guard import (
    ADDRESS,
    ATTEMPTS,
    HOME,
    OWNER,
    OWNERS,
    TOKENS,
    USED,
    OneTimeTokens,
    RateLimit,
    SessionsInMemory,
    address_of,
    form_of,
    landing,
    only,
    set_cookie,
)
from sociometer.web.language import owner_page, set_language
from sociometer.web.rendering import see_other


def add_owner(
    app: web.Application, sessions: SessionsInMemory, tokens: OneTimeTokens, used: Callable[[], None], home: str
) -> None:
    """Signs the owner in with a token; `used` is called each time one is used, `home` is the owner's first page."""
    app[TOKENS], app[OWNERS], app[USED], app[HOME] = tokens, sessions, used, home
    app[ATTEMPTS] = RateLimit(10, 60.0, 100)
    app.router.add_get("/enter", enter_page)
    app.router.add_post("/enter", enter)
    app.router.add_post("/leave", leave)
    app.router.add_post("/language", set_language)


@landing
async def enter_page(request: web.Request) -> web.StreamResponse:
    """A form with the token, so that a program that only opens the link does not use it up."""
    return owner_page(request, "enter.html", token=request.query.get("token", ""))


@landing
async def enter(request: web.Request) -> web.StreamResponse:
    """Exchanges the token for a session."""
    who = address_of(request)
    request.app[ATTEMPTS].check(who)
    if not request.app[TOKENS].use((await form_of(request)).get("token", "")):
        raise web.HTTPForbidden(
            text="This link was used before or belongs to another server. The terminal shows a new one."
        )
    request.app[ATTEMPTS].forgive(who)
    response = see_other(request.app[HOME])
    set_cookie(request, response, request.app[OWNERS].open(OWNER), guest=False)
    request.app[USED]()
    return response


@only(OWNER)
async def leave(request: web.Request) -> web.StreamResponse:
    """Ends the session."""
    cookie = request.app[ADDRESS].cookie
    request.app[OWNERS].close(request.cookies.get(cookie, ""))
    response = owner_page(request, "left.html")
    response.del_cookie(cookie, path="/")
    return response
