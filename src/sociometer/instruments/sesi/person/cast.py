"""The people of an item: whose pronouns are whose, who is what to the central person, which words mean one person."""

import itertools
import re
from collections.abc import Sequence

from msgspec import Struct

from sociometer.instruments.sesi.person.mentions import (
    OPENING,
    Mention,
    Token,
    describes,
    head,
    marked,
    mentions,
    names_in,
    sentence_starts,
    tokens,
)
from sociometer.instruments.sesi.person.words import (
    AFTER_OBJECT,
    CHILDREN,
    CLAUSE,
    COUNTERPART,
    EITHER,
    FEMALE,
    MALE,
    OWN,
    PARTNER,
    PRONOUNS,
)

Reading = tuple[str, list[Token], list[Mention]]
"""A text with its words and the people named in it."""


class Cast(Struct, frozen=True):
    """The people of an item."""

    gender: str
    """The central person's pronouns: "m", "f", or "" where none or only "they" are used."""
    opening: str = ""
    """The noun that names the central person where it is not "person" ("A 27-year-old man …")."""
    genders: dict[str, str] = {}
    """The genders of the others, as far as the text shows them."""
    relations: frozenset[str] = frozenset()
    """What others are to the central person ("a person's sister": sister)."""
    names: frozenset[str] = frozenset()
    """Those called by name."""
    aliases: frozenset[str] = frozenset()
    """Nouns that were said of the central person ("a person is a mother of three")."""
    same: dict[str, str] = {}
    """Two words for one: "her friend, Dan" makes dan the friend."""
    single: bool = False
    """Whether there is one other of unknown gender and one gender of pronouns in the whole item."""
    shown: bool = True
    """Whether the situation itself shows the central person's gender, and not only the options."""


def read_cast(texts: Sequence[str]) -> Cast:
    """The cast of an item from all its texts, the situation first."""
    opening = OPENING.match(texts[0].strip())
    noun = opening[1].lower().split()[0] if opening else ""
    names = names_in(texts)
    per_text = [(text, words := tokens(text), mentions(text, words, noun, names)) for text in texts]
    genders = _known_genders(per_text)
    if "ex" in genders:
        former = {g for text in texts for g in re.findall(r"ex-(wife|girlfriend|husband|boyfriend)", text.lower())}
        genders["ex"] = genders["ex"] or ("" if len(former) != 1 else "m" if former & MALE else "f")
    used = {PRONOUNS[t.low][0] for _, words, _ in per_text for t in words if t.low in PRONOUNS}
    gender = _central_gender(texts[0], per_text, genders, used, noun)
    same = _same_people(per_text)
    _learn_genders(per_text[0], gender, genders, same)
    said = {PRONOUNS[t.low][0] for t in per_text[0][1] if t.low in PRONOUNS} - {"p"}
    unknown = {same.get(key, key) for key, known in genders.items() if not known and key not in CHILDREN}
    if len(unknown) == 1:
        free = said - {gender} - set(genders.values())
        if len(free) == 1 and (gender or "p" in used):
            shared = free.pop()
            genders |= {key: shared for key in genders if same.get(key, key) in unknown}
    relations = _relations(per_text, gender)
    return Cast(
        gender,
        noun,
        genders,
        relations,
        names,
        _aliases(per_text[0]),
        same,
        len(unknown) == 1 and len(used - {"p"}) == 1,
        _shown(per_text[0], genders) == gender or bool(noun),
    )


def _aliases(first: Reading) -> frozenset[str]:
    _, words, named = first
    central = [m for m in named if m.kind == "person"]
    nouns = {m.key for m in named}
    found = {head(t) for at, t in enumerate(words) if head(t) in MALE | FEMALE and describes(words, at, central)}
    return frozenset(found - nouns)


def with_counterparts(text: str, words: Sequence[Token], named: Sequence[Mention], cast: Cast) -> list[Mention]:
    """ "The wife", "his wife" where the central person is a woman with a husband: that is the central person."""
    result = []
    for mention in named:
        other = COUNTERPART.get(mention.key, "")
        own = {"m": ("husband", "boyfriend"), "f": ("wife", "girlfriend")}.get(cast.gender, ())
        before = words[mention.at - 1] if mention.kind == "one" and mention.at > 0 else None
        alone = mention.key not in cast.relations and other in cast.relations and mention.key in own
        if before is not None and alone and not words[mention.at].text.lower().startswith("ex-"):
            theirs = {"m": "her", "f": "his"}[cast.gender]
            if before.low in ("the", "a", "their") or before.low == theirs:
                mention = Mention("person", mention.at, before.start, mention.end, possessive=mention.possessive)
        elif before is not None and mention.key in cast.aliases and before.low in ("the", "a"):
            mention = Mention("person", mention.at, before.start, mention.end, possessive=mention.possessive)
        result.append(mention)
    return result


def _known_genders(per_text: Sequence[Reading]) -> dict[str, str]:
    genders: dict[str, str] = {}
    for _, _, named in per_text:
        for mention in named:
            if mention.kind == "one":
                genders[mention.key] = genders.get(mention.key) or mention.gender
    return _name_genders(per_text, genders)


def _learn_genders(first: Reading, gender: str, genders: dict[str, str], same: dict[str, str]) -> None:
    """A pronoun that cannot be the central person's shows the gender of the only one named so far whom it fits."""
    _, words, named = first
    seen: dict[str, str] = {}
    for at, token in enumerate(words):
        for m in named:
            if m.at == at and m.kind == "one" and m.key not in CHILDREN:
                seen[same.get(m.key, m.key)] = genders.get(m.key, "")
        other = PRONOUNS.get(token.low, ("p",))[0]
        unknown = [key for key, known in seen.items() if not known]
        if gender and other not in ("p", gender, *seen.values()) and len(unknown) == 1:
            seen[unknown[0]] = other
            genders |= {key: other for key in genders if same.get(key, key) == unknown[0]}


def _same_people(per_text: Sequence[Reading]) -> dict[str, str]:
    same: dict[str, str] = {}
    for _, words, named in per_text:
        ones = [m for m in named if m.kind == "one"]
        for one, two in itertools.pairwise(ones):
            gap = words[one.at + 1 : two.at]
            plain = [t.low for t in gap]
            apposed = plain[:2] in ([",", "a"], [",", "an"]) and len(plain) <= 4
            if not one.possessive and (not gap or plain in ([","], ["named"]) or apposed):
                same.setdefault(two.key, same.get(one.key, one.key))
    return same


def _name_genders(per_text: Sequence[Reading], genders: dict[str, str]) -> dict[str, str]:
    """A name beside a noun shares its gender: "his sister Joanna", "Mrs Sen", "Renee, his daughter"."""
    for _, words, named in per_text:
        for one, two in itertools.pairwise(named):
            if one.kind == two.kind == "one" and two.at - one.at <= 5 and not one.possessive:
                gap = [t.low for t in words[one.at + 1 : two.at]]
                if gap and gap not in ([","], ["named"]) and gap[:2] not in ([",", "a"], [",", "an"]):
                    continue
                gender = genders.get(one.key) or genders.get(two.key, "")
                genders[one.key] = genders.get(one.key) or gender
                genders[two.key] = genders.get(two.key) or gender
        for at, token in enumerate(words[1:], 1):
            title = words[at - 1].low
            if title in ("mr", "mrs", "ms", "miss", "signor", "madame", "sir", "lady") and token.low in genders:
                genders[token.low] = "m" if title in ("mr", "signor", "sir") else "f"
    return genders


def _central_gender(
    situation: str,
    per_text: Sequence[Reading],
    genders: dict[str, str],
    used: set[str],
    opening: str,
) -> str:
    """The pronouns of the central person: said outright, or left over once the others have theirs."""
    if opening:
        return "m" if opening in MALE else "f"
    for text, words, named in per_text[:1]:
        for mention in named:
            if mention.kind != "person" or mention.possessive:
                continue
            if mark := marked(text, mention.end):
                return mark
            if said := _said_of(words, mention.at):
                return said
    if left := _left_over(per_text, genders) or _owner(per_text) or _nearest(per_text[0], genders):
        return left
    others = {gender for gender in genders.values() if gender}
    free = {gender for gender in used - {"p"} if gender not in others}
    unknown = any(not known and key not in CHILDREN for key, known in genders.items())
    return free.pop() if len(free) == 1 and not unknown else ""


def _said_of(words: Sequence[Token], at: int) -> str:
    """ "A person, a 30-year-old woman," and "a person is the mother of": the gender of the describing noun."""
    after = [token.low for token in words[at + 1 : at + 9]]
    if after[:1] not in ([","], ["is"], ["was"]) or not after[1:] or after[1] not in ("a", "an", "the", "who"):
        return ""
    for word in after[2:]:
        if word in MALE | FEMALE:
            return "m" if word in MALE else "f"
        if word in PRONOUNS or word in EITHER or word in ("with", "and", "of", "to", "has", ",", "."):
            return ""
    return ""


def _left_over(per_text: Sequence[Reading], genders: dict[str, str]) -> str:
    """The gender of the first pronoun that fits nobody named before it: it can only be the central person's."""
    seen: list[Mention] = []
    for _, words, named in per_text:
        for at, token in enumerate(words):
            seen += [m for m in named if m.at == at and m.kind == "one" and m.key not in CHILDREN]
            gender = PRONOUNS.get(token.low, ("p",))[0]
            if gender == "p":
                continue
            if all(genders.get(m.key) not in ("", gender) for m in seen):
                return gender
            if len({m.key for m in seen}) == 1 and _object_of(words, at, seen[-1].at):
                return gender
    return ""


def _owner(per_text: Sequence[Reading]) -> str:
    """The pronoun before what is the central person's by the text's own word: "a person's fiancee … his fiancee"."""
    relations = _relations(per_text, "")
    for _, words, named in per_text:
        people = {m.at: m for m in named}
        for at, token in enumerate(words[:-1]):
            if token.low not in ("his", "her"):
                continue
            after = people.get(at + 1) or people.get(at + 2)
            if after is not None and after.kind == "one" and after.key in relations:
                return PRONOUNS[token.low][0]
            lead = next((m for m in named if m.at >= 0), None)
            if (
                words[at + 1].low in OWN
                and lead is not None
                and lead.kind == "person"
                and lead.at < at
                and not lead.possessive
            ) and not any(m.kind == "one" and m.at < at for m in named):
                return PRONOUNS[token.low][0]
    return ""


def _shown(first: Reading, genders: dict[str, str]) -> str:
    """The central person's gender as the situation alone shows it."""
    text, words, named = first
    explicit = _central_gender(text, [first], genders, set(), "")
    for start, end in zip(starts := sentence_starts(text), [*starts[1:], len(text) + 1], strict=True):
        inside = [m for m in named if start <= m.start < end]
        for token in words:
            if not start <= token.start < end or token.low not in PRONOUNS or PRONOUNS[token.low][0] == "p":
                continue
            before = [m for m in inside if m.start < token.start]
            rivals = [m for m in before if m.kind == "one" and m.key not in CHILDREN | PARTNER]
            fits = [m for m in rivals if genders.get(m.key) in ("", PRONOUNS[token.low][0])]
            if any(m.kind == "person" for m in before) and not fits:
                free = [m for m in before if m.kind == "one" and genders.get(m.key) == PRONOUNS[token.low][0]]
                explicit = explicit or ("" if free else PRONOUNS[token.low][0])
    return explicit


def _nearest(first: Reading, genders: dict[str, str]) -> str:
    """ "Despite the person's statements that she": a subject pronoun with only the central person in its sentence."""
    text, words, named = first
    for start in sentence_starts(text):
        inside = [(i, t) for i, t in enumerate(words) if t.start >= start]
        for at, token in inside:
            if any(m.at == at and m.kind == "one" for m in named):
                break
            seen = any(m.kind == "person" and start <= m.start < token.start for m in named)
            if seen and token.low in ("he", "she") and PRONOUNS[token.low][0] not in genders.values():
                return PRONOUNS[token.low][0]
    return ""


def _object_of(words: Sequence[Token], at: int, subject: int) -> bool:
    """Whether a pronoun is the object of the verb right after a subject, which it then cannot mean."""
    between = [token.low for token in words[subject + 1 : at]]
    object_case = words[at].low == "him" or (
        words[at].low == "her" and words[at + 1 :][:1] != [] and words[at + 1].low in AFTER_OBJECT
    )
    return object_case and 0 < len(between) <= 4 and all(word.isalpha() and word not in CLAUSE for word in between)


def _relations(per_text: Sequence[Reading], gender: str) -> frozenset[str]:
    """What stands directly after "the person's" or, with a partner noun, after the central person's possessive."""
    mine = {"m": {"his"}, "f": {"her"}}.get(gender, set()) | {"their"}
    found = set()
    for _, words, named in per_text:
        people = {mention.at: mention for mention in named}
        for mention in named:
            if mention.kind not in ("one", "many") or mention.at < 0:
                continue
            for back in range(mention.at - 1, max(-1, mention.at - 5), -1):
                owner = people.get(back)
                if owner is not None:
                    if owner.kind == "person" and owner.possessive:
                        found.add(mention.key)
                    break
                if words[back].low in mine and mention.key in PARTNER:
                    found.add(mention.key)
                if words[back].low in PRONOUNS or words[back].text in ",.;":
                    break
    return frozenset(found)
