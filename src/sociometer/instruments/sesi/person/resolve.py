"""Whom a pronoun means: the central person, somebody else, or nobody can say for certain."""

from collections.abc import Sequence

from sociometer.instruments.sesi.person.cast import (
    Cast,
)
from sociometer.instruments.sesi.person.mentions import (
    Mention,
    sentence_starts,
)
from sociometer.instruments.sesi.person.plural import (
    plural,
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
    CLAUSE,
    FOR_ONESELF,
    JUDGING,
    OWN,
    PRONOUNS,
    REPORTING,
    VOICING,
)


def whom(field: Field, at: int, cast: Cast) -> Whom:
    """Whom the pronoun at that place means."""
    gender = PRONOUNS[field.words[at].low][0]
    if _addressed(field):
        return "other" if gender != cast.gender or _someone_else(cast) else "person"
    if gender == "p":
        return plural(field, at, cast)
    if not cast.gender:
        actor = actor_before(field, at)
        shut_out = case_of(field.words, at) == "object" and actor is not None and actor.kind == "person"
        if gender in cast.genders.values() or shut_out:
            return "other"
        if field.number == 1 and not sentence(field, at):
            return "person"
        strangers = [m for m in sentence(field, at) if m.kind == "one" and m.key not in CHILDREN]
        return "other" if strangers and cast.single else "unsure"
    if case_of(field.words, at) == "possessive" and owned(field, at, cast) and _alone(cast, gender):
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
    here = sentence(field, at)
    rivals = [m for m in here if m.kind == "one" and _fits(m, cast)]
    case = case_of(field.words, at)
    if case == "possessive" and owned(field, at, cast):
        return "person"
    if field.number == 0 and not cast.shown and _led_by_other(field, at) and case == "subject":
        return "other"
    if case == "object" and _own_object(field, at) and _someone_else(cast):
        return "other"
    if not rivals:
        return _from_earlier(field, at, cast)
    actor = actor_before(field, at)
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
    here = [m for m in sentence(field, at) if m.kind != "both"]
    scope = here or [m for m in field.named if m.start < field.words[at].start]
    lead = next((m for m in scope if not m.possessive), None)
    return lead is not None and lead.kind == "one"


def _voiced(field: Field, at: int) -> bool:
    """ "The person should express his feelings": one's own to voice, whatever gender a careless writer gives."""
    words = field.words
    if not at or at + 1 >= len(words) or words[at + 1].low not in OWN or words[at - 1].low not in VOICING:
        return False
    actor = actor_before(field, at)
    return actor is not None and actor.kind == "person"


def _alone(cast: Cast, gender: str) -> bool:
    """Whether at most one other has this gender, who cannot own themselves ("her mother")."""
    keys = {cast.same.get(key, key) for key, known in cast.genders.items() if known == gender}
    return len(keys - {"ex"}) <= 1


def _someone_else(cast: Cast) -> bool:
    return any(known in ("", cast.gender) and key not in CHILDREN for key, known in cast.genders.items())


def _own_object(field: Field, at: int) -> bool:
    """ "You love her": the object of a verb whose subject is the central person is somebody else."""
    actor = actor_before(field, at)
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
    actor = actor_before(field, at)
    if case == "possessive" and following in OWN and actor is not None and actor.kind == "person":
        return "person"
    if _named_apart(field, at, lead, rivals) and _only(rivals, cast):
        return "other"
    if not people and _only(rivals, cast):
        if (lead in rivals or lead is None) and case == "subject":
            return "other"
        if case == "object" and actor_before(field, at) not in rivals:
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
    start = sentence_start(field, at)
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
    start = sentence_start(field, at)
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
    here = sentence(field, at)
    if any(m.kind == "person" for m in here):
        return "person"
    own = [m for m in field.named if m.start < sentence_start(field, at)]
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


def _fits(mention: Mention, cast: Cast) -> bool:
    gender = gender_of(mention, cast)
    if mention.key in CHILDREN and not gender:
        return False
    return gender in ("", cast.gender)


def _known(rivals: Sequence[Mention], cast: Cast) -> bool:
    return any(gender_of(rival, cast) for rival in rivals)


def _only(rivals: Sequence[Mention], cast: Cast) -> bool:
    return len({cast.same.get(rival.key, rival.key) for rival in rivals}) == 1
