"""The emotion protocol: how a feeling moves, and when a dialogue is over. Pure."""

import re
from typing import Literal

from msgspec import Struct

Band = Literal["S", "A", "B", "C", "F"]
Ending = Literal["soothed", "lost", "farewell", "turns"]
Direction = Literal["up", "same", "down"]

_BANDS: tuple[tuple[int, Band], ...] = ((100, "S"), (70, "A"), (40, "B"), (10, "C"))
_CHINESE_FAREWELL = re.compile(r"再见|拜拜")
_ENGLISH_FAREWELL = re.compile(r"\b(?:good[- ]?bye|bye(?:[- ]bye)?|farewell)\b", re.IGNORECASE)
_SAID_OF_ANOTHER = re.compile(
    r"\b(?:say|said|saying|wave[ds]?|kiss(?:ed)?|a|the|his|her|their|my|our|last|first|no|that|this)\s*$|说(?:声|句|过)?$",
    re.I,
)
_SENTENCE = re.compile(r"[^.!?。！？…~～\n]+[.!?。！？…~～\n]*")
_CLOSING_SENTENCES = 2


class Protocol(Struct, frozen=True):
    """The constants of a dialogue; the defaults are the authors'."""

    start: int = 40
    largest_change: int = 10
    cap: int = 100
    lost_below: int = 10
    turns: int = 10
    judge_last: bool = False
    """Whether the last reply is judged too; in the authors' protocol it never is."""

    def update(self, before: int, change: int) -> int:
        """The emotion after a change: the change clamped, the emotion kept between 0 and the cap."""
        return max(0, min(self.cap, before + self.clamp(change)))

    def clamp(self, change: int) -> int:
        """The change that counts."""
        return max(-self.largest_change, min(self.largest_change, change))

    def judges(self, turn: int) -> bool:
        """Whether the reply of this turn (counted from 1) is judged."""
        return turn < self.turns or self.judge_last

    def ending(self, emotion: int, turn: int, words: str = "") -> Ending | None:
        """How the dialogue ends after this turn, or None when it goes on."""
        if emotion >= self.cap:
            return "soothed"
        if emotion < self.lost_below:
            return "lost"
        if says_farewell(words):
            return "farewell"
        return "turns" if turn >= self.turns else None


def band(emotion: int) -> Band:
    """The band of an emotion: S from 100, A from 70, B from 40, C from 10, F below."""
    return next((name for least, name in _BANDS if emotion >= least), "F")


def direction(change: int) -> Direction:
    """Which way a feeling moved."""
    return "up" if change > 0 else "down" if change < 0 else "same"


def says_farewell(words: str) -> bool:
    """Whether the person takes leave: a word of farewell in the closing sentences, not told of someone else."""
    sentences = [sentence for sentence in _SENTENCE.findall(words) if sentence.strip()]
    return any(_takes_leave(sentence) for sentence in sentences[-_CLOSING_SENTENCES:])


def _takes_leave(sentence: str) -> bool:
    for pattern in (_CHINESE_FAREWELL, _ENGLISH_FAREWELL):
        for match in pattern.finditer(sentence):
            if not _SAID_OF_ANOTHER.search(sentence[: match.start()]):
                return True
    return False
