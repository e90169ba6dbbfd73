"""Whom a pronoun means: the central person, somebody else, or nobody can say for certain."""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from sociometer.instruments.sesi.person.cast import Cast, Mention, Token, sentence_starts
from sociometer.instruments.sesi.person.words import (
    ADVERBS,
    AFTER_OBJECT,
    AUXILIARIES,
    CHILDREN,
    CLAUSE,
    FOR_ONESELF,
    GENERIC,
    INDEFINITE,
    JUDGING,
    LETTING,
    MODALS,
    NOT_ADVERBS,
    OWN,
    PARTNER,
    PAST,
    PEOPLE,
    PREPOSITIONS,
    PRONOUNS,
    REPORTING,
    SHARED,
    SPEECH,
    VOICING,
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


def whom(field: Field, at: int, cast: Cast) -> Whom:
    """Whom the pronoun at that place means."""
    gender = PRONOUNS[field.words[at].low][0]
    if _addressed(field):
        return "other" if gender != cast.gender or _someone_else(cast) else "person"
    if gender == "p":
        return _plural(field, at, cast)
    if not cast.gender:
        actor = _actor(field, at)
        shut_out = case_of(field.words, at) == "object" and actor is not None and actor.kind == "person"
        if gender in cast.genders.values() or shut_out:
            return "other"
        if field.number == 1 and not _sentence(field, at):
            return "person"
        strangers = [m for m in _sentence(field, at) if m.kind == "one" and m.key not in CHILDREN]
        return "other" if strangers and cast.single else "unsure"
    if case_of(field.words, at) == "possessive" and _owned(field, at, cast) and _alone(cast, gender):
        return "person"
    if gender != cast.gender and _voiced(field, at):
        return "person"
    if gender != cast.gender:
        free = [key for key, known in cast.genders.items() if known in ("", gender) and key not in CHILDREN]
        return "other" if free else "unsure"
    return _same_gender(field, at, cast)


def _addressed(field: Field) -> bool:
    """Whether a text says "you" already and names the central person in no other way: its pronouns are others'."""
    if any(mention.kind == "person" for mention in field.named):
        return False
    return any(token.low in ("you", "your", "yourself") for token in field.words)


def _same_gender(field: Field, at: int, cast: Cast) -> Whom:
    """A pronoun that fits the central person: certain when nobody else fits or when grammar shuts the others out."""
    here = _sentence(field, at)
    rivals = [m for m in here if m.kind == "one" and _fits(m, cast)]
    case = case_of(field.words, at)
    if case == "possessive" and _owned(field, at, cast):
        return "person"
    if field.number == 0 and not cast.shown and _led_by_other(field, at) and case == "subject":
        return "other"
    if case == "object" and _own_object(field, at) and _someone_else(cast):
        return "other"
    if not rivals:
        return _from_earlier(field, at, cast)
    actor = _actor(field, at)
    if case == "reflexive" and actor is not None and (actor.kind == "person" or actor in rivals):
        return "person" if actor.kind == "person" else "other"
    if case == "object" and actor is not None and _only(rivals, cast):
        if actor in rivals:
            return "person"
        if actor.kind == "person" and _known(rivals, cast) and not _affected(field, at):
            return "other"
    if case in ("possessive", "reflexive") and (bound := _bound(field, at)):
        return bound
    return _by_lead(field, at, cast, here, rivals)


def _led_by_other(field: Field, at: int) -> bool:
    """ "A person's sister is about to lose her lease": the sentence, or the one before it, is about another."""
    here = [m for m in _sentence(field, at) if m.kind != "both"]
    scope = here or [m for m in field.named if m.start < field.words[at].start]
    lead = next((m for m in scope if not m.possessive), None)
    return lead is not None and lead.kind == "one"


def _voiced(field: Field, at: int) -> bool:
    """ "The person should express his feelings": one's own to voice, whatever gender a careless writer gives."""
    words = field.words
    if not at or at + 1 >= len(words) or words[at + 1].low not in OWN or words[at - 1].low not in VOICING:
        return False
    actor = _actor(field, at)
    return actor is not None and actor.kind == "person"


def _alone(cast: Cast, gender: str) -> bool:
    """Whether at most one other has this gender, who cannot own themselves ("her mother")."""
    keys = {cast.same.get(key, key) for key, known in cast.genders.items() if known == gender}
    return len(keys - {"ex"}) <= 1


def _someone_else(cast: Cast) -> bool:
    return any(known in ("", cast.gender) and key not in CHILDREN for key, known in cast.genders.items())


def _own_object(field: Field, at: int) -> bool:
    """ "You love her": the object of a verb whose subject is the central person is somebody else."""
    actor = _actor(field, at)
    if actor is None or actor.kind != "person" or _affected(field, at):
        return False
    between = field.words[actor.at + 1 : at]
    breaks = CLAUSE - {"and", "or", "how"} | {"it", "this", "there", "he", "she", "they", "as", "than"}
    stops = [token for token in between if token.text in ";:" or token.low in breaks]
    how = [at for at, token in enumerate(between[:-1]) if token.low == "how" and between[at + 1].low != "to"]
    return not stops and not how


def _affected(field: Field, at: int) -> bool:
    """ "…, causing her to feel": the one whom the whole clause before affects is the one the sentence is about."""
    return at > 0 and field.words[at - 1].low in (
        "causing",
        "making",
        "leaving",
        "leading",
        "prompting",
        "allowing",
        "makes",
    )


def _by_lead(field: Field, at: int, cast: Cast, here: Sequence[Mention], rivals: Sequence[Mention]) -> Whom:
    """Whom the sentence is about decides where only one of two acts in it."""
    case = case_of(field.words, at)
    lead = next((m for m in here if not m.possessive), None)
    people = [m for m in here if m.kind == "person"]
    if lead is not None and lead.kind == "person" and not any(acts(field, rival) for rival in rivals):
        return "person"
    following = field.words[at + 1].low if at + 1 < len(field.words) else ""
    actor = _actor(field, at)
    if case == "possessive" and following in OWN and actor is not None and actor.kind == "person":
        return "person"
    if _named_apart(field, at, lead, rivals) and _only(rivals, cast):
        return "other"
    if not people and _only(rivals, cast):
        if (lead in rivals or lead is None) and case == "subject":
            return "other"
        if case == "object" and _actor(field, at) not in rivals:
            return "other"
    before = field.words[at - 1].low if at else ""
    if case == "possessive" and before in FOR_ONESELF and here[-1] in rivals and _only(rivals, cast):
        return "other"
    about_person = field.topic is not None and field.topic.kind == "person"
    if people and about_person and not any(acts(field, m) for m in here if m.kind == "one"):
        return "person"
    if case == "possessive" and lead in rivals and _only(rivals, cast) and not people:
        near = [token.low for token in field.words[max(0, at - 3) : at]]
        if near[-1:] and near[-1] in FOR_ONESELF:
            return "other"
        if any(word in JUDGING for word in near):
            return "person"
    if not _known(rivals, cast) and lead in (None, *people):
        return "person"
    if case == "subject" and lead in rivals and _only(rivals, cast):
        said = [token.low for token in field.words[max(0, at - 2) : at]]
        if _object_follows(field, at) or any(word in REPORTING for word in said):
            return "other"
    return "unsure"


def _named_apart(field: Field, at: int, lead: Mention | None, rivals: Sequence[Mention]) -> bool:
    """ "The friend invited the person to her party": a writer who says "the person" there means the friend by "her"."""
    if lead not in rivals or lead is None or not acts(field, lead):
        return False
    start = _sentence_start(field, at)
    ends = [other for other in sentence_starts(field.text) if other > start] or [len(field.text) + 1]
    apart = [
        m for m in field.named if m.kind == "person" and lead.start < m.start < ends[0] and m.at not in field.settled
    ]
    if any(start <= m.start < lead.start for m in field.named if m.kind == "person" and not m.possessive):
        return False
    told = ("told", "tells", "informed", "asked", "convinced", "reminded", "telling", "asking")
    words = field.words
    return bool(apart) and not any(words[max(0, m.at - 2)].low in told for m in apart)


def _object_follows(field: Field, at: int) -> bool:
    """ "because he wants to protect him": subject and object of one clause are two people."""
    gender = PRONOUNS[field.words[at].low][0]
    for token in field.words[at + 1 : at + 8]:
        if token.text in ".,;":
            return False
        if token.low in PRONOUNS and PRONOUNS[token.low][0] == gender:
            return PRONOUNS[token.low][1].startswith("object")
    return False


def _bound(field: Field, at: int) -> Whom | None:
    """ "She always speaks her mind": a possessive goes on with the pronoun before it when nobody is named between."""
    gender = PRONOUNS[field.words[at].low][0]
    start = _sentence_start(field, at)
    for back in range(at - 1, max(-1, at - 14), -1):
        token = field.words[back]
        if token.start < start or token.text in ".;:!?":
            return None
        if any(m.at == back and m.kind == "one" for m in field.named):
            return None
        if back in field.settled and PRONOUNS[token.low][0] == gender:
            settled = field.settled[back]
            return None if settled == "unsure" else settled
    return None


def _from_earlier(field: Field, at: int, cast: Cast) -> Whom:
    """No rival in this sentence so far: whoever fits and was spoken of last, when that is beyond doubt."""
    here = _sentence(field, at)
    if any(m.kind == "person" for m in here):
        return "person"
    own = [m for m in field.named if m.start < _sentence_start(field, at)]
    earlier = [m for m in (*field.before, *own) if m.kind in ("person", "one")]
    rivals = [m for m in earlier if m.kind == "one" and _fits(m, cast)]
    if not rivals:
        return "person"
    if bound := _bound(field, at):
        return bound
    if field.number >= 1 and not here and not own:
        if field.number == 1 or field.topic is None or field.topic.kind == "person":
            return "person"
        return "other" if field.topic in rivals or field.topic.key in {m.key for m in rivals} else "person"
    if not any(m in own and acts(field, m) for m in rivals) and not any(m in field.before for m in rivals):
        return "person"
    last = [m for m in earlier if m.kind == "person" or m in rivals][-1]
    return "person" if last.kind == "person" or _kept_subject(field, at) else "unsure"


def _kept_subject(field: Field, at: int) -> bool:
    """Whether the central person led the sentence before, so that one that opens with "she" goes on with her."""
    if case_of(field.words, at) not in ("subject", "possessive"):
        return False
    starts = [start for start in sentence_starts(field.text) if start <= field.words[at].start]
    if len(starts) < 2:
        return False
    previous = [m for m in field.named if starts[-2] <= m.start < starts[-1] and not m.possessive and m.kind != "both"]
    return bool(previous) and previous[0].kind == "person"


def _plural(field: Field, at: int, cast: Cast) -> Whom:
    """ "They": both of a couple and a person of unknown gender become "you"; other people stay as they are."""
    words, here = field.words, _sentence(field, at)
    start = _sentence_start(field, at)
    crowd = [m for m in here if m.kind == "many"]
    if at and words[at - 1].low == "whom" and not cast.gender:
        return "person"
    loose = any(m.key in GENERIC and acts(field, m) for m in crowd)
    loose = loose or (any(m.key in GENERIC for m in crowd) and not any(m.kind == "person" for m in here))
    if loose or any(t.low in INDEFINITE for t in words if start <= t.start < words[at].start):
        return "other"
    possessive = case_of(words, at) == "possessive"
    if possessive and _owned(field, at, cast):
        return "person"
    earlier = (*field.before, *(m for m in field.named if m.start < words[at].start))
    far_crowd = [m for m in earlier if m.kind == "many" and (m in here or m.key not in GENERIC)]
    partner = bool(cast.relations & PARTNER) or any(m.key in PARTNER for m in earlier)
    following = [token.low for token in words[at + 1 : at + 4]]
    if possessive and any(word in SHARED for word in following[: 1 if crowd else 3]) and (partner or not crowd):
        return "person"
    if case_of(words, at) == "object" and at and words[at - 1].low in ("in", "on", "through", "into"):
        return "other"
    own = [token.low for token in words[at + 1 : at + 2]] == ["own"]
    doer = _actor(field, at)
    if possessive and own and doer is not None and doer.kind == "one":
        return "unsure"
    if possessive and words[at + 1].low == "relationship" and crowd and not partner:
        return "unsure"
    if at and words[at - 1].low == "between" and not crowd:
        return "person"
    after = " ".join(token.low for token in words[at + 1 : at + 4])
    if after == "as a couple" or (at > 1 and [words[at - 2].low, words[at - 1].low] == ["both", "of"]):
        return "person"
    actor = _actor(field, at)
    if case_of(words, at) == "object" and not far_crowd and actor is not None and actor.kind == "one":
        return "person"
    if chained := _chained(field, at):
        return chained
    about_person = field.topic is None or field.topic.kind == "person"
    if not here and field.number >= 2 and possessive and about_person:
        return "person"
    if here and here[-1].kind == "person" and not cast.gender:
        return "person"
    if not far_crowd:
        return _they(field, at, cast, partner)
    if crowd:
        return (
            "other" if here[-1].kind == "many" or cast.gender or not any(m.kind == "person" for m in here) else "unsure"
        )
    return "person" if any(m.kind in ("person", "both") for m in here) or partner else "unsure"


def _chained(field: Field, at: int) -> Whom | None:
    """A second "they" in a sentence goes on with the first when no group is named between."""
    start = _sentence_start(field, at)
    for back in range(at - 1, max(-1, at - 14), -1):
        if field.words[back].start < start or any(m.at == back and m.kind == "many" for m in field.named):
            return None
        if back in field.settled and PRONOUNS[field.words[back].low][0] == "p":
            return None if field.settled[back] == "unsure" else field.settled[back]
    return None


def _they(field: Field, at: int, cast: Cast, partner: bool) -> Whom:
    """ "They" with no group of others about: it takes in the central person, unless another may be meant."""
    here = _sentence(field, at)
    others = {cast.same.get(m.key, m.key) for m in here if m.kind == "one" and m.key not in CHILDREN}
    central = [m for m in here if m.kind == "person" and not m.possessive]
    if len(others) > 1 and not any(m.kind == "person" for m in here):
        return "other"
    if len(others) > 1 and not central:
        return "unsure"
    actor = _actor(field, at)
    if actor is not None and actor.kind == "one" and not _gender(actor, cast) and actor.key not in cast.names:
        return "unsure"
    third = {m.key for m in (*field.before, *field.named) if m.kind == "one" and m.key not in CHILDREN | PARTNER}
    if partner and third and not any(m.kind == "person" for m in here) and cast.gender:
        return "unsure"
    someone = [m for m in here if m.kind == "one" and not _gender(m, cast) and m.key not in CHILDREN | cast.names]
    return "person" if partner or not someone else "unsure"


def _gender(mention: Mention, cast: Cast) -> str:
    return cast.genders.get(mention.key) or mention.gender


def _fits(mention: Mention, cast: Cast) -> bool:
    gender = _gender(mention, cast)
    if mention.key in CHILDREN and not gender:
        return False
    return gender in ("", cast.gender)


def _known(rivals: Sequence[Mention], cast: Cast) -> bool:
    return any(_gender(rival, cast) for rival in rivals)


def _only(rivals: Sequence[Mention], cast: Cast) -> bool:
    return len({cast.same.get(rival.key, rival.key) for rival in rivals}) == 1


def _owned(field: Field, at: int, cast: Cast) -> bool:
    """ "Her husband" where the husband is known to be the central person's."""
    for mention in field.named:
        if at < mention.at <= at + 3 and mention.kind in ("one", "many"):
            between = field.words[at + 1 : mention.at]
            return mention.key in cast.relations and all(token.text[0].isalnum() for token in between)
    return False


def _sentence_start(field: Field, at: int) -> int:
    place = field.words[at].start
    return max(start for start in sentence_starts(field.text) if start <= place)


def _sentence(field: Field, at: int) -> list[Mention]:
    """Those named in the pronoun's sentence before it."""
    start = _sentence_start(field, at)
    return [m for m in field.named if start <= m.start < field.words[at].start]


def _actor(field: Field, at: int) -> Mention | None:
    """The nearest one before the pronoun who does something in its clause."""
    for mention in reversed(_sentence(field, at)):
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
