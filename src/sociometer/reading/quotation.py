"""Another speaker's words as a quotation that they cannot end, and a talk in which one side is quoted."""

import hashlib
import re

Talk = tuple[tuple[str, str], ...]
"""The conversation, oldest first: (`person` or `subject`, words)."""
_CONTROL = re.compile(r"<(?=[|/!a-z_])|\[(?=/?INST)|(?<=\|)>|(?<=INST)\]", re.IGNORECASE)
_BROKEN = {"<": "‹", ">": "›", "[": "(", "]": ")"}


def mark_of(*texts: str) -> str:
    """The mark of a quotation: a digest of texts of which its speaker does not see all."""
    body = "\x1f".join(texts)
    return "q" + hashlib.blake2b(body.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()


def quote(words: str, mark: str) -> str:
    """Another speaker's words with control tokens broken up and a prefix on each line, between lines with the mark."""
    plain = _CONTROL.sub(lambda match: _BROKEN[match[0]], words).replace(mark, "")
    lines = plain.splitlines() or [""]
    return "\n".join([f"[{mark}]", *(f"| {line}" for line in lines), f"[/{mark}]"])


def transcript(talk: Talk, mark: str, *, own: str, other: str) -> str:
    """A talk as the person's model reads it: its own words, and the other's as a quotation, each under a heading."""
    return "\n\n".join(
        f"{own}\n{quote(words, 'own-' + mark)}" if who == "person" else f"{other}\n{quote(words, mark)}"
        for who, words in talk
    )
