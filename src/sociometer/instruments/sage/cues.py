"""Cues: English and Chinese phrases by which a rule recognises a support strategy in a reply."""

import re
import tomllib
from functools import lru_cache
from pathlib import Path

from msgspec import Struct

DATA = Path(__file__).parent / "data" / "appraisal"
_HAN = re.compile(r"[\u3400-\u9fff]")
_TOKEN = re.compile(r"[\u3400-\u9fff]|[^\W_]+(?:['’][^\W_]+)*")
_BULLET = re.compile(r"^[^\S\n]*+(?:[-*•]|\d+[.)、])\s+", re.MULTILINE)
_QUESTION = re.compile(r"[?？]")
AGREEMENT = "agreement"
LONGEST_HEARD = 10_000
"""The number of characters of a longer text that the rules read."""


class FoundCues(Struct, frozen=True):
    """The cues that the rules find in a reply."""

    strategies: tuple[str, ...]
    """Codes in the order in which they first occur."""
    agrees: bool
    slights: dict[str, int]
    questions: int
    bullets: int
    length: int
    """Words, or characters where the reply is Chinese."""


class _Lexicon(Struct, frozen=True):
    strategies: dict[str, re.Pattern[str]]
    slights: dict[str, re.Pattern[str]]
    agreement: re.Pattern[str]


def language_of(text: str, default: str = "en") -> str:
    """Chinese if a fifth of the words are Chinese characters; the default if there is no evidence."""
    tokens = _TOKEN.findall(text[:LONGEST_HEARD])
    if not tokens:
        return default
    return "zh" if sum(bool(_HAN.match(token)) for token in tokens) * 5 >= len(tokens) else "en"


def tokens(text: str) -> list[str]:
    """Lower-case words, and Chinese text character by character."""
    return [token.lower() for token in _TOKEN.findall(text[:LONGEST_HEARD])]


def find_cues(text: str, language: str = "en") -> FoundCues:
    """The strategies, slights and other marks of a reply, in the language it is written in."""
    lexicon = _lexicon(language_of(text, language))
    plain = text[:LONGEST_HEARD].replace("’", "'")
    places = {code: match.start() for code, cue in lexicon.strategies.items() if (match := cue.search(plain))}
    return FoundCues(
        strategies=tuple(sorted(places, key=lambda code: (places[code], code))),
        agrees=bool(lexicon.agreement.search(plain)),
        slights={kind: count for kind, cue in lexicon.slights.items() if (count := len(cue.findall(plain)))},
        questions=len(_QUESTION.findall(plain)),
        bullets=len(_BULLET.findall(plain)),
        length=len(tokens(plain)),
    )


def overlap(text: str, other: str) -> float:
    """The share of a text's three-word (or three-character) sequences that occur in another."""
    mine, theirs = _runs(text), _runs(other)
    return len(mine & theirs) / len(mine) if mine else 0.0


def _runs(text: str) -> set[tuple[str, ...]]:
    words = tokens(text)
    length = min(3, len(words)) or 1
    return {tuple(words[start : start + length]) for start in range(len(words) - length + 1)}


@lru_cache(maxsize=2)
def _lexicon(language: str) -> _Lexicon:
    facts = tomllib.loads((DATA / f"cues.{language}.toml").read_text(encoding="utf-8"))
    edge = r"\b" if language == "en" else ""

    def cue(patterns: list[str]) -> re.Pattern[str]:
        return re.compile("|".join(f"{edge}(?:{pattern})" for pattern in patterns), re.IGNORECASE)

    return _Lexicon(
        {code: cue(patterns) for code, patterns in facts["strategies"].items()},
        {kind: cue(patterns) for kind, patterns in facts["slights"].items()},
        cue(facts["agreement"]["not_at_fault"]),
    )
