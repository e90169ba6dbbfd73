"""Who is in an item: its central person, the others by gender and number, and where each is named."""

import itertools
import re
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from sociometer.instruments.sesi.person.words import (
    AFTER_OBJECT,
    CHILDREN,
    CLAUSE,
    COUNTERPART,
    EITHER,
    FEMALE,
    FINITE,
    FRIENDLY,
    MALE,
    NOT_PEOPLE,
    OWN,
    PARTNER,
    PEOPLE,
    PLURAL,
    PRONOUNS,
    SINGULAR,
    THINGS,
    TITLES,
)

Kind = Literal["person", "one", "many", "both"]

TOKEN = re.compile(r"\d+(?:-[a-z]+)+|[A-Za-zÀ-ž]+(?:[-'’](?!s\b)[A-Za-zÀ-ž]+)*(?:['’]s\b)?|\d+|[^\sA-Za-zÀ-ž\d]")
_AGE_MARK = re.compile(r"\s*,?\s*\(?\b(?:\d{1,2}\s*(?:yo|y/o)?\s*/?\s*([MmFf])|([MmFf])\s*/?\s*\d{1,2})\b")
_BARE_MARK = re.compile(r"\s*\(\s*([MmFf])\s*\)")
_SENTENCE_END = re.compile(r"[.!?](?=\s|$)")
_PERSON = re.compile(
    r"\b(?:[Aa]|[Tt]he|[Tt]his) (?:\d{1,2}-year-old )?(?:person)(?:['’]s)?(?![\w-])|^\W*(?:[Hh]e )?erson(?:['’]s)?\b"
)
_OPENING = re.compile(
    r"^An?\s+(?:\d{1,2}-year-old )?(?:male |female )?(woman|man|girl|boy|lady|guy|female|male(?: physician)?)\b"
)
_COUPLE = re.compile(r"\b(?:the|this|a) (?:couple|two of them|pair)\b|\bboth of them\b|\beach other\b", re.I)


class Token(Struct, frozen=True):
    """A word or mark with its place in the text."""

    text: str
    start: int
    end: int
    low: str
    """The word in small letters, without a possessive ending."""
    possessive: bool
    """Whether it ends in 's."""


class Mention(Struct, frozen=True):
    """One naming of someone; `at` is the place of its head among the tokens."""

    kind: Kind
    at: int
    start: int
    end: int
    key: str = ""
    gender: str = ""
    possessive: bool = False


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


def tokens(text: str) -> list[Token]:
    """The words and marks of a text."""
    found = []
    for match in TOKEN.finditer(text):
        word = match[0]
        owns = word.endswith(("'s", "’s"))
        found.append(Token(word, match.start(), match.end(), word[:-2].lower() if owns else word.lower(), owns))
    return found


def sentence_starts(text: str) -> list[int]:
    """Where each sentence begins."""
    return [0] + [match.end() for match in _SENTENCE_END.finditer(text)]


def mentions(
    text: str, words: Sequence[Token], opening: str = "", names: frozenset[str] = frozenset()
) -> list[Mention]:
    """Everybody named in a text, in order; nouns that merely describe the central person count as that person."""
    found = _central(text, words, opening)
    taken = {mention.at for mention in found}
    for at, token in enumerate(words):
        if at in taken:
            continue
        noun = _head(token)
        if noun in ("male", "female"):
            continue
        if noun in PLURAL and noun not in THINGS and not (noun == "friends" and words[at - 1].low in FRIENDLY):
            found.append(Mention("many", at, token.start, token.end, noun))
        elif noun in SINGULAR and not _describes(words, at, found):
            gender = (
                "m" if noun in MALE else "f" if noun in FEMALE else _marked(text, token.end) or _adjective(words, at)
            )
            found.append(Mention("one", at, token.start, token.end, noun, gender, token.possessive))
        elif token.low in names and token.text[0].isupper():
            found.append(Mention("one", at, token.start, token.end, token.low, "", token.possessive))
    found.sort(key=lambda mention: mention.start)
    found += _pairs(words, found)
    found.sort(key=lambda mention: mention.start)
    return found + [Mention("both", -1, m.start(), m.end()) for m in _COUPLE.finditer(text)]


def read_cast(texts: Sequence[str]) -> Cast:
    """The cast of an item from all its texts, the situation first."""
    opening = _OPENING.match(texts[0].strip())
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


def _aliases(first: tuple[str, list[Token], list[Mention]]) -> frozenset[str]:
    _, words, named = first
    central = [m for m in named if m.kind == "person"]
    nouns = {m.key for m in named}
    found = {_head(t) for at, t in enumerate(words) if _head(t) in MALE | FEMALE and _describes(words, at, central)}
    return frozenset(found - nouns)


def _pairs(words: Sequence[Token], found: Sequence[Mention]) -> list[Mention]:
    """Two others joined by "and" are "they" together: "her friend and his wife"."""
    pairs = []
    for one, two in itertools.pairwise(found):
        between = [token.low for token in words[one.at + 1 : two.at]]
        if one.kind == two.kind == "one" and between[:1] == ["and"] and len(between) <= 3:
            pairs.append(Mention("many", two.at, two.start, two.end, "pair"))
    return pairs


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


def _central(text: str, words: Sequence[Token], opening: str) -> list[Mention]:
    spans = [(match.start(), match.end()) for match in _PERSON.finditer(text)]
    if opening:
        spans += [(m.start(), m.end()) for m in re.finditer(rf"\b[Tt]he {opening}(?:['’]s)?(?![\w-])", text)]
        if first := _OPENING.match(text):
            spans.append((first.start(), first.end()))
    found = []
    for start, end in spans:
        at = max((i for i, token in enumerate(words) if token.start < end), default=0)
        found.append(Mention("person", at, start, end, possessive=words[at].possessive))
    return sorted(found, key=lambda mention: mention.start)


def _head(token: Token) -> str:
    """The person noun in a token: "mother-in-law" -> mother, "ex-husband" -> husband."""
    low = token.low.removeprefix("ex-").removesuffix("-in-law").removeprefix("soon-to-be-")
    return "ex" if token.low == "ex" else low


def _describes(words: Sequence[Token], at: int, found: Sequence[Mention]) -> bool:
    """Whether a noun stands in apposition to the central person or is said of it ("a person is a mother of two")."""
    back = at - 1
    while back >= 0 and (words[back].low.isalnum() or "-" in words[back].low or words[back].text in ",()"):
        if any(m.at == back and m.kind == "person" and not m.possessive for m in found):
            if words[back + 1].low not in (",", "is", "was", "(", "as"):
                return False
            return any(words[i].low in ("a", "an", "as", "the", "is", "was") for i in range(back + 1, at))
        if words[back].low in ("her", "his", "their", "with", "and", "has", "of", "to", "by", "from", "whose"):
            return False
        if words[back].low in PRONOUNS or words[back].possessive:
            return False
        back -= 1
    return False


def _marked(text: str, end: int) -> str:
    mark = _AGE_MARK.match(text, end) or _BARE_MARK.match(text, end)
    return next((group.lower() for group in mark.groups() if group), "") if mark else ""


def _adjective(words: Sequence[Token], at: int) -> str:
    before = [token.low for token in words[max(0, at - 3) : at]]
    return "m" if "male" in before or "guy" in before else "f" if "female" in before or "girl" in before else ""


def _leading_names(texts: Sequence[str]) -> set[str]:
    """Capitals that open two or more sentences and are never written small: names ("Reto is proud …")."""
    opens: dict[str, int] = {}
    small: set[str] = set()
    for words in map(tokens, texts):
        for at, token in enumerate(words):
            if token.text[0].islower():
                small.add(token.low)
            elif at == 0 or words[at - 1].text in ".!?":
                opens[token.low] = opens.get(token.low, 0) + 1
    plain = {name for name, count in opens.items() if count > 1 and len(name) > 2 and name.isalpha()}
    usual = AFTER_OBJECT | PEOPLE | FINITE | set(PRONOUNS) | CLAUSE | {"person", "despite", "however", "its"}
    return {name for name in plain - small - usual if not name.endswith(("ing", "tion", "ment", "ness", "ly", "ity"))}


def names_in(texts: Sequence[str]) -> frozenset[str]:
    """The people called by name: capitals inside a sentence that act, own something, or follow a noun for people."""
    found = _leading_names(texts)
    often: dict[str, int] = {}
    for words in map(tokens, texts):
        for at, token in enumerate(words[1:], 1):
            if not token.text[0].isupper() or len(token.low) < 3 or token.low in NOT_PEOPLE or token.low in PRONOUNS:
                continue
            before, after = words[at - 1], words[at + 1].low if at + 1 < len(words) else ""
            if before.text in '.!?"“”:' or not token.text[1:].replace("'s", "").replace("-", "").islower():
                continue
            called = (
                _head(before) in MALE | FEMALE | EITHER or before.low in TITLES or before.low in ("named", "called")
            )
            if called or token.possessive or after in FINITE:
                found.add(token.low)
            elif before.low not in ("in", "from", "at", "on", "of", "the", "a", "an", "to"):
                often[token.low] = often.get(token.low, 0) + 1
    return frozenset(found | {name for name, count in often.items() if count > 1})


def _known_genders(per_text: Sequence[tuple[str, list[Token], list[Mention]]]) -> dict[str, str]:
    genders: dict[str, str] = {}
    for _, _, named in per_text:
        for mention in named:
            if mention.kind == "one":
                genders[mention.key] = genders.get(mention.key) or mention.gender
    return _name_genders(per_text, genders)


def _learn_genders(
    first: tuple[str, list[Token], list[Mention]], gender: str, genders: dict[str, str], same: dict[str, str]
) -> None:
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


def _same_people(per_text: Sequence[tuple[str, list[Token], list[Mention]]]) -> dict[str, str]:
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


def _name_genders(
    per_text: Sequence[tuple[str, list[Token], list[Mention]]], genders: dict[str, str]
) -> dict[str, str]:
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
    per_text: Sequence[tuple[str, list[Token], list[Mention]]],
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
            if mark := _marked(text, mention.end):
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


def _left_over(per_text: Sequence[tuple[str, list[Token], list[Mention]]], genders: dict[str, str]) -> str:
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


def _owner(per_text: Sequence[tuple[str, list[Token], list[Mention]]]) -> str:
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


def _shown(first: tuple[str, list[Token], list[Mention]], genders: dict[str, str]) -> str:
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


def _nearest(first: tuple[str, list[Token], list[Mention]], genders: dict[str, str]) -> str:
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


def _relations(per_text: Sequence[tuple[str, list[Token], list[Mention]]], gender: str) -> frozenset[str]:
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
