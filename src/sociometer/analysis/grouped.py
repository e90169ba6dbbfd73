"""From a run's scores to measures: the mean of one value, overall and by facets, with clustered intervals."""

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct

from sociometer.analysis.intervals import clustered_mean_interval
from sociometer.core.measure import Measure
from sociometer.core.task import RunView


class Row(Struct, frozen=True):
    """One scored episode, cut down to what a mean needs."""

    item: str
    cluster: str
    value: float
    facets: dict[str, str]
    unreadable: int = 0


def rows(run: RunView[Any, Any], value: str) -> list[Row]:
    """The episodes that have this value, in order."""
    return [
        Row(item.id, item.cluster or item.id, score.values[value], score.facets, score.unreadable)
        for item, _, score in run.scored()
        if value in score.values
    ]


def mean_measure(
    name: str,
    members: Sequence[Row],
    group: dict[str, str] | None = None,
    errors: int = 0,
    *,
    binary: bool | None = None,
) -> Measure:
    """The mean of some rows with its interval and counts; each item weighs the same whatever its repeats.

    `binary=False` is for quantities that are no shares: were they all 0, they would look like wrong answers.
    """
    by_item: dict[str, list[float]] = {}
    for row in members:
        by_item.setdefault(row.item, []).append(row.value)
    if not by_item:
        return Measure(name, None, group or {}, errors=errors, note="nothing was scored")
    return Measure(
        name=name,
        value=sum(sum(values) / len(values) for values in by_item.values()) / len(by_item),
        group=group or {},
        interval=clustered_mean_interval(
            [row.value for row in members],
            [row.cluster for row in members],
            items=[row.item for row in members],
            binary=binary,
        ),
        items=len(by_item),
        clusters=len({row.cluster for row in members}),
        unreadable=sum(row.unreadable for row in members),
        errors=errors,
    )


def grouped_measures(
    run: RunView[Any, Any],
    value: str,
    name: str = "",
    by: Iterable[str | tuple[str, ...]] = (),
    *,
    binary: bool | None = None,
) -> tuple[Measure, ...]:
    """The measure overall, then for every level of each facet (or combination of facets) in `by`.

    Failures of the machinery carry no facets, so their count stands with the overall measure.
    `binary=False` says that the value is no share.
    """
    name = name or value
    members = rows(run, value)
    measures = [mean_measure(name, members, errors=sum(run.failures().values()), binary=binary)]
    for facets in by:
        keys = (facets,) if isinstance(facets, str) else facets
        levels: dict[tuple[str, ...], list[Row]] = {}
        for row in members:
            if all(key in row.facets for key in keys):
                levels.setdefault(tuple(row.facets[key] for key in keys), []).append(row)
        for level, group in sorted(levels.items()):
            measures.append(mean_measure(name, group, dict(zip(keys, level, strict=True)), binary=binary))
    return tuple(measures)
