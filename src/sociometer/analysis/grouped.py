"""From a run's scores to measures: the mean of one value, overall and by facets, with clustered intervals."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct

from sociometer.analysis.intervals import clustered_mean_interval
from sociometer.core.measure import Measure
from sociometer.core.task import Item, RunView


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

    A failure of the machinery has no facets: it counts overall, and with a level where its item says which one.
    `binary=False` says that the value is no share.
    """
    name = name or value
    members = rows(run, value)
    errors = sum(run.failures().values())
    failed = _facets_of_failed(run) if errors else []
    measures = [mean_measure(name, members, errors=errors, binary=binary)]
    for facets in by:
        keys = (facets,) if isinstance(facets, str) else facets
        levels: dict[tuple[str, ...], list[Row]] = {}
        for row in members:
            if all(key in row.facets for key in keys):
                levels.setdefault(tuple(row.facets[key] for key in keys), []).append(row)
        lost = Counter(tuple(of[key] for key in keys) for of in failed if all(key in of for key in keys))
        for level, group in sorted(levels.items()):
            of_level = dict(zip(keys, level, strict=True))
            measures.append(mean_measure(name, group, of_level, lost[level], binary=binary))
    return tuple(measures)


def _facets_of_failed(run: RunView[Any, Any]) -> list[dict[str, str]]:
    """What failed items say of their facets: by fields of the same name, where those are right of all scored items."""
    wrong: set[str] = set()
    failed: list[dict[str, str]] = []
    for episode in run.episodes():
        said = _said_by(episode.item)
        if episode.failure is not None:
            failed.append(said)
        elif episode.score is not None:
            facets = episode.score.facets
            wrong |= {name for name in said if facets.get(name) != said[name]}
    return [{name: level for name, level in said.items() if name not in wrong} for said in failed]


def _said_by(item: Item) -> dict[str, str]:
    """The texts an item holds, and the facets it may hold itself."""
    fields = {name: getattr(item, name) for name in item.__struct_fields__}
    own = fields.get("facets")
    texts = {name: text for name, text in fields.items() if isinstance(text, str) and text}
    return texts | dict(own) if own else texts
