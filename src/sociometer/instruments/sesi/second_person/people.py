"""The people of an item: whose pronouns are whose, who is what to the central person, which words mean one person."""

import itertools
from collections.abc import Sequence

from msgspec import Struct

from sociometer.instruments.sesi.second_person.mentions import (
    OPENING,
    Mention,
    Token,
    describes,
    gender_of_noun,
    head,
    marked,
    mentions,
    names_in,
    sentence_starts,
    tokens,
)
from sociometer.instruments.sesi.second_person.words import (
    AFTER_OBJECT,
    CHILDREN,
    CLAUSE,
    COUNTERPART,
    EITHER,
    FEMALE,
    MALE,
    PARTNER,
    PRONOUNS,
)

Reading = tuple[str, list[Token], list[Mention]]
"""A text with its words and the people named in it."""


class People(Struct, frozen=True):
    """The people of an item."""

    gender: str
    """The central person's pronouns: "m", "f", "" where nothing shows them, "?" where texts contradict each other."""
    opening: str = ""
    """The noun that names the central person where it is not "person" ("A 27-year-old man …")."""
    genders: dict[str, str] = {}
    """The genders of the others, as far as the texts show them."""
    relations: frozenset[str] = frozenset()
    """What others are to the central person and to nobody else ("a person's sister": sister)."""
    names: frozenset[str] = frozenset()
    """Those called by name."""
    aliases: frozenset[str] = frozenset()
    """Nouns that were said of the central person ("a person is a mother of three")."""
    same: dict[str, str] = {}
    """Two words for one: "her friend, Dan" makes dan the friend."""
    pronouns: frozenset[str] = frozenset()
    """The genders of all the pronouns in the item."""


def read_people(texts: Sequence[str]) -> People:
    """The people of an item from all its texts, the situation first."""
    opening = OPENING.match(texts[0].strip())
    noun = opening[1].lower().split()[0] if opening else ""
    names = names_in(texts)
    readings = [(text, words := tokens(text), mentions(text, words, noun, names)) for text in texts]
    same = _same_people(readings)
    genders = _known_genders(readings, same)
    shown = _shown_genders(readings, genders, noun)
    gender = shown.pop() if len(shown) == 1 else "?" if shown else ""
    _learn_genders(readings, gender, genders, same)
    pronouns = {PRONOUNS[t.low][0] for _, words, _ in readings for t in words if t.low in PRONOUNS} - {"p"}
    relations = _relations(readings, gender)
    return People(gender, noun, genders, relations, names, _aliases(readings[0]), same, frozenset(pronouns))


def _aliases(first: Reading) -> frozenset[str]:
    _, words, named = first
    central = [m for m in named if m.kind == "person"]
    nouns = {m.key for m in named}
    found = {head(t) for at, t in enumerate(words) if head(t) in MALE | FEMALE and describes(words, at, central)}
    return frozenset(found - nouns)


def with_counterparts(text: str, words: Sequence[Token], named: Sequence[Mention], people: People) -> list[Mention]:
    """ "The wife", "his wife" where the central person is a woman with a husband: that is the central person."""
    result = []
    for mention in named:
        other = COUNTERPART.get(mention.key, "")
        own = {"m": ("husband", "boyfriend"), "f": ("wife", "girlfriend")}.get(people.gender, ())
        before = words[mention.at - 1] if mention.kind == "one" and mention.at > 0 else None
        alone = mention.key not in people.relations and other in people.relations and mention.key in own
        if before is not None and alone:
            theirs = {"m": "her", "f": "his"}[people.gender]
            if before.low in ("the", "their") or before.low == theirs:
                mention = Mention("person", mention.at, before.start, mention.end, possessive=mention.possessive)
        elif before is not None and mention.key in people.aliases and before.low == "the":
            mention = Mention("person", mention.at, before.start, mention.end, possessive=mention.possessive)
        result.append(mention)
    return result


def _same_people(readings: Sequence[Reading]) -> dict[str, str]:
    """Two nouns side by side are one: "her friend, Dan", "his sister Joanna", "her mother-in-law (MIL)"."""
    same: dict[str, str] = {}
    for _, words, named in readings:
        ones = [m for m in named if m.kind == "one"]
        for one, two in itertools.pairwise(ones):
            gap = [t.low for t in words[one.at + 1 : two.at]]
            apposed = gap[:2] in ([",", "a"], [",", "an"]) and len(gap) <= 4
            if not one.possessive and (gap in ([], [","], ["named"], ["("]) or apposed):
                same.setdefault(two.key, same.get(one.key, one.key))
    return {key: whole for key, whole in same.items() if key != whole}


def _known_genders(readings: Sequence[Reading], same: dict[str, str]) -> dict[str, str]:
    """The genders that nouns, marks, titles and appositions show."""
    genders: dict[str, str] = {}
    for _, words, named in readings:
        for mention in named:
            if mention.kind == "one":
                genders[mention.key] = genders.get(mention.key) or mention.gender
        for before, token in itertools.pairwise(words):
            if before.low in ("mr", "mrs", "ms", "miss", "signor", "madame", "sir", "lady") and token.low in genders:
                genders[token.low] = "m" if before.low in ("mr", "signor", "sir") else "f"
    for key, whole in same.items():
        genders[whole] = genders.get(whole) or genders.get(key, "")
        genders[key] = genders.get(key) or genders[whole]
    return genders


def _shown_genders(readings: Sequence[Reading], genders: dict[str, str], opening: str) -> set[str]:
    """Every gender that some text shows for the central person; more than one is a contradiction.

    What is said outright, or can be said of nobody else, goes before what the central person owns by the sentence.
    """
    said = {gender_of_noun(opening)} if opening else set()
    owning: set[str] = set()
    before: list[Mention] = []
    for number, (text, words, named) in enumerate(readings):
        for mention in named:
            if mention.kind == "person" and not mention.possessive:
                said.add(marked(text, mention.end) or _said_of(words, mention.at))
        for at, token in enumerate(words):
            gender = PRONOUNS.get(token.low, ("p",))[0]
            own = [m for m in named if m.start < token.start]
            if gender == "p" or not any(m.kind == "person" for m in (*before, *own)):
                continue
            fits = [m for m in (*before, *own) if m.kind == "one" and genders.get(m.key) in ("", gender)]
            if not fits or (len({m.key for m in fits}) == 1 and fits[-1] in own and _object_of(words, at, fits[-1].at)):
                said.add(gender)
            elif _leads(text, words, at, own, fits):
                owning.add(gender)
        before += named if number < 2 else []
    return said - {""} or owning


def _leads(text: str, words: Sequence[Token], at: int, own: Sequence[Mention], fits: Sequence[Mention]) -> bool:
    """ "How can the person help his fiancée": a first possessive in a sentence about nobody else so far."""
    start = max(start for start in sentence_starts(text) if start <= words[at].start)
    here = [m for m in own if m.start >= start]
    if any(m in fits for m in here) or not any(m.kind == "person" for m in here):
        return False
    noun = words[at + 1].low if at + 1 < len(words) else ""
    if words[at].low not in ("his", "her") or noun in AFTER_OBJECT or not noun.isalpha():
        return False
    return not any(t.low in PRONOUNS and PRONOUNS[t.low][0] != "p" and start <= t.start for t in words[:at])


def _object_of(words: Sequence[Token], at: int, subject: int) -> bool:
    """Whether a pronoun is the object of the verb right after a subject, which it then cannot mean."""
    between = [token.low for token in words[subject + 1 : at]]
    object_case = words[at].low == "him" or (
        words[at].low == "her" and words[at + 1 :][:1] != [] and words[at + 1].low in AFTER_OBJECT
    )
    return object_case and len(between) == 1 and between[0].isalpha() and between[0] not in CLAUSE


def _said_of(words: Sequence[Token], at: int) -> str:
    """ "A person, a 30-year-old woman," and "a person is the mother of": the gender of the describing noun."""
    after = [token.low for token in words[at + 1 : at + 9]]
    if after[:1] not in ([","], ["is"], ["was"]) or not after[1:] or after[1] not in ("a", "an", "the", "who"):
        return ""
    for word in after[2:]:
        if word in MALE | FEMALE:
            return gender_of_noun(word)
        if word in PRONOUNS or word in EITHER or word in ("with", "and", "of", "to", "has", ",", "."):
            return ""
    return ""


def _learn_genders(readings: Sequence[Reading], gender: str, genders: dict[str, str], same: dict[str, str]) -> None:
    """A pronoun that cannot be the central person's shows the gender of the only one its text named whom it fits."""
    if gender not in ("m", "f"):
        return
    for _, words, named in readings:
        seen: dict[str, str] = {}
        for at, token in enumerate(words):
            for m in named:
                if m.at == at and m.kind == "one" and m.key not in CHILDREN:
                    seen.setdefault(same.get(m.key, m.key), genders.get(m.key, ""))
            other = PRONOUNS.get(token.low, ("p",))[0]
            unknown = [key for key, known in seen.items() if not known]
            if other not in ("p", gender, *seen.values()) and len(unknown) == 1:
                seen[unknown[0]] = other
                for key in genders:
                    if same.get(key, key) == unknown[0]:
                        genders[key] = other


def _relations(readings: Sequence[Reading], gender: str) -> frozenset[str]:
    """What is the central person's ("the person's sister", "her husband") and nobody else's."""
    mine = {"m": {"his"}, "f": {"her"}}.get(gender, set()) | {"their"}
    own: set[str] = set()
    others: set[str] = set()
    for _, words, named in readings:
        people = {mention.at: mention for mention in named}
        for mention in named:
            if mention.kind not in ("one", "many") or mention.at < 0:
                continue
            for back in range(mention.at - 1, max(-1, mention.at - 5), -1):
                owner = people.get(back)
                if owner is not None:
                    if owner.possessive:
                        (own if owner.kind == "person" else others).add(mention.key)
                    break
                if words[back].low in mine and mention.key in PARTNER:
                    own.add(mention.key)
                if words[back].low in PRONOUNS or words[back].text in ",.;":
                    break
    return frozenset(own - others)
