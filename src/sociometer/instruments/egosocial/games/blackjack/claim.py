"""A claim read from a player's words, with its verdict and the fact it was checked against."""

from typing import Literal

import msgspec

Kind = Literal[
    "total",
    "softness",
    "bust risk",
    "card worth",
    "what busts",
    "open card",
    "dealer may hold",
    "dealer must draw",
    "dealer stops at",
    "dealer bust risk",
]
Verdict = Literal["right", "wrong"]
LONGEST_QUOTE = 160


class Claim(msgspec.Struct, frozen=True):
    """One claim: its kind, what it says (numbers, or words), and the sentence it was read from."""

    kind: Kind
    numbers: tuple[float, ...]
    word: str
    quote: str


class Graded(msgspec.Struct, frozen=True):
    """A claim with its verdict and the fact it was checked against."""

    claim: Claim
    verdict: Verdict
    fact: str


def graded(
    kind: Kind, right: bool, fact: str, sentence: str, *, numbers: tuple[float, ...] = (), word: str = ""
) -> Graded:
    """Return a claim with its verdict, the sentence shortened."""
    quote = sentence if len(sentence) <= LONGEST_QUOTE else sentence[: LONGEST_QUOTE - 1] + "…"
    return Graded(Claim(kind, numbers, word, quote), "right" if right else "wrong", fact)


def distinct(found: list[Graded]) -> list[Graded]:
    """Return the claims without repetitions, each with the sentence it was first made in."""
    kept: dict[tuple[str, tuple[float, ...], str], Graded] = {}
    for one in found:
        kept.setdefault((one.claim.kind, one.claim.numbers, one.claim.word), one)
    return list(kept.values())
