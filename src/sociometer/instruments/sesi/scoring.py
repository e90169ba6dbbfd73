"""Outcome -> score -> summary; pure."""

from array import array
from collections import Counter
from collections.abc import Callable, Sequence

from sociometer.analysis.formatting import p_phrase
from sociometer.analysis.measures import grouped_measures
from sociometer.analysis.position_bias import position_bias
from sociometer.core.measure import Summary, Table
from sociometer.core.task import RunView, Score
from sociometer.elicit import ChoiceAnswer, score_choice
from sociometer.instruments.sesi.conditions import CONTROL
from sociometer.instruments.sesi.items import CATEGORIES, Question

TIE = "no majority"


def score(item: Question, outcome: ChoiceAnswer) -> Score:
    """Right or wrong; an unreadable answer is wrong and counted, and a tie is wrong but not unreadable."""
    facets = {"ability": item.ability, "category": CATEGORIES[item.ability]}
    if item.kinds:
        facets["picked"] = _kind(item, outcome)
    return score_choice(outcome, item.answer, **facets)


def _kind(item: Question, outcome: ChoiceAnswer) -> str:
    if outcome.picked is None:
        return TIE if outcome.tied else "unreadable"
    return item.kinds[outcome.picked].partition(":")[0]


def summarise(run: RunView[Question, ChoiceAnswer]) -> Summary:
    """Accuracy overall, by ability and by category, with position bias and baselines without understanding."""
    measures = grouped_measures(run, "correct", "accuracy", by=["ability", "category"])
    seen = _Seen()
    for item, answer, given in run.scored():
        seen.add(item, answer, given)
    tables = (_positions(seen), _baselines(seen), _kinds(seen))
    notes = _notes(run, seen) + _ties(seen)
    return Summary(measures, tuple(table for table in tables if table is not None), tuple(notes))


class _Seen:
    """The counts for the tables, collected episode by episode, because a run may be larger than memory."""

    def __init__(self) -> None:
        self.picked, self.keyed = array("b"), array("b")
        self.kinds: Counter[str] = Counter()
        self.answers = self.tied = 0
        self.longest = self.shortest = 0
        self.bundled = False
        self._items: set[str] = set()

    @property
    def items(self) -> int:
        """The number of distinct items."""
        return len(self._items)

    def add(self, item: Question, answer: ChoiceAnswer, given: Score) -> None:
        self.answers += 1
        self.tied += answer.tied
        if "picked" in given.facets:
            self.kinds[given.facets["picked"]] += 1
        for vote in answer.votes:
            if vote.position is not None:
                self.picked.append(vote.position)
                self.keyed.append(vote.order.index(item.answer))
        if item.id not in self._items:
            self._items.add(item.id)
            self.longest += is_right_by_length(item, max)
            self.shortest += is_right_by_length(item, min)
            self.bundled |= bool(item.kinds)


def is_right_by_length(item: Question, pick: Callable[[Sequence[int]], int]) -> bool:
    """Whether the longest (max) or shortest (min) option by characters is right; ties: the first."""
    lengths = [len(option) for option in item.options]
    return lengths.index(pick(lengths)) == item.answer


def length_baseline(items: Sequence[Question], pick: Callable[[Sequence[int]], int]) -> float:
    """The share of items in which the longest (max) or shortest (min) option by characters is right; ties: first."""
    return sum(is_right_by_length(item, pick) for item in items) / len(items)


def _positions(seen: _Seen) -> Table | None:
    if not seen.picked:
        return None
    bias = position_bias(seen.picked, seen.keyed, 4)
    rows = tuple((label, bias.picked[place], bias.keyed[place]) for place, label in enumerate("ABCD"))
    note = f"Test of an even spread of picks over the four positions: {p_phrase(bias.p_value)} (chi-square)."
    return Table("positions", "Position bias", ("position", "picked", "right"), rows, note)


def _baselines(seen: _Seen) -> Table | None:
    if not seen.items:
        return None
    rows = (
        ("any option", 0.25),
        ("the longest option", seen.longest / seen.items),
        ("the shortest option", seen.shortest / seen.items),
    )
    return Table("baselines", "Baselines without understanding on these items", ("rule", "accuracy"), rows)


def _kinds(seen: _Seen) -> Table | None:
    if not seen.kinds:
        return None
    kinds = ("right", "switched", "reversed", *([TIE] if seen.kinds[TIE] else []), "unreadable")
    rows = tuple((kind, seen.kinds[kind]) for kind in kinds)
    note = "Switched: right for another ability's question. Reversed: another standpoint."
    return Table("kinds", "Kinds of option picked", ("kind", "answers"), rows, note)


def _notes(run: RunView[Question, ChoiceAnswer], seen: _Seen) -> list[str]:
    notes = []
    if seen.bundled:
        notes.append("Bundled items of this project, not the paper's: not comparable with published figures.")
    condition = run.settings.text("condition")
    if condition != CONTROL:
        notes.append(f"Played under the condition '{condition}', not as the paper's test.")
    if condition == "second-person":
        notes.append("Only items that could be converted to the second person with certainty were played.")
    return notes


def _ties(seen: _Seen) -> list[str]:
    return (
        [
            f"{seen.tied} of {seen.answers} votes ended in a tie between options; a tie counts as wrong, not "
            "as unreadable."
        ]
        if seen.tied
        else []
    )
