"""Reads from a player's own words what it claims about its hand and the dealer's.

Each claim keeps the words it was read from, so that a person can check both the reading and the verdict.
"""

import re

from sociometer.instruments.egosocial.games.blackjack.chance_words import BUST, chances
from sociometer.instruments.egosocial.games.blackjack.claim import Claim, distinct, sentences
from sociometer.instruments.egosocial.games.blackjack.dealer_words import duties, holdings, is_of_the_dealer, open_card
from sociometer.instruments.egosocial.games.blackjack.own_words import softness, totals

LONGEST_READ = 4000


def own_claims(text: str) -> list[Claim]:
    """Return what a self-belief claims: the total, soft or hard, and the risk of passing 21."""
    found: list[Claim] = []
    for sentence in sentences(text[:LONGEST_READ]):
        found += totals(sentence)
        found += softness(sentence)
        if not re.search(r"dealer", sentence, re.IGNORECASE):
            found += chances(sentence, "bust risk")
    return distinct(found)


def dealer_claims(text: str) -> list[Claim]:
    """Return what an external belief claims: the open card, what the dealer may hold, must do, and may pass 21 with."""
    found: list[Claim] = []
    for sentence in sentences(text[:LONGEST_READ]):
        rules = list(duties(sentence))
        found += rules
        found += open_card(sentence)
        if BUST.search(sentence) and is_of_the_dealer(sentence):
            found += chances(sentence, "dealer bust risk")
        elif not rules:
            found += holdings(sentence)
    return distinct(found)
