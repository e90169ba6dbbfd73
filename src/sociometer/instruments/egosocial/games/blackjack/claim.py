"""A claim read from a player's words, and the words made ready for reading."""

import re
from typing import Literal

import msgspec

Kind = Literal[
    "total",
    "softness",
    "bust risk",
    "open card",
    "dealer may hold",
    "dealer must draw",
    "dealer stops at",
    "dealer bust risk",
]
LONGEST_QUOTE = 160
CARD_POINTS = {"two": 2, "deuce": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9}
CARD_POINTS |= {"ten": 10, "jack": 10, "queen": 10, "king": 10, "ace": 11}
RANK = r"(?:ace|king|queen|jack|ten|nine|eight|seven|six|five|four|three|two|deuce|10|[2-9])"


class Claim(msgspec.Struct, frozen=True):
    """One claim: its kind, what it says (numbers, or one word), and the words it was read from."""

    kind: Kind
    numbers: tuple[float, ...]
    word: str
    quote: str


_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")
_NUMBER_WORDS = dict(
    zip(
        [
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
            "sixteen",
            "seventeen",
            "eighteen",
            "nineteen",
            "twenty",
            "twenty-one",
        ],
        range(4, 22),
        strict=True,
    )
)
_NUMBER_WORD = re.compile(rf"\b(?:{'|'.join(sorted(_NUMBER_WORDS, key=len, reverse=True))})\b", re.IGNORECASE)


def sentences(text: str) -> list[str]:
    """Return the sentences of a text."""
    return [part.strip() for part in _SENTENCE.split(text) if part.strip()]


def in_digits(text: str) -> str:
    """Return a text with its number words from four to twenty-one as digits."""
    return _NUMBER_WORD.sub(lambda word: str(_NUMBER_WORDS[word[0].lower()]), text.replace("’", "'"))


def distinct(found: list[Claim]) -> list[Claim]:
    """Return the claims without repetitions, each with the beginning of the sentence it was first made in."""
    kept: dict[tuple[str, tuple[float, ...], str], Claim] = {}
    for claim in found:
        quote = claim.quote if len(claim.quote) <= LONGEST_QUOTE else claim.quote[: LONGEST_QUOTE - 1] + "…"
        kept.setdefault((claim.kind, claim.numbers, claim.word), Claim(claim.kind, claim.numbers, claim.word, quote))
    return list(kept.values())
