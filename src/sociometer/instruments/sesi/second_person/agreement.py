"""Verbs after "you": the ending of the third person is taken off, along a row of verbs joined by "and"."""

from collections.abc import Sequence

from msgspec import Struct

from sociometer.instruments.sesi.second_person.mentions import Token
from sociometer.instruments.sesi.second_person.words import (
    ADVERBS,
    AUXILIARIES,
    CLAUSE_STARTS,
    NOUNS_IN_S,
    PEOPLE,
    PREPOSITIONS,
    VERBS_IN_S,
    base_form,
    looks_third_person,
    words_in,
)

_OBJECTS = words_in("a an the his her him them it their your my this these those")
_SUBJECTS = words_in("he she it they we i you there this")
_NOUN_ENDINGS = ("tions", "ments", "ities", "nesses", "ances", "ences")
_COMPARING = words_in("as than like")


class Verbs(Struct):
    """New forms of verbs by place, and the places of words whose subject, or being a verb, is in doubt."""

    forms: dict[int, str]
    doubts: set[int]


def verbs_of(words: Sequence[Token], first: int, at: int, others: set[int]) -> Verbs:
    """The verbs of the subject that stands from `first` to `at`; `others` are the places of other subjects."""
    found = Verbs({}, set())
    before = words[first - 1].low if first else ""
    governed = before in PREPOSITIONS - _COMPARING or before.endswith("ing")
    if governed and words[at].low not in ("he", "she", "they", "i"):
        return _who(words, at, found)
    _who(words, at, found)
    place = _main_verb(words, at, others)
    if place is None:
        return found
    if looks_third_person(words[place].text):
        found.forms[place] = base_form(words[place].text)
    _joined(words, place, others, found, inside=before in CLAUSE_STARTS)
    return found


def inverted(words: Sequence[Token], at: int) -> dict[int, str]:
    """The auxiliary before its subject in a question: "Is the person" -> "Are you"."""
    if at >= 0 and words[at].low in AUXILIARIES:
        before = words[at - 1] if at else None
        if before is None or before.text in ",?.;:" or before.low in CLAUSE_STARTS | {"and", "or", "but"}:
            return {at: AUXILIARIES[words[at].low]}
    return {}


def _who(words: Sequence[Token], at: int, found: Verbs) -> Verbs:
    """ "The person, who works long hours": the verb after "who" follows too."""
    place = at + 1
    if place < len(words) and words[place].text == ",":
        place += 1
    if place < len(words) and words[place].low == "who":
        place = _past_adverbs(words, place + 1)
        if place < len(words) and looks_third_person(words[place].text):
            found.forms[place] = base_form(words[place].text)
    return found


def _past_adverbs(words: Sequence[Token], place: int) -> int:
    while place < len(words) and (
        words[place].low in ADVERBS
        or words[place].low in ("himself", "herself", "themselves", "themself")
        or (words[place].low.endswith("ly") and words[place].low not in ("family", "only"))
    ):
        place += 1
    return place


def _main_verb(words: Sequence[Token], at: int, others: set[int]) -> int | None:
    """The place of the verb after a subject, past an apposition, a bracket, a relative clause and adverbs."""
    place = at + 1
    while place < len(words):
        token = words[place]
        if token.text == "(":
            place = _closing(words, place, ")")
        elif token.text == ",":
            nearby = words[place + 1].low if place + 1 < len(words) else ""
            if nearby not in ("a", "an", "who", "now", "aged", "the", "along", "in") and not nearby.isdigit():
                return None
            place = _closing(words, place + 1, ",")
        elif (past := _past_adverbs(words, place)) > place:
            place = past
        elif token.low == "who":
            return None
        else:
            return place if token.text[0].isalpha() and token.low not in ("and", "or") and place not in others else None
    return None


def _closing(words: Sequence[Token], place: int, mark: str) -> int:
    while place < len(words) and words[place].text != mark:
        if mark == "," and words[place].text in ".?!":
            return len(words)
        place += 1
    return place + 1


def _joined(words: Sequence[Token], place: int, others: set[int], found: Verbs, *, inside: bool) -> None:
    """Further verbs of the same subject: "feels hurt and wonders"; what may be a noun or another's is a doubt.

    A verb goes with the nearest subject if that one's own verb is in the present too.
    """
    nearest = "unclear" if inside else "own"
    for at in range(place + 1, len(words)):
        token = words[at]
        if token.text in ".?!;:":
            return
        if token.low in _SUBJECTS and words[at - 1].low in ("and", "but", "or", ","):
            return
        if at in others or token.low == "who":
            verb = _past_adverbs(words, at + 1)
            nearest = "other" if verb < len(words) and looks_third_person(words[verb].text) else "unclear"
        elif token.low in CLAUSE_STARTS or token.low in _SUBJECTS:
            nearest = "unclear"
        if not looks_third_person(token.text) or token.possessive or not _after_conjunction(words, place, at):
            continue
        verb_here = _is_verb(words, at)
        if verb_here and nearest == "own":
            found.forms[at] = base_form(token.text)
        elif verb_here is None or (verb_here and nearest == "unclear"):
            found.doubts.add(at)


def _after_conjunction(words: Sequence[Token], place: int, at: int) -> bool:
    back = at - 1
    while back > place and (words[back].low in ADVERBS or words[back].low.endswith("ly")):
        back -= 1
    return words[back].low in ("and", "but", "or")


def _is_verb(words: Sequence[Token], at: int) -> bool | None:
    """Whether a word in -s after "and" is a verb; None where it may be a noun as well."""
    low, following = words[at].low, words[at + 1].low if at + 1 < len(words) else "."
    if low in AUXILIARIES:
        return following not in _SUBJECTS
    if low in VERBS_IN_S:
        return True
    if low in PEOPLE or words[at].text[0].isupper() or low.endswith(_NOUN_ENDINGS):
        return False
    if following in _OBJECTS:
        return None if low in NOUNS_IN_S else True
    if not following[0].isalnum():
        return False
    if low in NOUNS_IN_S and words[at - 2].low in PEOPLE:
        return True
    return False if low in NOUNS_IN_S and words[at - 2].low.endswith("s") else None
