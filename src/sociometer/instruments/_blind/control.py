"""Each model as its own control: the same questions with and without the situation, and the paired difference."""

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from msgspec import field, structs

from sociometer.core.measure import Cell, Figure, Measure, Table
from sociometer.core.task import AnyRun, Episode, Item, Score
from sociometer.core.words import grouped
from sociometer.statistics.charts import dots_of, interval_chart
from sociometer.statistics.formatting import p_phrase
from sociometer.statistics.measures import Observation, mean_measure
from sociometer.statistics.paired import PairedDifference, paired_difference

BLIND, UNDERSTOOD = "blind", "understood"
"""The measures: the score without the situation, and what the situation adds to it."""
TABLE = "with-and-without"


class Asked(Item, frozen=True, kw_only=True, omit_defaults=True):
    """A multiple-choice question that can be asked without its situation."""

    question: str
    options: tuple[str, ...]
    blind: dict[str, int] = field(default_factory=dict)
    """For a question without its situation: the items that share it, and the right option of each."""

    def drawn_with(self) -> str:
        """The item that is sampled together with this one: the first item that shares the question."""
        return next(iter(self.blind), self.id)


AskedT = TypeVar("AskedT", bound=Asked)


def with_blind(
    items: Iterable[AskedT],
    question: Callable[[AskedT], Hashable],
    key: Callable[[AskedT], int],
    hide: Callable[[AskedT], AskedT],
) -> Iterator[AskedT]:
    """The items, each followed by its question without the situation, as `hide` leaves it.

    Items that are the same question without their situations (twins) are together, and it follows them once.
    """
    for same in grouped((question(item), item) for item in items).values():
        yield from same
        first, keys = hide(same[0]), {item.id: key(item) for item in same}
        yield structs.replace(first, id=f"{first.id}@blind", cluster=first.cluster or first.id, blind=keys)


def blind_score(item: Asked, given: Score, picked: int | None) -> Score:
    """The score of a question without its situation: the share of its items whose right option was picked."""
    right = [picked == key for key in item.blind.values()]
    return structs.replace(given, values={BLIND: sum(right) / len(right)})


def seen(run: AnyRun, *, blind: bool = False) -> AnyRun:
    """The run with only the episodes that showed the situation, or only those that did not."""

    def walk() -> Iterator[Episode[Any, Any]]:
        return (episode for episode in run.walk() if bool(episode.item.blind) == blind)

    return structs.replace(run, walk=walk)


def control(run: AnyRun, facet: str, levels: Sequence[str] = ()) -> tuple[tuple[Measure, ...], tuple[Table, ...]]:
    """The measures and the table of the control; nothing if every item was shown with its situation."""
    hidden = seen(run, blind=True)
    if next(hidden.episodes(), None) is None:
        return (), ()
    rows = _rows(run, facet)
    found = [
        Observation(name, item.cluster, float(outcome.picked == key), {}, score.unreadable * (place == 0))
        for item, outcome, score in hidden.scored()
        for place, (name, key) in enumerate(item.blind.items())
    ]
    failed = [one.item for one in hidden.episodes() if one.failure is not None]
    found += [Observation(name, item.cluster, math.nan, {}) for item in failed for name in item.blind]
    without = mean_measure(BLIND, found)
    without = structs.replace(without, note="the same model, question and options only")
    if not rows:
        return (without,), ()
    overall = _paired(rows.values())
    note = f"with minus without the situation, {p_phrase(overall.p_value)}"
    sizes, errors = (overall.items, overall.clusters), sum(run.failures().values())
    added = Measure(UNDERSTOOD, overall.difference, {}, overall.interval, *sizes, errors=errors, note=note)
    groups = [(level, [row for row in rows.values() if row[3] == level]) for level in levels]
    lines = [_line("all", overall), *(_line(level, _paired(mine)) for level, mine in groups if mine)]
    columns = (facet, "accuracy", "without the situation", "difference", "from", "to", "p", "items")
    units = {"accuracy": "share", "without the situation": "share", "p": "p"}
    units |= dict.fromkeys(("difference", "from", "to"), "share-points")
    note = "The same items with and without the situation; the interval is of the paired difference."
    table = Table(TABLE, "What the subject understood from the situation", columns, tuple(lines), note, units)
    return (without, added), (table,)


_Row = tuple[float, float, str, str]
"""One item: its score without the situation and with it, its cluster, and its level of the facet."""


def _rows(run: AnyRun, facet: str) -> dict[str, _Row]:
    hidden: dict[str, list[float]] = {}
    shown: dict[str, list[float]] = {}
    about: dict[str, tuple[str, str]] = {}
    for item, outcome, score in run.scored():
        for name, key in item.blind.items():
            hidden.setdefault(name, []).append(float(outcome.picked == key))
        if not item.blind:
            shown.setdefault(item.id, []).append(score.values["correct"])
            about[item.id] = item.cluster or item.id, score.facets.get(facet, "")
    return {
        name: (sum(hidden[name]) / len(hidden[name]), sum(values) / len(values), *about[name])
        for name, values in shown.items()
        if name in hidden
    }


def _paired(rows: Iterable[_Row]) -> PairedDifference:
    first, second, clusters, _ = zip(*rows, strict=True)
    return paired_difference(first, second, list(clusters))


def _line(level: str, found: PairedDifference) -> tuple[Cell, ...]:
    bounds = found.interval
    return (level, found.second, found.first, found.difference, bounds.low, bounds.high, found.p_value, found.items)


def control_figure(runs: Sequence[AnyRun]) -> Figure | None:
    """Accuracy with and without the situation, for the runs that have both."""
    names = {"accuracy": "with the situation", BLIND: "without it"}
    both = [run for run in runs if run.summary.find(UNDERSTOOD) is not None]
    dots = dots_of((run.subject, run.summary.find(name), group) for run in both for name, group in names.items())
    if not dots:
        return None
    caption = "The same questions with the situation, and with the question and the options only; 95 % intervals."
    chart = interval_chart(dots, title="accuracy", domain=(0, 1))
    return Figure("blind", "With and without the situation", caption, chart=chart)
