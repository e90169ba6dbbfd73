"""Whom "they" means: those among whom the central person is, other people, or nobody can say for certain."""

from sociometer.instruments.sesi.second_person.people import People
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
from sociometer.instruments.sesi.second_person.words import (
    CHILDREN,
    COUPLE,
    INDEFINITE,
    NOT_VERBS,
    PARTNER,
    PRONOUNS,
    SHARED,
)


def plural(field: Field, at: int, people: People) -> Whom:
    """ "They" is the central person, or a couple of which it is one, where nobody and nothing else can be meant."""
    words, here = field.words, sentence(field, at)
    if any(token.low in INDEFINITE for token in words) or (words[at].low == "them" and _things(field, at)):
        return "unsure"
    groups = any(m.kind == "many" for m in here)
    if case_of(words, at) == "possessive" and owned(field, at, people):
        return "person" if not groups and not any(m.kind == "one" for m in here) else "unsure"
    named = [*field.before, *named_before(field, at)]
    ones = {people.same.get(m.key, m.key): m for m in named if m.kind == "one"}
    partners = [m for m in ones.values() if m.key in PARTNER]
    if following(words, at) in COUPLE and partners and all(m.kind != "one" or m in partners for m in here):
        return "person"
    if groups:
        return "unsure"
    pair = len(ones) == len(partners) == 1
    if pair and following(words, at) in SHARED and not any(m.kind == "many" for m in named):
        return "person"
    known = all(gender_of(m, people) for key, m in ones.items() if key not in CHILDREN)
    return "person" if (known and (pair or not people.gender)) or _leads(field, at, people, known) else "unsure"


def _leads(field: Field, at: int, people: People, known: bool) -> bool:
    """Whether the sentence is about the central person, and nobody in it may be "they" instead."""
    here = sentence(field, at)
    lead = next((m for m in here if not m.possessive), None)
    if lead is None or lead.kind != "person":
        return False
    if known and field.words[at].low != "them":
        return True
    first = not any(PRONOUNS[field.words[back].low][0] == "p" for back in field.settled)
    alone = first and not any(m.kind == "one" for m in here)
    return alone and not people.gender and case_of(field.words, at) == "possessive"


def _things(field: Field, at: int) -> bool:
    """Whether the sentence has a word in -s before the pronoun that may be what "them" means."""
    start = sentence_start(field, at)
    before = [token for token in field.words[:at] if token.start >= start]
    return any(t.low.endswith("s") and len(t.low) > 3 and t.low not in NOT_VERBS and not t.possessive for t in before)
