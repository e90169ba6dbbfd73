"""Outcome -> score -> summary; pure."""

from collections import Counter
from collections.abc import Callable, Sequence

from sociometer.analysis.measures import grouped_measures
from sociometer.analysis.position_bias import position_bias
from sociometer.core.measure import Summary, Table
from sociometer.core.task import RunView, Score
from sociometer.elicit import ChoiceAnswer, score_choice
from sociometer.instruments.sesi.conditions import CONTROL
from sociometer.instruments.sesi.items import CATEGORIES, Question

TIE = "no majority"


def score(item: Question, outcome: ChoiceAnswer) -> Score:
    """Right or wrong; an answer that cannot be read is wrong and counted, and so is a tie, though not as unreadable."""
    facets = {"ability": item.ability, "category": CATEGORIES[item.ability]}
    if item.kinds:
        facets["picked"] = _kind(item, outcome)
    return score_choice(outcome, item.answer, **facets)


def _kind(item: Question, outcome: ChoiceAnswer) -> str:
    if outcome.picked is None:
        return TIE if outcome.tied else "unreadable"
    return item.kinds[outcome.picked].partition(":")[0]


def summarise(run: RunView[Question, ChoiceAnswer]) -> Summary:
    """Accuracy overall, by ability and by category, with position bias and what no understanding earns here."""
    measures = grouped_measures(run, "correct", "accuracy", by=["ability", "category"])
    scored = list(run.scored())
    items = {item.id: item for item, _, _ in scored}
    tables = [
        table
        for table in (
            _positions(scored),
            _baselines(list(items.values())),
            _kinds([score for _, _, score in scored]),
        )
        if table is not None
    ]
    notes = _notes(run, list(items.values())) + _ties([answer for _, answer, _ in scored])
    return Summary(measures, tuple(tables), tuple(notes))


def length_baseline(items: Sequence[Question], pick: Callable[[Sequence[int]], int]) -> float:
    """The share of items in which the longest (max) or shortest (min) option by characters is right; ties: first."""
    hits = 0
    for item in items:
        lengths = [len(option) for option in item.options]
        hits += lengths.index(pick(lengths)) == item.answer
    return hits / len(items)


def _positions(scored: Sequence[tuple[Question, ChoiceAnswer, Score]]) -> Table | None:
    picks = [
        (vote.position, vote.order.index(item.answer))
        for item, answer, _ in scored
        for vote in answer.votes
        if vote.position is not None
    ]
    if not picks:
        return None
    bias = position_bias([pick for pick, _ in picks], [key for _, key in picks], 4)
    rows = tuple((label, bias.picked[place], bias.keyed[place]) for place, label in enumerate("ABCD"))
    note = f"Picks spread evenly over the four positions: p = {bias.p_value:.3g} (chi-square)."
    return Table("positions", "Position bias", ("position", "picked", "right"), rows, note)


def _baselines(items: Sequence[Question]) -> Table | None:
    if not items:
        return None
    rows = (
        ("any option", 0.25),
        ("the longest option", length_baseline(items, max)),
        ("the shortest option", length_baseline(items, min)),
    )
    return Table("baselines", "What no understanding earns on these items", ("rule", "accuracy"), rows)


def _kinds(scores: Sequence[Score]) -> Table | None:
    counts = Counter(score.facets["picked"] for score in scores if "picked" in score.facets)
    if not counts:
        return None
    kinds = ("right", "switched", "reversed", *([TIE] if counts[TIE] else []), "unreadable")
    rows = tuple((kind, counts[kind]) for kind in kinds)
    note = "Switched: right for another ability's question. Reversed: another standpoint."
    return Table("kinds", "Kinds of option picked", ("kind", "answers"), rows, note)


def _notes(run: RunView[Question, ChoiceAnswer], items: Sequence[Question]) -> list[str]:
    notes = []
    if any(item.kinds for item in items):
        notes.append("Bundled items of this project, not the paper's: not comparable with published figures.")
    condition = run.settings.text("condition")
    if condition != CONTROL:
        notes.append(f"Played under the condition '{condition}', not as the paper's test.")
    if condition == "second-person":
        notes.append("Only items that could be put in the second person with certainty were played.")
    return notes


def _ties(answers: Sequence[ChoiceAnswer]) -> list[str]:
    tied = sum(answer.tied for answer in answers)
    return (
        [f"{tied} of {len(answers)} votes ended in a tie between options: wrong, though not unreadable."]
        if tied
        else []
    )
