"""The emotion protocol: how an emotion changes, and when a dialogue ends. Pure."""

from typing import Literal

from msgspec import Struct

from sociometer.instruments.sage.farewell import FAREWELLS, says_farewell

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

    def ending(self, emotion: int, turn: int, words: str = "") -> Ending | None:
        """The ending of the dialogue after this turn, or None if it continues."""
        if emotion >= self.cap:
            return "soothed"
        if emotion < self.lost_below:
            return "lost"
        if any(word in words for word in FAREWELLS) if self.any_farewell else says_farewell(words):
            return "farewell"
        return "turns" if turn >= self.turns else None


def band(emotion: int) -> Band:
    """The band of an emotion: S from 100, A from 70, B from 40, C from 10, F below."""
    return next((name for least, name in _BANDS if emotion >= least), "F")


def direction(change: int) -> Direction:
    """The direction of an emotion change."""
    return "up" if change > 0 else "down" if change < 0 else "same"
