"""Turns templates into responses; the texts of all pages, and the owner, who signs in with a printed link."""

import functools
import re
from collections.abc import Callable
from contextvars import ContextVar
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import msgspec
from aiohttp import web
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from sociometer.core.errors import SociometerError, hint
from sociometer.core.language import ENGLISH, language_of, languages, texts_in, written_in
from sociometer.core.words import cell_text
from sociometer.instruments import card_texts
from sociometer.reporting.tables import rows, without_empty_columns
from sociometer.web import guard

PREFIX: ContextVar[str] = ContextVar("prefix", default="")
"""The path of the public address, which comes before every link of our own."""
_LINK = re.compile(r'((?:href|src|srcset|action|data-states)="|content="\d+; url=)(?=/(?!/))')
_DIRECTIONS = dict.fromkeys((*range(0x202A, 0x202F), *range(0x2066, 0x206A)), "\ufffd")
"""Characters that change the direction of the text around them, so that a name looks like another one."""
_OPTION = re.compile(r"((?<![\w-])--[a-z][a-z-]*)")
_PATH_HERE = re.compile(r"/(?![/\\])[!-\[\]-~]*")
"""A path of this server as a browser sends it: two slashes, also with a tab between them, would name another host."""
_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


def page(name: str, *, status: int = 200, **context: Any) -> web.Response:
    """A whole page."""
    text, prefix = _environment().get_template(name).render(**context), PREFIX.get()
    if prefix:
        text = _LINK.sub(lambda found: found[1] + prefix, text)
    return web.Response(text=text, content_type="text/html", status=status)


def see_other(path: str) -> web.Response:
    """Redirects the browser to another page."""
    return web.Response(status=303, headers={"Location": PREFIX.get() + path})


def _one_direction(value: Any) -> Any:
    """Every value that a template shows, without characters that change the direction of other text.

    What is marked as `verbatim`, such as a reply, is isolated by the style sheet instead.
    """
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    return value.translate(_DIRECTIONS).replace(", n = ", ", n\u00a0=\u00a0")  # no line ends within “n = 16”


def later(make: Callable[[], Any]) -> Callable[[], dict[str, Any]]:
    """Computes a slow part of a page once, when the template reaches it: its `value`, or why there is none."""

    @functools.cache
    def made() -> dict[str, Any]:
        try:
            return {"value": make(), "problem": ""}
        except SociometerError as error:
            return {"value": None, "problem": str(error)}

    return made


@guard.everyone
async def static_file(request: web.Request) -> web.Response:
    """One of our style sheets or scripts; they are the same for everyone and contain no data."""
    found = _static().get(request.match_info["name"])
    if found is None:
        raise web.HTTPNotFound
    return web.Response(body=found[1], content_type=found[0], charset="utf-8", headers={"Cache-Control": "no-cache"})


@functools.cache
def _static() -> dict[str, tuple[str, bytes]]:
    folder = files("sociometer.web") / "static"
    known = (entry for entry in folder.iterdir() if entry.name[entry.name.rfind(".") :] in _TYPES)
    return {entry.name: (_TYPES[entry.name[entry.name.rfind(".") :]], entry.read_bytes()) for entry in known}


tongue = functools.partial(written_in, share=0.1)
"""The language of a text that a model or a person wrote: the one whose letters are a tenth of it, else English."""


def link(path: str, **query: Any) -> str:
    """A link with the parts of its query that are given."""
    pairs = [
        (name, one)
        for name, value in query.items()
        for one in (value if isinstance(value, list | tuple) else (value,))
        if one not in ("", None)
    ]
    return f"{path}?{urlencode(pairs)}" if pairs else path


def moment(seconds: float) -> Markup:
    """A time in UTC, which a script of the page shows in the reader's time zone."""
    text = f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M} UTC"
    return Markup('<time datetime="{}T{}Z" title="{}">{}</time>').format(text[:10], text[11:16], text, text)


@functools.cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("sociometer.web", "templates"),
        autoescape=True,
        auto_reload=False,
        undefined=StrictUndefined,
        finalize=_one_direction,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "cell": cell_text,
        "filled": without_empty_columns,
        "rows": rows,
        "moment": moment,
        "pretty": lambda value: msgspec.json.format(msgspec.json.encode(value, enc_hook=str), indent=2).decode(),
        "tongue": tongue,
        "options": _OPTION.split,
        "verbatim": escape,
    }
    environment.globals |= {"hint": hint, "language_of": language_of, "link": link}
    return environment


def load_study_templates() -> None:
    """Compiles the templates of a study before anybody asks for them."""
    for name in _environment().list_templates(filter_func=lambda name: name.startswith("study")):
        _environment().get_template(name)


_TEXTS = Path(__file__).parent / "texts"
COOKIE = "sociometer-language"
_KEEP_SECONDS = 365 * 86_400


def texts(pages: str, language: str) -> dict[str, str]:
    """The texts of pages (`study`, `owner`), or of `errors` for guests; English if there are none."""
    return texts_in(_TEXTS, language, pages)


@functools.cache
def owner_languages() -> dict[str, str]:
    """The languages that have texts for the owner, and English: what each is called in the language itself."""
    written = {ENGLISH, *(path.name.split(".")[1] for path in _TEXTS.glob("owner.*.toml"))}
    return {code: language.name for code, language in languages().items() if code in written}


class Words:
    """Texts of the interface and titles of cards in one language; the English text is the key."""

    def __init__(self, language: str) -> None:
        self.language = language if language in owner_languages() else ENGLISH
        self._known = {**card_texts(language), **texts("owner", language)}

    def __call__(self, text: str, **values: object) -> str:
        """The text in this language, with values for its placeholders."""
        known = self._known.get(text, text)
        return known.format(**values) if values else known

    def state(self, text: str) -> str:
        """The status of a run in this language, with its numbers: “decided after 77 of 192”."""
        known = self._known.get(re.sub(r"\d+", "{}", text))
        return known.format(*re.findall(r"\d+", text)) if known else text

    def bounds(self, text: str) -> str:
        """An interval as it is written in this language: “4 to 49 %”, “too few (8 stories)”."""
        if self.language == ENGLISH or text in self._known:
            return self(text)
        few = re.fullmatch(r"too few \((\d+) ([^)]+)\)", text)
        noun = "people" if few and few[2] in ("person", "people") else "clusters"
        return self(f"too few ({{count}} {noun})", count=few[1]) if few else text.replace(" to ", self(" to "))

    def counted(self, count: int, one: str, many: str) -> str:
        """A count with its noun: the English text for one, or for any other number."""
        return self(one if count == 1 else many, count=count)


def words_for(request: web.Request) -> Words:
    """The texts for the sender of the request: in the chosen language, or else the one that the browser asks for."""
    chosen = request.cookies.get(COOKIE, "")
    if chosen not in owner_languages():
        asked = request.headers.get("Accept-Language", "").strip().lower()
        chosen = next((code for code in owner_languages() if asked.startswith(code)), ENGLISH)
    return Words(chosen)


def owner_page(
    request: web.Request, name: str, chosen: Words | None = None, *, status: int = 200, **context: Any
) -> web.Response:
    """A page in the owner's language, or with other words."""
    words = chosen or words_for(request)
    known = {"t": words, "language": words.language, "languages": owner_languages(), "back": request.path_qs}
    return page(name, status=status, **known, **context)


@guard.only(guard.OWNER)
async def set_language(request: web.Request) -> web.StreamResponse:
    """Stores the chosen language in the browser, and returns to the page where it was chosen."""
    given = await guard.form_of(request)
    language, back = given.get("language", ""), given.get("back", "/")
    if language not in owner_languages():
        raise web.HTTPBadRequest(text=f"The languages are {', '.join(owner_languages())}.")
    response = see_other(back if _PATH_HERE.fullmatch(back) else "/")
    secure = request.app[guard.ADDRESS].secure
    response.set_cookie(COOKIE, language, httponly=True, samesite="Strict", secure=secure, max_age=_KEEP_SECONDS)
    return response


def add_owner(app: web.Application, sessions: guard.SessionsInMemory, home: str) -> None:
    """Signs the owner in with a token of `TOKENS`; `home` is the owner's first page."""
    app[guard.TOKENS], app[guard.OWNERS], app[guard.HOME] = guard.OneTimeTokens(), sessions, home
    app[guard.ATTEMPTS] = guard.RateLimit(10, 60.0)
    app.router.add_get("/enter", enter_page)
    app.router.add_post("/enter", enter)
    app.router.add_post("/leave", leave)
    app.router.add_post("/language", set_language)


@guard.landing
async def enter_page(request: web.Request) -> web.StreamResponse:
    """A form with the token, so that a program that only opens the link does not use it up."""
    return owner_page(request, "enter.html", token=request.query.get("token", ""))


@guard.landing
async def enter(request: web.Request) -> web.StreamResponse:
    """Exchanges the token for a session."""
    if not request.app[guard.TOKENS].use((await guard.form_of(request)).get("token", "")):
        # Only wrong ones are counted: nobody can lock the owner out, also not from the same network.
        request.app[guard.ATTEMPTS].check(guard.address_of(request))
        raise web.HTTPForbidden(
            text="This link was used before or belongs to another server. The terminal shows a new one."
        )
    response = see_other(request.app[guard.HOME])
    guard.set_cookie(request, response, request.app[guard.OWNERS].open(guard.OWNER), guest=False)
    request.app.get(guard.USED, lambda: None)()
    return response


@guard.only(guard.OWNER)
async def leave(request: web.Request) -> web.StreamResponse:
    """Ends the session."""
    cookie = request.app[guard.ADDRESS].cookie
    request.app[guard.OWNERS].close(request.cookies.get(cookie, ""))
    response = owner_page(request, "left.html")
    response.del_cookie(cookie, path="/")
    return response
