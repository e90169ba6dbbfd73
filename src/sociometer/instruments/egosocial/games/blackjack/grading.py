"""Grades what a player said and did at one decision against the exact facts, claim by claim."""

import re
from collections.abc import Sequence
from functools import cache

import msgspec

from sociometer.instruments.egosocial.games.blackjack.claim import Graded
from sociometer.instruments.egosocial.games.blackjack.claim_reader import dealer_claims, own_claims
from sociometer.instruments.egosocial.games.blackjack.rules import Facts, facts_of
from sociometer.instruments.egosocial.games.cards import RANKS, Card

RULES_ALONE = ("dealer stops at",)
"""Claims that are true for every deal, because the prompt states them: alone they make no belief right."""


SAYS_NOTHING = 8
"""A belief about the dealer that is right for so many of the ten open cards says nothing about this deal."""


_MOST_NAMED = 3
"""A belief that names more kinds of cards than this names none in particular."""


_NUMBERS = ("ace", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


_POINTS = {
    **{word: place for place, word in enumerate(_NUMBERS, 1)},
    **{str(number): number for number in range(2, 11)},
    **dict.fromkeys(("jack", "queen", "king", "face"), 10),
    "deuce": 2,
}


_WORD = re.compile(r"[a-z]+|\d+")


class Grade(msgspec.Struct, frozen=True):
    """The grade of one decision: both beliefs, the claims they rest on, and the action compared with the best one."""

    self_right: bool
    external_right: bool
    claims: tuple[Graded, ...]
    best: str
    action_best: bool
    lost_value: float

    @property
    def right(self) -> bool:
        """Whether both beliefs are right, which is what the paper's graders judged."""
        return self.self_right and self.external_right


def grade(player: Sequence[Card], open_card: Card, self_belief: str, external_belief: str, action: str | None) -> Grade:
    """Return the grade of a decision.

    A self-belief is right when the true total is stated and nothing it claims is wrong (with an ace in hand it must
    also show how the ace counts); an external belief is right when it claims something about this deal and nothing
    it claims is wrong. A belief that would be right at nearly every open card ("the dealer may bust") claims nothing
    about this deal.
    """
    facts = facts_of(player, open_card)
    own, theirs = own_claims(self_belief, facts), dealer_claims(external_belief, facts)
    named = {number for one in own if one.claim.kind == "total" for number in one.claim.numbers}
    both_totals = facts.total.soft and {facts.low, facts.total.points} <= named
    shows_ace = both_totals or "softness" in {one.claim.kind for one in own}
    stated = facts.total.points in named and (not facts.has_ace or shows_ace)
    external_right = _all_right(theirs) and not _says_nothing(external_belief, facts)
    exact = facts.exact
    values = {"hit": exact.hit, "stand": exact.stand}
    return Grade(
        self_right=stated and all(one.verdict == "right" for one in own),
        external_right=external_right,
        claims=(*own, *theirs),
        best=exact.best,
        action_best=action == exact.best,
        # rounded, so that a stored number does not depend on the processor that computed it
        lost_value=round(max(values.values()) - values[action], 6) if action in values else 0.0,
    )


def _all_right(claims: Sequence[Graded]) -> bool:
    """Whether something is claimed about this deal, and all claims are right."""
    of_the_deal = any(one.claim.kind not in RULES_ALONE for one in claims)
    return of_the_deal and all(one.verdict == "right" for one in claims)


def _says_nothing(belief: str, facts: Facts) -> bool:
    """Whether a belief about the dealer does not name the open card and would be right for nearly every one."""
    named = {_POINTS.get(word, 0) for word in _WORD.findall(belief.lower())} - {0}
    if facts.shown in named and len(named) <= _MOST_NAMED:
        return False
    right = 0
    for other in _open_cards():
        elsewhere = msgspec.structs.replace(
            facts, shown=other.shown, exact=other.exact, pairs=other.pairs, ends=other.ends
        )
        right += _all_right(dealer_claims(belief, elsewhere))
    return right >= SAYS_NOTHING


@cache
def _open_cards() -> tuple[Facts, ...]:
    """The dealer's odds for each open card; they hardly depend on the player's cards, so one hand is used for all."""
    ten, six = (4 * RANKS.index(rank) for rank in "T6")
    return tuple(facts_of((ten, six), 4 * RANKS.index(rank) + 1) for rank in "A23456789T")
