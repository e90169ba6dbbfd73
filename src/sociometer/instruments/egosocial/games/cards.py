"""The 52 cards as small whole numbers, their names, and dealing."""

import random
from collections.abc import Iterable, Sequence

SUITS = "SHDC"
RANKS = "23456789TJQKA"
DECK_SIZE = 52

Card = int


class CardError(ValueError):
    """A text that names no card."""


def rank_of(card: Card) -> int:
    """Return a card's rank, 0 for a two up to 12 for an ace."""
    return card >> 2


def suit_of(card: Card) -> int:
    """Return a card's suit as an index into `SUITS`."""
    return card & 3


def name(card: Card) -> str:
    """Return a card's name, suit first: `HK` is the king of hearts."""
    return SUITS[card & 3] + RANKS[card >> 2]


def names(cards: Iterable[Card]) -> list[str]:
    """Return the names of several cards, in their order."""
    return [name(card) for card in cards]


def parse(text: str) -> Card:
    """Return the card that a name such as `HK`, `H10` or `kh` stands for."""
    word = text.strip().upper().replace("10", "T")
    if len(word) == 2:
        for suit, rank in ((word[0], word[1]), (word[1], word[0])):
            if suit in SUITS and rank in RANKS:
                return RANKS.index(rank) * 4 + SUITS.index(suit)
    raise CardError(
        f"unknown card {text!r}; write a suit ({', '.join(SUITS)}) and a rank ({', '.join(RANKS)}), such as 'HK'"
    )


def deal(rng: random.Random, count: int, without: Sequence[Card] = ()) -> tuple[Card, ...]:
    """Return `count` different cards from a shuffled deck that lacks the cards in `without`."""
    gone = set(without)
    return tuple(rng.sample([card for card in range(DECK_SIZE) if card not in gone], count))
