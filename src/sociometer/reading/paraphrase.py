"""Which option a text says in other words, by the words that only one option has."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from math import log

from sociometer.reading.normal import plain

__all__ = ["Wordings", "clauses", "wordings"]

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
_LIGHT = (
    "take ask give go come see know use let keep put talk time day back new good look find work help try show need way "
    "first last start end long little much well bring call speak"
)
_COMMON_WORDS = frozenset(_COMMON.split(" "))
_LEAST, _ENOUGH, _MARGIN = 1.0, 2.5, 3.0
_SENTENCE = re.compile(r"[.!。…\n]+(?=\s|$|[\u3400-\u9fff])|\n")
_CLAUSE = re.compile(
    r"(\s*(?:[,;:—–(]\s*(?:and |so )?)?(?<!\w)(?:but|however|yet|(?<!as )though|although|while|whereas|rather than|"
    r"instead of|unlike|not)\b|"
    r"[,;:—–()?]|但是?|不过|可是?(?![以能])|而不是|而非)",
    re.IGNORECASE,
)
_BUT = re.compile(r"\b(?:but|however|yet)\b|但|不过|可", re.IGNORECASE)
_ASIDE = re.compile(
    r"\b(?:though|although|while|whereas|rather than|instead of|unlike|not)\b|而不是|而非", re.IGNORECASE
)
_SUPPOSED = re.compile(
    r"^\W*[A-Z]?[a-z]+ing\b.*\bwould\b|(?<!as )\b(?:if|unless|suppose)\b|如果|要是|假如|若|^\W*(?:虽然|尽管|固然)",
    re.IGNORECASE,
)
_AGAINST = re.compile(
    r"\b(?:not|never|no|nothing|neither|nor|without|too|wrong|worse|worst|bad|ignores?|misses|fails?|lacks?|avoid\w*|"
    r"less|harsh|rude|cold|cruel|overwhelming|risky?|background|merely|unkind|useless|dishonest|untrue|lie|lies|lying|"
    r"would (?:only|just)|dodg\w*|sidelines|exposes|defeats|frowned)\b|n't\b|"
    r"都不|不合|不能|不该|不对|不行|不妥|不如|不会|不必|不应|不用|没有|没法|太|错|伤|反而|等于|只会|更远|假话|难看|"
    r"不甘|假|"
    r"不见得|最省事",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+")
_LEFT_OVER = re.compile(
    r"\b(?:what(?:'s| is) left|what remains|(?:that|this|which) leaves|leaving)\b|只剩|剩下", re.IGNORECASE
)
_DECIDES = re.compile(
    r"\b(?:i'd|i would|i'll|should|so|therefore|my (?:answer|pick|choice)|best|go with|choose|pick|ought to)\b|"
    r"应该|应当|我会|我选|所以|因此|还是|最好",
    re.IGNORECASE,
)
_HAN_COMMON = frozenset("的了是在他她它我你不就都也和有这那说去会要很到把被对让跟着还")


class Wordings:
    """The words of each option, the rarer among the options the heavier."""

    def __init__(self, options: Sequence[str]) -> None:
        self.texts = [plain(option).casefold() for option in options]
        words = [_words(text) for text in self.texts]
        spread = Counter(word for found in words for word in found)
        self.own = [frozenset(word for word in found if spread[word] == 1) for found in words]
        count = len(options)
        light = _LIGHT_WORDS | {_stem(name.casefold()) for option in options for name in _NAME.findall(option)}
        self.weights = [
            {word: log(count / spread[word]) / log(count) * (0.5 if word in light else 1) for word in found}
            for found in words
        ]

    def matches(self, text: str) -> list[dict[str, float]]:
        """Return each option's words that the text has, with their weights."""
        said = _words(text)
        return [{word: weight for word, weight in weights.items() if _has(said, word)} for weights in self.weights]

    def closest(self, text: str, *, least: int = 2) -> int | None:
        """Return the option whose own words the text has, where no other option comes near."""
        said = _words(text)
        scores = [len(own & said) for own in self.own]
        ranked = sorted(range(len(scores)), key=lambda at: -scores[at])
        first, second = ranked[0], ranked[1]
        enough = least if least == 1 else max(least, min(3, len(self.own[first]) // 2 + 1))
        if scores[first] < enough or scores[second]:
            return None
        return first

    def stated(self, text: str) -> int | None:
        """Return the option that the clauses say which reject nothing, by a wide margin over the others."""
        if _LEFT_OVER.search(text):
            return self.decided(text, _LEFT_OVER)
        scores, rejected = self.balance(text)
        first, second = sorted(range(len(scores)), key=lambda at: -scores[at])[:2]
        others = set(range(len(scores))) - {first}
        if others <= rejected and scores[second] <= 0 and scores[first] >= _LEAST:
            return first
        enough = scores[first] >= _ENOUGH and scores[first] > _MARGIN * scores[second]
        if enough and first not in rejected:
            return first
        index = self.decided(text, _DECIDES)
        return index if all(score < 1 for at, score in enumerate(scores) if at != index) else None

    def decided(self, text: str, cue: re.Pattern[str]) -> int | None:
        """Return the option that the sentence with the cue says, such as "What is left is to wait for her"."""
        for sentence in _SENTENCE.split(text):
            decides = cue.search(sentence)
            if decides is None:
                continue
            here, _ = self.balance(sentence[decides.start() :] if cue is _LEFT_OVER else sentence)
            first, second = sorted(range(len(here)), key=lambda at: -here[at])[:2]
            enough = here[first] >= (2 if cue is _LEFT_OVER else _ENOUGH)
            if enough and here[first] >= _MARGIN * here[second]:
                return first
        return None

    def referred(self, phrase: str) -> int | None:
        """Return the option that a phrase such as "the one about the two cups" refers to."""
        found = [sum(words.values()) for words in self.matches(phrase)]
        first, second = sorted(range(len(found)), key=lambda at: -found[at])[:2]
        return first if found[first] >= 1 and found[first] >= 3 * found[second] else None

    def balance(self, text: str) -> tuple[list[float], set[int]]:
        """Return what the text says for minus what it says against each option, and which options it rejects."""
        good: list[dict[str, float]] = [{} for _ in self.texts]
        bad: list[dict[str, float]] = [{} for _ in self.texts]
        for clause, against in clauses(text):
            found = self.matches(clause)
            weights = [sum(words.values()) for words in found]
            best = max(range(len(found)), key=lambda at: weights[at])
            if against or _rejects(clause, self.texts[best]):
                if weights.count(weights[best]) == 1:
                    bad[best].update(found[best])
                continue
            for have, more in zip(good, found, strict=True):
                have.update(more)
        scores = [sum(yes.values()) - sum(no.values()) for yes, no in zip(good, bad, strict=True)]
        return scores, {at for at, words in enumerate(bad) if sum(words.values()) >= _LEAST}


def clauses(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the clauses that are not conceded, and whether each is only asked, supposed or compared."""
    for sentence in _SENTENCE.split(text):
        parts = _CLAUSE.split(sentence)
        for at in range(0, len(parts), 2):
            before = parts[at - 1] if at else ""
            after = parts[at + 1] if at + 1 < len(parts) else ""
            against = after == "?" or _ASIDE.search(before) is not None or _SUPPOSED.search(parts[at]) is not None
            if _BUT.search(after) is None:
                yield parts[at], against


def _rejects(clause: str, option: str) -> bool:
    """Whether the clause speaks against what it says, in words that the option does not have itself."""
    against = ("not" if found[0] == "n't" else found[0].casefold() for found in _AGAINST.finditer(clause))
    return any(word not in option for word in against)


def _has(said: frozenset[str], word: str) -> bool:
    if word in said:
        return True
    return len(word) > 4 and word.isascii() and any(other[:5] == word[:5] for other in said if len(other) > 4)


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


_LIGHT_WORDS = frozenset(_stem(word) for word in _LIGHT.split(" "))
wordings = lru_cache(maxsize=256)(Wordings)
