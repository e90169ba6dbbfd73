"""Turns the errors of servers into clear messages."""

import base64
import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from functools import lru_cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec
from msgspec import structs

from sociometer.core.conversation import Reply
from sociometer.core.errors import FailureKind, Filtered, MachineryError, Unauthorised, UnknownToServer
from sociometer.core.language import read_texts
from sociometer.core.tools import ToolCall

_LONGEST_DETAIL = 300
_LONGEST_READ = 10_000
_LONGEST_SEARCHED = 4_000
_SECRETS = re.compile(
    r"\b(?:(?:sk|pk|rk|gsk|xai|tgp|hf|r8|nvapi|key|org|proj|glpat|gh[opsru]|github_pat|xox[abeprs])[-_]"
    r"[A-Za-z0-9_\-*.]{6,}"
    r"|eyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]{8,}(?:\.[A-Za-z0-9_\-]*)?"
    r"|A(?:KIA|SIA|ROA)[A-Z0-9]{12,}"
    r"|AIza[A-Za-z0-9_\-]{10,}|ya29\.[A-Za-z0-9_\-]{10,}"
    r"|(?i:(?:bearer|basic)\s++)[A-Za-z0-9_\-.+/=*]{4,}"
    r"|(?i:(?:api[-_ ]?key|token|secret|password)\b[\"']?\s*+(?:provided\s*+)?[:=]\s*+[\"']?)[^\s\"',;}]{4,}"
    # A digit and a letter are looked for in the first 64 characters only: a key has both there.
    r"|(?=[A-Za-z_\-]{0,64}+\d)(?=[0-9_\-]{0,64}+[A-Za-z])[A-Za-z0-9_\-]{28,}\b)"
)
_USERINFO = re.compile(r"//[^/\s@]{1,500}@")
_KNOWN = read_texts(Path(__file__).with_name("server_errors.toml"))
_TOO_LONG, _OUT_OF_CREDIT, _FILTERED, _UNKNOWN_MODEL = (
    re.compile("|".join(_KNOWN["words"][name]), re.IGNORECASE)
    for name in ("too_long", "out_of_credit", "filtered", "unknown_model")
)
_NO_OPTIONS = frozenset(("model", "messages", "prompt", "system"))
_ADVICE = {
    FailureKind.OUT_OF_CREDIT: " Add credit to the account of this key.",
    FailureKind.CONTEXT_TOO_LONG: " Use a model or a server with a longer context.",
}
UNREADABLE = (msgspec.DecodeError, ValueError, RecursionError)
"""The exceptions of reading a server's JSON: not JSON, not the expected type, not UTF-8, nested too deeply."""
_HTML = re.compile(rb"\s*(?:<!--.*?-->\s*)?<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE | re.DOTALL)


def without_secrets(text: str, key: str = "") -> str:
    """The text without the key and without anything that looks like one."""
    if key:
        text = without_key(text, key)
    return _SECRETS.sub("[key]", without_passwords(text))


def without_passwords(text: str) -> str:
    """The text without the user names and passwords of URLs (`user:password@`)."""
    return _USERINFO.sub("//", text)


def shortened(text: str, key: str = "") -> str:
    """One line of the text, without secrets and not too long.

    Only the first 4,000 characters are searched for secrets and shown; a word that is cut off there is left
    out, because it could be part of a secret.
    """
    line = " ".join((text.replace(key, "[key]") if key else text).split())
    begun = line[:_LONGEST_SEARCHED]
    if len(line) > _LONGEST_SEARCHED:
        begun = begun[: max(begun.rfind(mark) for mark in " \"',;") + 1] or begun
    clean = without_secrets(begun, key)
    whole = len(line) <= _LONGEST_SEARCHED and len(clean) <= _LONGEST_DETAIL
    return clean if whole else clean[: _LONGEST_DETAIL - 1] + "…"


def speaks_html(body: bytes) -> bool:
    """Whether the body is a web page."""
    return _HTML.match(body[:2000]) is not None


def status_within(body: bytes) -> int | None:
    """The status of an error inside a response of status 200 or its first choice, as some gateways send it, or None."""
    error = _error_in(_decoded(body))
    if not error:
        return None
    if isinstance(error, str) and error.startswith("Unexpected endpoint"):  # LM Studio
        return 404
    facts = error if isinstance(error, dict) else {}
    code = facts.get("code")
    number = int(code) if isinstance(code, str) and re.fullmatch("[45][0-9][0-9]", code) else code
    if isinstance(number, int) and 400 <= number < 600:
        return number
    names = [name.lower() for word in ("code", "type", "status") if isinstance(name := facts.get(word), str)]
    return next((_KNOWN["status"][name] for name in names if name in _KNOWN["status"]), 500)


def wrong_server(where: str, status: int) -> MachineryError:
    """The error for a web page in place of an API response."""
    said = f"{where} returned an HTML page (status {status}). Check the base URL; for most servers it ends in /v1."
    return MachineryError(said, FailureKind.WRONG_SERVER, fatal=True)


def retry_after(headers: Mapping[str, str], body: Any = None) -> float | None:
    """The seconds that the server asks to wait, from its headers or (Google) its error details; None if unreadable."""
    milliseconds, given = _number(headers.get("retry-after-ms")), headers.get("Retry-After", "")
    if milliseconds is not None:
        return milliseconds / 1000
    for seconds in (_number(given), _between(headers.get("Date", ""), given)):
        if seconds is not None:
            return seconds
    return _retry_delay(body)


def refused(
    where: str,
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    sent: Mapping[str, Any] = MappingProxyType({}),
    key: str = "",
) -> MachineryError:
    """The error for a response whose status is not 200; `sent` has the options of the request.

    A rejected request used no tokens; for other errors the usage is unknown.
    """
    error = _refusal(where, status, headers, body, sent, key)
    error.args = (f"{error}{_ADVICE.get(error.kind, '')}",)
    if (status < 500 and status != 408) or status in (503, 529):
        error.tokens = (0, 0)
    return error


def _refusal(
    where: str, status: int, headers: Mapping[str, str], body: bytes, sent: Mapping[str, Any], key: str
) -> MachineryError:
    if 300 <= status < 400:
        target = shortened(headers.get("Location", "elsewhere"), key)
        said = f"{where} redirects to {target} (status {status}). Check the base URL."
        return MachineryError(said, FailureKind.WRONG_SERVER, fatal=True)
    if speaks_html(body) and status < 500 and status not in (408, 429):
        return wrong_server(where, status)
    decoded = _decoded(body)
    message, code, parameter = _explained(decoded, body)
    message = message[:_LONGEST_READ]
    detail = f"{where} returned status {status}: {shortened(message, key) or 'no explanation'}"
    detail += "" if detail.endswith((".", "!", "?", "…")) else "."
    wait = retry_after(headers, decoded)
    busy = partial(MachineryError, detail, retryable=True, slow_down=True, retry_after_seconds=wait)
    match status:
        case 403 if _FILTERED.search(message):  # OpenRouter
            return Filtered(detail)
        case 401 | 403:
            return Unauthorised(detail, fatal=True)
        case 402:
            return MachineryError(detail, FailureKind.OUT_OF_CREDIT, fatal=True)
        case 404:
            ending = "" if where.endswith("/v1") else ", which ends in /v1 for most servers"
            return UnknownToServer(f"{detail} Check the model's name and the base URL{ending}.", fatal=True)
        case 408:
            return MachineryError(detail, FailureKind.TIMEOUT, retryable=True, retry_after_seconds=wait)
        case 413:
            return MachineryError(detail, FailureKind.CONTEXT_TOO_LONG)
        case 429 if _OUT_OF_CREDIT.search(f"{code} {message}"):
            return MachineryError(detail, FailureKind.OUT_OF_CREDIT, fatal=True)
        case 429:
            return busy(FailureKind.RATE_LIMIT)
        case 503 | 529:
            return busy(FailureKind.OVERLOADED)
        case _ if status >= 500:
            overloaded = "overloaded" in f"{code} {message}".lower()
            kind = FailureKind.OVERLOADED if overloaded else FailureKind.SERVER_ERROR
            return MachineryError(detail, kind, retryable=status != 501, slow_down=overloaded, retry_after_seconds=wait)
    return _bad_request(detail, message, code, parameter, _options(sent))


def _bad_request(detail: str, message: str, code: str, parameter: str, sent: tuple[str, ...]) -> MachineryError:
    said = f"{code} {message}"
    if _TOO_LONG.search(said):
        return MachineryError(detail, FailureKind.CONTEXT_TOO_LONG)
    if _FILTERED.search(said):
        return Filtered(detail)
    if _OUT_OF_CREDIT.search(said):
        return MachineryError(detail, FailureKind.OUT_OF_CREDIT, fatal=True)
    if "tools" in sent and "tool_choice" not in sent and "tool" in said.lower():
        said = f"the server takes no tools: {detail} To tell the model of them in words, give -o tools=told."
        return MachineryError(said, FailureKind.REFUSED_OPTION, fatal=True)
    option = _named_option(parameter, message, sent)
    if option:
        said = f"the server rejected the option {option}: {detail} Remove it, or give a value that this model accepts."
        return MachineryError(said, FailureKind.REFUSED_OPTION, fatal=True)
    if _UNKNOWN_MODEL.search(said):
        return UnknownToServer(f"{detail} Check the model's name.", fatal=True)
    return MachineryError(detail, FailureKind.REFUSED_REQUEST)


def _options(sent: Mapping[str, Any]) -> tuple[str, ...]:
    # The longest name first, so that tool_choice is not taken for tools.
    return tuple(sorted((name for name in sent if name not in _NO_OPTIONS), key=len, reverse=True))


def _named_option(parameter: str, message: str, sent: tuple[str, ...]) -> str:
    top = re.split(r"[.\[]", parameter)[0]
    squeezed = message.lower().replace("_", "")
    for option in sent:
        if option == top or re.search(rf"\b{re.escape(option.lower().replace('_', ''))}\b", squeezed):
            ours = _KNOWN["ours"].get(option, option)
            return f"'{option}'" if ours == option else f"'{ours}' (sent as '{option}')"
    return ""


def _explained(decoded: Any, body: bytes) -> tuple[str, str, str]:
    """The message, code and parameter of an error body in any of the usual shapes."""
    if isinstance(decoded, list) and decoded:
        decoded = decoded[0]
    if not isinstance(decoded, dict):
        return ("" if speaks_html(body) else body[:1000].decode("utf-8", "replace")), "", ""
    error = _error_in(decoded) or decoded
    if not isinstance(error, dict):
        return str(error), "", ""
    message = error.get("message") or error.get("detail") or decoded.get("message") or decoded.get("detail") or ""
    try:
        message = message if isinstance(message, str) else msgspec.json.encode(message).decode()
        code = " ".join(str(error[name]) for name in ("code", "type", "status") if error.get(name))
        return message, code, str(error.get("param") or "")
    except RecursionError:
        return "", "", ""


def _decoded(body: bytes) -> Any:
    try:
        return msgspec.json.decode(body)
    except UNREADABLE:
        return None


def _error_in(decoded: Any) -> Any:
    if isinstance(decoded, list) and decoded:
        decoded = decoded[0]
    if not isinstance(decoded, dict):
        return None
    choices = decoded.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return decoded.get("error") or (first.get("error") if isinstance(first, dict) else None)


def _number(text: str | None) -> float | None:
    try:
        value = float(text) if text else None
    except ValueError:
        return None
    return value if value is not None and value >= 0 else None  # not NaN; more digits than a float has are infinite


def _between(now: str, then: str) -> float | None:
    """The seconds from the server's date to another, so that a wrong clock here changes nothing."""
    until = _moment(then)
    return None if until is None else max(0.0, until - (_moment(now) or time.time()))


def _moment(date: str) -> float | None:
    try:
        return parsedate_to_datetime(date).timestamp()
    except (TypeError, ValueError, OverflowError, OSError):
        return None


def _retry_delay(body: Any) -> float | None:
    error = _error_in(body)
    details = error.get("details") if isinstance(error, dict) else None
    for detail in details if isinstance(details, list) else ():
        delay = detail.get("retryDelay") if isinstance(detail, dict) else None
        if isinstance(delay, str) and delay.endswith("s"):
            return _number(delay[:-1])
    return None


MARK = "[key]"
_SHORTEST_KEY = 8
_LONGEST_WORD = 16


def without_key(text: str, key: str) -> str:
    """The text with a mark in place of the key: as it is, as URLs quote it, and in base64."""
    forms = _forms(key)
    return text if forms is None else forms.sub(MARK, text)


def reply_without_key(reply: Reply, key: str) -> Reply:
    """The reply, with a mark in place of the key if the server or the model repeats it."""
    texts = ("text", "reasoning", "finish", "served_model", "served_version", "echo")
    found = {name: getattr(reply, name) for name in texts}
    clean = {name: without_key(text, key) for name, text in found.items()}
    calls = tuple(ToolCall(*(without_key(part, key) for part in structs.astuple(call))) for call in reply.calls)
    if clean == found and calls == reply.calls:
        return reply
    return structs.replace(reply, **clean, calls=calls)


@lru_cache(maxsize=128)
def _forms(key: str) -> re.Pattern[str] | None:
    """The forms of a key to look for; none for a plain word, which servers without keys get and answers may contain.

    In a URL any byte of it may be quoted, in capitals or not.
    """
    if len(key) < _SHORTEST_KEY or (key.isalpha() and key.islower() and len(key) < _LONGEST_WORD):
        return None
    quoted = "".join(
        f"(?:{re.escape(letter)}|{''.join(f'%(?i:{byte:02x})' for byte in letter.encode())})" for letter in key
    )
    encoded = []
    for shift, drop in ((0, 0), (1, 2), (2, 3)):  # base64 depends on how many bytes come before
        body = b"\0" * shift + key.encode()
        whole = body[: len(body) // 3 * 3]
        encoded += [base64.b64encode(whole).decode()[drop:], base64.urlsafe_b64encode(whole).decode()[drop:]]
    return re.compile("|".join((quoted, *map(re.escape, dict.fromkeys(encoded)))))
