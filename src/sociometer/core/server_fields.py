"""Fields that the user adds to the requests of a role: in the body, the headers or the query (`-o body.NAME=JSON`)."""

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, structs

from sociometer.core.conversation import SUBJECT
from sociometer.core.errors import UsageError
from sociometer.core.language import read_texts

NAME = re.compile(r"(?:([a-z][a-z0-9_-]*)\.)?(body|header|query)\.(.+)", re.DOTALL)
"""A role (none for the subject), a part of the request, and the name of a field."""
_OURS = read_texts(Path(__file__).with_name("refused_fields.toml"))
_REFUSED = {name: why for why, names in _OURS.items() for name in names}
"""Fields of the body that Sociometer sends itself or that break its limits and readers, and why."""
_TOKEN_LIMIT = re.compile(
    r"(?:max|min|limit|budget)(?:imum)?[a-z_]*(?:token|length|len)s?|[a-z_]*tokens?_(?:budget|limit)"
    r"|n_predict|num_predict|num_ctx",
    re.IGNORECASE,
)
_OUR_HEADERS = re.compile(
    "(?:proxy-)?authorization|host|(?:set-)?cookie2?|accept|user-agent|content-(?:type|length|encoding)|connection"
    "|(?:accept|transfer)-encoding|keep-alive|te|trailer|upgrade|expect|anthropic-version"
)
_KEY_IN_BODY = re.compile("api[-_]?key|secret|passw|credential|bearer|access[-_]?token|authori", re.IGNORECASE)
_KEY = re.compile(r"key|token|secret|passw|credential|bearer|auth|cookie|signature|jwt|^sig$", re.IGNORECASE)
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
NOT_PUBLISHED = "(not published)"
"""What a file for strangers has in place of a text, which may be somebody's name, a path or a secret."""
_KEYS_COME = "keys come from environment variables: --key-variable NAME."


class ServerFields(Struct, frozen=True, omit_defaults=True):
    """The fields for the server of one role; only digests of headers are stored."""

    body: dict[str, Any] = {}
    query: dict[str, str] = {}
    headers: dict[str, str] = {}
    header_digests: dict[str, str] = {}

    @property
    def stored(self) -> "ServerFields":
        """The same with digests in place of the values of headers."""
        digests = {name: _digest(f"{name}:{value}") for name, value in self.headers.items()}
        return structs.replace(self, headers={}, header_digests={**self.header_digests, **digests})

    @property
    def published(self) -> "ServerFields":
        """The same for strangers: the names of all fields, and of their values only numbers."""
        return ServerFields(
            body={name: _without_texts(value) for name, value in self.body.items()},
            query=dict.fromkeys(self.query, NOT_PUBLISHED),
            header_digests=dict.fromkeys(self.stored.header_digests, ""),
        )

    @property
    def digest(self) -> str:
        """Another one for other fields; empty without fields."""
        return _digest(msgspec.json.encode(self.stored, order="deterministic").decode()) if self != NONE else ""

    def again(self, given: "ServerFields", role: str) -> "ServerFields":
        """These stored fields with the headers that the user gives again; a UsageError if one is missing or differs."""
        prefix = "" if role == SUBJECT else f"{role}."
        now, then = given.stored.header_digests, self.header_digests
        for name in {**then, **now}:
            option = f"-o {prefix}header.{name}"
            if name not in now:
                raise UsageError(f"the value of a header is not stored; give it again: {option}=VALUE.")
            if now[name] != then.get(name):
                raise UsageError(f"{option} has another value than when the run started; start a new run.")
        return structs.replace(self, headers=given.headers, header_digests={})

    def check(self) -> None:
        """Raise a UsageError for a field that Sociometer sends itself, that has a key, or that no server can read."""
        for name in filter(_REFUSED.get, self.body):
            raise UsageError(f"-o body.{name} is not allowed: {_REFUSED[name]}")
        for name in _names_within(self.body):
            if _TOKEN_LIMIT.fullmatch(name):
                raise UsageError(f"-o body: '{name}' limits tokens, which -o reply-tokens=N does; give that instead.")
            if _KEY_IN_BODY.search(name):
                raise UsageError(f"-o body: '{name}' looks like a key, and fields are stored; {_KEYS_COME}")
        for name, value in self.headers.items():
            if not _HEADER_NAME.fullmatch(name) or not (value.isascii() and value.isprintable()):
                raise UsageError(f"-o header.{name!r} is not a header: name and value must be one line of ASCII.")
            if _OUR_HEADERS.fullmatch(name):
                raise UsageError(f"-o header.{name} is not allowed: Sociometer sets this header; {_KEYS_COME}")
        for part, names in (("header", self.headers), ("query", self.query)):
            for name in filter(_KEY.search, names):
                raise UsageError(f"-o {part}.{name} is not allowed, because the name looks like a key; {_KEYS_COME}")


NONE = ServerFields()


def server_fields(given: Mapping[str, Any]) -> dict[str, ServerFields]:
    """The fields of each role, from names such as `body.top_k`, `header.X-Team` or `judge.query.version`."""
    found: dict[str, ServerFields] = {}
    for name, value in given.items():
        match = NAME.fullmatch(name)
        if match is None:
            raise UsageError(f"'{name}' must be body.NAME, header.NAME or query.NAME, after ROLE. for another role.")
        role, part, field = match[1] or SUBJECT, match[2], match[3]
        if part != "body" and not isinstance(value, str):
            raise UsageError(f"'{name}' must be a text, not {value!r}.")
        if part == "header":
            part, field = "headers", field.lower()
        known = found.get(role, NONE)
        found[role] = structs.replace(known, **{part: {**getattr(known, part), field: value}})
    return found


def _without_texts(value: Any) -> Any:
    """A JSON value with its texts replaced; the names of fields stay."""
    if isinstance(value, dict):
        return {name: _without_texts(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_without_texts(inner) for inner in value]
    return NOT_PUBLISHED if isinstance(value, str) else value


def _names_within(value: Any) -> list[str]:
    """The names in a JSON value, at any depth."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return [*(value if isinstance(value, dict) else ()), *(name for one in inner for name in _names_within(one))]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]
