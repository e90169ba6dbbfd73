"""The wording of an utterance in English or Chinese: its sentences, its content, and whether they hold together."""

import re
import tomllib
from functools import lru_cache
from itertools import pairwise

from msgspec import Struct

from sociometer.instruments.sage.cues import DATA, LONGEST_HEARD, tokens

_SENTENCE = re.compile(r"[^.!?。！？…\n]+[.!?。！？…\n]*")
_HAN = re.compile(r"[\u3400-\u9fff]")
_STRETCH = re.compile(r"[\u3400-\u9fff]+")
_LISTED = re.compile(r"[,，、;；/|]")
_STEM = 5
_SHORTEST_STEM = 3
_LEAST_FUNCTION = {"en": 0.22, "zh": 0.16}
_LONGEST_RUN = {"en": 4, "zh": 9}
_WORDS_OF_A_SENTENCE = {"en": 3, "zh": 4}
_ITEMS_OF_A_LIST = 4
_SUBJECTS = frozenset(("i", "you", "he", "she", "we", "they", "someone", "somebody", "nobody", "everyone", "everybody"))
_ENDINGS = ("ing", "ed")
_SHORTEST_ROOT = 4


class Language(Struct, frozen=True):
    """The rules for hearing replies in one language; see `data/appraisal/hearing.*.toml`."""

    name: str
    function_words: frozenset[str]
    empty_units: frozenset[str]
    question_starts: tuple[str, ...]
    joined: re.Pattern[str]
    """Where one question ends within a sentence and the next begins."""
    interrogative: re.Pattern[str]
    go_on: re.Pattern[str]
    formulas: re.Pattern[str]
    flaws: dict[str, re.Pattern[str]]
    modes: dict[str, re.Pattern[str]]
    slots: dict[str, re.Pattern[str]]


@lru_cache(maxsize=2)
def language_rules(name: str) -> Language:
    """The rules of a language."""
    facts = tomllib.loads((DATA / f"hearing.{name}.toml").read_text(encoding="utf-8"))

    def any_of(patterns: list[str]) -> re.Pattern[str]:
        return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE)

    listed = facts["function_words"].split() if name == "en" else list(facts["function_words"])
    empty = facts["empty_words"].split()
    return Language(
        name,
        frozenset(listed),
        frozenset(_stem(word) for word in empty) if name == "en" else frozenset(empty),
        tuple(facts["question_starts"]),
        any_of(facts["joined"]),
        any_of(facts["interrogative"]),
        any_of(facts["go_on"]),
        any_of(facts["formulas"]),
        {kind: any_of(patterns) for kind, patterns in facts["flaws"].items()},
        {kind: any_of(patterns) for kind, patterns in facts["modes"].items()},
        {kind: any_of(patterns) for kind, patterns in facts["slots"].items()},
    )


def sentences(text: str) -> list[str]:
    """The sentences of a text with their marks; of a long text those of its beginning."""
    found = (match.strip() for match in _SENTENCE.findall(text[:LONGEST_HEARD].replace("’", "'")))
    return [sentence for sentence in found if tokens(sentence)]


def units(text: str, language: str) -> frozenset[str]:
    """What a text is about: stems of its content words, or pairs of characters that are no function words."""
    rules = language_rules(language)
    if language == "en":
        found = {_stem(token) for token in tokens(text) if token not in rules.function_words}
        return frozenset(unit for unit in found if len(unit) >= _SHORTEST_STEM) - rules.empty_units
    small = rules.function_words
    stretches = _STRETCH.findall(text[:LONGEST_HEARD])
    pairs = {a + b for stretch in stretches for a, b in pairwise(stretch) if a not in small and b not in small}
    # Single characters of content too: "撞完人就跑" takes up "撞倒".
    return frozenset(pairs | set("".join(stretches)) - small) - rules.empty_units


def topics(text: str, language: str) -> frozenset[str]:
    """What a question is about: like units, with the words that say little, such as "happened"."""
    if language == "zh":
        return units(text, language) | _all_pairs(text)
    small = language_rules(language).function_words
    return frozenset(stem for token in tokens(text) if token not in small and len(stem := _stem(_root(token))) > 1)


def phrasing(text: str, language: str) -> frozenset[str]:
    """All words of a question, by which two questions are compared; in Chinese, characters and pairs of them."""
    if language == "zh":
        return _all_pairs(text) | frozenset(tokens(text))
    return frozenset(_stem(token) for token in tokens(text))


def _all_pairs(text: str) -> frozenset[str]:
    stretches = _STRETCH.findall(text[:LONGEST_HEARD])
    return frozenset(a + b for stretch in stretches for a, b in pairwise(stretch))


def is_sound(sentence: str, language: str) -> bool:
    """Whether a sentence reads as one: function words between its content words, and no list of words."""
    words = tokens(sentence)
    rules = language_rules(language)
    if len(words) < _WORDS_OF_A_SENTENCE[language]:
        return False
    small = sum(word in rules.function_words for word in words)
    if small < _LEAST_FUNCTION[language] * len(words):
        return False
    return not is_list(sentence, language) and _longest_run(sentence, rules) <= _LONGEST_RUN[language]


def is_list(sentence: str, language: str) -> bool:
    """Whether a sentence only lists words."""
    parts = [tokens(part) for part in _LISTED.split(sentence)]
    longest = 2 if language == "en" else 5
    short = sum(0 < len(part) <= longest and not _SUBJECTS & set(part) for part in parts)
    return short >= _ITEMS_OF_A_LIST and short * 4 >= len(parts) * 3


def _longest_run(sentence: str, rules: Language) -> int:
    longest = run = 0
    for part in re.split(r"[^\w'’\s-]+", sentence):
        for word in tokens(part):
            run = 0 if word in rules.function_words else run + 1
            longest = max(longest, run)
        run = 0
    return longest


def _root(word: str) -> str:
    """A word without its ending: "shout" for "shouting"."""
    bare = next((word.removesuffix(ending) for ending in _ENDINGS if word.endswith(ending)), word)
    return bare if len(bare) >= _SHORTEST_ROOT else word


def _stem(word: str) -> str:
    bare = word.replace("’", "'").removesuffix("'s")
    if len(bare) > _SHORTEST_STEM and bare.endswith("s") and not bare.endswith("ss"):
        bare = bare[:-1]
    return bare[:_STEM]
