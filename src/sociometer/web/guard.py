"""Checks the host, origin, session and CSRF token of every request before its page runs.

A page is open to the roles that it is marked with (`only`), or to all (`everyone`); a page without a mark is open to
nobody. Responses carry a strict content security policy.
"""

import asyncio
import hashlib
import hmac
import ipaddress
import secrets
import time
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable
from typing import TypeVar
from urllib.parse import urlsplit

from aiohttp import web
from msgspec import Struct

from sociometer.web.errors import BadForm

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Marked = TypeVar("Marked", bound=Callable[..., object])
OWNER, PARTICIPANT = "owner", "participant"
ROLES = (OWNER, PARTICIPANT)
_SAFE = ("GET", "HEAD")
_ROLES = "_sociometer_roles"
_OPEN = "_sociometer_everyone"
_LANDING = "_sociometer_landing"
_NO_SESSION = "This browser has no session. Open the link that you were given. If you have a code, enter it there."
_NO_OWNER = (
    "This browser has no session. Open the newest link in the terminal; when it is used, a new one appears there."
)
SECURITY = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src"
    " 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # Not "no-referrer": with that a browser calls the origin of our own forms "null".
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Visitor(Struct, frozen=True):
    """The sender of a request: the role, the person within it, and the token that their forms must contain."""

    role: str
    who: str
    csrf: str


_VISITORS: web.RequestKey[list[Visitor]] = web.RequestKey("visitors", list)
FindSession = Callable[[str], tuple[str, str] | None]
"""Finds the role and the person behind a cookie; None for an unknown cookie."""


class Address(Struct, frozen=True):
    """Where the pages are: the names that a request may ask for, and the origins that a form may come from."""

    url: str
    hosts: frozenset[str]
    origins: frozenset[str]
    cookie: str
    secure: bool = False
    proxied: bool = False
    path: str = ""
    """What the public address has before every path of ours; the proxy takes it away again."""

    @property
    def guest_cookie(self) -> str:
        """The cookie of participants; the owner has another one."""
        return f"{self.cookie}-guest"

    @classmethod
    def at(cls, host: str, port: int, public_url: str = "") -> "Address":
        """The address of a server; `public_url` is that of a reverse proxy in front of it."""
        shown = f"[{host}]" if ":" in host else host
        local = {f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]", shown)}
        local |= {name.removesuffix(":80") for name in local if name.endswith(":80")}
        public = urlsplit(public_url)
        hosts, origins = set(local), {f"http://{name}" for name in local}
        url, secure, path = f"http://{shown}:{port}", public.scheme == "https", public.path.rstrip("/")
        if public_url:
            # As browsers write it: small letters, punycode, no port if it is the usual one.
            named = public.hostname or ""
            name = named if named.isascii() else named.encode("idna").decode()
            usual = public.port in (None, 443 if secure else 80)
            host = name if usual else f"{name}:{public.port}"
            hosts |= {host, f"{name}:{443 if secure else 80}"} if usual else {host}
            origins.add(f"{public.scheme}://{host}")
            url = f"{public.scheme}://{host}{path}"
        # Browsers keep one set of cookies for all ports of a host.
        return cls(url, frozenset(hosts), frozenset(origins), f"sociometer-{port}", secure, bool(public_url), path)


ADDRESS = web.AppKey("address", Address)
SESSIONS: web.AppKey[FindSession] = web.AppKey("sessions", Callable)  # type: ignore[arg-type]


def everyone(handler: Marked) -> Marked:
    """Marks a handler that needs no session and whose forms need no CSRF token."""
    setattr(handler, _OPEN, True)
    return handler


def landing(handler: Marked) -> Marked:
    """Marks a page that other sites, mails and chats may link to."""
    setattr(handler, _LANDING, True)
    return everyone(handler)


def check_secret(request: web.Request, secret: str) -> None:
    """Answers 404 without the secret of the link, so that others do not learn that there is something."""
    if not hmac.compare_digest(request.match_info["secret"].encode(), secret.encode()):
        raise web.HTTPNotFound


async def form_of(request: web.Request) -> dict[str, str]:
    """The text fields of a form; a body that is none answers 400."""
    try:
        fields = await request.post()
    except (ValueError, LookupError, AssertionError):  # broken text, an unknown character set, a broken multipart body
        raise BadForm("bad form") from None
    return {name: value for name, value in fields.items() if isinstance(value, str)}


def only(*roles: str) -> Callable[[Marked], Marked]:
    """Marks a handler that only these roles may use."""

    def mark(handler: Marked) -> Marked:
        setattr(handler, _ROLES, frozenset(roles))
        return handler

    return mark


def roles_of(handler: object) -> frozenset[str]:
    """The roles that may use a handler."""
    found: frozenset[str] = getattr(handler, _ROLES, frozenset())
    return found


def visitor_of(request: web.Request) -> Visitor:
    """The sender of the request; 403 without a session."""
    found = known_visitors(request)
    if not found:
        raise web.HTTPForbidden(text=_NO_SESSION if LANGUAGE in request.app else _NO_OWNER)
    allowed = roles_of(request.match_info.handler)
    return next((visitor for visitor in found if visitor.role in allowed), found[0])


def known_visitors(request: web.Request) -> list[Visitor]:
    """Who the browser has sessions of: the owner, and a guest if the owner tries their own pages; read once."""
    if _VISITORS not in request:
        request[_VISITORS] = _read_visitors(request)
    return request[_VISITORS]


def _read_visitors(request: web.Request) -> list[Visitor]:
    address = request.app[ADDRESS]
    cookies = [one for name in (address.cookie, address.guest_cookie) if (one := request.cookies.get(name, ""))]
    return [Visitor(*known, csrf_token(one)) for one in cookies if (known := request.app[SESSIONS](one)) is not None]


def csrf_token(cookie: str) -> str:
    """The token in the forms of a session: derived from the cookie, which no page can read."""
    return hashlib.blake2b(cookie.encode(), digest_size=16, person=b"csrf").hexdigest()


def cookie_hash(cookie: str) -> str:
    """The hash of a cookie; it cannot be used to sign in."""
    return hashlib.blake2b(cookie.encode(), digest_size=16, person=b"cookie").hexdigest()


def set_cookie(request: web.Request, response: web.StreamResponse, cookie: str, *, guest: bool = True) -> None:
    """Sets a session cookie that scripts cannot read and other sites cannot use; a guest's lasts for 90 days."""
    address = request.app[ADDRESS]
    name, seconds = (address.guest_cookie, 90 * 86_400) if guest else (address.cookie, None)
    response.set_cookie(name, cookie, httponly=True, samesite="Strict", secure=address.secure, max_age=seconds)


@web.middleware
async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Lets a request through to its page, or answers 403, 421 or 429."""
    address = request.app[ADDRESS]
    if request.host.lower() not in address.hosts:
        raise web.HTTPMisdirectedRequest(text="This server does not serve this host name.")
    page = request.match_info.handler
    if request.cookies and (not getattr(page, _OPEN, False) or getattr(page, _LANDING, False)):
        request[_VISITORS] = await asyncio.to_thread(_read_visitors, request)
    _check_site(request, address, bool(getattr(page, _LANDING, False)))
    if getattr(page, _OPEN, False) or request.match_info.http_exception is not None:
        return await handler(request)
    visitor = visitor_of(request)
    if visitor.role not in roles_of(page):
        raise web.HTTPForbidden(text="You do not have access to this page. Open the link that you were given.")
    if request.method not in _SAFE:
        given = (await form_of(request)).get("csrf", "")
        if not hmac.compare_digest(given.encode(), visitor.csrf.encode()):
            raise web.HTTPForbidden(text="This form is out of date. Go back, reload the page and send it again.")
    return await handler(request)


def _check_site(request: web.Request, address: Address, is_landing: bool) -> None:
    """Refuses what another site sends: forms and scripts always, links unless they lead to a landing page."""
    origin, site = request.headers.get("Origin"), request.headers.get("Sec-Fetch-Site")
    if request.method not in _SAFE:
        # Browsers name the origin of every form; where neither header is there, nobody knows where it came from.
        if origin is None and site != "same-origin":
            raise web.HTTPForbidden(text="The request does not say which page it came from.")
        if origin is not None and origin not in address.origins:
            raise web.HTTPForbidden(text="The form came from another site.")
    elif origin is not None and origin not in address.origins:
        raise web.HTTPForbidden(text="The request came from another site.")
    if site not in (None, "same-origin", "none"):
        navigation = request.headers.get("Sec-Fetch-Mode") == "navigate" and request.method in _SAFE
        framed = request.headers.get("Sec-Fetch-Dest") not in (None, "document")
        if not (is_landing and navigation) or framed:
            raise web.HTTPForbidden(text="The request came from another site.")


async def add_headers(request: web.Request, response: web.StreamResponse) -> None:
    """Adds the security headers to every response, errors and streams included."""
    for name, value in SECURITY.items():
        response.headers.setdefault(name, value)


def address_of(request: web.Request) -> str:
    """The network address to count: behind a proxy, the one that it names; of IPv6, the network of one household."""
    address = request.remote or ""
    if request.app[ADDRESS].proxied:
        address = request.headers.get("X-Forwarded-For", address).rpartition(",")[2].strip()
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    return str(ipaddress.ip_network((found, 64), strict=False)) if found.version == 6 else str(found)


_WAIT = "Too many attempts; wait a minute."


_REMEMBERED = 100_000
"""How many networks and codes a limit remembers; then those that were idle longest are forgotten."""


class RateLimit:
    """At most `most` attempts within `seconds` for each network or code; what others try locks nobody out."""

    def __init__(
        self,
        most: int,
        seconds: float,
        said: str = _WAIT,
        clock: Callable[[], float] = time.monotonic,
        remembered: int = _REMEMBERED,
    ) -> None:
        self._most, self._seconds, self._clock, self._said = most, seconds, clock, said
        self._remembered = remembered
        self._attempts: OrderedDict[str, deque[float]] = OrderedDict()

    def check(self, who: str) -> None:
        """Counts an attempt; answers 429 if there were too many."""
        self.require_room(who)
        attempts = self._attempts.setdefault(who, deque())
        self._attempts.move_to_end(who)
        attempts.append(self._clock())
        while len(self._attempts) > self._remembered:
            self._attempts.popitem(last=False)

    def require_room(self, who: str) -> None:
        """Answers 429 if there were too many attempts."""
        attempts = self._attempts.get(who)
        if attempts is None:
            return
        while attempts and attempts[0] <= self._clock() - self._seconds:
            attempts.popleft()
        if len(attempts) >= self._most:
            raise web.HTTPTooManyRequests(text=self._said, headers={"Retry-After": str(round(self._seconds))})


class OneTimeTokens:
    """Tokens that each open one session."""

    def __init__(self) -> None:
        self._open: set[str] = set()

    def make(self) -> str:
        token = secrets.token_urlsafe(32)
        self._open.add(token)
        return token

    def use(self, given: str) -> bool:
        """Whether the token is valid; it can be used only once."""
        found = [token for token in self._open if hmac.compare_digest(token.encode(), given.encode())]
        self._open.difference_update(found)
        return bool(found)


class SessionsInMemory:
    """Sessions that end with the process."""

    def __init__(self, most: int = 256) -> None:
        self._known: OrderedDict[str, tuple[str, str]] = OrderedDict()
        self._most = most

    def open(self, role: str, who: str = "") -> str:
        """Creates a session and returns its cookie."""
        cookie = secrets.token_urlsafe(32)
        self._known[cookie_hash(cookie)] = (role, who)
        while len(self._known) > self._most:
            self._known.popitem(last=False)
        return cookie

    def find(self, cookie: str) -> tuple[str, str] | None:
        return self._known.get(cookie_hash(cookie))

    def close(self, cookie: str) -> None:
        self._known.pop(cookie_hash(cookie), None)


TOKENS = web.AppKey("tokens", OneTimeTokens)
ATTEMPTS = web.AppKey("attempts", RateLimit)
OWNERS = web.AppKey("owners", SessionsInMemory)
USED: web.AppKey[Callable[[], None]] = web.AppKey("used", Callable)  # type: ignore[arg-type]
"""What is called when a token was exchanged for a session."""
HOME = web.AppKey("home", str)
LANGUAGE = web.AppKey("language", str)
"""The language of participants."""
CODES = web.AppKey("codes", RateLimit)
