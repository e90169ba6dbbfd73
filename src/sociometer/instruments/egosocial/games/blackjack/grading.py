"""Grades what a player said and did at one decision against the exact facts, claim by claim."""

from collections.abc import Sequence
from typing import Literal

import msgspec

from sociometer.instruments.egosocial.games.blackjack.claim import Claim
from sociometer.instruments.egosocial.games.blackjack.claim_reader import dealer_claims, own_claims
from sociometer.instruments.egosocial.games.blackjack.odds import Odds, odds, unseen
from sociometer.instruments.egosocial.games.blackjack.rules import DEALER_STANDS_ON, LIMIT, points_of, total_of
from sociometer.instruments.egosocial.games.cards import Card

# A stated chance may miss the exact one by this much; words stand for overlapping bands.
CHANCE_TOLERANCE = 0.10
BUST_BANDS = {"none": (0.0, 0.0), "low": (0.0, 0.40), "moderate": (0.20, 0.65), "high": (0.40, 1.0)}
DEALER_BANDS = {"none": (0.0, 0.0), "low": (0.0, 0.30), "moderate": (0.15, 0.45), "high": (0.25, 1.0)}

Verdict = Literal["right", "wrong"]


class Graded(msgspec.Struct, frozen=True):
    """A claim with its verdict and the fact it was checked against."""

    claim: Claim
    verdict: Verdict
    fact: str


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

    A self-belief is right when the total is stated and nothing it claims is wrong (with an ace in hand it must also say
    whether the total is soft); an external belief is right when it claims something and nothing it claims is wrong.
    """
    exact = odds(player, open_card)
    claimed = own_claims(self_belief)
    totals = {number for claim in claimed if claim.kind == "total" for number in claim.numbers}
    own = [_grade_own(claim, player, exact, totals) for claim in claimed]
    theirs = [_grade_dealer(claim, player, open_card, exact) for claim in dealer_claims(external_belief)]
    kinds = {graded.claim.kind for graded in own}
    has_ace = any(points_of(card) == 1 for card in player)
    stated = "total" in kinds and (not has_ace or "softness" in kinds or len(totals) > 1)
    values = {"hit": exact.hit, "stand": exact.stand}
    return Grade(
        self_right=stated and all(graded.verdict == "right" for graded in own),
        external_right=bool(theirs) and all(graded.verdict == "right" for graded in theirs),
        claims=(*own, *theirs),
        best=exact.best,
        action_best=action == exact.best,
        # rounded, so that a stored number does not depend on the processor that computed it
        lost_value=round(max(values.values()) - values[action], 6) if action in values else 0.0,
    )


def _graded(claim: Claim, right: bool, fact: str) -> Graded:
    return Graded(claim, "right" if right else "wrong", fact)


def _grade_own(claim: Claim, player: Sequence[Card], exact: Odds, totals: set[float]) -> Graded:
    """Grade a claim about one's own hand; a soft hand's lower total is right beside the higher one, not alone."""
    total = total_of(player)
    kind = "soft" if total.soft else "hard"
    if claim.kind == "total":
        allowed = {total.points, total.points - 10} if total.soft else {total.points}
        right = total.points in totals and all(number in allowed for number in claim.numbers)
        return _graded(claim, right, f"{kind} {total.points}")
    if claim.kind == "softness":
        return _graded(claim, claim.word == kind, f"{kind} {total.points}")
    return _grade_chance(claim, exact.bust_risk, BUST_BANDS)


def _grade_chance(claim: Claim, chance: float, bands: dict[str, tuple[float, float]]) -> Graded:
    if claim.numbers:
        missed = chance - claim.numbers[0]
        within = {"over": missed >= -CHANCE_TOLERANCE, "under": missed <= CHANCE_TOLERANCE}
        right = within.get(claim.word, abs(missed) <= CHANCE_TOLERANCE)
    else:
        low, high = bands[claim.word]
        right = low <= chance <= high
    return _graded(claim, right, f"{chance:.1%}")


def _grade_dealer(claim: Claim, player: Sequence[Card], open_card: Card, exact: Odds) -> Graded:
    shown = points_of(open_card)
    if claim.kind == "open card":
        right = claim.numbers[0] in ((1.0, 11.0) if shown == 1 else (float(shown),))
        return _graded(claim, right, f"open card worth {'1 or 11' if shown == 1 else shown}")
    if claim.kind == "dealer stops at":
        right = all(number == DEALER_STANDS_ON for number in claim.numbers)
        return _graded(claim, right, f"draws below {DEALER_STANDS_ON}, stands from it")
    if claim.kind == "dealer must draw":
        return _graded(claim, exact.dealer_must_draw >= 0.9, f"must draw with chance {exact.dealer_must_draw:.1%}")
    if claim.kind == "dealer bust risk":
        return _grade_chance(claim, exact.dealer_busts, DEALER_BANDS)
    return _grade_holding(claim, player, open_card)


def _grade_holding(claim: Claim, player: Sequence[Card], open_card: Card) -> Graded:
    """Grade a range or list of what the dealer may hold: as the hidden card, the two cards, or the final total."""
    shown = points_of(open_card)
    hidden = [points for points, count in enumerate(unseen([*player, open_card]), 1) if count]
    pairs = {shown + points + (10 if 1 in (shown, points) and shown + points + 10 <= LIMIT else 0) for points in hidden}
    values = set(hidden) | ({11} if 1 in hidden else set())
    finals = set(range(DEALER_STANDS_ON, LIMIT + 1))
    allowed = pairs | values | finals | {shown + 11}
    right = all(number in allowed for number in claim.numbers)
    if claim.word == "range" and right:
        right = claim.numbers[0] <= claim.numbers[1]
    return _graded(claim, right, f"two cards make {min(pairs)} to {max(pairs)}, a finished hand 17 to 21 or bust")
