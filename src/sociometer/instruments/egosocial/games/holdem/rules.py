"""The rules of limit hold'em for two: blinds, streets, legal actions, showdown.

Blinds 1 and 2; a raise is 2 chips before and on the flop, 4 on the turn and river; four raises a street. The button
posts the small blind, acts first before the flop and last after it. Chips are unlimited. Folding is always allowed,
even where checking costs nothing, as in RLCard and in the paper's example.
"""

import functools
import random
from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from sociometer.instruments.egosocial.games import IllegalMove, cards
from sociometer.instruments.egosocial.games.cards import Card

IntArray = NDArray[np.int64]


def _top_of_straight(mask: int) -> int:
    """Return the rank that tops the best straight in a set of ranks, or -1."""
    for top in range(12, 3, -1):
        if (mask >> (top - 4)) & 0b11111 == 0b11111:
            return top
    return 3 if mask & 0b1000000001111 == 0b1000000001111 else -1


def _top_five(mask: int) -> int:
    """Return the five highest ranks of a set packed four bits each, highest first, zeros if there are fewer."""
    packed = 0
    found = [rank for rank in range(12, -1, -1) if mask >> rank & 1][:5]
    for rank in found:
        packed = packed << 4 | rank
    return packed << 4 * (5 - len(found))


@functools.cache
def _tables() -> tuple[IntArray, IntArray]:
    """Return, for each of the 8192 sets of ranks, the top of its straight and its five highest ranks."""
    every = range(8192)
    return np.array([_top_of_straight(mask) for mask in every]), np.array([_top_five(mask) for mask in every])


def _highest_bit(mask: IntArray) -> IntArray:
    """Return the index of each number's highest bit, -1 for zero."""
    return np.frexp(mask.astype(np.float64))[1].astype(np.int64) - 1


def strengths(cards: IntArray, present: NDArray[np.bool_] | None = None) -> IntArray:
    """Return the strength of each row of five to seven cards; `present` marks those that count."""
    straights, tops = _tables()
    rows = len(cards)
    bits = np.left_shift(1, cards >> 2)
    if present is not None:
        bits = np.where(present, bits, 0)
    suits = np.zeros((rows, 4), dtype=np.int64)
    once, twice, thrice, quad = (np.zeros(rows, dtype=np.int64) for _ in range(4))
    for column in range(cards.shape[1]):
        bit = bits[:, column]
        suits[np.arange(rows), cards[:, column] & 3] |= bit
        quad |= thrice & bit
        thrice |= twice & bit
        twice |= once & bit
        once |= bit
    best = _pair_strengths(once, twice, thrice, quad, straights, tops)
    counts = np.bitwise_count(suits)
    flushed = np.flatnonzero(counts.max(axis=1) >= 5)
    if len(flushed):
        masks = suits[flushed, counts[flushed].argmax(axis=1)]
        tops_of = straights[masks]
        flush = np.where(tops_of >= 0, 8 << 20 | np.maximum(tops_of, 0) << 16, 5 << 20 | tops[masks])
        best[flushed] = np.maximum(best[flushed], flush)
    return best


def _pair_strengths(
    once: IntArray, twice: IntArray, thrice: IntArray, quad: IntArray, straights: IntArray, tops: IntArray
) -> IntArray:
    """Return each row's strength with flushes left out."""
    best = tops[once]
    pair = _highest_bit(twice)
    high = np.maximum(pair, 0)
    rest = twice & ~np.left_shift(1, high)
    low = np.maximum(_highest_bit(rest), 0)
    others = once & ~np.left_shift(1, high)
    one = 1 << 20 | high << 16 | tops[others] >> 8 << 4
    two = 2 << 20 | high << 16 | low << 12 | np.maximum(_highest_bit(others & ~np.left_shift(1, low)), 0) << 8
    best = np.where(pair >= 0, np.where(rest > 0, two, one), best)
    three = np.maximum(_highest_bit(thrice), 0)
    kickers = tops[once & ~np.left_shift(1, three)] >> 12 << 8
    best = np.where(thrice > 0, 3 << 20 | three << 16 | kickers, best)
    straight = straights[once]
    best = np.where(straight >= 0, 4 << 20 | np.maximum(straight, 0) << 16, best)
    beside = twice & ~np.left_shift(1, three)
    full = 6 << 20 | three << 16 | np.maximum(_highest_bit(beside), 0) << 12
    best = np.where((thrice > 0) & (beside > 0), full, best)
    four = np.maximum(_highest_bit(quad), 0)
    kicker = np.maximum(_highest_bit(once & ~np.left_shift(1, four)), 0) << 12
    result: IntArray = np.where(quad > 0, 7 << 20 | four << 16 | kicker, best)
    return result


FOLD, CALL, RAISE = 0, 1, 2
STREETS = ("preflop", "flop", "turn", "river")
BOARD_SIZES = (0, 3, 4, 5)
RAISE_SIZES = (2, 2, 4, 4)
BLINDS = (1, 2)
MOST_RAISES = 4


class Deal(msgspec.Struct, frozen=True):
    """The nine cards of one hand and who holds the button."""

    hole: tuple[tuple[Card, Card], tuple[Card, Card]]
    board: tuple[Card, ...]
    button: int


class Move(msgspec.Struct, frozen=True):
    """One action that was taken, in words."""

    street: str
    player: int
    action: str


def new_deal(rng: random.Random, button: int) -> Deal:
    """Return a hand dealt from a shuffled deck."""
    nine = cards.deal(rng, 9)
    return Deal(((nine[0], nine[2]), (nine[1], nine[3])), nine[4:], button)


class State:
    """One hand in progress; only `apply` changes it."""

    __slots__ = ("acted", "actor", "deal", "folded", "invested", "moves", "raises", "street")

    def __init__(self, deal: Deal) -> None:
        self.deal = deal
        self.street = 0
        self.actor = deal.button
        self.invested = [BLINDS[1], BLINDS[1]]
        self.invested[deal.button] = BLINDS[0]
        self.raises = 0
        self.acted = 0
        self.folded = -1
        self.moves: list[Move] = []

    @property
    def over(self) -> bool:
        """Whether the hand has ended."""
        return self.folded >= 0 or self.street == len(STREETS)

    @property
    def board(self) -> tuple[Card, ...]:
        """The community cards that lie open."""
        return self.deal.board[: BOARD_SIZES[min(self.street, 3)]]

    @property
    def to_call(self) -> int:
        """The number of chips the player to act must add to call."""
        return self.invested[1 - self.actor] - self.invested[self.actor]

    def legal(self) -> tuple[str, ...]:
        """Return the words for the moves that are allowed now."""
        if self.over:
            return ()
        stay = "call" if self.to_call else "check"
        return (stay, "raise", "fold") if self.raises < MOST_RAISES else (stay, "fold")

    def apply(self, action: str) -> None:
        """Take one legal action for the player to act."""
        if action not in self.legal():
            raise IllegalMove(f"illegal move {action!r}; the legal moves are {', '.join(self.legal()) or 'none'}")
        player = self.actor
        self.moves.append(Move(STREETS[self.street], player, action))
        if action == "fold":
            self.folded = player
            return
        self.invested[player] = self.invested[1 - player]
        self.acted += 1
        if action == "raise":
            self.invested[player] += RAISE_SIZES[self.street]
            self.raises += 1
            self.acted = 1
        self.actor = 1 - player
        if self.acted == 2:
            self.street += 1
            self.actor = 1 - self.deal.button
            self.raises = self.acted = 0

    def payoffs(self) -> tuple[int, int]:
        """Return the chips each player won or lost; only once the hand is over."""
        if not self.over:
            raise IllegalMove(f"the hand is still on the {STREETS[self.street]}; payoffs exist once it is over")
        if self.folded >= 0:
            lost = self.invested[self.folded]
            return (-lost, lost) if self.folded == 0 else (lost, -lost)
        return showdown(self.deal.hole, self.deal.board, self.invested[0])


def showdown(hole: Sequence[tuple[Card, Card]], board: tuple[Card, ...], stake: int) -> tuple[int, int]:
    """Return the chips won and lost when both show their cards, each having put in `stake`."""
    first, second = strengths(np.array([held + board for held in hole])).tolist()
    sign = (first > second) - (first < second)
    return sign * stake, -sign * stake
