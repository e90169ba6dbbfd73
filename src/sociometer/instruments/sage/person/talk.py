"""A talk as the person's model sees it, the other's words as quotations; the records of both hops."""

import hashlib
import re

from msgspec import Struct

from sociometer.core.prompts import Prompts
from sociometer.instruments.sage.items import Scenario

SIMULATOR = "simulator"
Talk = tuple[tuple[str, str], ...]
"""The conversation, oldest first: (`person` or `subject`, words)."""
_CONTROL = re.compile(r"<(?=[|/!a-z_])|\[(?=/?INST)|(?<=\|)>|(?<=INST)\]", re.IGNORECASE)
_BROKEN = {"<": "‹", ">": "›", "[": "(", "]": ")"}


class EmotionReply(Struct, frozen=True, forbid_unknown_fields=True):
    """The simulator's answer in the first hop."""

    said: str
    serves: str
    activity: str
    feeling: str
    change: int


class Plan(Struct, frozen=True):
    """The second hop of a turn: how the person intends to answer."""

    attitude: str
    aim: str
    tone: str
    content: str


class SpokenReply(Plan, frozen=True, forbid_unknown_fields=True):
    """The simulator's answer in the second hop."""

    words: str


class PersonView(Struct, frozen=True):
    """The view of a program in the simulator's role; never sent to a model."""

    hop: str
    scenario: Scenario
    emotion: int
    words: str
    """The person's last words."""
    reply: str
    earlier: tuple[str, ...] = ()
    """The subject's earlier replies."""
    told: tuple[str, ...] = ()
    """The person's words before the last, oldest first."""


def quote_mark(scenario: Scenario, talk: Talk) -> str:
    """The mark of a quotation: a digest of what the subject cannot see, the same for the same context."""
    body = "\x1f".join((scenario.id, scenario.hidden, scenario.persona, *(words for _, words in talk)))
    return "q" + hashlib.blake2b(body.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()


def quote(words: str, mark: str) -> str:
    """Another speaker's words with control tokens broken up and a prefix on each line, between lines with the mark."""
    plain = _CONTROL.sub(lambda match: _BROKEN[match[0]], words).replace(mark, "")
    lines = plain.splitlines() or [""]
    return "\n".join([f"[{mark}]", *(f"| {line}" for line in lines), f"[/{mark}]"])


def transcript(talk: Talk, mark: str, prompts: Prompts, language: str) -> str:
    """A dialogue as the simulator reads it: its own words, and the other's as a quotation."""
    own, other = prompts.render("own", language), prompts.render("other", language)
    return "\n\n".join(
        f"{own}\n{quote(words, 'own-' + mark)}" if who == "person" else f"{other}\n{quote(words, mark)}"
        for who, words in talk
    )
