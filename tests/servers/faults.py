"""What a server can do wrong, one fault a request."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import NamedTuple


class Fault(NamedTuple):
    """A departure from a good answer; what is not set stays as it is."""

    status: int = 200
    message: str = ""
    code: str = ""
    option: str = ""
    headers: dict = {}
    raw: bytes | None = None
    content_type: str = "application/json"
    delay_seconds: float = 0.0
    drop: bool = False
    cut: int = 0
    change: str = ""
    echo: Callable[[str], str] | None = None
    """How a hostile server repeats the key it was sent, wherever `{key}` is in its answer."""


HTML_PAGE = b"<!DOCTYPE html><html><head><title>Welcome</title></head><body>It works!</body></html>"

RATE_LIMIT = Fault(429, "Rate limit reached", "rate_limit_exceeded")
SERVER_ERROR = Fault(500, "The server had an error", "server_error")
BAD_GATEWAY = Fault(502, raw=HTML_PAGE, content_type="text/html")
UNAVAILABLE = Fault(503, "The model is loading", "unavailable")
OVERLOADED = Fault(529, "Overloaded", "overloaded_error")
DROPPED = Fault(drop=True)
TRUNCATED = Fault(cut=25)
MALFORMED = Fault(raw=b'{"choices": [{"message": ]}')
WRONG_SHAPE = Fault(raw=b'{"choices": "none", "content": 3, "candidates": {"a": 1}}')
NOT_UTF8 = Fault(raw=b'{"choices": [{"message": {"content": "\xff\xfe"}}], "content": "\xff", "candidates": "\xff"}')
NESTED = Fault(raw=b'{"a": ' * 100_000 + b"1" + b"}" * 100_000)
NESTED_ERROR = Fault(raw=b'{"error": ' * 100_000 + b"1" + b"}" * 100_000)
EMPTY = Fault(change="empty")
TOOL_CALL = Fault(change="tool call")
NO_USAGE = Fault(change="no usage")
WRONG_USAGE = Fault(change="wrong usage")
HTML = Fault(raw=HTML_PAGE, content_type="text/html")
WRONG_KEY = Fault(401, "Incorrect API key provided: {key}. Find yours at https://example.com/keys.", "invalid_api_key")
UNKNOWN_MODEL = Fault(404, "The model 'm' does not exist", "model_not_found")
TOO_LONG = Fault(400, "This model's maximum context length is 8192 tokens", "context_length_exceeded")
OUT_OF_CREDIT = Fault(429, "You exceeded your current quota", "insufficient_quota")
FILTERED = Fault(change="filtered")
CUT_OFF_THINKING = Fault(change="cut off thinking")


def wait(seconds: float) -> Fault:
    """A rate limit that says how long to wait, in seconds."""
    return RATE_LIMIT._replace(headers={"Retry-After": f"{seconds:g}"})


def wait_until(seconds: float) -> Fault:
    """A rate limit that says how long to wait, as a date."""
    moment = datetime.now(UTC) + timedelta(seconds=seconds)
    return RATE_LIMIT._replace(headers={"Retry-After": format_datetime(moment, usegmt=True)})


def error_inside(status: int, code: str = "", delay: str = "") -> Fault:
    """An error object in an answer of status 200, with the wait that Google's error details give."""
    details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}] if delay else []
    error = {"code": status, "message": "Slow down", "status": code, "type": code, "details": details}
    return Fault(raw=json.dumps({"type": "error", "error": error}).encode())


def slow(seconds: float) -> Fault:
    """A good answer that comes late."""
    return Fault(delay_seconds=seconds)


def refuse(option: str) -> Fault:
    """A refusal of one option, named in the message only."""
    return Fault(
        400, f"Unsupported value: '{option}' does not support this with this model.", "invalid_request_error", option
    )
