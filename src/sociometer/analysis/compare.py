"""Runs paired by item: which subject is better, by how much, and what these items could have shown."""

from collections.abc import Mapping, Sequence

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
from sociometer.analysis.judging import ComparedMeasure, Draft, Terms, judge
from sociometer.analysis.paired import paired_difference
from sociometer.analysis.verdict import sentence_of
from sociometer.core.card import MeasureCard
from sociometer.core.errors import UsageError

__all__ = ["ComparedMeasure", "Comparison", "Terms", "compare", "not_compared"]

LEVELS_AT_MOST = 40


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
        return any(row.verdict == "worse" for row in self._judged)

    @property
    def undecided(self) -> str:
        """Why nothing can be said of the primary measures overall; empty where something can."""
        few = [f"{row.title.lower()}: {row.paired.clusters}" for row in self._judged if row.verdict == "too few"]
        if self.refused or few:
            return self.refused or f"too few clusters to tell ({', '.join(few)})"
        return "" if self._judged else "no primary measure was compared"

    @property
    def _judged(self) -> list[ComparedMeasure]:
        return [row for row in self.measures if row.primary and not row.group]


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


def not_compared(candidates: Sequence[Candidate]) -> tuple[Comparison, ...]:
    """The tasks that some of the subjects lack, as comparisons that could not be made.

    A run lacks what another run of its instrument has, a subject an instrument that only others took.
    """
    groups: dict[tuple[str, str], list[Candidate]] = {}
    for candidate in candidates:
        groups.setdefault((candidate.card.name, candidate.task), []).append(candidate)
    found = []
    for members in groups.values():
        first = members[0]
        having = {member.label for member in members} | {member.view.subject for member in members}
        beside = [c for c in candidates if c.card.name == first.card.name and c.label not in having]
        elsewhere = [c for c in candidates if c.card.name != first.card.name and not {c.label, c.view.subject} & having]
        lacking = dict.fromkeys(candidate.label for candidate in (*beside, *elsewhere))
        found += [_between(first, label, refused=f"{label} has no run of this task") for label in lacking]
    return tuple(found)


def _between(
    first: Candidate,
    second: str,
    measures: tuple[ComparedMeasure, ...] = (),
    notes: tuple[str, ...] = (),
    refused: str = "",
) -> Comparison:
    """The comparison of two subjects on the first one's task, with its sentence."""
    card, task = first.card, first.task
    title = next((known.title for known in card.task if known.name == task), task)
    made = Comparison(card.name, card.title, task, title, first.label, second, measures, "", notes, refused)
    return structs.replace(made, sentence=sentence_of(made))


def _against_first(members: Sequence[Candidate], terms: Terms) -> list[Comparison]:
    """The first of a group against each other member; p-values are corrected over the whole group."""
    first = members[0]
    measures = [measure for measure in first.card.measures_of(first.task) if measure.value]
    drafts: list[tuple[Candidate, str, list[Draft], tuple[str, ...]]] = []
    names = list(dict.fromkeys(measure.value for measure in measures))
    start = _Side(first, read_items(first.view, names))
    for second in members[1:]:
        refused, rows, notes = _pair(start, _Side(second, read_items(second.view, names)), measures, terms)
        drafts.append((second, refused, rows, notes))
    every = [draft for _, _, rows, _ in drafts for draft in rows]
    judged = {id(draft): row for draft, row in zip(every, judge(every, terms), strict=True)}
    return [
        _between(first, second.label, tuple(judged[id(draft)] for draft in rows), notes, refused)
        for second, refused, rows, notes in drafts
    ]


class _Side(Struct, frozen=True):
    """One side of a comparison: who, and what was read of their run."""

    candidate: Candidate
    reading: Reading


def _pair(
    first: _Side, second: _Side, measures: Sequence[MeasureCard], terms: Terms
) -> tuple[str, list[Draft], tuple[str, ...]]:
    one, two = first.candidate, second.candidate
    refused = why_not_comparable(one, two)
    if refused or not measures:
        return refused or "this task has no measure that is a mean over items", [], ()
    rows: list[Draft] = []
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
) -> tuple[list[Draft], list[str]]:
    """The levels of every facet, and what to say of those that one cluster alone makes up."""
    names = list(dict.fromkeys(name for facets in shared.facets for name in facets))
    drafts: list[Draft] = []
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
) -> Draft:
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
    return Draft(measure, group, paired)


def _repeats(one: ItemValue, two: ItemValue) -> list[tuple[float, float]]:
    if len(one.repeats) == len(two.repeats):
        return list(zip(one.repeats, two.repeats, strict=True))
    return [(one.value, two.value)]
