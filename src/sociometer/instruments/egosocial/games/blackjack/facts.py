"""The facts of one decision that claims are checked against: both hands as the player sees them, and the exact odds."""

from collections.abc import Sequence

import msgspec

from sociometer.instruments.egosocial.games.blackjack.odds import Odds, dealer_ends, odds, unseen
from sociometer.instruments.egosocial.games.blackjack.rules import (
    DEALER_STANDS_ON,
    LIMIT,
    Total,
    points_of,
    total_of,
)
from sociometer.instruments.egosocial.games.cards import Card


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
    def has_ace(self) -> bool:
        """Whether the player holds an ace."""
        return 1 in self.points

    @property
    def low(self) -> int:
        """The player's total with every ace as 1."""
        return sum(self.points)

    @property
    def kind(self) -> str:
        """Soft or hard."""
        return "soft" if self.total.soft else "hard"

    @property
    def likeliest_pair(self) -> int:
        """The most likely total of the dealer's two cards."""
        return max(self.pairs, key=lambda total: (self.pairs[total], total))

    @property
    def likeliest_end(self) -> int:
        """The most likely total on which the dealer ends without passing 21."""
        return DEALER_STANDS_ON + max(range(5), key=lambda place: self.ends[place])

    def pair_with(self, hidden: int) -> int:
        """Return the dealer's total if the hidden card has so many points (an ace 1)."""
        low = self.shown + hidden
        return low + 10 if 1 in (self.shown, hidden) and low + 10 <= LIMIT else low

    def busts_with(self, points: int) -> bool:
        """Whether one more card of so many points (an ace 1) takes the player past 21."""
        return self.low + points > LIMIT


def facts_of(player: Sequence[Card], open_card: Card) -> Facts:
    """Return the facts of a decision."""
    deck, shown = unseen([*player, open_card]), points_of(open_card)
    pairs: dict[int, float] = {}
    for hidden, count in enumerate(deck, 1):
        low = shown + hidden
        total = low + 10 if 1 in (shown, hidden) and low + 10 <= LIMIT else low
        if count:
            pairs[total] = pairs.get(total, 0.0) + count / sum(deck)
    points = tuple(points_of(card) for card in player)
    ends = dealer_ends([*player, open_card], open_card)
    return Facts(points, total_of(player), shown, odds(player, open_card), pairs, ends)


FINALS = range(DEALER_STANDS_ON, LIMIT + 1)
"""The totals on which a dealer's hand can end without passing 21."""
