"""Other speakers' words as a marked quotation, so that nothing in them can pass for an instruction or an answer."""

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
    """Another's words with control marks broken, every line barred, between lines that bear the mark."""
    plain = _CONTROL.sub(lambda match: _BROKEN[match[0]], words).replace(mark, "")
    lines = plain.splitlines() or [""]
    return "\n".join([f"[{mark}]", *(f"| {line}" for line in lines), f"[/{mark}]"])
