"""The exact odds of a hand of blackjack, and the facts of a decision."""

import functools
import math
from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from sociometer.instruments.egosocial.games.blackjack.rules import DEALER_STANDS_ON, LIMIT, Total, points_of, total_of
from sociometer.instruments.egosocial.games.cards import Card

Deck = tuple[int, ...]
FULL_DECK: Deck = (4, 4, 4, 4, 4, 4, 4, 4, 4, 16)
NEARLY = 0.02
"""Totals whose probability is at most this much below the highest count as the most likely one, too."""


class Odds(msgspec.Struct, frozen=True):
    """The calculated facts about a hand; values are expected stakes won."""

    bust_risk: float
    dealer_busts: float
    dealer_must_draw: float
    hit: float
    stand: float

    @property
    def best(self) -> str:
        """The move with the higher expected value."""
        return "hit" if self.hit > self.stand else "stand"


def unseen(seen: Sequence[Card]) -> Deck:
    """Return the deck without the cards that were seen."""
    counts = list(FULL_DECK)
    for card in seen:
        counts[points_of(card) - 1] -= 1
    return tuple(counts)


def _best_points(low: int, has_ace: bool) -> int:
    return low + 10 if has_ace and low + 10 <= LIMIT else low


class _Draws(msgspec.Struct, frozen=True):
    """Every set of cards with which a dealer can finish from one open card, in how many orders, and on what."""

    sets: NDArray[np.int64]
    orders: NDArray[np.float64]
    ends: NDArray[np.int64]


@functools.cache
def _draws(open_points: int) -> _Draws:
    """Return the dealer's possible draws, found by adding one card at a time to those that must still draw."""
    open_sets: dict[Deck, int] = {(0,) * 10: 1}
    finished: dict[Deck, tuple[int, int]] = {}
    while open_sets:
        longer: dict[Deck, int] = {}
        for held, orders in open_sets.items():
            for index in range(10):
                if held[index] < FULL_DECK[index]:
                    more = (*held[:index], held[index] + 1, *held[index + 1 :])
                    longer[more] = longer.get(more, 0) + orders
        open_sets = {}
        for held, orders in longer.items():
            low = open_points + sum(points * count for points, count in enumerate(held, 1))
            points = _best_points(low, open_points == 1 or held[0] > 0)
            if points >= DEALER_STANDS_ON:
                finished[held] = (orders, min(points - DEALER_STANDS_ON, 5))
            else:
                open_sets[held] = orders
    return _Draws(
        np.array(list(finished)),
        np.array([float(orders) for orders, _ in finished.values()]),
        np.array([end for _, end in finished.values()]),
    )


@functools.cache
def _falling() -> NDArray[np.float64]:
    """Return a table of n (n-1) ... (n-k+1) for decks of up to 52 and draws of up to 17 cards."""
    return np.array([[float(math.perm(n, k)) for k in range(18)] for n in range(53)])


@functools.lru_cache(maxsize=100_000)
def _dealer(deck: Deck, open_points: int) -> tuple[float, ...]:
    """Return the chances that the dealer ends on 17, 18, 19, 20, 21 or past 21."""
    draws, falling = _draws(open_points), _falling()
    ways = falling[np.array(deck), draws.sets].prod(axis=1) * draws.orders
    chances = ways / falling[sum(deck), draws.sets.sum(axis=1)]
    return tuple(np.bincount(draws.ends, weights=chances, minlength=6).tolist())


def dealer_ends(seen: Sequence[Card], open_card: Card) -> tuple[float, ...]:
    """Return the chances of the dealer's final 17 to 21 and bust, given all seen cards (the open one included)."""
    points = points_of(open_card)
    return _dealer(unseen(seen), points)


def _stand_value(deck: Deck, points: int, open_points: int) -> float:
    ends = _dealer(deck, open_points)
    value = ends[5]
    for index in range(5):
        total = 17 + index
        value += ends[index] * ((points > total) - (points < total))
    return value


@functools.lru_cache(maxsize=100_000)
def _hit_value(deck: Deck, low: int, has_ace: bool, open_points: int) -> float:
    """Return the expected value of hitting, followed by the best play."""
    left = sum(deck)
    value = 0.0
    for points, count in enumerate(deck, 1):
        if low + points > LIMIT:
            value -= count / left
        elif count:
            rest = (*deck[: points - 1], count - 1, *deck[points:])
            value += count / left * _best_value(rest, low + points, has_ace or points == 1, open_points)
    return value


def _best_value(deck: Deck, low: int, has_ace: bool, open_points: int) -> float:
    """Return the value of the better move, with two exact shortcuts.

    Standing below 17 wins only if the dealer busts, so a hit that cannot bust is never worse. And hitting can at best
    win whenever it does not bust, so where standing earns as much as that, the hit need not be worked out.
    """
    points = _best_points(low, has_ace)
    if low <= LIMIT - 10 and points < DEALER_STANDS_ON:
        return _hit_value(deck, low, has_ace, open_points)
    stand = _stand_value(deck, points, open_points)
    if stand >= 1 - 2 * _bust_risk(deck, low):
        return stand
    return max(_hit_value(deck, low, has_ace, open_points), stand)


def _bust_risk(deck: Deck, low: int) -> float:
    return sum(deck[max(0, LIMIT - low) :]) / sum(deck)


def odds(player: Sequence[Card], open_card: Card) -> Odds:
    """Return the exact odds of a hand that is not over."""
    seen = [*player, open_card]
    deck = unseen(seen)
    mine = [points_of(card) for card in player]
    low, shown = sum(mine), points_of(open_card)
    hit = _hit_value(deck, low, 1 in mine, shown)
    stand = _stand_value(deck, _best_points(low, 1 in mine), shown)
    left = sum(deck)
    bust = _bust_risk(deck, low)
    drawing = sum(
        count
        for points, count in enumerate(deck, 1)
        if _best_points(shown + points, 1 in (shown, points)) < DEALER_STANDS_ON
    )
    return Odds(bust, dealer_ends(seen, open_card)[5], drawing / left, hit, stand)


class Facts(msgspec.Struct, frozen=True):
    """A decision: the player's card points (an ace is 1), the total, the open card's points, and the exact odds."""

    points: tuple[int, ...]
    total: Total
    shown: int
    exact: Odds
    pairs: dict[int, float]
    """The probability of each total of the dealer's two cards."""
    ends: tuple[float, ...]
    """The probabilities that the dealer ends on 17, 18, 19, 20, 21 or past 21."""

    @property
    def kind(self) -> str:
        """Soft or hard."""
        return "soft" if self.total.soft else "hard"

    @property
    def likeliest_pair(self) -> int:
        """The most likely total of the dealer's two cards."""
        return max(self.pairs, key=lambda total: (self.pairs[total], total))

    @property
    def likely_ends(self) -> tuple[int, ...]:
        """The most likely total on which the dealer ends without passing 21, then those that are nearly as likely."""
        best = max(range(5), key=lambda place: self.ends[place])
        near = [place for place in range(5) if place != best and self.ends[place] >= self.ends[best] - NEARLY]
        return tuple(DEALER_STANDS_ON + place for place in (best, *near))


def facts_of(player: Sequence[Card], open_card: Card) -> Facts:
    """Return the facts of a decision."""
    deck, shown = unseen([*player, open_card]), points_of(open_card)
    pairs: dict[int, float] = {}
    for hidden, count in enumerate(deck, 1):
        total = _best_points(shown + hidden, 1 in (shown, hidden))
        if count:
            pairs[total] = pairs.get(total, 0.0) + count / sum(deck)
    points = tuple(points_of(card) for card in player)
    ends = dealer_ends([*player, open_card], open_card)
    return Facts(points, total_of(player), shown, odds(player, open_card), pairs, ends)
