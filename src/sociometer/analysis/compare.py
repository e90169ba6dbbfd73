"""Compares runs item by item: every run against the first one of the same task."""

from collections.abc import Mapping, Sequence
from itertools import islice

from msgspec import Struct, structs

from sociometer.analysis.candidates import Candidate, differing_settings, form_of, task_title, why_not_comparable
from sociometer.analysis.comparison import ComparedMeasure, Comparison, Terms
from sociometer.analysis.formatting import number
from sociometer.analysis.item_values import ItemValue, RunItems, SharedItems, read_items, shared_items
from sociometer.analysis.paired import paired_difference
from sociometer.analysis.prediction_powered import corrected_difference, differently_asked
from sociometer.analysis.stand_ins import other_stand_ins
from sociometer.analysis.verdicts import UncorrectedDifference, decide
from sociometer.analysis.wording import sentence_of
from sociometer.core.card import MeasureCard
from sociometer.core.errors import UsageError

LEVELS_AT_MOST = 40
"""Facets with more levels are not compared by level."""


def compare(candidates: Sequence[Candidate], terms: Terms | None = None) -> tuple[Comparison, ...]:
    """Every candidate against the first one of the same instrument and task, in the given order."""
    found: list[Comparison] = []
    for members in _by_task(candidates):
        found += _against_first(members, terms or Terms())
    if not found:
        labels = ", ".join(sorted({f"{c.label} ({c.card.name}/{c.task})" for c in candidates})) or "none"
        raise UsageError(
            f"nothing to compare: no two of the given runs have the same task ({labels}). "
            "Give two runs of the same instrument; 'sociometer runs' lists them."
        )
    return tuple(found)


def not_compared(candidates: Sequence[Candidate]) -> tuple[Comparison, ...]:
    """A refused comparison for each subject and task where the subject has no run of a task that others have.

    This includes tasks of an instrument that the subject did not take at all.
    """
    found = []
    for members in _by_task(candidates):
        first = members[0]
        having = {member.label for member in members} | {member.view.subject for member in members}
        beside = [c for c in candidates if c.card.name == first.card.name and c.label not in having]
        elsewhere = [c for c in candidates if c.card.name != first.card.name and not {c.label, c.view.subject} & having]
        lacking = dict.fromkeys(candidate.label for candidate in (*beside, *elsewhere))
        found += [_between(first, label, refused=f"{label} has no run of this task") for label in lacking]
    return tuple(found)


def _by_task(candidates: Sequence[Candidate]) -> list[list[Candidate]]:
    """The candidates of each task of each instrument."""
    groups: dict[tuple[str, str], list[Candidate]] = {}
    for candidate in candidates:
        groups.setdefault((candidate.card.name, candidate.task), []).append(candidate)
    return list(groups.values())


def _between(
    first: Candidate,
    second: str,
    measures: tuple[ComparedMeasure, ...] = (),
    notes: tuple[str, ...] = (),
    refused: str = "",
    form: str = "",
) -> Comparison:
    """The comparison of two subjects on the task of the first, with its sentence."""
    card, task = first.card, first.task
    title = task_title(card, task)
    made = Comparison(card.name, card.title, task, title, first.label, second, measures, "", notes, refused, form)
    return structs.replace(made, sentence=sentence_of(made))


def _against_first(members: Sequence[Candidate], terms: Terms) -> list[Comparison]:
    """Every other candidate of a task against the first; p-values are corrected over all of them."""
    first = members[0]
    measures = [measure for measure in first.card.measures_of(first.task) if measure.value]
    names = list(dict.fromkeys(measure.value for measure in measures))
    start = _Side(first, read_items(first.view, names))
    pairs = [_pair(start, _Side(second, read_items(second.view, names)), measures, terms) for second in members[1:]]
    decided = iter(decide([row for pair in pairs for row in pair.rows], terms))
    return [
        _between(
            first,
            second.label,
            tuple(islice(decided, len(pair.rows))),
            pair.notes,
            pair.refused,
            form_of((first, second)),
        )
        for second, pair in zip(members[1:], pairs, strict=True)
    ]


class _Side(Struct, frozen=True):
    """One side of a comparison: the candidate and the items of its run."""

    candidate: Candidate
    items: RunItems


class _Pair(Struct, frozen=True):
    """Two candidates before correction: their differences and notes, or why they cannot be compared."""

    rows: tuple[UncorrectedDifference, ...] = ()
    notes: tuple[str, ...] = ()
    refused: str = ""


def _pair(first: _Side, second: _Side, measures: Sequence[MeasureCard], terms: Terms) -> _Pair:
    one, two = first.candidate, second.candidate
    refused = why_not_comparable(one, two)
    if refused or not measures:
        return _Pair(refused=refused or "this task has no measure that is a mean over items")
    rows: list[UncorrectedDifference] = []
    notes = [f"{side.label}: {side.note}" for side in (one, two) if side.note]
    notes += [f"settings differ in {text}" for text in differing_settings(one, two)]
    for measure in measures:
        tables = first.items.tables[measure.value], second.items.tables[measure.value]
        if not any(tables):
            continue
        refused = why_not_comparable(one, two, tables)
        if refused and measure.primary:
            return _Pair(refused=refused)
        if refused:
            notes.append(f"“{measure.title}” is left out: {refused}")
            continue
        shared = shared_items(tables)
        overall = _difference(measure, {}, tables, shared, range(len(shared.items)), terms)
        overall, said = _by_people(overall, one, two, shared, terms)
        rows.append(overall)
        notes += said
        if measure.primary:
            levels, single = _by_facets(measure, tables, shared, terms)
            rows += levels
            notes += [*_left_out((first, second), shared), *single]
    return _Pair(tuple(rows), tuple(dict.fromkeys(notes)), "" if rows else "they share no scored item")


def _by_people(
    row: UncorrectedDifference, one: Candidate, two: Candidate, shared: SharedItems, terms: Terms
) -> tuple[UncorrectedDifference, list[str]]:
    """The difference of the values that people's labels correct, if both have them; and a note about it."""
    title, name = row.measure.title, row.measure.name
    first, second = one.corrected.get(name), two.corrected.get(name)
    if first is None and second is None:
        return row, []
    if first is None or second is None:
        having = two if first is None else one
        return row, [f"“{title}”: only {having.label} has people's labels; the judge's values of both are compared"]
    if why := differently_asked((first, second)):
        return row, [f"“{title}”: {why}, so people's labels are not used; the judge's values of both are compared"]
    if any(shared.left_out):
        return row, [f"“{title}”: the runs have different items, so people's labels are not used"]
    found = corrected_difference(first, second, terms.level)
    paired = structs.replace(
        row.paired, first=first.value, second=second.value, difference=found.value, interval=found.interval,
        p_value=found.p_value, standard_error=found.standard_error, effect=None, binary=False, mcnemar=None,
    )  # fmt: skip
    labels = f"{first.labels} of {first.episodes} and {second.labels} of {second.episodes} episodes"
    judge = f"{number(first.judge, row.measure.unit)} and {number(second.judge, row.measure.unit)}"
    note = f"“{title}” is corrected by people's labels of {labels}; the judge alone says {judge}"
    return structs.replace(row, paired=paired), [note]


def _left_out(sides: tuple[_Side, _Side], shared: SharedItems) -> list[str]:
    notes = []
    for side, missing in zip(sides, shared.left_out, strict=True):
        label = side.candidate.label
        if missing:
            notes.append(f"{missing} scored items of {label} are left out: the other has no score for them")
        if side.items.failed:
            notes.append(f"{side.items.failed} episodes of {label} failed and are not in the comparison")
    used = (name for side in sides for name in other_stand_ins(side.candidate.view.stand_ins))
    return [*notes, *(f"{name} is a stand-in, not a real model" for name in dict.fromkeys(used))]


def _by_facets(
    measure: MeasureCard,
    tables: tuple[Mapping[str, ItemValue], Mapping[str, ItemValue]],
    shared: SharedItems,
    terms: Terms,
) -> tuple[list[UncorrectedDifference], list[str]]:
    """The differences on each level of each facet, and a note on levels that have a single cluster."""
    names = list(dict.fromkeys(name for facets in shared.facets for name in facets))
    differences: list[UncorrectedDifference] = []
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
            differences += [
                _difference(measure, {name: level}, tables, shared, places, terms) for level, places in several.items()
            ]
            if single := len(levels) - len(several):
                notes.append(
                    f"by {name.replace('_', ' ')}, {single} of {len(levels)} levels have one cluster and are left out"
                )
    return differences, notes


def _difference(
    measure: MeasureCard,
    group: dict[str, str],
    tables: tuple[Mapping[str, ItemValue], Mapping[str, ItemValue]],
    shared: SharedItems,
    places: Sequence[int],
    terms: Terms,
) -> UncorrectedDifference:
    """The paired difference over some of the shared items; repeats are paired in order if both runs have as many."""
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
    return UncorrectedDifference(measure, group, paired)


def _repeats(one: ItemValue, two: ItemValue) -> list[tuple[float, float]]:
    if len(one.repeats) == len(two.repeats):
        return list(zip(one.repeats, two.repeats, strict=True))
    return [(one.value, two.value)]
