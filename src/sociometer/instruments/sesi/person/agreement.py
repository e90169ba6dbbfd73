"""Verbs after "you": the ending of the third person is taken off, along a row of verbs joined by "and"."""

from collections.abc import Sequence

from sociometer.instruments.sesi.person.mentions import Token
from sociometer.instruments.sesi.person.words import (
    ADVERBS,
    AUXILIARIES,
    NOUNS_IN_S,
    PAST,
    PREPOSITIONS,
    base_form,
    looks_third_person,
)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_OBJECTS = _words(
    """
    to that a an the his her him them it if whether how why what their your my this these those someone
    something in on about for with like as more less no any all being at from over hard so out
    """
)
_STARTS_CLAUSE = _words(
    """
    that who which because if when while since although though whether where what how why
    """
)
_SUBJECTS = _words(
    """
    he she it they we i you there this
    """
)


def verbs_of(words: Sequence[Token], first: int, at: int, skip: set[int], own: set[int]) -> dict[int, str]:
    """New forms, by place, of the verbs of the subject from `first` to `at`; `skip`: others' places, `own`: its own."""
    before = words[first - 1].low if first else ""
    if (before in PREPOSITIONS or before.endswith("ing")) and words[at].low not in ("he", "she", "they", "i"):
        return {}
    place = _main_verb(words, at, skip)
    if place is None:
        return {}
    forms = {place: base_form(words[place].text)} if _changes(words, place) else {}
    if before in _STARTS_CLAUSE:
        return forms
    if forms or words[place].low in PAST or words[place].low.endswith("ed"):
        forms |= _joined(words, place, skip, own, finite=bool(forms))
    return forms


def inverted(words: Sequence[Token], at: int) -> dict[int, str]:
    """The auxiliary before its subject in a question: "Is the person" -> "Are you"."""
    if at >= 0 and words[at].low in AUXILIARIES:
        before = words[at - 1] if at else None
        joined = _STARTS_CLAUSE | {"and", "or", "but"}
        if before is None or before.text in ",?.;:" or before.low in joined:
            return {at: AUXILIARIES[words[at].low]}
    return {}


def _changes(words: Sequence[Token], place: int) -> bool:
    return looks_third_person(words[place].text)


def _main_verb(words: Sequence[Token], at: int, skip: set[int]) -> int | None:
    """The place of the verb after a subject, past an apposition, a bracket, a relative clause and adverbs."""
    place = at + 1
    while place < len(words):
        token = words[place]
        if token.text == "(":
            place = _closing(words, place, ")")
        elif token.text == ",":
            nearby = words[place + 1].low if place + 1 < len(words) else ""
            if nearby in ("a", "an", "who", "now", "aged", "the", "along") or nearby.isdigit():
                place = _closing(words, place + 1, ",")
            else:
                return None
        elif (
            token.low in ADVERBS
            or (token.low.endswith("ly") and token.low not in ("family", "only"))
            or token.low == "who"
        ):
            place += 1
        else:
            return place if token.text[0].isalpha() and token.low not in ("and", "or") and place not in skip else None
    return None


def _closing(words: Sequence[Token], place: int, mark: str) -> int:
    while place < len(words) and words[place].text != mark:
        if mark == "," and words[place].text in ".?!":
            return len(words)
        place += 1
    return place + 1


def _joined(words: Sequence[Token], place: int, skip: set[int], own: set[int], *, finite: bool) -> dict[int, str]:
    """Further verbs of the same subject: "feels hurt and wonders", "wants to go but fears"."""
    forms: dict[int, str] = {}
    for at in range(place + 1, len(words)):
        token = words[at]
        if token.text in ".?!;:":
            break
        if at in skip and token.low in _SUBJECTS and words[at - 1].low not in _STARTS_CLAUSE:
            break
        if token.low in _SUBJECTS and words[at - 1].low in ("and", "but", "or", ","):
            break
        if token.low in _STARTS_CLAUSE and token.low != "since" and not own & {at + 1, at + 2}:
            break
        back = at - 1
        while back > place and (words[back].low in ADVERBS or words[back].low.endswith("ly")):
            back -= 1
        before = words[back].low
        if before not in ("and", "but", "or") or not _changes(words, at):
            continue
        following = words[at + 1].low if at + 1 < len(words) else ""
        noun = token.low in NOUNS_IN_S and following not in _OBJECTS
        if (token.low in AUXILIARIES or (finite and not noun)) and not _other_subject(words, place, at, skip):
            forms[at] = base_form(token.text)
    return forms


def _other_subject(words: Sequence[Token], place: int, at: int, skip: set[int]) -> bool:
    """Whether somebody else's clause was opened in between ("… but her husband refuses and says").

    After a comma and "and" the verb goes back to the first subject ("was given soup since his wife died, and has …").
    """
    if at >= 2 and words[at - 1].low in ("and", "but") and words[at - 2].text == ",":
        return False
    return any(i in skip for i in range(place + 1, at) if words[i].low not in ("him", "her", "them", "his", "their"))
