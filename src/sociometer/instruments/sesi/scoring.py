"""Outcome -> score -> summary; pure."""

from array import array
from collections import Counter
from collections.abc import Collection
from itertools import product
from math import comb, isnan, nan
from typing import Any

from msgspec import structs

from sociometer.core.measure import Measure, Summary, Table
from sociometer.core.task import RunView, Score
from sociometer.instruments.sesi.conditions import CONTROL
from sociometer.instruments.sesi.items import FRIENDLY, TABLES, Question
from sociometer.reading import ChoiceAnswer, score_choice
from sociometer.statistics.formatting import CHANCE, number, p_phrase
from sociometer.statistics.measures import Observation, grouped_measures, mean_measure, position_bias

TIE = "no majority"
GUESSING = 0.25
_FLOOR = "readers without the situations got 49 % of the items, and can win at most 25 % of the pairs"
"""Measured on the bundled pairs: three readers picked one of a pair's two keys in 247 of 252 cases."""


def score(item: Question, outcome: ChoiceAnswer) -> Score:
    """Right or wrong; an unreadable answer is wrong and counted, and a tie is wrong but not unreadable.

    `trapped` says whether the friendly option of a twin was picked where it is wrong.
    """
    facets = item.facets
    if item.kinds:
        facets["picked"] = _kind(item, outcome)
    given = score_choice(outcome, item.answer, **facets)
    trapped = {"trapped": float(facets["picked"] == FRIENDLY)} if FRIENDLY in item.kinds else {}
    return structs.replace(given, values=given.values | _over_orders(item, outcome) | trapped)


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
    """Accuracy overall, by ability and by category, pairs of twins, position bias."""
    accuracy = grouped_measures(run, "correct", "accuracy", by=["ability", "category"])
    counts = _Counts()
    for item, answer, given in run.scored():
        counts.add(item, answer, given)
    measures = [accuracy[0], *_pairs(run), *accuracy[1:]]
    if counts.orders > 1:
        measures += (*grouped_measures(run, "single"), *grouped_measures(run, "consistency"))
    if counts.trapped:
        traps = structs.replace(run, walk=lambda: (one for one in run.episodes() if FRIENDLY in one.item.kinds))
        measures += grouped_measures(traps, "trapped")
    chance = majority_chance(counts.orders) if counts.orders else GUESSING
    notes = _notes(run, counts)
    if counts.orders > 1:
        notes.append(
            f"Accuracy is that of the majority over {counts.orders} orders, for which guessing earns "
            f"{number(chance, 'share')}; 'single' is the mean over single orders (guessing: "
            f"{number(GUESSING, 'share')})."
        )
    series: dict[str, Any] = {}
    if counts.orders > 1:
        series[CHANCE] = {"accuracy": chance, "pairs": chance**2, "trapped": chance}
    positions, warning = _positions(counts)
    notes += [warning] if warning else []
    more = (positions, _kinds(counts))
    return Summary(tuple(measures), tuple(table for table in more if table is not None), tuple(notes), series)


def _pairs(run: RunView[Question, ChoiceAnswer]) -> list[Measure]:
    """The share of pairs of twins with both answers right. A pair with a failed half has no score.

    A twin that is in the run without the other, because only some items were played, is no pair.
    """
    found: dict[tuple[str, int], list[float]] = {}
    for episode in run.episodes():
        if episode.item.pair:
            right = nan if episode.score is None else episode.score.values["correct"]
            found.setdefault((episode.item.pair, episode.repeat), []).append(right)
    pairs = [(pair, both) for (pair, _), both in found.items() if len(both) == 2]
    rows = [Observation(pair, pair, nan if isnan(sum(both)) else min(both), {}) for pair, both in pairs]
    return [structs.replace(mean_measure("pairs", rows), note=_FLOOR)] if rows else []


class _Counts:
    """The counts for the tables, collected episode by episode, because a run may be larger than memory."""

    def __init__(self) -> None:
        self.picked, self.keyed = array("b"), array("b")
        self.kinds: Counter[str] = Counter()
        self.answers = self.tied = self.orders = 0
        self.bundled = self.trapped = False

    def add(self, item: Question, answer: ChoiceAnswer, given: Score) -> None:
        self.answers += 1
        self.tied += answer.tied
        self.trapped |= "trapped" in given.values
        self.bundled |= bool(item.kinds)
        if "picked" in given.facets:
            self.kinds[given.facets["picked"]] += 1
        for vote in answer.votes:
            if vote.position is not None:
                self.picked.append(vote.position)
                self.keyed.append(vote.order.index(item.answer))
        self.orders = max(self.orders, len(answer.votes))


def _positions(counts: _Counts) -> tuple[Table | None, str]:
    """Picks and keys by position, and a warning if nearly all picks are at one."""
    if not counts.picked:
        return None, ""
    bias = position_bias(counts.picked, counts.keyed, 4)
    rows = ((label, bias.picked[place], bias.keyed[place]) for place, label in enumerate("ABCD"))
    return TABLES("positions", rows, p=p_phrase(bias.p_value)), bias.warning


_MEANINGS = {
    "switched": "right for another ability's question",
    "reversed": "the wrong reading or the opposite advice",
    FRIENDLY: "a kind, sensible-sounding option that is right for the twin and wrong here",
    "right for the twin": "another option that is right for the twin",
    "neither": "right for neither twin",
}


def _kinds(counts: _Counts) -> Table | None:
    if not counts.kinds:
        return None
    kinds = [kind for kind in ("right", *_MEANINGS, TIE, "unreadable") if counts.kinds[kind]]
    return TABLES("kinds", ((kind, counts.kinds[kind]) for kind in kinds), note=meanings(kinds))


def meanings(kinds: Collection[str]) -> str:
    """What kinds of options are, in words."""
    return " ".join(f"{kind.capitalize()}: {_MEANINGS[kind]}." for kind in kinds if kind in _MEANINGS)


def _notes(run: RunView[Question, ChoiceAnswer], counts: _Counts) -> list[str]:
    notes = []
    if counts.bundled:
        notes.append("Bundled items of this project, not the paper's: not comparable with published figures.")
    condition = run.settings.text("condition")
    if condition != CONTROL:
        notes.append(f"Played under the condition '{condition}', not as the paper's test.")
    if condition == "second-person":
        notes.append("Only items that have a second-person form were played.")
    if counts.tied:
        told = f"{counts.tied} of {counts.answers} votes ended in a tie between options"
        notes.append(f"{told}; a tie counts as wrong, not as unreadable.")
    return notes
