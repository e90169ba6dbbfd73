"""The tokens that a response reports, in any wire format and wherever in the response they are: one rule for all.

If numbers contradict each other, the larger counts. A number that cannot be one (`token_count`) makes its side unknown,
and the budget charges the worst case.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec import structs

from sociometer.core.conversation import Reply, Usage, token_count
from sociometer.core.errors import MachineryError
from sociometer.models.failures import UNREADABLE

_READ = ("prompt_tokens", "input_tokens", "promptTokenCount")
_CACHED = ("cache_creation_input_tokens", "cache_read_input_tokens")
"""Anthropic's: read in addition to `input_tokens`."""
_WRITTEN = ("completion_tokens", "output_tokens", "reasoning_tokens", "candidatesTokenCount", "thoughtsTokenCount")
_TOTAL = ("total_tokens", "totalTokenCount")
_NAMES = frozenset((*_READ, *_WRITTEN, *_TOTAL))
_WRITTEN_BY_MODELS = frozenset(("content", "input", "arguments", "logprobs"))
_DEEPEST = 8
_CHARACTERS_A_TOKEN, _CHARACTERS_MORE = 10, 32
"""A longer text has more tokens: words have four or five letters a token, and a reply may be one long word."""
_decode = msgspec.json.Decoder().decode


def reported_usage(body: bytes) -> Usage | None:
    """The usage that a response reports; None if it reports none."""
    try:
        reports = list(_reports(_decode(body)))
    except UNREADABLE:
        return None
    read: list[int | None] = []
    written: list[int | None] = []
    for report in reports:
        _add(report, read, written)
    return Usage(_largest(read), _largest(written)) if reports else None


def with_reported_usage(error: MachineryError, body: bytes) -> MachineryError:
    """The error with the tokens that its response reports; a report of no tokens says nothing."""
    usage = reported_usage(body)
    if usage is not None and usage != Usage(0, 0):
        error.tokens = (usage.input_tokens, usage.output_tokens)
    return error


def possible_usage(reply: Reply) -> Reply:
    """The reply; too few tokens for its text and calls, or none for its prompt, count as not reported."""
    used = Usage(token_count(reply.usage.input_tokens), token_count(reply.usage.output_tokens))
    read = used.input_tokens or None  # no prompt is empty
    written = used.output_tokens
    if written is not None and _are_too_few(written, _size(reply)):
        written = None
    usage = Usage(read, written)
    return reply if usage == reply.usage else structs.replace(reply, usage=usage)


def _size(reply: Reply) -> int:
    """How many characters the model wrote: calls of tools are text too."""
    calls = sum(len(call.name) + len(call.arguments) for call in reply.calls)
    return len(reply.text) + len(reply.reasoning) + calls


def _are_too_few(tokens: int, size: int) -> bool:
    """Whether a text of this size has more tokens."""
    if not tokens:
        return size > 0
    return tokens * _CHARACTERS_A_TOKEN + _CHARACTERS_MORE < size


def _reports(part: Any, depth: int = 0) -> Iterator[Mapping[str, Any]]:
    """The objects with counts of tokens, except in what a model wrote."""
    if depth > _DEEPEST:
        return
    if isinstance(part, dict):
        if not _NAMES.isdisjoint(part):
            yield part
        for name, inner in part.items():
            if name not in _WRITTEN_BY_MODELS:
                yield from _reports(inner, depth + 1)
    elif isinstance(part, list):
        for inner in part:
            yield from _reports(inner, depth + 1)


def _add(report: Mapping[str, Any], read: list[int | None], written: list[int | None]) -> None:
    counts = {name: token_count(value) for name, value in report.items() if value is not None}
    ours = [counts[name] for name in _READ if name in counts]
    theirs = [counts[name] for name in _WRITTEN if name in counts]
    if "input_tokens" in counts:
        cached = (counts["input_tokens"], *(counts[name] for name in _CACHED if name in counts))
        ours.append(None if None in cached else sum(filter(None, cached)))
    seen, said = _largest(ours), _largest(theirs)
    for total in (counts[name] for name in _TOTAL if name in counts):
        if ours and total is not None:
            theirs.append(max(0, total - (seen or 0)))  # Google counts reasoning only in the total
        elif theirs and total is not None:
            ours.append(max(0, total - (said or 0)))
        else:
            theirs.append(total)  # the dearer of both
    read += ours
    written += theirs


def _largest(counts: list[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return max(known) if known and len(known) == len(counts) else None
