"""The rules of blackjack against the dealer: one deck, hit or stand."""

import random
from collections.abc import Iterable

import msgspec

from sociometer.instruments.egosocial.games import cards
from sociometer.instruments.egosocial.games.cards import Card
from sociometer.instruments.egosocial.games.game import IllegalMove

MOVES = ("hit", "stand")
DEALER_STANDS_ON = 17
LIMIT = 21
# No hand can take more: four aces, four twos and three threes make 21.
LONGEST_HAND = 11


class Total(msgspec.Struct, frozen=True):
    """The total of a hand; soft while an ace still counts 11."""

    points: int
    soft: bool

    @property
    def bust(self) -> bool:
        """Whether the hand has passed 21."""
        return self.points > LIMIT


class BlackjackDeal(msgspec.Struct, frozen=True):
    """The cards of one hand: two for the player, two for the dealer (the first lies open), and the pile."""

    player: tuple[Card, ...]
    dealer: tuple[Card, Card]
    pile: tuple[Card, ...]

    @property
    def open_card(self) -> Card:
        """The dealer's card that lies open."""
        return self.dealer[0]


def points_of(card: Card) -> int:
    """Return a card's points: 2 to 10, and 1 for an ace."""
    rank = cards.rank_of(card)
    return 1 if rank == 12 else min(rank + 2, 10)


def total_of(hand: Iterable[Card]) -> Total:
    """Return the total of a hand."""
    points = [points_of(card) for card in hand]
    low = sum(points)
    if 1 in points and low + 10 <= LIMIT:
        return Total(low + 10, soft=True)
    return Total(low, soft=False)


def new_deal(rng: random.Random, player: tuple[Card, ...] = (), open_card: Card | None = None) -> BlackjackDeal:
    """Return a deal from a shuffled deck; the player's cards and the dealer's open card may be given."""
    fixed = player if open_card is None else (*player, open_card)
    rest = list(cards.deal(rng, cards.DECK_SIZE - len(fixed), without=fixed))
    mine = player or (rest.pop(0), rest.pop(0))
    shown = rest.pop(0) if open_card is None else open_card
    return BlackjackDeal(mine, (shown, rest[0]), tuple(rest[1 : 1 + 2 * LONGEST_HAND]))


class BlackjackState:
    """One hand in progress."""

    __slots__ = ("dealer", "pile", "player", "stood")

    def __init__(self, deal: BlackjackDeal) -> None:
        self.player = list(deal.player)
        self.dealer = list(deal.dealer)
        self.pile = iter(deal.pile)
        self.stood = False

    @property
    def over(self) -> bool:
        """Whether the player has no more moves: it stood or passed 21."""
        return self.stood or total_of(self.player).bust

    def legal(self) -> tuple[str, ...]:
        """Return the moves that are allowed now."""
        return () if self.over else MOVES

    def apply(self, move: str) -> None:
        """Take one legal move; a stand lets the dealer draw."""
        if move not in self.legal():
            raise IllegalMove(f"illegal move {move!r}; the legal moves are {', '.join(self.legal()) or 'none'}")
        if move == "hit":
            self.player.append(next(self.pile))
            return
        self.stood = True
        while total_of(self.dealer).points < DEALER_STANDS_ON:
            self.dealer.append(next(self.pile))

    def result(self) -> int:
        """Return 1 if the player won, 0 for a draw, -1 if the dealer won; only after the hand is over."""
        if not self.over:
            raise IllegalMove("the hand is not over; a result exists once the player stands or passes 21")
        mine, theirs = total_of(self.player), total_of(self.dealer)
        if mine.bust:
            return -1
        if theirs.bust:
            return 1
        return (mine.points > theirs.points) - (mine.points < theirs.points)
