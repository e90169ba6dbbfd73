"""The official blackjack file: JSON lines of a system and a user message that name both players' cards."""

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from sociometer.core.errors import DataError
from sociometer.instruments.egosocial.games import cards
from sociometer.instruments.egosocial.games.cards import Card
from sociometer.reading import read_lines

NAME = "egosocialarena/blackjack.jsonl"
LONGEST_MESSAGES = 20_000
"""The longest accepted text of a line's two messages; the official ones have a few hundred characters."""


class OfficialLine(msgspec.Struct, frozen=True):
    """One line: both messages unchanged, and the cards they name."""

    system: str
    user: str
    player: tuple[Card, ...]
    open_card: Card


class _Line(msgspec.Struct, frozen=True):
    system: str
    user: str


_RANK_WORDS = {"ace": "A", "king": "K", "queen": "Q", "jack": "J", "10": "T", "ten": "T"}
_SUIT = r"(?P<{0}>spades?|hearts?|diamonds?|clubs?)"
_CARD = re.compile(
    r"\b(?:"
    r"(?P<short>[SHDC](?:10|[2-9TJQKA])|(?:10|[2-9TJQKA])[SHDC])\b|"
    rf"(?P<rank1>ace|king|queen|jack|ten|10|[2-9TJQKA])\s*+of\s*+{_SUIT.format('suit1')}|"
    rf"{_SUIT.format('suit2')}\s*+(?:[-_]\s*+)?(?P<rank2>ace|king|queen|jack|ten|10|[2-9TJQKA])\b|"
    r"(?P<bare>ace|king|queen|jack|10|[2-9]|[TJQKA])\b"
    r")",
    re.IGNORECASE,
)
_DEALER = re.compile(
    r"dealer[^.;\n]{0,300}?(?:face[- ]?up|open|up|visible|current|show\w*)[^.;\n]*?(?:card)?\b(?:\s*is|\s*:|,|\s*a\b)?",
    re.IGNORECASE,
)
_PLAYER = re.compile(r"\b(?:your|player'?s?|my)\b[^.;\n]{0,300}?(?:cards?|hand)\b(?:\s*(?:is|are|:))?", re.IGNORECASE)


def read(path: Path) -> Iterator[OfficialLine]:
    """Return the lines of the file; a line whose cards cannot be read raises an error with file and line."""
    for number, line in read_lines(path, _Line, "an object with 'system' and 'user'"):
        yield _cards_of(line, path, number)


def _cards_of(line: _Line, path: Path, number: int) -> OfficialLine:
    if (length := len(line.system) + len(line.user)) > LONGEST_MESSAGES:
        raise DataError(f"the messages have {length:,} characters; at most {LONGEST_MESSAGES:,} are read", path, number)
    text = line.user if _PLAYER.search(line.user) and _DEALER.search(line.user) else f"{line.system}\n{line.user}"
    dealer, player = _DEALER.search(text), _PLAYER.search(text)
    if dealer is None or player is None:
        raise DataError("no cards found; the text must name the dealer's open card and your cards", path, number)
    dealer_end = player.start() if player.start() > dealer.end() else len(text)
    player_end = dealer.start() if dealer.start() > player.end() else len(text)
    shown = _found(text[dealer.end() : dealer_end])[:1]
    mine = _found(text[player.end() : player_end].split("\n")[0].split(". ")[0])
    if len(shown) != 1 or len(mine) < 2:
        raise DataError(f"found {len(shown)} open and {len(mine)} own cards; 1 and at least 2 are needed", path, number)
    free = list(range(cards.DECK_SIZE))
    taken: list[Card] = []
    for rank, suit in [*mine, *shown]:
        fitting = [
            card for card in free if cards.RANKS[cards.rank_of(card)] == rank and suit in ("", cards.SUITS[card & 3])
        ]
        if not fitting:
            raise DataError(f"the card {suit}{rank} appears more often than a deck contains it", path, number)
        taken.append(fitting[0])
        free.remove(fitting[0])
    return OfficialLine(line.system, line.user, tuple(taken[:-1]), taken[-1])


def _found(text: str) -> list[tuple[str, str]]:
    """Return the ranks and (where named) suits of the cards in a text, in order."""
    found: list[tuple[str, str]] = []
    for match in _CARD.finditer(text):
        if match["short"]:
            word = match["short"].upper().replace("10", "T")
            found.append((word[1], word[0]) if word[0] in cards.SUITS else (word[0], word[1]))
            continue
        if match["bare"] and match["bare"] == "a":
            continue
        rank = (match["rank1"] or match["rank2"] or match["bare"]).lower()
        suit = (match["suit1"] or match["suit2"] or "")[:1].upper()
        found.append((_RANK_WORDS.get(rank, rank.upper()), suit))
    return found
