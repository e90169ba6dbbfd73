"""Whom "they" means: a group of others, or those among whom the central person is."""

from collections.abc import Sequence

from sociometer.instruments.sesi.person.cast import (
    Cast,
)
from sociometer.instruments.sesi.person.mentions import (
    Mention,
)
from sociometer.instruments.sesi.person.sentence import (
    Field,
    Whom,
    actor_before,
    acts,
    case_of,
    gender_of,
    owned,
    sentence,
    sentence_start,
)
from sociometer.instruments.sesi.person.words import (
    CHILDREN,
    GENERIC,
    INDEFINITE,
    PARTNER,
    PRONOUNS,
    SHARED,
)


def plural(field: Field, at: int, cast: Cast) -> Whom:
    """ "They": both of a couple and a person of unknown gender become "you"; other people stay as they are."""
    here = sentence(field, at)
    earlier = (*field.before, *(m for m in field.named if m.start < field.words[at].start))
    partner = bool(cast.relations & PARTNER) or any(m.key in PARTNER for m in earlier)
    if told := _by_words(field, at, cast, here, partner):
        return told
    return _by_people(field, at, cast, here, partner)


def _by_words(field: Field, at: int, cast: Cast, here: Sequence[Mention], partner: bool) -> Whom | None:
    """What the words around the pronoun tell: "their marriage", "between them", "most people … their"."""
    words, crowd = field.words, [m for m in here if m.kind == "many"]
    before = words[at - 1].low if at else ""
    following = [token.low for token in words[at + 1 : at + 4]]
    possessive = case_of(words, at) == "possessive"
    if before == "whom" and not cast.gender:
        return "person"
    if _loose(field, at, here):
        return "other"
    if possessive and owned(field, at, cast):
        return "person"
    if possessive and any(word in SHARED for word in following[: 1 if crowd else 3]) and (partner or not crowd):
        return "person"
    if case_of(words, at) == "object" and before in ("in", "on", "through", "into"):
        return "other"
    doer = actor_before(field, at)
    if possessive and following[:1] == ["own"] and doer is not None and doer.kind == "one":
        return "unsure"
    if possessive and following[:1] == ["relationship"] and crowd and not partner:
        return "unsure"
    both = at > 1 and [words[at - 2].low, before] == ["both", "of"]
    return "person" if both or following == ["as", "a", "couple"] or (before == "between" and not crowd) else None


def _loose(field: Field, at: int, here: Sequence[Mention]) -> bool:
    """Whether "they" are people in general, or "everyone"."""
    general = [m for m in here if m.kind == "many" and m.key in GENERIC]
    start, end = sentence_start(field, at), field.words[at].start
    if any(token.low in INDEFINITE for token in field.words if start <= token.start < end):
        return True
    return any(acts(field, m) for m in general) or (bool(general) and not any(m.kind == "person" for m in here))


def _by_people(field: Field, at: int, cast: Cast, here: Sequence[Mention], partner: bool) -> Whom:
    """What those named so far tell: a group of others, a couple, or the person alone."""
    crowd = [m for m in here if m.kind == "many"]
    far_crowd = crowd or [
        m
        for m in (*field.before, *field.named)
        if m.kind == "many" and m.key not in GENERIC and (m in field.before or m.start < field.words[at].start)
    ]
    doer = actor_before(field, at)
    if case_of(field.words, at) == "object" and not far_crowd and doer is not None and doer.kind == "one":
        return "person"
    if chained := _chained(field, at):
        return chained
    about_person = field.topic is None or field.topic.kind == "person"
    if not here and field.number >= 2 and case_of(field.words, at) == "possessive" and about_person:
        return "person"
    if here and here[-1].kind == "person" and not cast.gender:
        return "person"
    if not far_crowd:
        return _they(field, at, cast, partner)
    people = any(m.kind == "person" for m in here)
    if crowd:
        return "other" if here[-1].kind == "many" or cast.gender or not people else "unsure"
    return "person" if people or any(m.kind == "both" for m in here) or partner else "unsure"


def _chained(field: Field, at: int) -> Whom | None:
    """A second "they" in a sentence goes on with the first when no group is named between."""
    start = sentence_start(field, at)
    for back in range(at - 1, max(-1, at - 14), -1):
        if field.words[back].start < start or any(m.at == back and m.kind == "many" for m in field.named):
            return None
        if back in field.settled and PRONOUNS[field.words[back].low][0] == "p":
            return None if field.settled[back] == "unsure" else field.settled[back]
    return None


def _they(field: Field, at: int, cast: Cast, partner: bool) -> Whom:
    """ "They" with no group of others about: it takes in the central person, unless another may be meant."""
    here = sentence(field, at)
    others = {cast.same.get(m.key, m.key) for m in here if m.kind == "one" and m.key not in CHILDREN}
    central = [m for m in here if m.kind == "person" and not m.possessive]
    if len(others) > 1 and not any(m.kind == "person" for m in here):
        return "other"
    if len(others) > 1 and not central:
        return "unsure"
    actor = actor_before(field, at)
    if actor is not None and actor.kind == "one" and not gender_of(actor, cast) and actor.key not in cast.names:
        return "unsure"
    third = {m.key for m in (*field.before, *field.named) if m.kind == "one" and m.key not in CHILDREN | PARTNER}
    if partner and third and not any(m.kind == "person" for m in here) and cast.gender:
        return "unsure"
    someone = [m for m in here if m.kind == "one" and not gender_of(m, cast) and m.key not in CHILDREN | cast.names]
    return "person" if partner or not someone else "unsure"
