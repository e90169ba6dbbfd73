"""Turns templates into responses."""

import functools
import re
from collections.abc import Callable
from contextvars import ContextVar
from datetime import UTC, datetime
from importlib.resources import files
from typing import Any
from urllib.parse import urlencode

import msgspec
from aiohttp import web
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from sociometer.core.errors import SociometerError
from sociometer.core.words import cell_text
from sociometer.reporting.tables import rows
from sociometer.web.guard import everyone

PREFIX: ContextVar[str] = ContextVar("prefix", default="")
"""The path of the public address, which comes before every link of our own."""
_LINK = re.compile(r'((?:href|src|srcset|action|data-states)="|content="\d+; url=)(?=/(?!/))')
_DIRECTIONS = dict.fromkeys((*range(0x202A, 0x202F), *range(0x2066, 0x206A)), "\ufffd")
"""Characters that change the direction of the text around them, so that a name looks like another one."""
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
    return value.translate(_DIRECTIONS) if isinstance(value, str) and not isinstance(value, Markup) else value


def later(make: Callable[[], Any]) -> Callable[[], dict[str, Any]]:
    """Computes a slow part of a page once, when the template reaches it: its `value`, or why there is none."""

    @functools.cache
    def made() -> dict[str, Any]:
        try:
            return {"value": make(), "problem": ""}
        except SociometerError as error:
            return {"value": None, "problem": str(error)}

    return made


@everyone
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


def tongue(text: str) -> str:
    """The language of a text that a model or a person wrote: Chinese if a tenth of it is, else English."""
    return "zh" if 10 * sum("\u4e00" <= character <= "\u9fff" for character in text) > len(text) else "en"


def link(path: str, **query: Any) -> str:
    """A link with the parts of its query that are given."""
    pairs = [
        (name, one)
        for name, value in query.items()
        for one in (value if isinstance(value, list | tuple) else (value,))
        if one not in ("", None)
    ]
    return f"{path}?{urlencode(pairs)}" if pairs else path


@functools.cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("sociometer.web", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_one_direction,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "cell": cell_text,
        "rows": rows,
        "moment": lambda seconds: datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "pretty": lambda value: msgspec.json.format(msgspec.json.encode(value, enc_hook=str), indent=2).decode(),
        "tongue": tongue,
        "verbatim": escape,
    }
    environment.globals |= {"link": link}
    return environment
