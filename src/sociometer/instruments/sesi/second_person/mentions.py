"""The people named in a text: the central person, other individuals, and groups."""

import itertools
import re
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from sociometer.instruments.sesi.second_person.words import (
    AFTER_OBJECT,
    CLAUSE,
    FEMALE,
    FINITE,
    FRIENDLY,
    FUNCTION_WORDS,
    MALE,
    NOT_PEOPLE,
    PEOPLE,
    PLURAL,
    PRONOUNS,
    SINGULAR,
)

Kind = Literal["person", "one", "many", "both"]

TOKEN = re.compile(r"\d+(?:-[a-z]+)+|[A-Za-zÀ-ž]+(?:[-'’](?!s\b)[A-Za-zÀ-ž]+)*(?:['’]s\b)?|\d+|[^\sA-Za-zÀ-ž\d]")
_AGE_MARK = re.compile(
    r"\s*+(?:,\s*+)?\(?\b(?:\d{1,2}\s*+(?:(?:yo|y/o)\s*+)?(?:/\s*+)?([MmFf])|([MmFf])\s*+(?:/\s*+)?\d{1,2})\b"
)
_BARE_MARK = re.compile(r"\s*\(\s*([MmFf])\s*\)")
_SENTENCE_END = re.compile(r"[.!?](?=\s|$)")
_END = r"(?:['’]s)?(?![\w-])"
_PERSON = re.compile(
    rf"(?<!\bas )\ba person{_END}(?! whose\b)|\bA person{_END}"
    rf"|\b(?:[Tt]he|[Tt]his|[Aa]) (?:\d{{1,2}}-year-old )?person{_END}(?<!\ba person)(?! (?:she|he|they|you)\b)"
    rf"|^\W*(?:[Tt]?he |[Aa] )?[Pp]?erson{_END}"
    rf"|\b(?:[Tt]he )?OP{_END}|\b[Tt]he (?:protagonist|original poster|poster|post writer){_END}"
)
OPENING = re.compile(
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
        noun = head(token)
        if noun in ("male", "female"):
            continue
        if noun in PLURAL and not (noun == "friends" and words[at - 1].low in FRIENDLY):
            found.append(Mention("many", at, token.start, token.end, token.low))
        elif noun in SINGULAR and not describes(words, at, found):
            gender = marked(text, token.end) or gender_of_noun(noun) or _adjective(words, at)
            found.append(Mention("one", at, token.start, token.end, token.low, gender, token.possessive))
        elif token.low in names and token.text[0].isupper():
            found.append(Mention("one", at, token.start, token.end, token.low, "", token.possessive))
    found.sort(key=lambda mention: mention.start)
    found += _pairs(words, found)
    found.sort(key=lambda mention: mention.start)
    return found + [Mention("both", -1, m.start(), m.end()) for m in _COUPLE.finditer(text)]


def _central(text: str, words: Sequence[Token], opening: str) -> list[Mention]:
    spans = [(match.start(), match.end()) for match in _PERSON.finditer(text)]
    if opening:
        spans += [(m.start(), m.end()) for m in re.finditer(rf"\b[Tt]he {opening}(?:['’]s)?(?![\w-])", text)]
        if first := OPENING.match(text):
            spans.append((first.start(), first.end()))
    found = []
    for start, end in spans:
        at = max((i for i, token in enumerate(words) if token.start < end), default=0)
        found.append(Mention("person", at, start, end, possessive=words[at].possessive))
    return sorted(found, key=lambda mention: mention.start)


def _pairs(words: Sequence[Token], found: Sequence[Mention]) -> list[Mention]:
    """Two others joined by "and" are "they" together: "her friend and his wife"."""
    pairs = []
    for one, two in itertools.pairwise(found):
        between = [token.low for token in words[one.at + 1 : two.at]]
        if one.kind == two.kind == "one" and between[:1] == ["and"] and len(between) <= 3:
            pairs.append(Mention("many", two.at, two.start, two.end, "pair"))
    return pairs


def head(token: Token) -> str:
    """The person noun in a token: "mother-in-law" -> mother, "ex-husband" -> husband, "step-brother" -> brother."""
    low = token.low.removesuffix("-to-be").removesuffix("-in-law")
    return low if low in PEOPLE else low.rpartition("-")[2] or low


def gender_of_noun(noun: str) -> str:
    """The gender that a noun for one person shows by itself."""
    return "m" if noun in MALE else "f" if noun in FEMALE else ""


def describes(words: Sequence[Token], at: int, found: Sequence[Mention]) -> bool:
    """Whether a noun stands in apposition to the central person or is said of it ("a person is a mother of two")."""
    start = at
    while start > 0 and words[start].low not in ("a", "an", "the") and at - start < 5:
        start -= 1
    lead = [token.low for token in words[max(0, start - 3) : start]]
    between = words[start + 1 : at]
    if words[start].low not in ("a", "an", "the") or any(
        t.low in FUNCTION_WORDS or not t.low[0].isalnum() for t in between
    ):
        return False
    people = {m.at for m in found if m.kind == "person" and not m.possessive}
    steps = 1 if lead[-1:] in ([","], ["is"], ["was"], ["as"]) else 0
    steps = 3 if lead[-3:] in ([",", "who", "is"], [",", "who", "was"]) else steps
    return bool(steps) and start - steps - 1 in people


def marked(text: str, end: int) -> str:
    """The gender in a mark such as "(30F)" right after a mention; empty where there is none."""
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
    """The people called by name: capitals inside a sentence, unless a place or a title of a thing is more likely."""
    found = _leading_names(texts)
    for words in map(tokens, texts):
        for before, token in itertools.pairwise(words):
            capital = token.text[0].isupper() and token.text[1:].replace("'s", "").replace("-", "").islower()
            if not capital or len(token.low) < 3 or token.low in NOT_PEOPLE or token.low in PRONOUNS:
                continue
            if before.text not in '.!?"“”:' and before.low not in ("in", "from", "at", "on", "of", "the", "a", "an"):
                found.add(token.low)
    return frozenset(found - PEOPLE)
