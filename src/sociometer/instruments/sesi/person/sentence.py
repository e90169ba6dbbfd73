"""A text seen sentence by sentence: how a pronoun is used, who was named before it, and who does something."""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from sociometer.instruments.sesi.person.cast import (
    Cast,
)
from sociometer.instruments.sesi.person.mentions import (
    Mention,
    Token,
    sentence_starts,
)
from sociometer.instruments.sesi.person.words import (
    ADVERBS,
    AFTER_OBJECT,
    AUXILIARIES,
    CLAUSE,
    LETTING,
    MODALS,
    NOT_ADVERBS,
    PAST,
    PEOPLE,
    PREPOSITIONS,
    PRONOUNS,
    SPEECH,
)

Whom = Literal["person", "other", "unsure"]


class Field(Struct, frozen=True):
    """A text with its words and the people named in it, and those named before it in the item."""

    text: str
    words: list[Token]
    named: list[Mention]
    before: tuple[Mention, ...] = ()
    settled: dict[int, Whom] = {}
    """The pronouns already settled, by place."""
    number: int = 0
    """0 the situation, 1 the question, from 2 the options."""
    topic: Mention | None = None
    """Whom the question is about, for the options."""


def case_of(words: Sequence[Token], at: int) -> str:
    """How a pronoun is used; "her" before a noun is possessive, before anything else an object."""
    case = PRONOUNS[words[at].low][1]
    if words[at].low == "his" and (at + 1 == len(words) or words[at + 1].text in ".,;?!" or words[at + 1].low == "to"):
        return "absolute"
    if case != "object or possessive":
        return case
    following = words[at + 1] if at + 1 < len(words) else None
    if at and words[at - 1].low in LETTING and following is not None and following.low not in PEOPLE:
        return "object"
    if at and words[at - 1].low in ("leaving", "causing") and following is not None and following.low.endswith("ed"):
        return "object"
    if following is not None and following.low.endswith("ly") and following.low not in NOT_ADVERBS:
        return "object"
    if following is None or not following.text[0].isalnum() or following.low in AFTER_OBJECT:
        return "object"
    return "possessive"


def owned(field: Field, at: int, cast: Cast) -> bool:
    """ "Her husband" where the husband is known to be the central person's."""
    for mention in field.named:
        if at < mention.at <= at + 3 and mention.kind in ("one", "many"):
            between = field.words[at + 1 : mention.at]
            return mention.key in cast.relations and all(token.text[0].isalnum() for token in between)
    return False


def gender_of(mention: Mention, cast: Cast) -> str:
    """The gender of somebody named, as far as the item shows it."""
    return cast.genders.get(mention.key) or mention.gender


def sentence_start(field: Field, at: int) -> int:
    """Where the sentence of a word begins."""
    place = field.words[at].start
    return max(start for start in sentence_starts(field.text) if start <= place)


def sentence(field: Field, at: int) -> list[Mention]:
    """Those named in the pronoun's sentence before it."""
    start = sentence_start(field, at)
    return [m for m in field.named if start <= m.start < field.words[at].start]


def actor_before(field: Field, at: int) -> Mention | None:
    """The nearest one before the pronoun who does something in its clause."""
    for mention in reversed(sentence(field, at)):
        if mention.at >= 0 and mention.kind != "both" and acts(field, mention):
            return mention
    return None


def _asks(words: Sequence[Token], at: int) -> bool:
    """Whether an auxiliary opens a question or its clause, so that its subject follows: "should the person"."""
    if at < 0 or (words[at].low not in MODALS and words[at].low not in AUXILIARIES):
        return False
    return at == 0 or not words[at - 1].text[0].isalnum() or words[at - 1].low in CLAUSE


def acts(field: Field, mention: Mention) -> bool:
    """Whether a verb follows the mention, which makes it a subject."""
    if mention.possessive or mention.at < 0:
        return False
    following = after(field, mention)
    if following[:1] == ["who"] or following[:2] == [",", "who"]:
        return True
    first = next((i for i, token in enumerate(field.words) if token.end > mention.start), mention.at)
    while first > 0 and field.words[first - 1].low in ("her", "his", "their", "the", "a", "old", "best", "older"):
        first -= 1
    if first > 0 and field.words[first - 1].low in PREPOSITIONS:
        return False
    if _asks(field.words, first - 1):
        return True
    aside = following[:1] == [","]
    while following and (following[0] in ADVERBS or following[0] == "," or following[0].endswith("ly")):
        following.pop(0)
    if not following or (aside and following[0].endswith("ing")):
        return False
    word = following[0]
    known = word in AUXILIARIES or word in MODALS or word in SPEECH or word in PAST or word == "to"
    return known or word.endswith(("ed", "ing")) or (word.endswith("s") and word.isalpha() and len(word) > 3)


def after(field: Field, mention: Mention) -> list[str]:
    """The words after a mention, past a bracket such as an age."""
    following = [token.low for token in field.words[mention.at + 1 : mention.at + 10]]
    if following[:1] == ["("]:
        return following[following.index(")") + 1 :] if ")" in following else []
    return following
