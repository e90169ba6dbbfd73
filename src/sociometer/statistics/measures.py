"""Measures of a run: the mean of one score value, overall and by facet, with clustered intervals and failures."""

import math
from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct

from sociometer.core.measure import POSITION_BIAS, Case, Measure
from sociometer.core.task import Item, RunView
from sociometer.statistics.distributions import chi_square_above
from sociometer.statistics.intervals import Floats, Integers, clustered_mean_interval, is_binary, item_means


class Observation(Struct, frozen=True):
    """One scored value with its item, cluster and facets; usually one episode. NaN is the value of a failed one."""

    item: str
    cluster: str
    value: float
    facets: dict[str, str]
    unreadable: int = 0


def observations(run: RunView[Any, Any], value: str) -> list[Observation]:
    """The scored episodes of a run that have this score value, in order."""
    return [
        Observation(item.id, item.cluster or item.id, score.values[value], score.facets, score.unreadable)
        for item, _, score in run.scored()
        if value in score.values
    ]


class Observations:
    """Observations in columns: numbers in arrays, and each item, cluster and combination of facets once.

    100,000 of them take some 20 MB, where records take ten times as much.
    """

    def __init__(self, rows: Iterable[Observation] = ()) -> None:
        self._values, self._unreadable = array("d"), array("q")
        self._items, self._clusters, self._facets = array("q"), array("q"), array("q")
        self._names: dict[str, int] = {}
        self._cluster_of: dict[int, int] = {}
        self._levels: dict[tuple[tuple[str, str], ...], int] = {}
        for row in rows:
            self.add(row.item, row.cluster, row.value, row.facets, row.unreadable)

    def add(self, item: str, cluster: str, value: float, facets: Mapping[str, str], unreadable: int = 0) -> None:
        """Adds one value, NaN for a failure; raises ValueError if repeats of one item have different clusters."""
        names, levels = self._names, self._levels
        number = names.setdefault(item, len(names))
        shared = names.setdefault(cluster or item, len(names))
        if self._cluster_of.setdefault(number, shared) != shared:
            other = list(names)[self._cluster_of[number]]
            raise ValueError(f"item {item!r} is in two clusters, {other!r} and {cluster!r}")
        self._values.append(value)
        self._unreadable.append(unreadable)
        self._items.append(number)
        self._clusters.append(shared)
        self._facets.append(levels.setdefault(tuple(facets.items()), len(levels)))

    def __len__(self) -> int:
        return len(self._values)

    def measure(
        self,
        name: str,
        group: dict[str, str],
        *,
        binary: bool | None = None,
        scale: tuple[float, float] | None = None,
        places: Integers | None = None,
    ) -> Measure:
        """The mean with its interval, counts and cases, of all observations or of those at some places."""
        chosen = slice(None) if places is None else places
        values = np.asarray(self._values)[chosen]
        failed = np.isnan(values)
        errors = int(failed.sum())
        if errors == values.size:
            return Measure(name, None, group, errors=errors, note="nothing was scored")
        items, clusters = np.asarray(self._items)[chosen], np.asarray(self._clusters)[chosen]
        if binary is None:
            binary = is_binary(values[~failed])

        def mean(values: Floats, items: Integers, clusters: Integers) -> Case:
            means, _ = item_means(values, None, items)
            right_or_wrong = binary and is_binary(values)
            around = clustered_mean_interval(values, clusters, items=items, binary=right_or_wrong, scale=scale)
            return Case(sum(means.tolist()) / means.size, around)

        scored = mean(values[~failed], items[~failed], clusters[~failed])
        ends = (scale or ((0.0, 1.0) if binary else ())) if errors else ()
        return Measure(
            name=name,
            value=scored.value,
            group=group,
            interval=scored.interval,
            items=np.unique(items[~failed]).size,
            clusters=np.unique(clusters[~failed]).size,
            unreadable=int(np.asarray(self._unreadable)[chosen].sum()),
            errors=errors,
            cases=tuple(mean(np.where(failed, end, values), items, clusters) for end in ends),
        )

    def levels(self, facets: Sequence[str]) -> dict[tuple[str, ...], Integers]:
        """The places of the observations of each level of these facets, in the order of the levels."""
        of_code = {
            code: tuple(of[facet] for facet in facets)
            for pairs, code in self._levels.items()
            if all(facet in (of := dict(pairs)) for facet in facets)
        }
        found = sorted(set(of_code.values()))
        number = {level: place for place, level in enumerate(found)}
        table = np.array([number[of_code[code]] if code in of_code else -1 for code in range(len(self._levels))])
        levels = table[np.asarray(self._facets)] if found else np.empty(0, np.int64)
        return {level: np.flatnonzero(levels == place) for level, place in number.items()}


def mean_measure(
    name: str,
    members: Iterable[Observation],
    group: dict[str, str] | None = None,
    *,
    binary: bool | None = None,
    scale: tuple[float, float] | None = None,
) -> Measure:
    """The mean of some observations with its interval and counts; items have equal weight, whatever their repeats.

    Pass `binary=False` for quantities other than shares: values that happen to be all 0 would otherwise be read as
    wrong answers.
    """
    return Observations(members).measure(name, group or {}, binary=binary, scale=scale)


def grouped_measures(
    run: RunView[Any, Any],
    value: str,
    name: str = "",
    by: Iterable[str | tuple[str, ...]] = (),
    *,
    binary: bool | None = None,
) -> tuple[Measure, ...]:
    """The measure overall, then for every level of each facet (or combination of facets) in `by`.

    A failed episode has no score and so no facets: it is counted overall, and in a level if its item names the level.
    A level whose episodes all failed has no value, but its failures; scores without the value show that it has none.
    Pass `binary=False` if the value is not a share.
    """
    name, members, failed = name or value, Observations(), False
    without = set[frozenset[tuple[str, str]]]()
    for episode in run.episodes():
        item, score = episode.item, episode.score
        failed |= episode.failure is not None
        if episode.outcome is not None and score is not None and value in score.values:
            members.add(item.id, item.cluster or item.id, score.values[value], score.facets, score.unreadable)
        elif score is not None and value in score.missing:
            members.add(item.id, item.cluster or item.id, math.nan, score.facets)
        elif score is not None:
            without.add(frozenset(score.facets.items()))
    for lost in failed_observations(run) if failed else ():
        members.add(lost.item, lost.cluster, lost.value, lost.facets)
    scale = run.card.scales(run.task).get(name)
    measures = [members.measure(name, {}, binary=binary, scale=scale)]
    for facets in by:
        keys = (facets,) if isinstance(facets, str) else facets
        for level, places in members.levels(keys).items():
            of_level = dict(zip(keys, level, strict=True))
            found = members.measure(name, of_level, binary=binary, scale=scale, places=places)
            if found.value is not None or not any(of_level.items() <= one for one in without):
                measures.append(found)
    return tuple(measures)


def failed_observations(run: RunView[Any, Any]) -> list[Observation]:
    """The failed episodes of a run, with NaN as their value.

    Their facets are read from the item's `facets` and fields, where they equal the facets of every scored item.
    """
    wrong: set[str] = set()
    failed: list[Observation] = []
    for episode in run.episodes():
        item, fields = episode.item, _text_fields(episode.item)
        if episode.failure is not None:
            failed.append(Observation(item.id, item.cluster or item.id, math.nan, fields))
        elif episode.score is not None:
            facets = episode.score.facets
            wrong |= {name for name in fields if facets.get(name) != fields[name]}
    for one in failed:
        for name in wrong & one.facets.keys():
            del one.facets[name]
    return failed


def _text_fields(item: Item) -> dict[str, str]:
    """The text fields of an item, and its own `facets` (a field or a property) if it has any."""
    fields = {name: getattr(item, name) for name in item.__struct_fields__}
    return {name: text for name, text in fields.items() if isinstance(text, str) and text} | getattr(item, "facets", {})


class PositionBias(Struct, frozen=True):
    """Counts of picks and keys by position; the p-value tests whether picks are spread evenly over the options."""

    picked: tuple[int, ...]
    keyed: tuple[int, ...]
    expected: tuple[float, ...]
    p_value: float
    most: int
    """The position with the largest excess over its expected count, from 0."""

    @property
    def warning(self) -> str:
        """A sentence if most picks are at one position, far more than right answers; empty if not."""
        count, keyed, total = self.picked[self.most], self.keyed[self.most], sum(self.picked)
        told = f"picked {chr(65 + self.most)} in {count} of {total} answers, where it is right in {keyed}"
        sure = self.p_value < 0.001 and 2 * count > total and count > 1.5 * keyed
        return f"{POSITION_BIAS}{told}: the order of the options decides more than what they say." if sure else ""


def position_bias(picks: Sequence[int], keys: Sequence[int], options: Sequence[int] | int) -> PositionBias:
    """Chi-square test of picked positions against even choice among the options each item offered.

    The caller leaves out unreadable replies. Expected counts differ by position if items have different numbers of
    options. Assumes independent items. If the keys are unbalanced, a good subject also shows a bias: compare `picked`
    with `keyed`.
    """
    if len(picks) != len(keys) or not picks:
        raise ValueError(f"picks and keys must match and not be empty: {len(picks)} and {len(keys)}")
    offered = np.full(len(picks), options) if isinstance(options, int) else np.asarray(options, dtype=np.int64)
    width = int(offered.max())
    expected = np.array([(1 / offered[offered > place]).sum() for place in range(width)])
    picked = np.bincount(np.asarray(picks), minlength=width).astype(np.float64)
    keyed = np.bincount(np.asarray(keys), minlength=width)
    p_value = chi_square_above(float((np.square(picked - expected) / expected).sum()), width - 1)
    return PositionBias(
        tuple(int(count) for count in picked),
        tuple(int(count) for count in keyed),
        tuple(float(count) for count in expected),
        p_value,
        int(np.argmax(picked - expected)),
    )
