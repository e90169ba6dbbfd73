"""Blackjack: outcome -> score -> summary."""

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache

import msgspec

from sociometer.core.measure import Measure, Summary, Table
from sociometer.core.reply_kind import count_replies
from sociometer.core.task import RunView, Score
from sociometer.instruments.egosocial.games.blackjack.claim import Graded
from sociometer.instruments.egosocial.games.blackjack.claim_reader import dealer_claims, own_claims
from sociometer.instruments.egosocial.games.blackjack.hand import (
    BEST_CONSTANT,
    CHANCE_TOLERANCE,
    NAMES,
    Decision,
    FieldGrade,
    Fields,
    Hand,
    HandOutcome,
    grade_fields,
)
from sociometer.instruments.egosocial.games.blackjack.rules import Facts, facts_of, total_of
from sociometer.instruments.egosocial.games.cards import RANKS, Card
from sociometer.statistics.measures import grouped_measures

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


def graded(decision: Decision) -> Grade:
    """Return the grade of a stored decision under the current rules."""
    said = decision.statement
    action = decision.action if decision.moved and not decision.faults.defaulted else None
    return grade(decision.player, decision.open_card, said.self_belief, said.external_belief, action)


def score(item: Hand, outcome: HandOutcome) -> Score:
    """Both beliefs at the first decision, as the paper grades them, then the action of every decision and the result.

    Where the fields were asked for, a belief is what they say, and the sentences are graded beside them; otherwise it
    is what the sentences say. Where beliefs came without a move there is no action to score, and no result.
    """
    grades = [graded(decision) for decision in outcome.decisions]
    first = grades[0]
    claims = [one for each in grades for one in each.claims]
    moved = [(one, decision) for one, decision in zip(grades, outcome.decisions, strict=True) if decision.moved]
    legal = [one for one, decision in moved if not decision.faults.defaulted]
    values = {
        **_beliefs(outcome.decisions[0], first),
        "faults": sum(decision.faults.count for decision in outcome.decisions) / len(grades),
    }
    if moved:
        values["best_action"] = sum(one.action_best for one, _ in moved) / len(moved)
    if outcome.result is not None and len(moved) == len(grades):
        values["result"] = float(outcome.result)
    if claims:
        values["claims_right"] = sum(one.verdict == "right" for one in claims) / len(claims)
    if legal:
        values["lost_value"] = sum(one.lost_value for one in legal) / len(legal)
    total = total_of(outcome.decisions[0].player)
    unreadable = sum(decision.faults.defaulted for decision in outcome.decisions)
    replies = count_replies(how for decision in outcome.decisions for how in decision.faults.asked)
    facets = {"hand": "soft" if total.soft else "hard"}
    return Score(values=values, facets=facets, unreadable=unreadable, replies=replies)


def fields_of(decision: Decision) -> FieldGrade | None:
    """Return the grade of a decision's fields; None if they were not asked for."""
    if not decision.asked_fields:
        return None
    return grade_fields(decision.statement.fields or Fields(), facts_of(decision.player, decision.open_card))


def _beliefs(decision: Decision, words: Grade) -> dict[str, float]:
    fields = fields_of(decision)
    if fields is None:
        return {
            "right": float(words.right),
            "self_right": float(words.self_right),
            "external_right": float(words.external_right),
        }
    return {
        "right": float(fields.own_right and fields.dealer_right),
        "self_right": float(fields.own_right),
        "external_right": float(fields.dealer_right),
        "exact_fields": fields.exact_share,
        "own_skill": fields.own_skill,
        "dealer_skill": fields.dealer_skill,
        "self_words": float(words.self_right),
        "external_words": float(words.external_right),
    }


_MEASURES = (
    ("right", "accuracy"),
    ("self_right", "self_belief"),
    ("external_right", "external_belief"),
    ("exact_fields", "exact_fields"),
    ("own_skill", "own_chance"),
    ("dealer_skill", "dealer_chance"),
    ("self_words", "self_words"),
    ("external_words", "external_words"),
    ("claims_right", "claims_right"),
    ("best_action", "best_action"),
    ("lost_value", "lost_value"),
    ("result", "result"),
    ("faults", "faults_per_decision"),
)
_NO_SHARES = ("own_skill", "dealer_skill", "lost_value", "result", "faults")
_OF_FIELDS = ("exact_fields", "own_skill", "dealer_skill", "self_words", "external_words")
"""Values that exist only for hands with fields."""


def summarise(run: RunView[Hand, HandOutcome]) -> Summary:
    """Beliefs, actions and results, overall and for soft and hard hands, with the verdicts by kind of claim."""
    measures: list[Measure] = []
    origin = _origin(run)
    for value, name in _MEASURES:
        binary = False if value in _NO_SHARES else None
        overall, *by_hand = grouped_measures(run, value, name, by=["hand"], binary=binary)
        if value in _OF_FIELDS and not overall.items:
            continue
        if name == "accuracy" and overall.items:
            overall = msgspec.structs.replace(overall, note=origin)
        measures += [overall, *by_hand]
    counts = Counter(
        (one.claim.kind, one.verdict)
        for _, outcome, _ in run.scored()
        for decision in outcome.decisions
        for one in graded(decision).claims
    )
    kinds = sorted({kind for kind, _ in counts})
    rows = tuple((kind, counts[kind, "right"], counts[kind, "wrong"]) for kind in kinds)
    table = Table("claims", "Claims read from the replies", ("claim", "right", "wrong"), rows)
    note = (
        "Sentences are graded by rules applied to the reply; the authors graded by hand. 'sociometer grade "
        "egosocial --run RUN' writes a sheet for people and computes their agreement with the rules and with a judge."
    )
    by_field = _field_table(run)
    return Summary(tuple(measures), (*([by_field] if by_field else []), table), (note, f"Deals: {origin}."))


def _field_table(run: RunView[Hand, HandOutcome]) -> Table | None:
    """Return how often each field is right at the first decision; None if no field was asked for."""
    firsts = [outcome.decisions[0] for _, outcome, _ in run.scored()]
    grades = [found for found in map(fields_of, firsts) if found is not None]
    if not grades:
        return None
    rows = tuple((name, sum(one.right[name] for one in grades) / len(grades), BEST_CONSTANT[name]) for name in NAMES)
    columns = ("field", "right", "best constant")
    note = (
        f"Chances are right within {CHANCE_TOLERANCE:.0%}; own_chance and dealer_chance score them by a proper rule. "
        "The best constant is the answer that would be right most often over all deals."
    )
    units = {"right": "share", "best constant": "share"}
    return Table("fields", "Fields right at the first decision", columns, rows, note, units)


def _origin(run: RunView[Hand, HandOutcome]) -> str:
    """Return the number of deals from each source."""
    official = Counter("from the official file" if item.user else "from the seed" for item, _, _ in run.scored())
    return ", ".join(f"{count} {origin}" for origin, count in sorted(official.items())) or "none"
