"""The conversion itself: first who is meant, then every word of the central person is rewritten."""

import re
from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec
from msgspec import Struct

from sociometer.instruments.sesi.second_person.agreement import inverted, verbs_of
from sociometer.instruments.sesi.second_person.mentions import Mention, Token, head, mentions, tokens
from sociometer.instruments.sesi.second_person.people import People, read_people, with_counterparts
from sociometer.instruments.sesi.second_person.resolve import whom
from sociometer.instruments.sesi.second_person.sentence import Field, Whom, acts, after, case_of
from sociometer.instruments.sesi.second_person.words import (
    COUNTERPART,
    FIRST_PERSON,
    FUNCTION_WORDS,
    PARTNER,
    PEOPLE,
    PREPOSITIONS,
    PRONOUNS,
    SECOND_PERSON,
)

Why = Literal["nobody", "whom", "case", "verb", "speaker", "noun", "open", "long"]
_ASKS: dict[Why, str] = {
    "nobody": "no central person is named",
    "whom": "whom does '{}' mean?",
    "case": "does '{}' stand for somebody or for what is theirs?",
    "verb": "is '{}' a verb, and whose?",
    "speaker": "who says '{}'?",
    "noun": "does '{}' mean the central person?",
    "open": "whom '{}' means is open to readers as well",
    "long": "the text has more than 5,000 characters and is not converted",
}
_LONGEST_TEXT = 5_000
OPEN = "?"
"""A reader's entry for an undecided word."""
_QUOTED = re.compile(r"(?<!\d)[\"“][^\"”]*[\"”]")
_FORMS = {"subject": "you", "object": "you", "possessive": "your", "absolute": "yours", "reflexive": "yourself"}
_CONTRACTED = {"d": "you'd", "ll": "you'll", "re": "you're", "ve": "you've", "m": "you're"}


class Doubt(Struct, frozen=True):
    """A reason why a conversion is uncertain; `place` counts the words of its text."""

    text: int
    place: int
    word: str
    why: Why = "whom"

    def __str__(self) -> str:
        name = ("situation", "question")[self.text] if self.text < 2 else f"option {'ABCD'[self.text - 2]}"
        return f"{name}: {_ASKS[self.why].format(self.word)}"


class Conversion(Struct, frozen=True):
    """The texts in the second person, or the doubts that make the conversion uncertain."""

    texts: tuple[str, ...] = ()
    doubts: tuple[Doubt, ...] = ()

    @property
    def certain(self) -> bool:
        """Whether every word could be settled."""
        return not self.doubts


def to_second_person(texts: Sequence[str], read: Mapping[tuple[int, int], str] | None = None) -> Conversion:
    """Situation, question and options (in this order) with the central person addressed as "you".

    `read` says for a text and the place of a word in it what stands there in the second person, as somebody who read
    the item found; it goes before every rule. A text of more than 5,000 characters is not converted.
    """
    if too_long := [number for number, text in enumerate(texts) if len(text) > _LONGEST_TEXT]:
        return Conversion(doubts=(Doubt(too_long[0], 0, "", "long"),))
    read = read or {}
    people = read_people(texts)
    written: list[str] = []
    doubts: list[Doubt] = []
    before: tuple[Mention, ...] = ()
    asked: tuple[Mention, ...] = ()
    found = False
    for number, text in enumerate(texts):
        words = tokens(text)
        given = {place: becomes for (text_number, place), becomes in read.items() if text_number == number}
        named = with_counterparts(text, words, mentions(text, words, people.opening, people.names), people)
        field = Field(
            text, words, [m for m in named if not _given(m, words, given)], before, number=number, asked=asked
        )
        found = found or bool(given) or any(m.kind == "person" for m in field.named)
        rewriting = _Rewriting(field, people, given)
        written.append(rewriting.text())
        doubts += [Doubt(number, at, words[at].text, why) for at, why in sorted(rewriting.doubts.items())]
        if number < 2:
            before = (*before, *field.named)
            asked = tuple(field.named)
        if number == 0 and not found:
            return Conversion(doubts=(Doubt(0, 0, "", "nobody"),))
    left_open = [doubt for doubt in doubts if doubt.why == "open"]
    return Conversion(doubts=tuple(left_open or doubts)) if doubts else Conversion(tuple(written))


def _given(mention: Mention, words: Sequence[Token], given: Mapping[int, str]) -> bool:
    """Whether a reader decided on a word of the central person's name, which is then no longer the rules' to change."""
    return mention.kind == "person" and any(mention.start <= words[at].start < mention.end for at in given)


class _Rewriting:
    """One text while it is rewritten: new forms by place, and the doubts that remain."""

    def __init__(self, field: Field, people: People, given: Mapping[int, str]) -> None:
        self._field, self._people, self._given = field, people, given
        self._words = field.words
        self._forms: dict[int, str] = {}
        self._subjects: list[int] = []
        self._meant: dict[int, Whom] = {}
        self.doubts: dict[int, Why] = {}
        self._central = [m for m in field.named if m.kind == "person"]
        quoted = [(m.start(), m.end()) for m in _QUOTED.finditer(field.text)]
        self._quoted = {at for at, token in enumerate(self._words) if any(a <= token.start < b for a, b in quoted)}
        self._pronouns()
        self._nouns()
        self._verbs()
        self.doubts = {at: why for at, why in self.doubts.items() if at not in given}
        self.doubts |= {at: "open" for at, becomes in given.items() if becomes == OPEN}

    def text(self) -> str:
        """The text with every form in place; the gap before a word that falls away falls away too."""
        source, written, place, skip_to = self._field.text, "", 0, -1
        spans = {self._first(m): m for m in self._central}
        for at, token in enumerate(self._words):
            if at < skip_to:
                continue
            written += source[place : token.start]
            place = token.end
            if at in self._given:
                written = written + self._given[at] if self._given[at] else written.rstrip()
            elif at in spans:
                written += _addressed(source, spans[at])
                place, skip_to = spans[at].end, spans[at].at + 1
            else:
                written += _cased(self._forms[at], token.text) if at in self._forms else token.text
        return (written + source[place:]).lstrip()

    def _first(self, mention: Mention) -> int:
        return next(at for at, token in enumerate(self._words) if token.end > mention.start)

    def _pronouns(self) -> None:
        swallowed = {at for m in self._central for at in range(self._first(m), m.at + 1)}
        speaks = any(t.low in SECOND_PERSON for at, t in enumerate(self._words) if at not in self._quoted)
        known = list(self._field.named)
        for at, token in enumerate(self._words):
            if at in self._quoted or at in swallowed:
                continue
            if at in self._given:
                if token.low in PRONOUNS:
                    own = self._given[at].lower().startswith("you")
                    self._meant[at] = "person" if own else "other"
                    known += [Mention("person", at, token.start, token.end)] if own else []
                    self._subjects += [at] if own and case_of(self._words, at) == "subject" else []
            elif token.low in FIRST_PERSON and (token.text[0] == "I" or token.low[0] != "i"):
                self._first_person(at, speaks)
            elif token.low in PRONOUNS:
                named = sorted(known, key=lambda m: m.start)
                meant = whom(msgspec.structs.replace(self._field, named=named, settled=self._meant), at, self._people)
                self._meant[at] = meant
                if meant == "unsure":
                    self.doubts[at] = "whom"
                elif meant == "person":
                    self._own_pronoun(at)
                    known.append(Mention("person", at, token.start, token.end, possessive=self._forms[at] == "your"))

    def _first_person(self, at: int, speaks: bool) -> None:
        form = FIRST_PERSON[self._words[at].low]
        if speaks or not form:
            self.doubts[at] = "speaker"
        else:
            self._forms[at] = form
            self._subjects += [at] if form == "you" and self._words[at].low == "i" else []

    def _own_pronoun(self, at: int) -> None:
        token, case = self._words[at], case_of(self._words, at)
        if case == "unclear":
            self.doubts[at] = "case"
        self._forms[at] = _FORMS.get(case, "your")
        if case == "reflexive" and token.low == "themselves" and self._people.gender:
            self._forms[at] = "yourselves"
        if token.possessive:
            self._forms[at] = self._contracted_be_or_have(at)
        elif "'" in token.low or "’" in token.low:
            self._forms[at] = _CONTRACTED[token.low.replace("’", "'").partition("'")[2]]
        elif case == "subject":
            self._subjects.append(at)

    def _contracted_be_or_have(self, at: int) -> str:
        """ "She's been" -> "you've been", "she's tired" -> "you're tired"; before "given" it may be either."""
        following = self._words[at + 1].low if at + 1 < len(self._words) else ""
        if following in ("been", "had", "become", "done", "gotten"):
            return "you've"
        passive = at + 2 < len(self._words) and self._words[at + 2].low == "by"
        if (
            following.endswith(("ed", "en"))
            and not passive
            and following not in ("tired", "scared", "worried", "often")
        ):
            self.doubts[at] = "verb"
        return "you're"

    def _nouns(self) -> None:
        """Nouns that may mean the central person: a couple, "his wife" of a husband, one right after "the person"."""
        words, relations = self._words, self._people.relations
        for mention in self._field.named:
            before = words[mention.at - 1] if mention.at > 0 else None
            if mention.kind != "one" or mention.key not in PARTNER or mention.key in relations or before is None:
                continue
            theirs = before.low in ("his", "her") and self._meant.get(mention.at - 1) == "other"
            counterpart = before.low == "the" and COUNTERPART.get(mention.key) in relations
            if relations & PARTNER and (theirs or counterpart):
                self.doubts[mention.at] = "noun"
        for at, token in enumerate(words):
            if token.low in ("couple", "individual") and at and words[at - 1].low in ("the", "this", "each", "young"):
                self.doubts[at] = "noun"
        for mention in self._central:
            following = words[mention.at + 1] if mention.at + 1 < len(words) else None
            described = "-" in self._field.text[mention.start : mention.end]
            if following is not None and not mention.possessive and _clings(following, described):
                self.doubts[mention.at + 1] = "noun"
            if self._first(mention) == 1 and not mention.possessive and _orders(words[0]):
                self.doubts[mention.at] = "whom"

    def _verbs(self) -> None:
        doers = [m for m in self._field.named if m.kind in ("one", "many") and acts(self._field, m)]
        others = {m.at for m in doers if after(self._field, m)[:1] != ["to"]}
        others |= {
            at for at, meant in self._meant.items() if meant != "person" and case_of(self._words, at) == "subject"
        }
        own = [(self._first(m), m.at) for m in self._central if not m.possessive]
        own += [(at, at) for at in self._subjects]
        unsure: set[int] = set()
        for first, at in own:
            verbs = verbs_of(self._words, first, at, others)
            turned = inverted(self._words, first - 1) if first else {}
            self._forms = {**verbs.forms, **turned, **self._forms}
            unsure |= verbs.doubts
        self.doubts |= {place: "verb" for place in unsure if place not in self._forms}


def _clings(word: Token, described: bool) -> bool:
    """Whether a word right after "the person" belongs to it ("the person husband"), so that "you" would break it."""
    return head(word) in PEOPLE or word.low in ("a", "an") or (described and word.low in PREPOSITIONS | {"in", "who"})


def _orders(word: Token) -> bool:
    """Whether a text opens with an order ("Help the person and …"), whose object would be "yourself"."""
    return word.text[0].isupper() and word.low not in FUNCTION_WORDS and not word.low.endswith(("ing", "ly"))


def _addressed(text: str, mention: Mention) -> str:
    """ "A person's" -> "Your"; an opening "A 27-year-old man" -> "You, a 27-year-old man,"."""
    said = text[mention.start : mention.end]
    word = "your" if mention.possessive else "you"
    capital = said.lstrip(" .\"'")[:1].isupper() or mention.start == 0
    word = word.capitalize() if capital and not (said.startswith("OP") and mention.start) else word
    lead = said[: len(said) - len(said.lstrip(" .\"'"))]
    if "year-old" in said or re.match(r"An? (?:woman|man|girl|boy)\b", said):
        mark = re.match(r"\s*\([^)]*\)|,", text[mention.end :])
        return f"{word}, {said[0].lower()}{said[1:]}," if not mark else f"{word}, {said[0].lower()}{said[1:]}"
    return lead + word


def _cased(new: str, old: str) -> str:
    return new.capitalize() if old[:1].isupper() and old.lower() not in FIRST_PERSON else new
