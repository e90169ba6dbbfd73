"""Runs set side by side: what may be compared with what, and the values of the items they share."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
from msgspec import Struct

from sociometer.analysis.clusters import Floats
from sociometer.core.card import Card
from sociometer.core.task import Instrument, RunView

PROTAGONIST = "subject"
TINY = "tiny model"


class Candidate(Struct, frozen=True):
    """One run of one task, as comparisons see it; `view` walks its episodes."""

    label: str
    card: Card
    task: str
    view: RunView[Any, Any]
    version: str = ""
    """Version of the instrument that made the run; empty means the card's own."""
    note: str = ""
    """What must be said beside its numbers."""
    failed: str = ""
    """Why the run has no number to set beside others; empty where it has."""

    @property
    def made_by(self) -> str:
        """The version of the instrument that made the run."""
        return self.version or self.card.version


def candidate_of(
    label: str, instrument: Instrument, task: str, view: RunView[Any, Any], version: str = ""
) -> Candidate:
    """A run as comparisons see it: by what its task says stands for it."""
    stands = instrument.task(task).headline(view)
    return Candidate(label, instrument.card, task, stands.view, version, stands.note, stands.failed)


class ItemValue(Struct, frozen=True):
    """One item of a run: its mean value over repeats, and what it may be grouped by."""

    item: str
    cluster: str
    value: float
    repeats: tuple[float, ...]
    facets: dict[str, str]
    content: bytes


class Reading(Struct, frozen=True):
    """What was read from a run in one walk: items by id for each score value, and how many episodes failed."""

    tables: dict[str, dict[str, ItemValue]]
    failed: int


def read_items(view: RunView[Any, Any], values: Sequence[str]) -> Reading:
    """The scored items of a run for each of these score values; repeats of one item are gathered under it."""
    tables: dict[str, dict[str, ItemValue]] = {value: {} for value in values}
    failed = 0
    for episode in view.episodes():
        failed += episode.failure is not None
        if episode.score is None or episode.outcome is None:
            continue
        item = episode.item
        for value, found in tables.items():
            if value not in episode.score.values:
                continue
            known = found.get(item.id)
            repeats = (*(known.repeats if known else ()), episode.score.values[value])
            content = known.content if known else msgspec.json.encode(item, order="deterministic")
            mean = sum(repeats) / len(repeats)
            facets = episode.score.facets
            found[item.id] = ItemValue(item.id, item.cluster or item.id, mean, repeats, facets, content)
    return Reading(tables, failed)


def item_values(view: RunView[Any, Any], value: str) -> dict[str, ItemValue]:
    """The scored items of a run by id, for one score value."""
    return read_items(view, (value,)).tables[value]


class SharedItems(Struct, frozen=True):
    """Items that all of some runs scored: values are items × runs, in one order."""

    items: tuple[str, ...]
    clusters: tuple[str, ...]
    values: Floats
    facets: tuple[dict[str, str], ...]
    left_out: tuple[int, ...]
    """For each run, how many of its scored items another run lacks."""


def shared_items(tables: Sequence[Mapping[str, ItemValue]]) -> SharedItems:
    """The intersection of several runs' items."""
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
    """Facets of the items themselves: those that depend on the answer differ between runs and divide nothing."""
    first = tables[0]
    facets = {facet for name in names for facet in first[name].facets}
    fixed = {
        facet
        for facet in facets
        if all(table[name].facets.get(facet) == first[name].facets.get(facet) for table in tables for name in names)
    }
    return tuple({facet: level for facet, level in first[name].facets.items() if facet in fixed} for name in names)


def why_not_comparable(
    one: Candidate, two: Candidate, items: tuple[Mapping[str, ItemValue], Mapping[str, ItemValue]] | None = None
) -> str:
    """Why two runs must not be compared, or the empty string where they may."""
    for candidate in (one, two):
        if candidate.failed:
            return f"{candidate.label} has no number to compare: {candidate.failed}"
    if (one.card.name, one.task) != (two.card.name, two.task):
        return f"they are of different tasks: {one.card.name}/{one.task} and {two.card.name}/{two.task}"
    if one.made_by != two.made_by:
        return (
            f"they come from versions {one.made_by} and {two.made_by} of {one.card.name}; "
            "run `sociometer rescore` on the older one, or measure it again"
        )
    others = sorted({*one.view.roles, *two.view.roles} - {PROTAGONIST})
    for role in others:
        first, second = one.view.roles.get(role, "nobody"), two.view.roles.get(role, "nobody")
        if first != second:
            return f"they had another {role}: {first} and {second}"
    if _digest(one.view.norm) != _digest(two.view.norm):
        return "they were scored on another norm"
    if items is None:
        return ""
    shared = [name for name in items[0] if name in items[1]]
    if not shared:
        return "they share no scored item"
    changed = [name for name in shared if items[0][name].content != items[1][name].content]
    if changed:
        return f"{len(changed)} items differ in content under the same id, such as {changed[0]!r}"
    return ""


def differing_settings(one: Candidate, two: Candidate) -> tuple[str, ...]:
    """Settings in which two runs differ, to be said beside the comparison."""
    names = sorted({*one.view.settings, *two.view.settings})
    return tuple(
        f"{name}: {one.view.settings.get(name)!r} and {two.view.settings.get(name)!r}"
        for name in names
        if one.view.settings.get(name) != two.view.settings.get(name)
    )


def beside_the_subject(stand_ins: Sequence[str]) -> tuple[str, ...]:
    """Stand-ins in other roles: a baseline in the subject's place is plain from its name."""
    return tuple(name for name in stand_ins if not name.startswith(f"{PROTAGONIST}: "))


def plays_the_subject(stand_ins: Sequence[str]) -> str:
    """What sits in the subject's place where it is no model to be measured: a tiny model or a script; else nothing."""
    names = [name.removeprefix(f"{PROTAGONIST}: ") for name in stand_ins if name.startswith(f"{PROTAGONIST}: ")]
    return "" if not names else "script" if names[0].startswith("scripted/") else TINY


def _digest(value: Any) -> bytes:
    return msgspec.json.encode(value, order="deterministic")
