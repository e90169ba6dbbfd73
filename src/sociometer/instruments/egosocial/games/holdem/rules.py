"""The rules of limit Texas hold'em for two players, and what a player sees of a hand.

Blinds 1 and 2; a raise is 2 chips before and on the flop, 4 on the turn and river; four raises a street. The button
posts the small blind, acts first before the flop and last after it. Chips are unlimited. Folding is always allowed,
even where checking costs nothing, as in RLCard and in the paper's example.
"""

import random
from collections.abc import Sequence

import msgspec
import numpy as np

from sociometer.instruments.egosocial.games import cards
from sociometer.instruments.egosocial.games.cards import Card
from sociometer.instruments.egosocial.games.game import IllegalMove
from sociometer.instruments.egosocial.games.holdem.strength import strengths

FOLD, CALL, RAISE = 0, 1, 2
STREETS = ("preflop", "flop", "turn", "river")
BOARD_SIZES = (0, 3, 4, 5)
RAISE_SIZES = (2, 2, 4, 4)
BLINDS = (1, 2)
MOST_RAISES = 4
CODES = {"fold": FOLD, "call": CALL, "check": CALL, "raise": RAISE}
_SPOKEN = {"fold": "folds", "call": "calls", "check": "checks", "raise": "raises"}


class HoldemDeal(msgspec.Struct, frozen=True):
    """The nine cards of one hand and who holds the button."""

    hole: tuple[tuple[Card, Card], tuple[Card, Card]]
    board: tuple[Card, ...]
    button: int


class HoldemMove(msgspec.Struct, frozen=True):
    """One action that was taken, in words."""

    street: str
    player: int
    action: str


def new_deal(rng: random.Random, button: int) -> HoldemDeal:
    """Return a hand dealt from a shuffled deck."""
    nine = cards.deal(rng, 9)
    return HoldemDeal(((nine[0], nine[2]), (nine[1], nine[3])), nine[4:], button)


class HoldemState:
    """One hand in progress; only `apply` changes it."""

    __slots__ = ("acted", "actor", "deal", "folded", "invested", "moves", "raises", "street")

    def __init__(self, deal: HoldemDeal) -> None:
        self.deal = deal
        self.street = 0
        self.actor = deal.button
        self.invested = [BLINDS[1], BLINDS[1]]
        self.invested[deal.button] = BLINDS[0]
        self.raises = 0
        self.acted = 0
        self.folded = -1
        self.moves: list[HoldemMove] = []

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
        self.moves.append(HoldemMove(STREETS[self.street], player, action))
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


class SeenHand(msgspec.Struct, frozen=True):
    """A hand in progress as the player to act sees it."""

    player: int
    button: int
    hole: tuple[Card, Card]
    board: tuple[Card, ...]
    invested: tuple[int, int]
    legal: tuple[str, ...]
    moves: tuple[HoldemMove, ...]


def observe(state: HoldemState) -> SeenHand:
    """Return what the player to act sees."""
    return SeenHand(
        player=state.actor,
        button=state.deal.button,
        hole=state.deal.hole[state.actor],
        board=state.board,
        invested=(state.invested[0], state.invested[1]),
        legal=state.legal(),
        moves=tuple(state.moves),
    )


def story(moves: tuple[HoldemMove, ...], street: int = 0) -> str:
    """Return the betting so far in words, street by street, up to the street that is being played."""
    parts: list[str] = []
    for index, name in enumerate(STREETS):
        here = [move for move in moves if move.street == name]
        if here or index <= street:
            parts.append(f"{name.capitalize()}.")
            parts += [f"Player {move.player} {_SPOKEN[move.action]}." for move in here]
    return " ".join(parts)
