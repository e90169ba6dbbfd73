"""Grades what a player said and did at one decision against the exact facts, claim by claim."""

from collections.abc import Sequence

import msgspec

from sociometer.instruments.egosocial.games.blackjack.claim import Graded
from sociometer.instruments.egosocial.games.blackjack.claim_reader import dealer_claims, own_claims
from sociometer.instruments.egosocial.games.blackjack.facts import facts_of
from sociometer.instruments.egosocial.games.cards import Card

RULES_ALONE = ("dealer stops at",)
"""Claims that hold at every deal, because the prompt recites them: alone they make no belief right."""


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
    it claims is wrong.
    """
    facts = facts_of(player, open_card)
    own, theirs = own_claims(self_belief, facts), dealer_claims(external_belief, facts)
    named = {number for one in own if one.claim.kind == "total" for number in one.claim.numbers}
    both_totals = facts.total.soft and {facts.low, facts.total.points} <= named
    shows_ace = both_totals or "softness" in {one.claim.kind for one in own}
    stated = facts.total.points in named and (not facts.has_ace or shows_ace)
    of_the_deal = [one for one in theirs if one.claim.kind not in RULES_ALONE]
    exact = facts.exact
    values = {"hit": exact.hit, "stand": exact.stand}
    return Grade(
        self_right=stated and all(one.verdict == "right" for one in own),
        external_right=bool(of_the_deal) and all(one.verdict == "right" for one in theirs),
        claims=(*own, *theirs),
        best=exact.best,
        action_best=action == exact.best,
        # rounded, so that a stored number does not depend on the processor that computed it
        lost_value=round(max(values.values()) - values[action], 6) if action in values else 0.0,
    )
