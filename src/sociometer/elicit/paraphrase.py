"""Which option a text says in other words, by the words that only one option has."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from sociometer.elicit.normal import plain

__all__ = ["Wordings", "wordings"]

_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?|\d+|[\u3400-\u9fff]+")
_ENDINGS = (
    "ations",
    "ation",
    "ingly",
    "ments",
    "ment",
    "ness",
    "ing",
    "ies",
    "ied",
    "ely",
    "ed",
    "es",
    "ly",
    "er",
    "s",
    "e",
    "y",
)
_COMMON = (
    "a an the and or but if of to in on at by for with from as so than that this these those it its is are was were be "
    "been being am do does did done have has had having he she they them him her his their i you we us me my your our "
    "not no nor never will would can could should may might must shall s t d ll m re ve what which who whom whose when "
    "where why how all any each every some such too very just only also then there here about into out up down over "
    "because while until before after again more most other own same both few don isn doesn get gets got say says tell "
    "tells think thinks thing things make makes like one two feel feels want wants people person"
)
_COMMON_WORDS = frozenset(_COMMON.split(" "))
_HAN_COMMON = frozenset("的了是在他她它我你不就都也和有这那说去会要很到把被对让跟着还")


class Wordings:
    """The words of each option that no other option has."""

    def __init__(self, options: Sequence[str]) -> None:
        words = [_words(plain(option)) for option in options]
        spread = Counter(word for found in words for word in found)
        self.own = [frozenset(word for word in found if spread[word] == 1) for found in words]

    def scores(self, text: str) -> list[int]:
        """Return how many of each option's own words the text has."""
        said = _words(text)
        return [len(own & said) for own in self.own]

    def closest(self, text: str, *, least: int = 2) -> int | None:
        """Return the option whose own words the text has, where no other option comes near."""
        scores = self.scores(text)
        ranked = sorted(range(len(scores)), key=lambda at: -scores[at])
        first, second = ranked[0], ranked[1]
        enough = least if least == 1 else max(least, min(3, len(self.own[first]) // 2 + 1))
        if scores[first] < enough or scores[second]:
            return None
        return first


@lru_cache(maxsize=4096)
def _words(text: str) -> frozenset[str]:
    found: set[str] = set()
    for word in _WORD.findall(text.casefold().replace("’", "'")):
        if word[0] >= "\u3400":
            found.update(
                first + second
                for first, second in pairwise(word)
                if first not in _HAN_COMMON and second not in _HAN_COMMON
            )
        elif word.split("'")[0] not in _COMMON_WORDS:
            found.add(_stem(word.split("'")[0]))
    return frozenset(found)


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


wordings = lru_cache(maxsize=256)(Wordings)
