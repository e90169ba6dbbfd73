"""Values of the items of a run, and the items that several runs share."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct, structs

from sociometer.core.card import MeasureCard
from sociometer.core.lazy import lazy
from sociometer.core.task import OF_ANALYSES, RunView
from sociometer.core.words import grouped

if TYPE_CHECKING:
    from sociometer.statistics.intervals import Floats

np = lazy("numpy")


class ItemValue(Struct, frozen=True):
    """One item of a run: its mean value over repeats, its cluster, its facets, and a digest of its content."""

    item: str
    cluster: str
    value: float
    repeats: tuple[float, ...]
    facets: dict[str, str]
    content: bytes
    of: tuple[int, ...] = ()
    """The number of each repeat; in a study, that of the participant."""
    failed: int = 0
    """How many further repeats failed."""

    def with_failed(self, value: float) -> float:
        """The mean if each failed repeat had this value."""
        return (sum(self.repeats) + self.failed * value) / (len(self.repeats) + self.failed)


class RunItems(Struct, frozen=True):
    """The items of a run by score value and item id, the number of failed episodes, and the items that have one."""

    tables: dict[str, dict[str, ItemValue]]
    failed: int
    lost: dict[str, str] = {}
    """The cluster of each item with a failed episode; one with other repeats is in the tables too."""


def read_items(view: RunView[Any, Any], values: Sequence[str]) -> RunItems:
    """The scored items of a run for each of these score values, with the repeats of an item combined."""
    tables: dict[str, dict[str, ItemValue]] = {value: {} for value in values}
    failed = 0
    lost: dict[str, str] = {}
    times: Counter[str] = Counter()
    for episode in view.episodes():
        if episode.failure is not None:
            failed += 1
            times[episode.item.id] += 1
            lost[episode.item.id] = episode.item.cluster or episode.item.id
        if episode.score is None or episode.outcome is None:
            continue
        item = episode.item
        if any(value in episode.score.missing for value in values):
            lost[item.id] = item.cluster or item.id
        content = b""
        for value, found in tables.items():
            if value not in episode.score.values:
                continue
            known = found.get(item.id)
            repeats = (*(known.repeats if known else ()), episode.score.values[value])
            of = (*(known.of if known else ()), episode.repeat)
            content = known.content if known else content or item.content_digest()
            mean = sum(repeats) / len(repeats)
            facets = episode.score.facets
            found[item.id] = ItemValue(item.id, item.cluster or item.id, mean, repeats, facets, content, of)
    for found in tables.values():
        found |= {name: structs.replace(found[name], failed=count) for name, count in times.items() if name in found}
    return RunItems(tables, failed, lost)


def read_pairs(items: RunItems, value: str, name: str) -> RunItems:
    """The pairs of a run as items: of each cluster of two, the lower value of both; a failed item loses its pair."""
    found = {}
    for cluster, members in grouped((one.cluster, one) for one in items.tables[value].values()).items():
        both = sorted(members, key=lambda one: one.item)
        values = [dict(zip(one.of, one.repeats, strict=True)) for one in both]
        of = tuple(repeat for repeat in values[0] if repeat in values[-1])
        if len(both) == 2 and of:
            repeats = tuple(min(of_item[repeat] for of_item in values) for repeat in of)
            failed = max(len(one.of) + one.failed for one in both) - len(of)
            content, mean = both[0].content + both[1].content, sum(repeats) / len(repeats)
            found[cluster] = ItemValue(cluster, cluster, mean, repeats, {}, content, of, failed)
    lost = {cluster: cluster for item, cluster in items.lost.items() if item != cluster}
    return RunItems({name: found}, items.failed, lost)


def item_values(view: RunView[Any, Any], value: str) -> dict[str, ItemValue]:
    """The scored items of a run by id, for one score value."""
    return read_items(view, (value,)).tables[value]


def right_or_wrong(measure: MeasureCard, table: Mapping[str, ItemValue]) -> bool:
    """Whether a measure is right or wrong in a run: a share whose single answers are all 0 or 1."""
    return measure.unit == "share" and all(value in (0.0, 1.0) for one in table.values() for value in one.repeats)


def with_failed(table: Mapping[str, ItemValue], names: Iterable[str], value: float) -> list[float]:
    """The values of these items if whatever failed had this value."""
    return [table[name].with_failed(value) if name in table else value for name in names]


def partly_failed(tables: Sequence[Mapping[str, ItemValue]], names: Iterable[str]) -> int:
    """How many of these items have a repeat that failed in one of the runs."""
    return sum(any(table[name].failed for table in tables) for name in names)


def lost_items(tables: Sequence[Mapping[str, ItemValue]], lost: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """The clusters of the items that all runs played and at least one of them has no value for, because it failed."""
    known = [
        {**{name: one.cluster for name, one in table.items()}, **gone} for table, gone in zip(tables, lost, strict=True)
    ]
    played = {name: cluster for name, cluster in known[0].items() if all(name in one for one in known[1:])}
    return {name: cluster for name, cluster in played.items() if any(name not in table for table in tables)}


class SharedItems(Struct, frozen=True):
    """The items that all of several runs scored; `values` is items × runs, in the order of `items` and of the runs."""

    items: tuple[str, ...]
    clusters: tuple[str, ...]
    values: "Floats"
    facets: tuple[dict[str, str], ...]
    left_out: tuple[int, ...]
    """For each run, the number of its scored items that another run lacks."""


def shared_items(tables: Sequence[Mapping[str, ItemValue]]) -> SharedItems:
    """The intersection of the items of several runs."""
    names = [name for name in tables[0] if all(name in table for table in tables[1:])]
    first = tables[0]
    values = np.array([[table[name].value for table in tables] for name in names], dtype=np.float64)
    return SharedItems(
        tuple(names),
        tuple(first[name].cluster for name in names),
        values.reshape(len(names), len(tables)),
        _common_facets(tables, names),
        tuple(len(table) - len(names) for table in tables),
    )


def _common_facets(tables: Sequence[Mapping[str, ItemValue]], names: Sequence[str]) -> tuple[dict[str, str], ...]:
    """The facets that are equal in all runs. Facets that depend on the answer differ, so they cannot form groups."""
    first = tables[0]
    facets = {facet for name in names for facet in first[name].facets} - OF_ANALYSES
    fixed = {
        facet
        for facet in facets
        if all(table[name].facets.get(facet) == first[name].facets.get(facet) for table in tables for name in names)
    }
    return tuple({facet: level for facet, level in first[name].facets.items() if facet in fixed} for name in names)
