"""Whom a pronoun means: the central person, somebody else, or nobody can say for certain."""

from collections.abc import Sequence

from sociometer.instruments.sesi.second_person.mentions import Mention, sentence_starts
from sociometer.instruments.sesi.second_person.people import People
from sociometer.instruments.sesi.second_person.plural import plural
from sociometer.instruments.sesi.second_person.sentence import (
    Field,
    Whom,
    case_of,
    following,
    gender_of,
    named_before,
    owned,
    sentence,
    sentence_start,
)
from sociometer.instruments.sesi.second_person.words import CHILDREN, CLAUSE, PRONOUNS, SHARED


def whom(field: Field, at: int, people: People) -> Whom:
    """Whom the pronoun at that place means."""
    gender = PRONOUNS[field.words[at].low][0]
    if people.gender == "?":
        return "unsure"
    if _addressed(field):
        return _beside_you(field, at, people)
    if gender == "p":
        return plural(field, at, people)
    if not people.gender:
        return _no_gender(field, at, people)
    return _other_gender(field, at, people) if gender != people.gender else _same_gender(field, at, people)


def _addressed(field: Field) -> bool:
    """Whether a text says "you" already and names the central person in no other way: its pronouns are others'."""
    if any(mention.kind == "person" for mention in field.named):
        return False
    return any(token.low in ("you", "your", "yourself") for token in field.words)


def _beside_you(field: Field, at: int, people: People) -> Whom:
    """In a text that says "you", others are "he", "she" and "they", but "their home" may be the reader's too."""
    gender = PRONOUNS[field.words[at].low][0]
    if gender == "p":
        return "unsure" if following(field.words, at) in SHARED else "other"
    return "other" if gender != people.gender or _someone_else(people) else "unsure"


def _no_gender(field: Field, at: int, people: People) -> Whom:
    """Where nothing shows the central person's gender: another's, if all the item's pronouns fit one who was named."""
    gender = PRONOUNS[field.words[at].low][0]
    others = [m for m in (*field.before, *named_before(field, at)) if m.kind == "one" and m.key not in CHILDREN]
    fitting = any(gender_of(m, people) == gender for m in others)
    return "other" if people.pronouns == {gender} and fitting else "unsure"


def _someone_else(people: People) -> bool:
    return any(known in ("", people.gender) and key not in CHILDREN for key, known in people.genders.items())


def _other_gender(field: Field, at: int, people: People) -> Whom:
    """A pronoun that does not fit the central person is another's, named before; else the text contradicts itself."""
    gender, own = PRONOUNS[field.words[at].low][0], named_before(field, at)
    fits = [m for m in (*field.before, *own) if m.kind == "one" and gender_of(m, people) in ("", gender)]
    led_by_person = any(m.kind == "person" for m in own) and not any(m in own for m in fits)
    return "other" if fits and (not led_by_person or case_of(field.words, at) == "object") else "unsure"


def _same_gender(field: Field, at: int, people: People) -> Whom:
    """A pronoun that fits the central person: certain when nobody else fits, or nobody else who was named nearby."""
    own = named_before(field, at)
    rivals = [m for m in (*field.before, *own) if m.kind == "one" and _fits(m, people)]
    if not rivals:
        return "person"
    if not own and not field.settled and _asked_about_person(field) and not any(m in rivals for m in field.asked):
        return "person"
    here = sentence(field, at)
    if any(m in rivals for m in here) or _rival_pronoun(field, at):
        return "unsure"
    if case_of(field.words, at) == "object" and _own_clause(field, at):
        return "unsure"
    if any(m.kind == "person" for m in here) or _kept_subject(field, at, rivals):
        return "person"
    return "person" if case_of(field.words, at) == "possessive" and owned(field, at, people) else "unsure"


def _asked_about_person(field: Field) -> bool:
    """Whether an option answers a question about the central person: "What should the person do?" "She could …"."""
    asked = [m for m in field.asked if m.kind in ("person", "one") and not m.possessive]
    return field.number >= 2 and bool(asked) and asked[0].kind == "person"


def _rival_pronoun(field: Field, at: int) -> bool:
    """Whether the same pronoun was somebody else's earlier in the sentence."""
    start, gender = sentence_start(field, at), PRONOUNS[field.words[at].low][0]
    return any(
        meant != "person" and field.words[back].start >= start and PRONOUNS[field.words[back].low][0] == gender
        for back, meant in field.settled.items()
    )


def _own_clause(field: Field, at: int) -> bool:
    """ "The person called her": the object of the central person's own verb is hardly that person."""
    people = [m for m in sentence(field, at) if m.kind == "person" and not m.possessive]
    between = field.words[people[-1].at + 1 : at] if people else []
    return bool(people) and not any(token.low in CLAUSE - {"and", "or"} or token.text in ",;:" for token in between)


def _kept_subject(field: Field, at: int, rivals: Sequence[Mention]) -> bool:
    """Whether the sentence before was about the central person alone, so that one that opens with "she" goes on so."""
    if case_of(field.words, at) not in ("subject", "possessive"):
        return False
    starts = [start for start in sentence_starts(field.text) if start <= field.words[at].start]
    if len(starts) < 2:
        return False
    previous = [m for m in field.named if starts[-2] <= m.start < starts[-1] and not m.possessive and m.kind != "both"]
    return bool(previous) and previous[0].kind == "person" and not any(m in rivals for m in previous)


def _fits(mention: Mention, people: People) -> bool:
    gender = gender_of(mention, people)
    if mention.key in CHILDREN and not gender:
        return False
    return gender in ("", people.gender)
