"""Runs paired by item: which subject is better, by how much, and what these items could have shown."""

import math
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from msgspec import Struct, structs

from sociometer.analysis.candidates import (
    Candidate,
    ItemValue,
    Reading,
    SharedItems,
    beside_the_subject,
    differing_settings,
    read_items,
    shared_items,
    why_not_comparable,
)
from sociometer.analysis.equivalence import Equivalence, equivalence_of
from sociometer.analysis.multiplicity import benjamini_hochberg, holm
from sociometer.analysis.paired import PairedDifference, paired_difference
from sociometer.analysis.power import items_needed, smallest_detectable, smallest_detectable_binary
from sociometer.analysis.verdict import sentence_of
from sociometer.core.card import MeasureCard
from sociometer.core.errors import UsageError

Verdict = Literal["better", "worse", "differs", "equivalent", "cannot tell", "too few"]
LEVELS_AT_MOST = 40


class ComparedMeasure(Struct, frozen=True):
    """Second against first on one measure, overall (no group) or on one level of a facet.

    `detectable` is the difference these items would show with the stated power; `needed` the items that the
    user's margin takes; both never follow from the observed difference.
    """

    name: str
    title: str
    unit: str
    better: str
    group: dict[str, str]
    paired: PairedDifference
    p_holm: float
    p_benjamini_hochberg: float
    verdict: Verdict
    detectable: float | None
    needed: int | None = None
    equivalence: Equivalence | None = None
    primary: bool = False


class Comparison(Struct, frozen=True):
    """Two subjects on one task; `refused` says why there is none."""

    instrument: str
    title: str
    task: str
    task_title: str
    first: str
    second: str
    measures: tuple[ComparedMeasure, ...] = ()
    sentence: str = ""
    notes: tuple[str, ...] = ()
    refused: str = ""

    @property
    def worse(self) -> bool:
        """Whether the second is worse on a primary measure overall, for a gate in CI."""
        return any(row.primary and not row.group and row.verdict == "worse" for row in self.measures)


class Terms(Struct, frozen=True):
    """What the user asks of a comparison: level, power, and the margin that would matter to them."""

    level: float = 0.95
    power: float = 0.8
    margin: float | None = None
    """In the measure's own scale: 0.03 is three points of a share."""

    def __post_init__(self) -> None:
        if not 0.5 < self.level < 1:
            raise UsageError(f"the level must lie between 0.5 and 1, not {self.level}.")
        if not 0 < self.power < 1:
            raise UsageError(f"--power must lie between 0 and 1, not {self.power}; 0.8 is usual.")
        if self.margin is not None and self.margin <= 0:
            raise UsageError(f"--margin must be above 0, not {self.margin}; state the difference that would matter.")


def compare(candidates: Sequence[Candidate], terms: Terms | None = None) -> tuple[Comparison, ...]:
    """Every candidate against the first one of the same instrument and task, in the order given."""
    wanted = terms or Terms()
    groups: dict[tuple[str, str], list[Candidate]] = {}
    for candidate in candidates:
        groups.setdefault((candidate.card.name, candidate.task), []).append(candidate)
    found: list[Comparison] = []
    for members in groups.values():
        found += _against_first(members, wanted)
    if not found:
        labels = ", ".join(sorted({f"{c.label} ({c.card.name}/{c.task})" for c in candidates})) or "none"
        raise UsageError(
            f"nothing to compare: no two of the runs given are of one task ({labels}). "
            "Give two runs of the same instrument; `sociometer runs` lists them."
        )
    return tuple(found)


def _against_first(members: Sequence[Candidate], terms: Terms) -> list[Comparison]:
    """The first of a group against each other member; p-values are corrected over the whole group."""
    first = members[0]
    measures = [measure for measure in first.card.measures_of(first.task) if measure.value]
    drafts: list[tuple[Candidate, str, list[_Draft], tuple[str, ...]]] = []
    names = list(dict.fromkeys(measure.value for measure in measures))
    start = _Side(first, read_items(first.view, names))
    for second in members[1:]:
        refused, rows, notes = _pair(start, _Side(second, read_items(second.view, names)), measures, terms)
        drafts.append((second, refused, rows, notes))
    every = [draft for _, _, rows, _ in drafts for draft in rows]
    judged = {id(draft): row for draft, row in zip(every, _judge(every, terms), strict=True)}
    found = []
    for second, refused, rows, notes in drafts:
        compared = tuple(judged[id(draft)] for draft in rows)
        comparison = Comparison(
            first.card.name,
            first.card.title,
            first.task,
            next((task.title for task in first.card.task if task.name == first.task), first.task),
            first.label,
            second.label,
            compared,
            "",
            notes,
            refused,
        )
        found.append(structs.replace(comparison, sentence=sentence_of(comparison)))
    return found


class _Side(Struct, frozen=True):
    """One side of a comparison: who, and what was read of their run."""

    candidate: Candidate
    reading: Reading


class _Draft(Struct, frozen=True):
    """A comparison before correction for the others."""

    measure: MeasureCard
    group: dict[str, str]
    paired: PairedDifference
    discordant: float

    @property
    def family(self) -> str:
        """Primary measures overall are judged together; every grouping is a family of its own."""
        if self.group:
            return f"{self.measure.name} by {'+'.join(sorted(self.group))}"
        return "primary" if self.measure.primary else "secondary"


def _pair(
    first: _Side, second: _Side, measures: Sequence[MeasureCard], terms: Terms
) -> tuple[str, list[_Draft], tuple[str, ...]]:
    one, two = first.candidate, second.candidate
    refused = why_not_comparable(one, two)
    if refused or not measures:
        return refused or "this task has no measure that is a mean over items", [], ()
    rows: list[_Draft] = []
    notes = [f"{side.label}: {side.note}" for side in (one, two) if side.note]
    notes += [f"settings differ in {text}" for text in differing_settings(one, two)]
    for measure in measures:
        tables = first.reading.tables[measure.value], second.reading.tables[measure.value]
        if not any(tables):
            continue
        refused = why_not_comparable(one, two, tables)
        if refused and measure.primary:
            return refused, [], ()
        if refused:
            notes.append(f"“{measure.title}” is left out: {refused}")
            continue
        shared = shared_items(tables)
        rows.append(_draft(measure, {}, tables, shared, range(len(shared.items)), terms))
        if measure.primary:
            levels, lone = _by_facets(measure, tables, shared, terms)
            rows += levels
            notes += [*_left_out((first, second), shared), *lone]
    return "" if rows else "they share no scored item", rows, tuple(dict.fromkeys(notes))


def _left_out(sides: tuple[_Side, _Side], shared: SharedItems) -> list[str]:
    notes = []
    for side, missing in zip(sides, shared.left_out, strict=True):
        label = side.candidate.label
        if missing:
            notes.append(f"{missing} scored items of {label} are left out: the other has no score for them")
        if side.reading.failed:
            notes.append(f"{side.reading.failed} episodes of {label} failed and are not in the comparison")
    used = (name for side in sides for name in beside_the_subject(side.candidate.view.stand_ins))
    return [*notes, *(f"{name} is a stand-in, not the real thing" for name in dict.fromkeys(used))]


def _by_facets(
    measure: MeasureCard,
    tables: tuple[Mapping[str, ItemValue], Mapping[str, ItemValue]],
    shared: SharedItems,
    terms: Terms,
) -> tuple[list[_Draft], list[str]]:
    """The levels of every facet, and what to say of those that one cluster alone makes up."""
    names = list(dict.fromkeys(name for facets in shared.facets for name in facets))
    drafts: list[_Draft] = []
    notes: list[str] = []
    for name in names:
        levels: dict[str, list[int]] = {}
        for place, facets in enumerate(shared.facets):
            if name in facets:
                levels.setdefault(facets[name], []).append(place)
        if 2 <= len(levels) <= LEVELS_AT_MOST:
            several = {
                level: places
                for level, places in levels.items()
                if len({shared.clusters[place] for place in places}) > 1
            }
            drafts += [
                _draft(measure, {name: level}, tables, shared, places, terms) for level, places in several.items()
            ]
            if lone := len(levels) - len(several):
                notes.append(
                    f"by {name.replace('_', ' ')}, {lone} of {len(levels)} levels have one cluster and are left out"
                )
    return drafts, notes


def _draft(
    measure: MeasureCard,
    group: dict[str, str],
    tables: tuple[Mapping[str, ItemValue], Mapping[str, ItemValue]],
    shared: SharedItems,
    places: Sequence[int],
    terms: Terms,
) -> _Draft:
    """The paired difference over some of the shared items; repeats are paired in order where both have them."""
    one: list[float] = []
    two: list[float] = []
    items: list[str] = []
    clusters: list[str] = []
    for place in places:
        name = shared.items[place]
        for first, second in _repeats(tables[0][name], tables[1][name]):
            one.append(first)
            two.append(second)
            items.append(name)
            clusters.append(shared.clusters[place])
    paired = paired_difference(
        one, two, clusters, items=items, level=terms.level, binary=None if measure.unit == "share" else False
    )
    discordant = float(np.square(np.subtract(two, one)).mean())
    return _Draft(measure, group, paired, discordant)


def _repeats(one: ItemValue, two: ItemValue) -> list[tuple[float, float]]:
    if len(one.repeats) == len(two.repeats):
        return list(zip(one.repeats, two.repeats, strict=True))
    return [(one.value, two.value)]


def _judge(drafts: Sequence[_Draft], terms: Terms) -> list[ComparedMeasure]:
    families: dict[str, list[int]] = {}
    for place, draft in enumerate(drafts):
        families.setdefault(draft.family, []).append(place)
    result: dict[int, ComparedMeasure] = {}
    for places in families.values():
        raw = [drafts[place].paired.p_value for place in places]
        for place, strict, lenient in zip(places, holm(raw).tolist(), benjamini_hochberg(raw).tolist(), strict=True):
            result[place] = _judged(drafts[place], strict, lenient, len(places), terms)
    return [result[place] for place in range(len(drafts))]


def _judged(draft: _Draft, p_holm: float, p_bh: float, family: int, terms: Terms) -> ComparedMeasure:
    paired, measure = draft.paired, draft.measure
    level = 1 - (1 - terms.level) / family
    same = (
        equivalence_of(paired.difference, paired.standard_error, paired.clusters, terms.margin)
        if terms.margin
        else None
    )
    detectable = None if paired.interval.too_few else _detectable(draft, level, terms.power)
    return ComparedMeasure(
        name=measure.name,
        title=measure.title,
        unit=measure.unit,
        better=measure.better,
        group=draft.group,
        paired=paired,
        p_holm=p_holm,
        p_benjamini_hochberg=p_bh,
        verdict=_verdict(draft, p_holm, terms, same),
        detectable=detectable,
        needed=_needed(draft, terms) if terms.margin else None,
        equivalence=same,
        primary=measure.primary,
    )


def _verdict(draft: _Draft, p_holm: float, terms: Terms, same: Equivalence | None) -> Verdict:
    paired = draft.paired
    if paired.interval.too_few:
        return "too few"
    if p_holm < 1 - terms.level and paired.difference != 0:
        if draft.measure.better == "neither":
            return "differs"
        higher = paired.difference > 0
        return "better" if higher == (draft.measure.better == "higher") else "worse"
    return "equivalent" if same is not None and same.equivalent else "cannot tell"


def _detectable(draft: _Draft, level: float, power: float) -> float | None:
    paired = draft.paired
    if paired.binary and paired.mcnemar is not None:
        simple = max(draft.discordant - paired.difference**2, 0.0) / paired.items
        worth = paired.items * min(1.0, simple / paired.standard_error**2) if simple > 0 else float(paired.clusters)
        found = smallest_detectable_binary(worth, draft.discordant, power=power, level=level)
    else:
        found = smallest_detectable(paired.standard_error, paired.clusters, power=power, level=level)
    # nothing varied: these items say nothing of what they would show
    return None if math.isnan(found) or found == 0 else found


def _needed(draft: _Draft, terms: Terms) -> int | None:
    """Items for the user's margin: deviation and design effect as seen, the margin as stated."""
    paired = draft.paired
    if terms.margin is None or paired.items < 2 or not math.isfinite(paired.standard_error):
        return None
    spread = (
        abs(paired.difference / paired.effect) if paired.effect else paired.standard_error * math.sqrt(paired.items)
    )
    if spread == 0:
        return None
    design = paired.items * paired.standard_error**2 / spread**2
    return items_needed(terms.margin, spread, power=terms.power, level=terms.level, design_effect=design)
