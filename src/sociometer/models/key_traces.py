"""Removes the key from responses of a server, whole or in pieces, plain or encoded."""

import base64
import re
from functools import lru_cache
from urllib.parse import quote, unquote

from msgspec import structs

from sociometer.core.conversation import Reply

MARK = "[key]"
_SHORTEST_KEY = 8
_PIECE = 8
"""The shortest run of a key's characters that is removed from a server's own messages."""
_SPOKEN = 16
"""The same for replies of a model: a shorter run may occur by chance, and an answer must not change."""
_LONGEST_WORD = 16
_APART = bytes(code for code in range(256) if not (code < 128 and chr(code).isalnum()))
_LOWER = bytes(range(256)).lower()
_QUOTED = re.compile(r"[^\s%]{0,16}(?:%[0-9A-Fa-f]{2}[^\s%]*)+")


def without_key(text: str, key: str) -> str:
    """A server's own message without the key and its pieces."""
    return _traces(key).removed(text, _PIECE)


def reply_without_key(reply: Reply, key: str) -> Reply:
    """The reply, with a mark in place of the key if the server or the model repeats it."""
    if not key:
        return reply
    traces = _traces(key)
    text, reasoning = traces.removed(reply.text, _SPOKEN), traces.removed(reply.reasoning, _SPOKEN)
    served, logprobs = traces.removed(reply.served_model, _PIECE), reply.logprobs
    if logprobs:
        tokens = "".join(token.token for token in logprobs)
        rivals = "".join(rival for token in logprobs for rival, _ in token.top)
        if traces.found(tokens, _SPOKEN) or traces.found(rivals, _SPOKEN):
            logprobs = ()
    if (text, reasoning, served) == (reply.text, reply.reasoning, reply.served_model) and logprobs is reply.logprobs:
        return reply
    return structs.replace(reply, text=text, reasoning=reasoning, served_model=served, logprobs=logprobs)


class _Traces:
    """The forms of a key to search for; white space, punctuation and case are ignored."""

    def __init__(self, key: str) -> None:
        self._key = key if _is_secret(key) else ""
        self._forms = tuple(form for form in _forms(self._key) if len(form) >= _PIECE)
        # A run of 15 or more characters holds at least one of these whole: looking for them first is fast.
        self._blocks = tuple(
            {form[at : at + _PIECE] for form in self._forms for at in range(0, len(form) - _PIECE + 1, _PIECE)}
        )
        self._runs: dict[int, frozenset[bytes]] = {}

    def removed(self, text: str, least: int) -> str:
        """The text with a mark in place of each run of at least this many characters of the key."""
        if not text or not self._key:
            return text
        text = text.replace(self._key, MARK)
        if "%" in text:
            text = _QUOTED.sub(lambda match: MARK if self.found(unquote(match[0]), least) else match[0], text)
        if not self.found(text, least):
            return text
        return _marked(text, self._runs_of(least))

    def found(self, text: str, least: int) -> bool:
        """Whether the text contains such a run."""
        squeezed = _squeezed(text)
        if least >= 2 * _PIECE - 1 and not any(block in squeezed for block in self._blocks):
            return False
        return any(run in squeezed for run in self._runs_of(least))

    def _runs_of(self, least: int) -> frozenset[bytes]:
        if least not in self._runs:
            self._runs[least] = frozenset(
                form[at : at + size]
                for form in self._forms
                for size in (min(least, len(form)),)
                for at in range(len(form) - size + 1)
            )
        return self._runs[least]


def _marked(text: str, runs: frozenset[bytes]) -> str:
    """The text with a mark in place of every part that runs cover, including the characters between their letters."""
    squeezed = _squeezed(text)
    covered = bytearray(len(squeezed))
    for length in {len(run) for run in runs}:
        for at in range(len(squeezed) - length + 1):
            if squeezed[at : at + length] in runs:
                covered[at : at + length] = b"1" * length
    places = [at for at, letter in enumerate(text) if letter.isascii() and letter.isalnum()]
    kept, after = [], 0
    for stretch in re.finditer(b"1+", covered):
        kept += [text[after : places[stretch.start()]], MARK]
        after = places[stretch.end() - 1] + 1
    return "".join([*kept, text[after:]])


@lru_cache(maxsize=16)
def _traces(key: str) -> _Traces:
    return _Traces(key)


def _is_secret(key: str) -> bool:
    """Whether a key is secret: servers that need no key get a plain word, which may occur in an answer."""
    word = key.isalpha() and key.islower() and len(key) < _LONGEST_WORD
    return len(key) >= _SHORTEST_KEY and not word


def _squeezed(text: str) -> bytes:
    # Bytes, since deleting characters from them is much faster: this is done to every reply.
    return text.encode("ascii", "ignore").translate(_LOWER, _APART)


def _forms(key: str) -> set[bytes]:
    """The key as itself, in base64 at each alignment, in hexadecimal (and so percent-encoded), and as URLs quote it."""
    body = key.encode()
    encoded = {base64.b64encode(b"\0" * shift + body)[drop:-2] for shift, drop in ((0, 0), (1, 2), (2, 3))}
    forms = {key, quote(key, safe=""), body.hex(), *(form.decode() for form in encoded)}
    return {_squeezed(form) for form in forms}
