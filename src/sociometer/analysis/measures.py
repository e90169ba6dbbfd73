"""Measures of a run: the mean of one score value, overall and by facet, with clustered intervals."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct

from sociometer.analysis.intervals import clustered_mean_interval
from sociometer.core.measure import Measure
from sociometer.core.task import Item, RunView


class Observation(Struct, frozen=True):
    """One scored value with its item, cluster and facets; usually one episode."""

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


def mean_measure(
    name: str,
    members: Sequence[Observation],
    group: dict[str, str] | None = None,
    errors: int = 0,
    *,
    binary: bool | None = None,
) -> Measure:
    """The mean of some observations with its interval and counts; items have equal weight, whatever their repeats.

    Pass `binary=False` for quantities other than shares: values that happen to be all 0 would otherwise be read as
    wrong answers.
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

    A failed episode has no score and so no facets: it is counted overall, and in a level if its item names the level.
    Pass `binary=False` if the value is not a share.
    """
    name = name or value
    members = observations(run, value)
    errors = sum(run.failures().values())
    failed = _facets_of_failed(run) if errors else []
    measures = [mean_measure(name, members, errors=errors, binary=binary)]
    for facets in by:
        keys = (facets,) if isinstance(facets, str) else facets
        levels: dict[tuple[str, ...], list[Observation]] = {}
        for row in members:
            if all(key in row.facets for key in keys):
                levels.setdefault(tuple(row.facets[key] for key in keys), []).append(row)
        lost = Counter(tuple(of[key] for key in keys) for of in failed if all(key in of for key in keys))
        for level, group in sorted(levels.items()):
            of_level = dict(zip(keys, level, strict=True))
            measures.append(mean_measure(name, group, of_level, lost[level], binary=binary))
    return tuple(measures)


def _facets_of_failed(run: RunView[Any, Any]) -> list[dict[str, str]]:
    """The facets of failed episodes, read from item fields of the same name.

    A field is used only if it equals the facet on every scored item.
    """
    wrong: set[str] = set()
    failed: list[dict[str, str]] = []
    for episode in run.episodes():
        fields = _text_fields(episode.item)
        if episode.failure is not None:
            failed.append(fields)
        elif episode.score is not None:
            facets = episode.score.facets
            wrong |= {name for name in fields if facets.get(name) != fields[name]}
    return [{name: level for name, level in fields.items() if name not in wrong} for fields in failed]


def _text_fields(item: Item) -> dict[str, str]:
    """The text fields of an item, and its own facets if it has any."""
    fields = {name: getattr(item, name) for name in item.__struct_fields__}
    own = fields.get("facets")
    texts = {name: text for name, text in fields.items() if isinstance(text, str) and text}
    return texts | dict(own) if own else texts
