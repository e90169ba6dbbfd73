"""The emotion protocol: hidden intentions, how a feeling changes, when a dialogue ends, and leaks."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import Literal, get_args

from msgspec import Struct

from sociometer.core.errors import DataError
from sociometer.core.language import ENGLISH, Language, language_of, texts_in, written_in
from sociometer.reading import read_rules

WORDS, RULES = (Path(__file__).parents[1] / name for name in ("words", "rules"))
FAREWELLS = ("再见", "拜拜")
"""The words by which the authors' code ends a dialogue, wherever they are."""
_SENTENCE = re.compile(r"[^.!?。！？…~～\n]+")
_CLOSING_SENTENCES = 2
_LONGEST_CLOSING = 4_000


def says_farewell(words: str, language: str = ENGLISH) -> bool:
    """Whether the person says goodbye in the closing sentences.

    Of longer sentences the last 4,000 characters are searched.
    """
    sentences = [sentence.strip(' "“') for sentence in _SENTENCE.findall(words[-_LONGEST_CLOSING:])]
    farewell = read_rules("person", language, RULES).find("farewell")
    return any(farewell.search(sentence) for sentence in [each for each in sentences if each][-_CLOSING_SENTENCES:])


Band = Literal["S", "A", "B", "C", "F"]
Ending = Literal["soothed", "lost", "farewell", "turns"]
Direction = Literal["up", "same", "down"]

_BANDS: tuple[tuple[int, Band], ...] = ((100, "S"), (70, "A"), (40, "B"), (10, "C"))


class Protocol(Struct, frozen=True):
    """The constants of a dialogue; the defaults are the authors'."""

    start: int = 40
    largest_change: int = 10
    cap: int = 100
    lost_below: int = 10
    turns: int = 10
    judge_last: bool = False
    """Whether the last reply is judged too; in the authors' protocol it never is."""
    short: bool = False
    """Whether it is the short form: three turns, all judged."""
    any_farewell: bool = False
    """Whether a word of farewell ends the dialogue wherever it is, as in the authors' code."""

    def update(self, before: int, change: int) -> int:
        """The emotion after a change: the change clamped, the emotion kept between 0 and the cap."""
        return max(0, min(self.cap, before + self.clamp(change)))

    def clamp(self, change: int) -> int:
        """The change that counts."""
        return max(-self.largest_change, min(self.largest_change, change))

    def judges(self, turn: int) -> bool:
        """Whether the reply of this turn (counted from 1) is judged."""
        return turn < self.turns or self.judge_last

    def ending(self, emotion: int, turn: int, words: str = "", language: str = ENGLISH) -> Ending | None:
        """The ending of the dialogue after this turn, or None if it continues."""
        if emotion >= self.cap:
            return "soothed"
        if emotion < self.lost_below:
            return "lost"
        if any(word in words for word in FAREWELLS) if self.any_farewell else says_farewell(words, language):
            return "farewell"
        return "turns" if turn >= self.turns else None


def band(emotion: int) -> Band:
    """The band of an emotion: S from 100, A from 70, B from 40, C from 10, F below."""
    return next((name for least, name in _BANDS if emotion >= least), "F")


def direction(change: int) -> Direction:
    """The direction of an emotion change."""
    return "up" if change > 0 else "down" if change < 0 else "same"


def sign_changes(changes: Sequence[float]) -> float:
    """The share of pairs of judgements of one thing of which one is a rise and the other a fall."""
    return fmean(one * two < 0 for one, two in combinations(changes, 2))


def is_refusal(words: str, language: str = ENGLISH) -> bool:
    """Whether a model refuses to answer in place of the person's words."""
    return bool(read_rules("person", language, RULES).find("refusal").search(words))


_LEAK_CLAUSE = re.compile(r"[^.!?。！？\n]+")
_LEAK_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_WORDS_IN_A_ROW = 5
_CHARACTERS_IN_A_ROW = 8
_LONGEST_UTTERANCE = 10_000


def find_leak(words: str, hidden: str, intention: str, language: str = ENGLISH) -> str:
    """The most serious leak in an utterance, or an empty string.

    `machinery`: the person speaks of their own script. `wording`: they quote the hidden intention. `plea`: they ask
    outright for what they should keep to themselves; real people do that too, and it makes the subject's task
    easier.
    Of a longer utterance the first 10,000 characters are searched.
    """
    words, said = words[:_LONGEST_UTTERANCE], read_rules("person", language, RULES)
    if said.find("machinery").search(words):
        return "machinery"
    written, hidden_runs = _hidden_runs(hidden)
    if not hidden_runs.isdisjoint(_runs(words, written)):
        return "wording"
    wish, named = said.find("wish"), read_rules("plea", language, RULES).find(intention)
    if any(wish.search(part) and named.search(part) for part in _LEAK_CLAUSE.findall(words)):
        return "plea"
    return ""


@lru_cache(maxsize=256)
def _hidden_runs(hidden: str) -> tuple[Language, frozenset[tuple[str, ...]]]:
    """The language of a hidden intention and its runs of words; each utterance of a talk is compared with them."""
    language = language_of(written_in(hidden))
    return language, frozenset(_runs(hidden, language))


def _runs(text: str, language: Language) -> Iterator[tuple[str, ...]]:
    """The runs of words of a text that are long enough for a quote; of characters where no spaces are written."""
    if language.space:
        parts, length = [word.lower() for word in _LEAK_WORD.findall(text)], _WORDS_IN_A_ROW
    else:
        parts, length = language.own_letters(text), _CHARACTERS_IN_A_ROW
    return zip(*(parts[start:] for start in range(length)), strict=False)


Intention = Literal["balance", "advice", "motives", "growth", "praise", "listening", "empathy", "blameless"]
INTENTIONS: tuple[Intention, ...] = get_args(Intention)


class IntentionCard(Struct, frozen=True):
    """An intention's short name, its title, and the mark by which an official task is known."""

    key: Intention
    title: str
    mark: str

    def sentence(self, language: str) -> str:
        """The intention as the person's wish, in a language and in the third person, like the rest of a profile."""
        return str(texts_in(WORDS, language)["intention"][self.key])


CARDS: dict[Intention, IntentionCard] = {
    card.key: card
    for card in (
        IntentionCard("balance", "Both sides weighed", "辩证"),
        IntentionCard("advice", "Workable advice", "建议"),
        IntentionCard("motives", "Why they did it", "其他人"),
        IntentionCard("growth", "Self-reflection", "反思"),
        IntentionCard("praise", "Sincere praise", "夸"),
        IntentionCard("listening", "Being listened to", "倾听"),
        IntentionCard("empathy", "Empathy", "共情"),
        IntentionCard("blameless", "Not to blame", "没有错"),
    )
}


def intention_of_task(task: str) -> Intention:
    """The intention that an official `task` sentence states, known by its one telling word."""
    found = [card.key for card in CARDS.values() if card.mark in task]
    if len(found) != 1:
        marks = ", ".join(card.mark for card in CARDS.values())
        raise DataError(f"task '{task}' states {len(found)} of the eight hidden intentions; told apart by: {marks}")
    return found[0]
