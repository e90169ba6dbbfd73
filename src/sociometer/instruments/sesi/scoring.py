"""Outcome -> score -> summary; pure."""

from array import array
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import product
from math import comb
from typing import Any

from msgspec import structs

from sociometer.core.measure import Summary, Table
from sociometer.core.task import RunView, Score
from sociometer.instruments.sesi import guessing
from sociometer.instruments.sesi.conditions import CONTROL
from sociometer.instruments.sesi.items import CATEGORIES, Question
from sociometer.reading import ChoiceAnswer, score_choice
from sociometer.statistics.formatting import CHANCE, number, p_phrase
from sociometer.statistics.measures import grouped_measures, position_bias

TIE = "no majority"
OPTIONS_ONLY = "options only"
"""The series with the accuracy of a classifier that sees only the options."""


def score(item: Question, outcome: ChoiceAnswer) -> Score:
    """Right or wrong; an unreadable answer is wrong and counted, and a tie is wrong but not unreadable."""
    facets = {"ability": item.ability, "category": CATEGORIES[item.ability]}
    if item.kinds:
        facets["picked"] = _kind(item, outcome)
    given = score_choice(outcome, item.answer, **facets)
    return structs.replace(given, values=given.values | _over_orders(item, outcome))


def _over_orders(item: Question, outcome: ChoiceAnswer) -> dict[str, float]:
    """For an item asked in several orders: the share of single orders that are right, and of pairs that agree."""
    picks = [vote.picked for vote in outcome.votes]
    count = len(picks)
    if count < 2:
        return {}
    pairs = sum(times * (times - 1) for pick, times in Counter(picks).items() if pick is not None)
    return {"single": picks.count(item.answer) / count, "consistency": pairs / (count * (count - 1))}


def majority_chance(orders: int) -> float:
    """The share of items that guessing gets right by a majority over this many orders; a tie is wrong (.19 for four).

    Every order is a new guess among four options.
    """
    won = 0
    for own in range(1, orders + 1):
        left, most = orders - own, own - 1
        won += sum(
            comb(orders, own) * comb(left, second) * comb(left - second, third)
            for second, third in product(range(min(left, most) + 1), repeat=2)
            if 0 <= left - second - third <= most
        )
    return float(won / 4**orders)


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
    if seen.orders > 1:
        measures += (*grouped_measures(run, "single"), *grouped_measures(run, "consistency"))
    guessed = guessing.options_only(seen.items)
    chance = majority_chance(seen.orders) if seen.orders else guessing.CHANCE
    tables = (_positions(seen), _baselines(seen, guessed), _kinds(seen))
    notes = _guessing_notes(seen, guessed, chance) + _notes(run, seen) + _ties(seen)
    series: dict[str, Any] = {CHANCE: chance} if seen.orders > 1 else {}
    series |= {OPTIONS_ONLY: guessed} if guessed is not None else {}
    return Summary(measures, tuple(table for table in tables if table is not None), tuple(notes), series)


class _Seen:
    """The counts for the tables, collected episode by episode, because a run may be larger than memory."""

    def __init__(self) -> None:
        self.picked, self.keyed = array("b"), array("b")
        self.kinds: Counter[str] = Counter()
        self.answers = self.tied = self.orders = 0
        self.bundled = False
        self._items: dict[str, Question] = {}

    @property
    def items(self) -> list[Question]:
        """The distinct items."""
        return list(self._items.values())

    def add(self, item: Question, answer: ChoiceAnswer, given: Score) -> None:
        self.answers += 1
        self.tied += answer.tied
        if "picked" in given.facets:
            self.kinds[given.facets["picked"]] += 1
        for vote in answer.votes:
            if vote.position is not None:
                self.picked.append(vote.position)
                self.keyed.append(vote.order.index(item.answer))
        self.orders = max(self.orders, len(answer.votes))
        if item.id not in self._items:
            self._items[item.id] = item
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


def _baselines(seen: _Seen, guessed: float | None) -> Table | None:
    if not seen.items:
        return None
    model = (guessing.MODEL, guessed)
    rules = [(name, guessing.rule_accuracy(name, seen.items)) for name in guessing.BY_LENGTH]
    rows = (("a random option", guessing.CHANCE), model, *rules)
    title = "Baselines without the situation on these items"
    return Table("baselines", title, ("rule", "accuracy"), rows, units={"accuracy": "share"})


def _guessing_notes(seen: _Seen, guessed: float | None, chance: float) -> list[str]:
    """The accuracy without the situation; shown wherever the score is."""
    if not seen.items:
        return []
    notes = []
    if guessed is None:
        notes.append(f"Options only: not known; it needs {guessing.FEWEST_ITEMS} items.")
    else:
        notes.append(
            f"Options only: a classifier that sees only the options gets {number(guessed, 'share')} on these "
            f"items (a random option: {number(guessing.CHANCE, 'share')})."
        )
    if seen.orders > 1:
        notes.append(
            f"Accuracy is that of the majority over {seen.orders} orders, for which guessing earns "
            f"{number(chance, 'share')}; 'single' is the mean over single orders (guessing: "
            f"{number(guessing.CHANCE, 'share')})."
        )
    return notes


def _kinds(seen: _Seen) -> Table | None:
    if not seen.kinds:
        return None
    kinds = ("right", "switched", "reversed", *([TIE] if seen.kinds[TIE] else []), "unreadable")
    rows = tuple((kind, seen.kinds[kind]) for kind in kinds)
    note = "Switched: right for another ability's question. Reversed: the wrong reading or the opposite advice."
    return Table("kinds", "Kinds of option picked", ("kind", "answers"), rows, note)


def _notes(run: RunView[Question, ChoiceAnswer], seen: _Seen) -> list[str]:
    notes = []
    if seen.bundled:
        notes.append("Bundled items of this project, not the paper's: not comparable with published figures.")
    condition = run.settings.text("condition")
    if condition != CONTROL:
        notes.append(f"Played under the condition '{condition}', not as the paper's test.")
    if condition == "second-person":
        notes.append("Only items that have a second-person form were played.")
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
