"""Blackjack: outcome -> score -> summary."""

from collections import Counter

import msgspec

from sociometer.core.measure import Measure, Summary, Table
from sociometer.core.reply_kind import count_replies
from sociometer.core.task import RunView, Score
from sociometer.instruments.egosocial.games.blackjack.grading import Grade, grade
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
from sociometer.instruments.egosocial.games.blackjack.rules import facts_of, total_of
from sociometer.statistics.measures import grouped_measures


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
