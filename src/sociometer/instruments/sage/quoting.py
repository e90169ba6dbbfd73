"""Quotes other speakers' words with marks, so that nothing in them can be taken for an instruction or an answer."""

import hashlib
import re

from sociometer.instruments.sage.items import Scenario

Talk = tuple[tuple[str, str], ...]
"""The conversation, oldest first: (`person` or `subject`, words)."""

_CONTROL = re.compile(r"<(?=[|/!a-z_])|\[(?=/?INST)|(?<=\|)>|(?<=INST)\]", re.IGNORECASE)
_BROKEN = {"<": "‹", ">": "›", "[": "(", "]": ")"}


def quote_mark(scenario: Scenario, talk: Talk) -> str:
    """The mark of a quotation: a digest of what the subject cannot see, the same for the same context."""
    body = "\x1f".join((scenario.id, scenario.hidden, scenario.persona, *(words for _, words in talk)))
    return "q" + hashlib.blake2b(body.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()


def quote(words: str, mark: str) -> str:
    """Another speaker's words with control tokens broken up and a prefix on each line, between lines with the mark."""
    plain = _CONTROL.sub(lambda match: _BROKEN[match[0]], words).replace(mark, "")
    lines = plain.splitlines() or [""]
    return "\n".join([f"[{mark}]", *(f"| {line}" for line in lines), f"[/{mark}]"])
