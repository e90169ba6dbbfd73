"""A text seen sentence by sentence: how a pronoun is used, who was named before it, and who does something."""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from sociometer.instruments.sesi.second_person.mentions import Mention, Token, head, sentence_starts
from sociometer.instruments.sesi.second_person.people import People
from sociometer.instruments.sesi.second_person.words import (
    ADVERBS,
    AFTER_EITHER,
    AFTER_OBJECT,
    AUXILIARIES,
    CLAUSE,
    COMPLETED,
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
    asked: tuple[Mention, ...] = ()
    """Those named in the question, for the options."""


def case_of(words: Sequence[Token], at: int) -> str:
    """How a pronoun is used; "her" may be possessive or object, and "unclear" where its neighbours do not tell."""
    case = PRONOUNS[words[at].low][1]
    word = following(words, at)
    ends = not word[:1].isalnum()
    if words[at].low == "his" and (ends or word == "to"):
        return "absolute"
    if case != "object or possessive":
        return case
    if ends or word in AFTER_OBJECT:
        return "object"
    if head(words[at + 1]) in PEOPLE:
        return "possessive"
    if word in AFTER_EITHER or (at and words[at - 1].low in COMPLETED):
        return "unclear"
    return "unclear" if word.endswith("ly") and word not in NOT_ADVERBS else "possessive"


def following(words: Sequence[Token], at: int) -> str:
    """The word after a place, in small letters; empty at the end."""
    return words[at + 1].low if at + 1 < len(words) else ""


def owned(field: Field, at: int, people: People) -> bool:
    """ "Her husband" where the husband is known to be the central person's."""
    for mention in field.named:
        if at < mention.at <= at + 3 and mention.kind in ("one", "many"):
            between = field.words[at + 1 : mention.at]
            return mention.key in people.relations and all(token.text[0].isalnum() for token in between)
    return False


def gender_of(mention: Mention, people: People) -> str:
    """The gender of somebody named, as far as the item shows it."""
    return people.genders.get(mention.key) or mention.gender


def named_before(field: Field, at: int) -> list[Mention]:
    """Those named in the text before a word."""
    return [m for m in field.named if m.start < field.words[at].start]


def sentence_start(field: Field, at: int) -> int:
    """Where the sentence of a word begins."""
    place = field.words[at].start
    return max(start for start in sentence_starts(field.text) if start <= place)


def sentence(field: Field, at: int) -> list[Mention]:
    """Those named in the pronoun's sentence before it."""
    start = sentence_start(field, at)
    return [m for m in named_before(field, at) if m.start >= start]


def _asks(words: Sequence[Token], at: int) -> bool:
    """Whether an auxiliary opens a question or its clause, so that its subject follows: "should the person"."""
    if at < 0 or (words[at].low not in MODALS and words[at].low not in AUXILIARIES):
        return False
    return at == 0 or not words[at - 1].text[0].isalnum() or words[at - 1].low in CLAUSE


def acts(field: Field, mention: Mention) -> bool:
    """Whether a verb follows the mention, which makes it a subject."""
    if mention.possessive or mention.at < 0:
        return False
    ahead = after(field, mention)
    if ahead[:1] == ["who"] or ahead[:2] == [",", "who"]:
        return True
    first = next((i for i, token in enumerate(field.words) if token.end > mention.start), mention.at)
    while first > 0 and field.words[first - 1].low in ("her", "his", "their", "the", "a", "old", "best", "older"):
        first -= 1
    if first > 0 and field.words[first - 1].low in PREPOSITIONS - {"as", "than", "like"}:
        return False
    if _asks(field.words, first - 1):
        return True
    aside = ahead[:1] == [","]
    while ahead and (ahead[0] in ADVERBS or ahead[0] == "," or ahead[0].endswith("ly")):
        ahead.pop(0)
    if not ahead or (aside and ahead[0].endswith("ing")):
        return False
    word = ahead[0]
    known = word in AUXILIARIES or word in MODALS or word in SPEECH or word in PAST or word == "to"
    return known or word.endswith(("ed", "ing")) or (word.endswith("s") and word.isalpha() and len(word) > 3)


def after(field: Field, mention: Mention) -> list[str]:
    """The words after a mention, past a bracket such as an age."""
    ahead = [token.low for token in field.words[mention.at + 1 : mention.at + 10]]
    if ahead[:1] == ["("]:
        return ahead[ahead.index(")") + 1 :] if ")" in ahead else []
    return ahead
