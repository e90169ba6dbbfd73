"""Text completions in the OpenAI wire format (`/v1/completions`), and the likelihoods that servers return.

Two ways to score continuations: from the likeliest first tokens that a server lists, or from the log-probabilities of
a prompt that it repeats (`echo`), one request for each continuation.
"""

import math
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import msgspec
from msgspec import Raw, Struct

from sociometer.core.conversation import Likelihood, Reply, Request, TokenLogprob, Usage
from sociometer.core.errors import MachineryError
from sociometer.models.failures import UNREADABLE
from sociometer.models.finish import finish_of

NO_PROBABILITIES = "no probabilities"
_NULL = Raw(b"null")


class _Lists(Struct):
    """Log-probabilities as OpenAI, vLLM and SGLang send them: parallel lists."""

    tokens: list[str]
    token_logprobs: list[float | None]
    top_logprobs: list[dict[str, float] | None] | None = None


class _Rival(Struct):
    token: str
    logprob: float


class _Token(_Rival):
    top_logprobs: list[_Rival] = []


class _Records(Struct):
    """Log-probabilities as in a chat completion; llama.cpp sends them so for texts too."""

    content: list[_Token]


class _Option(Struct):
    text: str
    index: int = 0
    finish_reason: str | None = None
    logprobs: Raw = _NULL


class _Counted(Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    total_tokens: int | None = None


class _Completion(Struct):
    choices: list[_Option]
    usage: Raw = _NULL
    model: str | None = None


_completion = msgspec.json.Decoder(_Completion).decode
_counted = msgspec.json.Decoder(_Counted | None).decode
_lists = msgspec.json.Decoder(_Lists).decode
_records = msgspec.json.Decoder(_Records).decode


def present(body: dict[str, Any]) -> dict[str, Any]:
    """The options that have a value; missing ones mean the server's default."""
    return {name: value for name, value in body.items() if value is not None}


def text_body(name: str, request: Request) -> dict[str, Any]:
    """A request to continue a text."""
    sampling = request.sampling
    chosen = {
        option: getattr(sampling, option) for option in ("temperature", "top_p", "max_tokens", "seed", "logprobs")
    }
    return present({"model": name, "prompt": request.plain_text or "", "stop": sampling.stop or None, **chosen})


def echo_body(name: str, request: Request) -> dict[str, Any]:
    """A request that repeats a text with each of its continuations, with the log-probability of every token."""
    before = request.plain_text or ""
    prompts = [before + continuation for continuation in request.continuations]
    options = {"temperature": request.sampling.temperature, "max_tokens": 1, "logprobs": 1, "echo": True}
    return present({"model": name, "prompt": prompts, **options})


def read_text(received: bytes) -> Reply:
    """The reply in a text completion; raise a DecodeError if there is none."""
    completion = _completion(received)
    if not completion.choices:
        raise MachineryError("the server sent a completion without choices.", "empty reply", retryable=True)
    option = completion.choices[0]
    finish, served = finish_of(option.finish_reason), completion.model or ""
    return Reply(option.text, "", read_usage(completion.usage), finish, served, read_logprobs(option.logprobs))


def read_echo(received: bytes, request: Request) -> Reply:
    """The likelihoods from repeated prompts; raise an error if the server did not repeat them."""
    completion = _completion(received)
    options = sorted(completion.choices, key=lambda option: option.index)
    if len(options) != len(request.continuations):
        raise _not_repeated()
    before = request.plain_text or ""
    likelihoods = tuple(
        _repeated(option, before, text) for option, text in zip(options, request.continuations, strict=True)
    )
    return Reply("", usage=read_usage(completion.usage), served_model=completion.model or "", likelihoods=likelihoods)


def _repeated(option: _Option, before: str, continuation: str) -> Likelihood:
    try:
        lists = _lists(option.logprobs)
    except msgspec.DecodeError:
        raise _not_repeated() from None
    whole = before + continuation
    if not "".join(lists.tokens).startswith(whole):
        raise _not_repeated()
    end, values = 0, list[float | None]()
    for token, value in zip(lists.tokens, lists.token_logprobs, strict=False):
        if end >= len(whole):
            break
        end += len(token)
        # A token that begins in the prompt and ends in the continuation belongs to the continuation.
        if end > len(before):
            values.append(value)
    known = [value for value in values if value is not None]
    if not known or len(known) < len(values):
        raise _not_repeated()
    return Likelihood(continuation, sum(known), len(known))


def _not_repeated() -> MachineryError:
    return MachineryError(
        "the server did not repeat the prompt with its log-probabilities ('echo' with 'logprobs'), so it cannot score"
        " whole texts; vLLM and SGLang can.",
        NO_PROBABILITIES,
        fatal=True,
    )


def first_token_likelihoods(tokens: Sequence[TokenLogprob], continuations: Sequence[str]) -> tuple[Likelihood, ...]:
    """The likelihood of each continuation of one token, from the likeliest first tokens; raise an error without any.

    Tokens that differ only in white space (`A` and ` A`) count together.
    """
    if not tokens or not tokens[0].top:
        raise MachineryError(
            "the server sent no log-probabilities; reasoning models and some servers give none.",
            NO_PROBABILITIES,
            fatal=True,
        )
    top = tokens[0].top
    least = min(value for _, value in top)
    found = []
    for text in continuations:
        chance = sum(math.exp(value) for token, value in top if token.strip() == text.strip())
        found.append(Likelihood(text, math.log(chance) if chance else least, listed=chance > 0))
    return tuple(found)


def read_logprobs(raw: Raw) -> tuple[TokenLogprob, ...]:
    """The log-probabilities in either form; none if they cannot be read, so that the reply is kept."""
    with suppress(*UNREADABLE):
        return tuple(
            TokenLogprob(one.token, one.logprob, tuple((rival.token, rival.logprob) for rival in one.top_logprobs))
            for one in _records(raw).content
        )
    with suppress(*UNREADABLE):
        lists = _lists(raw)
        tops = lists.top_logprobs or [None] * len(lists.tokens)
        return tuple(
            TokenLogprob(token, value, tuple((top or {}).items()))
            for token, value, top in zip(lists.tokens, lists.token_logprobs, tops, strict=False)
            if value is not None
        )
    return ()


def read_usage(raw: Raw) -> Usage:
    """The usage of a completion; one that cannot be read counts as not reported, so that the reply is kept."""
    try:
        counted = _counted(raw) or _Counted()
    except UNREADABLE:
        return Usage()
    read, written = counted_tokens(counted.prompt_tokens), counted_tokens(counted.completion_tokens)
    total = counted_tokens(counted.total_tokens)
    if read is not None and written is not None and total is not None:
        written = max(written, total - read)  # some servers, Google's for one, count reasoning only in the total
    return Usage(read, written)


def counted_tokens(count: int | None) -> int | None:
    """The count, or None if the server's figure is impossible."""
    return count if count is not None and count >= 0 else None
