"""The conversion itself: who is meant is settled first, then every word of the central person is rewritten."""

import re
from collections.abc import Mapping, Sequence

import msgspec
from msgspec import Struct

from sociometer.instruments.sesi.person.agreement import inverted, verbs_of
from sociometer.instruments.sesi.person.cast import Cast, read_cast, with_counterparts
from sociometer.instruments.sesi.person.mentions import Mention, Token, mentions, tokens
from sociometer.instruments.sesi.person.resolve import whom
from sociometer.instruments.sesi.person.sentence import Field, Whom, acts, after, case_of
from sociometer.instruments.sesi.person.words import FIRST_PERSON, PRONOUNS

_QUOTED = re.compile(r"[\"“][^\"”]*[\"”]")
_ITSELF = re.compile(
    r"\b[Yy]ou (?!to |for |and |or )[a-z]+ (?:(?:to|with|at|about|on) )?you"
    r"(?=[,.;!?]| (?:for|again|with|about|from|in|of|mixed|as)\b)"
)
"""Somebody acting upon themselves: a pronoun went to the wrong person."""
_FORMS = {"subject": "you", "object": "you", "possessive": "your", "absolute": "yours", "reflexive": "yourself"}
_CONTRACTED = {
    "he's": "you're",
    "she's": "you're",
    "he'd": "you'd",
    "she'd": "you'd",
    "he'll": "you'll",
    "she'll": "you'll",
}


class Doubt(Struct, frozen=True):
    """A pronoun that could mean the central person or somebody else; `place` counts the words of its text."""

    text: int
    place: int
    word: str

    def __str__(self) -> str:
        name = ("situation", "question")[self.text] if self.text < 2 else f"option {'ABCD'[self.text - 2]}"
        return f"{name}: whom does '{self.word}' mean?" if self.word else f"{name}: no central person is named"


class Conversion(Struct, frozen=True):
    """The texts in the second person, or the doubts that keep it from being certain."""

    texts: tuple[str, ...] = ()
    doubts: tuple[Doubt, ...] = ()

    @property
    def certain(self) -> bool:
        """Whether every pronoun could be settled."""
        return not self.doubts


def to_second_person(texts: Sequence[str], settled: Mapping[tuple[int, int], Whom] | None = None) -> Conversion:
    """Situation, question and options (in this order) with the central person addressed as "you".

    `settled` says for a text and the place of a pronoun in it whom it means, as somebody who read the item found;
    it goes before every rule.
    """
    cast = read_cast(texts)
    first = tokens(texts[0])
    central = [m for m in mentions(texts[0], first, cast.opening, cast.names) if m.kind == "person"]
    if not central:
        return Conversion(doubts=(Doubt(0, 0, ""),))
    written: list[str] = []
    doubts: list[Doubt] = []
    before: tuple[Mention, ...] = ()
    topic: Mention | None = None
    for number, text in enumerate(texts):
        words = tokens(text)
        named = with_counterparts(text, words, mentions(text, words, cast.opening, cast.names), cast)
        field = Field(text, words, named, before, number=number, topic=topic)
        by_hand = {place: meant for (text_number, place), meant in (settled or {}).items() if text_number == number}
        new, unsure = _rewrite(field, cast, by_hand)
        written.append(new)
        doubts += [Doubt(number, place, words[place].text) for place in unsure]
        if _ITSELF.search(new) and not _ITSELF.search(text):
            doubts.append(Doubt(number, 0, "you"))
        if number < 2:
            before = (*before, *field.named)
        if number == 1:
            topic = next((m for m in named if m.kind in ("person", "one")), None)
    return Conversion(tuple(written)) if not doubts else Conversion(doubts=tuple(doubts))


def _rewrite(field: Field, cast: Cast, by_hand: Mapping[int, Whom]) -> tuple[str, list[int]]:
    quoted = [(m.start(), m.end()) for m in _QUOTED.finditer(field.text)]
    forms: dict[int, str] = {}
    subjects: list[int] = []
    unsure: list[int] = []
    known = list(field.named)
    settled: dict[int, Whom] = {}
    swallowed = {
        i for m in field.named if m.kind == "person" for i, t in enumerate(field.words) if m.start <= t.start < m.end
    }
    doers = [m for m in field.named if m.kind in ("one", "many") and acts(field, m)]
    others = {m.at for m in doers if after(field, m)[:1] != ["to"]}
    for at, token in enumerate(field.words):
        if any(start <= token.start < end for start, end in quoted):
            continue
        word = token.text.lower()
        if word in FIRST_PERSON and (token.text == "I" or word != "i"):
            forms[at] = FIRST_PERSON[word]
            subjects += [at] if word == "i" else []
        elif token.low in PRONOUNS:
            if at in swallowed or (at == 0 and token.text == "he"):
                continue
            now = msgspec.structs.replace(field, named=sorted(known, key=lambda m: m.start), settled=settled)
            meant = by_hand.get(at) or whom(now, at, cast)
            settled[at] = meant
            if meant == "unsure":
                unsure.append(at)
            elif meant == "person":
                forms[at] = _pronoun(field.words, at)
                known.append(Mention("person", at, token.start, token.end, possessive=forms[at] == "your"))
                subjects += [at] if case_of(field.words, at) == "subject" and not token.possessive else []
            else:
                others.add(at)
    return _write(field, forms, subjects, others), unsure


def _pronoun(words: Sequence[Token], at: int) -> str:
    word = words[at].text.lower().replace("’", "'")
    if word in ("he's", "she's"):
        following = words[at + 1].low if at + 1 < len(words) else ""
        second = words[at + 2].low if at + 2 < len(words) else ""
        done = following.endswith("ed") and second in ("to", "that", "a", "the", "his", "her", "him")
        return "you've" if following in ("been", "had", "become", "done", "gotten") or done else "you're"
    return _FORMS[case_of(words, at)]


def _write(field: Field, forms: dict[int, str], subjects: list[int], others: set[int]) -> str:
    """The text with every form in place; verbs follow their subjects."""
    words = field.words
    central = [m for m in field.named if m.kind == "person"]
    heads = [m.at for m in central if not m.possessive] + subjects
    own = set(subjects) | {_first_token(words, central, m.at) for m in central if not m.possessive}
    for at in heads:
        first = at if at in subjects else _first_token(words, central, at)
        forms = {**verbs_of(words, first, at, others, own), **(inverted(words, first - 1) if first else {}), **forms}
    pieces, place = [], 0
    spans = {_first_token(words, central, m.at): m for m in central}
    skip_to = -1
    for at, token in enumerate(words):
        if at < skip_to:
            continue
        pieces.append(field.text[place : token.start])
        place = token.end
        if at in spans:
            mention = spans[at]
            pieces.append(_addressed(field.text, mention))
            place, skip_to = mention.end, mention.at + 1
        else:
            pieces.append(_cased(forms[at], token.text) if at in forms else token.text)
    return "".join(pieces) + field.text[place:]


def _addressed(text: str, mention: Mention) -> str:
    """ "A person's" -> "Your"; an opening "A 27-year-old man" -> "You, a 27-year-old man,"."""
    said = text[mention.start : mention.end]
    word = "your" if mention.possessive else "you"
    capital = said.lstrip(" .\"'")[:1].isupper() or said.lstrip(" .").startswith(("erson", "he person"))
    word = word.capitalize() if capital else word
    lead = said[: len(said) - len(said.lstrip(" .\"'"))]
    if "year-old" in said or re.match(r"An? (?:woman|man|girl|boy)\b", said):
        mark = re.match(r"\s*\([^)]*\)|,", text[mention.end :])
        return f"{word}, {said[0].lower()}{said[1:]}," if not mark else f"{word}, {said[0].lower()}{said[1:]}"
    return lead + word


def _first_token(words: Sequence[Token], central: Sequence[Mention], at: int) -> int:
    start = next(m.start for m in central if m.at == at)
    return next(i for i, token in enumerate(words) if token.end > start)


def _cased(new: str, old: str) -> str:
    return new.capitalize() if old[:1].isupper() and old != "I" else new
