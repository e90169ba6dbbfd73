"""The 52 cards as small whole numbers, their names, and dealing."""

import random
from collections.abc import Iterable, Sequence

SUITS = "SHDC"
RANKS = "23456789TJQKA"
DECK_SIZE = 52

Card = int


def rank_of(card: Card) -> int:
    """Return a card's rank, 0 for a two up to 12 for an ace."""
    return card >> 2


def name(card: Card) -> str:
    """Return a card's name, suit first: `HK` is the king of hearts."""
    return SUITS[card & 3] + RANKS[card >> 2]


def names(cards: Iterable[Card]) -> list[str]:
    """Return the names of several cards, in their order."""
    return [name(card) for card in cards]


def deal(rng: random.Random, count: int, without: Sequence[Card] = ()) -> tuple[Card, ...]:
    """Return `count` different cards from a shuffled deck that lacks the cards in `without`."""
    gone = set(without)
    return tuple(rng.sample([card for card in range(DECK_SIZE) if card not in gone], count))


_RANKS = ("2", "3", "4", "5", "6", "7", "8", "9", "10", "jack", "queen", "king", "ace")
_SUITS = ("spades", "hearts", "diamonds", "clubs")


def spoken(card: Card) -> str:
    """Return a card's name in words."""
    return f"{_RANKS[rank_of(card)]} of {_SUITS[card & 3]}"
