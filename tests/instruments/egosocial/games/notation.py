"""Cards as the tests write them."""

from sociometer.instruments.egosocial.games import cards


def card(name):
    """The card of a name, suit first: `HK` is the king of hearts."""
    return cards.RANKS.index(name[1]) * 4 + cards.SUITS.index(name[0])
