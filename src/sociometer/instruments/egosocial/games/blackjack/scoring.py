"""The score of a hand: both beliefs at the first decision, then the actions by the exact odds."""

from collections import Counter

import msgspec

from sociometer.core.measure import Measure, Summary, Table
from sociometer.core.reply_kind import count_replies
from sociometer.core.task import RunView, Score
from sociometer.instruments.egosocial.games.blackjack.match import RIGHT_ABOVE, Decision, Hand, HandOutcome
from sociometer.instruments.egosocial.games.blackjack.odds import facts_of
from sociometer.instruments.egosocial.games.blackjack.statement import (
    BEST_CONSTANT,
    CHANCE_TOLERANCE,
    NAMES,
    FieldGrade,
    Fields,
    grade_fields,
)
from sociometer.instruments.egosocial.games.game import NOTES, TABLES, card_measures
from sociometer.statistics.formatting import estimate
from sociometer.statistics.measures import Observation, mean_measure

JUDGE = "judge"
_OF_FIELDS = ("right", "self_right", "external_right", "exact_fields", "own_skill", "dealer_skill")
"""Values that exist only for hands with fields."""


def played(decision: Decision) -> tuple[bool, float]:
    """Return whether the action of a decision is the best one by the exact odds, and the value that it loses."""
    exact = facts_of(decision.player, decision.open_card).exact
    values = {"hit": exact.hit, "stand": exact.stand}
    action = decision.action if decision.moved and not decision.faults.defaulted else None
    # rounded, so that a stored number does not depend on the processor that computed it
    lost = round(max(values.values()) - values[action], 6) if action in values else 0.0
    return action == exact.best, lost


def score(item: Hand, outcome: HandOutcome) -> Score:
    """Both beliefs at the first decision, as its fields state them, then the action of every decision.

    Beliefs in sentences alone (hands of the official file) are right if a judge's grade is above the threshold of its
    scale; without a judge they have no value. Where beliefs came without a move there is no action to score.
    """
    decisions = outcome.decisions
    moved = [(*played(decision), decision) for decision in decisions if decision.moved]
    lost = [value for _, value, decision in moved if not decision.faults.defaulted]
    values = {**_beliefs(decisions[0]), "faults": sum(one.faults.count for one in decisions) / len(decisions)}
    if moved:
        values["best_action"] = sum(best for best, _, _ in moved) / len(moved)
    if lost:
        values["lost_value"] = sum(lost) / len(lost)
    unreadable = sum(decision.faults.defaulted or decision.incomplete for decision in decisions)
    replies = count_replies(how for decision in decisions for how in decision.faults.asked)
    missing = {}
    if decisions[0].grades is not None:
        missing = dict.fromkeys(("right", "self_right", "external_right") - values.keys(), JUDGE)
    return Score(values=values, facets=item.facets, unreadable=unreadable, replies=replies, missing=missing)


def fields_of(decision: Decision) -> FieldGrade | None:
    """Return the grade of a decision's fields; None if they were not asked for."""
    if not decision.asked_fields:
        return None
    return grade_fields(decision.statement.fields or Fields(), facts_of(decision.player, decision.open_card))


def _beliefs(decision: Decision) -> dict[str, float]:
    fields = fields_of(decision)
    if fields is None:
        names = zip(("self_right", "external_right"), decision.grades or (), strict=False)
        found = {name: float(grade > RIGHT_ABOVE) for name, grade in names if grade is not None}
        return {"right": min(found.values()), **found} if len(found) > 1 else found
    return {
        "right": float(fields.own_right and fields.dealer_right),
        "self_right": float(fields.own_right),
        "external_right": float(fields.dealer_right),
        "exact_fields": fields.exact_share,
        "own_skill": fields.own_skill,
        "dealer_skill": fields.dealer_skill,
    }


def summarise(run: RunView[Hand, HandOutcome]) -> Summary:
    """Beliefs, actions and results, overall and for soft and hard hands."""
    measures: list[Measure] = []
    origin = _origin(run)
    for card, (overall, *by_hand) in card_measures(run, "blackjack", "hand"):
        if card.value in _OF_FIELDS and not overall.items and not overall.errors:
            continue
        if card.name == "accuracy" and overall.items:
            overall = msgspec.structs.replace(overall, note=f"deals: {origin}")
        measures += [overall, *by_hand]
    by_field = _field_table(run)
    notes = [f"Deals: {origin}."]
    graded = [
        decision.grades for _, outcome, _ in run.scored() if (decision := outcome.decisions[0]).grades is not None
    ]
    if lost := sum(grades.count(None) for grades in graded):
        notes.insert(0, NOTES["lost-grades"].format(lost=lost, beliefs=2 * len(graded)))
    if by_field is None and not graded and not any("right" in score.values for _, _, score in run.scored()):
        notes.insert(0, NOTES["not-graded"])
    return Summary(tuple(measures), (by_field,) if by_field else (), tuple(notes))


def _field_table(run: RunView[Hand, HandOutcome]) -> Table | None:
    """Return how often each field is right at the first decision; None if no field was asked for."""
    firsts = [(item, fields_of(outcome.decisions[0])) for item, outcome, _ in run.scored()]
    grades = [(item, found.right) for item, found in firsts if found is not None]
    if not grades:
        return None
    rows = []
    for name in NAMES:
        found = mean_measure(name, (Observation(one.id, one.cluster or one.id, of[name], {}) for one, of in grades))
        rows.append((name, estimate(found.value, "share", found.interval), BEST_CONSTANT[name]))
    return TABLES("fields", rows, tolerance=CHANCE_TOLERANCE)


def _origin(run: RunView[Hand, HandOutcome]) -> str:
    """Return the number of deals from each source."""
    official = Counter("from the official file" if item.user else "from the seed" for item, _, _ in run.scored())
    return ", ".join(f"{count} {origin}" for origin, count in sorted(official.items())) or "none"
