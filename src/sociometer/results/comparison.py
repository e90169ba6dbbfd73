"""Compares runs item by item with the first run of the same task."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice

from msgspec import Struct, structs

from sociometer.core.card import MeasureCard
from sociometer.core.errors import UsageError, hint
from sociometer.core.measure import Interval
from sociometer.core.task import AnyRun
from sociometer.core.words import counted, grouped
from sociometer.results.blocks import blocks
from sociometer.results.candidates import MANY_UNREADABLE, differing_settings, norm_scores, on_items, why_not_comparable
from sociometer.results.ceiling import end_of
from sociometer.results.verdicts import ComparedMeasure, Comparison, Terms, UncorrectedDifference, decide
from sociometer.results.wording import group_verdicts, overall_sentence, place_sentence
from sociometer.statistics.formatting import (
    common_chance,
    number,
    other_stand_ins,
    signed_amount,
    sure_chance,
    told_chances,
)
from sociometer.statistics.item_values import (
    ItemValue,
    RunItems,
    SharedItems,
    lost_items,
    partly_failed,
    read_items,
    read_pairs,
    right_or_wrong,
    shared_items,
    with_failed,
)
from sociometer.statistics.paired import Differences, PairedDifference, item_differences
from sociometer.statistics.people import PeopleMean, cohens_d, mean_over_people, place_among, scores_of, with_people
from sociometer.statistics.prediction_powered import corrected_difference, differently_asked
from sociometer.statistics.sequential import earliest, repeated_p_value

_Tables = tuple[Mapping[str, ItemValue], Mapping[str, ItemValue]]
LEVELS_AT_MOST = 40
"""Facets with more levels are not compared by level."""


def compare(candidates: Sequence[AnyRun], terms: Terms | None = None) -> tuple[Comparison, ...]:
    """Every candidate against the first one of the same instrument and task, in the given order."""
    found: list[Comparison] = []
    asked = terms or Terms()
    together = [members for members in _groups(candidates) if len(members) > 1]
    cards = [card for first, *_ in together for card in (*_means(first), *first.card.measures_of(first.task))]
    margins = asked.margins(cards) if together else {}
    for members in together:
        found += _against_first(members, asked, margins)
    if not found:
        labels = ", ".join(sorted({f"{c.subject} ({c.card.name}/{c.task})" for c in candidates})) or "none"
        raise UsageError(
            f"nothing to compare: no two of the given runs have the same task ({labels}). "
            f"Give two runs of the same instrument; '{hint('runs')}' lists them."
        )
    return tuple(found)


def not_compared(candidates: Sequence[AnyRun]) -> tuple[Comparison, ...]:
    """A refused comparison for each subject and task where the subject has no run of a task that others have.

    This includes tasks of an instrument that the subject did not take at all.
    """
    found = []
    for members in _by_task(candidates):
        first = members[0]
        having = {member.subject for member in members} | {member.name for member in members}
        others = [one for one in candidates if one.subject not in having]
        lacking = {one.subject: one for one in others if one.card.name == first.card.name or one.name not in having}
        found += [_between(first, run, refused=f"{label} has no run of this task") for label, run in lacking.items()]
    return tuple(found)


def _groups(candidates: Sequence[AnyRun]) -> list[list[AnyRun]]:
    """The candidates that are compared; of a task without any, all of them, so that the reason is told."""
    found = [list(members) for members in blocks(candidates).together]
    compared = {(members[0].card.name, members[0].task) for members in found}
    others = [members for members in _by_task(candidates) if (members[0].card.name, members[0].task) not in compared]
    return [*found, *others]


def _by_task(candidates: Sequence[AnyRun]) -> list[list[AnyRun]]:
    """The candidates of each task of each instrument."""
    return list(grouped(((candidate.card.name, candidate.task), candidate) for candidate in candidates).values())


def _between(
    first: AnyRun,
    second: AnyRun,
    measures: tuple[ComparedMeasure, ...] = (),
    notes: tuple[str, ...] = (),
    refused: str = "",
) -> Comparison:
    """The comparison of two subjects on the task of the first, with its sentence."""
    card, task = first.card, first.task
    unread = tuple(filter(None, map(_unread, (first, second)))) if measures else ()
    what = (card.name, card.title, task, card.task_title(task), first.subject, second.subject, first.run, second.run)
    made = Comparison(*what, measures, "", notes, refused, card.cluster_of(task), unread=unread)
    return structs.replace(made, sentence=overall_sentence(made), groups=group_verdicts(made))


def _means(candidate: AnyRun) -> list[MeasureCard]:
    """The measures of a task that are means over items or, under their own name as value, over pairs of items."""
    known = (one for one in candidate.card.measures_of(candidate.task) if one.value or one.pairs_of)
    return [structs.replace(one, value=one.name) if one.pairs_of else one for one in known if not one.of_items]


def _against_first(
    members: Sequence[AnyRun], terms: Terms, margins: Mapping[tuple[str, str], float]
) -> list[Comparison]:
    """Every other candidate of a task against the first; the intervals of all of them hold together."""
    first = members[0]
    measures = _means(first)
    names = list(dict.fromkeys(measure.pairs_of or measure.value for measure in measures))
    start = _Side(first, read_items(first, names))
    pairs = [_pair(start, _Side(second, read_items(second, names)), measures) for second in members[1:]]
    # beside people, what is asked of each subject is how it compares with them
    rows_of_all = [row for pair in pairs for row in pair.rows]
    decided = iter(decide(rows_of_all, terms, margins, all_pairs=not first.people))
    found = []
    for second, pair in zip(members[1:], pairs, strict=True):
        rows = tuple(islice(decided, len(pair.rows)))
        placed = [new for row in rows if row.primary and not row.group for new in _on_norm(row, (first, second))]
        scores = {} if pair.refused else norm_scores((first, second))
        lost = [title for title in scores if all(row.title != title for row in placed)]
        notes = (*pair.notes, *(f"no difference in “{title}”: equal means, or other items" for title in lost))
        made = _between(first, second, (*rows[:1], *placed, *rows[1:]), notes, pair.refused)
        found.append(structs.replace(made, norm_scores=scores))
    return found


def _on_norm(base: ComparedMeasure, runs: tuple[AnyRun, AnyRun]) -> Iterator[ComparedMeasure]:
    """The scores on a norm of people (an EQ) that both have on the items of a mean: its row on their scale."""
    paired, gap = base.paired, base.paired.difference
    for card in runs[0].card.measures_of(runs[0].task):
        found = [run.summary.find(name) for name in (base.name, card.name) for run in runs]
        one, two, first, second = (measure.value if measure else None for measure in found)
        same = (
            one is not None and two is not None and math.isclose(one, paired.first) and math.isclose(two, paired.second)
        )
        if not same or card.value or not card.on_norm or first is None or second is None or abs(gap) < 1e-6:
            continue
        slope = (second - first) / gap
        size, sign = abs(slope), math.copysign(1, slope)
        ends = [structs.replace(end.scaled(slope), apart=(0.0,)) for end in (paired.interval, *base.extremes)]
        moved = structs.replace(
            paired, first=first, second=second, difference=second - first, interval=ends[0],
            effect=paired.effect and sign * paired.effect, standard_error=size * paired.standard_error,
            square=size**2 * paired.square,
        )  # fmt: skip
        yield structs.replace(
            base, name=card.name, title=card.title, unit=card.unit, better=card.better, primary=False, chance=None,
            paired=moved, extremes=tuple(ends[1:]), ends=(), margin=base.margin and size * base.margin,
            detectable=base.detectable and size * base.detectable, place=None,
        )  # fmt: skip


def _unread(run: AnyRun) -> str:
    """How many replies of a model could not be read, if many could not; empty otherwise."""
    known = run.card.primary_of(run.task)
    found = run.summary.find(known.name) if known else None
    if found is None or run.baseline or found.unreadable <= MANY_UNREADABLE * found.items:
        return ""
    said = f"{counted(found.unreadable, 'reply', 'replies')} of {run.subject} could not be read"
    return f"{said} ({counted(found.items, 'item')})"


class _Side(Struct, frozen=True):
    """One side of a comparison: the candidate and the items of its run."""

    candidate: AnyRun
    items: RunItems

    def of(self, measure: MeasureCard) -> "_Side":
        """This side with what the measure is a mean over, its items or pairs of items; none if its run lacks it."""
        summary = self.candidate.summary
        if summary.find(measure.name) is None and (measure.pairs_of or summary.measures):
            return structs.replace(self, items=RunItems({measure.value: {}}, 0))
        pairs = measure.pairs_of and read_pairs(self.items, measure.pairs_of, measure.value)
        return structs.replace(self, items=pairs or self.items)


class _Pair(Struct, frozen=True):
    """Two candidates before correction: their differences and notes, or why they cannot be compared."""

    rows: tuple[UncorrectedDifference, ...] = ()
    notes: tuple[str, ...] = ()
    refused: str = ""


def _pair(first: _Side, second: _Side, measures: Sequence[MeasureCard]) -> _Pair:
    one, two = first.candidate, second.candidate
    refused = why_not_comparable(one, two)
    if refused or not measures:
        return _Pair(refused=refused or "this task has no measure that is a mean over items")
    rows: list[UncorrectedDifference] = []
    notes = on_items((one, two), "both have")
    notes += [f"{side.subject}: {side.note}" for side in (one, two) if side.note]
    notes += filter(None, dict.fromkeys((one.others, two.others)))
    notes += [f"settings differ in {text}" for text in differing_settings(one, two)]
    for measure in measures:
        both = first.of(measure), second.of(measure)
        tables = both[0].items.tables[measure.value], both[1].items.tables[measure.value]
        if not any(tables):
            continue
        refused = why_not_comparable(one, two, tables)
        if refused and measure.primary:
            return _Pair(refused=refused)
        if refused:
            notes.append(f"“{measure.title}” is left out: {refused}")
            continue
        shared = shared_items(tables)
        overall = _difference(measure, {}, both, shared, range(len(shared.items)))
        if measure.primary:
            overall, said = _with_place(overall, tables, (one, two))
            notes += said
        overall, said = _by_people(overall, one, two, shared)
        rows.append(overall)
        notes += said
        if measure.primary:
            levels, single = _by_facets(measure, both, shared)
            rows += levels
            notes += [*_left_out((first, second), shared), *single]
    return _Pair(tuple(rows), tuple(dict.fromkeys(notes)), "" if rows else "they share no scored item")


def _by_people(
    row: UncorrectedDifference, one: AnyRun, two: AnyRun, shared: SharedItems
) -> tuple[UncorrectedDifference, list[str]]:
    """The difference of the values that people's labels correct, if both have them; and a note about it."""
    title, name = row.measure.title, row.measure.name
    first, second = one.corrected.get(name), two.corrected.get(name)
    if first is None and second is None:
        return row, []
    if first is None or second is None:
        having = two if first is None else one
        return row, [f"“{title}”: only {having.subject} has people's labels; the judge's values of both are compared"]
    if why := differently_asked((first, second)):
        return row, [f"“{title}”: {why}, so people's labels are not used; the judge's values of both are compared"]
    if any(shared.left_out):
        return row, [f"“{title}”: the runs have different items, so people's labels are not used"]
    found = corrected_difference(first, second)
    paired = structs.replace(
        row.paired, first=first.value, second=second.value, difference=found.value, interval=found.interval,
        p_value=found.p_value, standard_error=found.standard_error, effect=None, binary=False, mcnemar=None,
    )  # fmt: skip
    labels = f"{first.labels} of {first.episodes} and {second.labels} of {second.episodes} episodes"
    judge = " and ".join(number(one.judge, row.measure.unit, interval=one.interval) for one in (first, second))
    note = f"“{title}” is corrected by people's labels of {labels}; the judge alone says {judge}"
    names = {**first.shares, **second.shares}
    influence = {name: second.shares.get(name, 0.0) - first.shares.get(name, 0.0) for name in names}

    def at(level: float) -> Interval:
        return corrected_difference(first, second, level).interval

    extremes = _corrected_ends(row, at)
    return structs.replace(row, paired=paired, influence=influence, interval=at, extremes=extremes, ends=()), [note]


def _corrected_ends(
    row: UncorrectedDifference, at: Callable[[float], Interval]
) -> tuple[Callable[[float], Interval], ...]:
    """The corrected interval with each failed item at the worst and at the best that the scale allows."""
    if not row.extremes or row.measure.scale is None:
        return ()
    share = row.paired.items / (row.paired.items + row.failed)
    most = (row.measure.scale[1] - row.measure.scale[0]) * (1 - share) * (-1 if row.measure.better == "lower" else 1)
    return tuple(lambda level, end=end: at(level).scaled(share, end) for end in (-most, most))


def _left_out(sides: tuple[_Side, _Side], shared: SharedItems) -> list[str]:
    notes = []
    for side, other, missing in zip(sides, sides[::-1], shared.left_out, strict=True):
        label, lacking = side.candidate.subject, other.candidate.subject
        if missing:
            notes.append(f"{counted(missing, 'scored item')} of {label} left out: no score of {lacking}")
        if side.items.failed:
            how = "differences are without them, and a verdict holds whatever they would have scored"
            notes.append(f"{counted(side.items.failed, 'episode')} of {label} failed: {how}")
    used = (name for side in sides for name in other_stand_ins(side.candidate.stand_ins))
    return [*notes, *(f"{name} is a stand-in, not a real model" for name in dict.fromkeys(used))]


def _by_facets(
    measure: MeasureCard, sides: tuple[_Side, _Side], shared: SharedItems
) -> tuple[list[UncorrectedDifference], list[str]]:
    """The differences on each level of each facet, and a note on levels that have a single cluster."""
    names = list(dict.fromkeys(name for facets in shared.facets for name in facets))
    differences: list[UncorrectedDifference] = []
    notes: list[str] = []
    for name in names:
        levels = grouped((facets[name], place) for place, facets in enumerate(shared.facets) if name in facets)
        if not 2 <= len(levels) <= LEVELS_AT_MOST:
            continue
        several = {level: at for level, at in levels.items() if len({shared.clusters[place] for place in at}) > 1}
        differences += [_difference(measure, {name: level}, sides, shared, at) for level, at in several.items()]
        if single := len(levels) - len(several):
            facet, part = name.replace("_", " "), sides[0].candidate.card.cluster_of(sides[0].candidate.task)
            notes.append(f"by {facet}, {single} of {len(levels)} levels have one {part} and are left out")
    return differences, notes


def shared_differences(
    measure: MeasureCard, tables: _Tables, shared: SharedItems, places: Sequence[int]
) -> Differences:
    """The difference of two runs on some of the shared items: that of comparisons, rankings, gates and stopping."""
    names = [shared.items[place] for place in places]
    one, two = ([table[name].value for name in names] for table in tables)
    clusters = [shared.clusters[place] for place in places]
    binary = all(right_or_wrong(measure, table) for table in tables)
    return item_differences(one, two, clusters, binary=binary, scale=measure.scale)


def _difference(
    measure: MeasureCard, group: dict[str, str], sides: tuple[_Side, _Side], shared: SharedItems, places: Sequence[int]
) -> UncorrectedDifference:
    """The paired difference over some of the shared items; of a run that was looked at, one that holds at every look.

    If both were looked at, the looks of the one that was stopped earlier count.
    """
    tables = sides[0].items.tables[measure.value], sides[1].items.tables[measure.value]
    runs = (sides[0].candidate, sides[1].candidate)
    found = shared_differences(measure, tables, shared, places)
    times = earliest(run.times for run in runs)
    items = [shared.items[place] for place in places]
    crowds = {side: mean_over_people(tables[side], items) for side, run in enumerate(runs) if run.people}
    influence = dict(found.influence())
    # other people would differ as well, and by the same amount in every comparison with them
    influence |= {runs[place].subject: (1, -1)[place == 0] * math.sqrt(one.added) for place, one in crowds.items()}
    paired, at = _with_people(found, crowds)
    paired = structs.replace(paired, p_value=repeated_p_value(paired.p_value, times))
    known = common_chance(measure, runs)
    # one that was measured on all bundled items may be another for a part of them
    sure = known if sure_chance(measure) is not None or measure.name in told_chances(runs[0].summary) else None
    failed, ends = failed_extremes(measure, (sides[0].items, sides[1].items), shared, places, group)
    extremes = tuple(_with_people(one, crowds)[1] for one in ends)
    ended = [] if group else [end_of(measure, run.summary, sure) for run in runs]
    reached = tuple("" if end is None else end.at if end.sure else f"perhaps {end.at}" for end in ended)
    chance = sure if group else known
    made = UncorrectedDifference(measure, group, paired, influence, at, failed, extremes, times, chance, reached)
    stand_in = any(other_stand_ins(run.stand_ins) for run in runs)
    return structs.replace(made, stand_in=stand_in)


def _with_people(
    found: Differences, crowds: Mapping[int, PeopleMean]
) -> tuple[PairedDifference, Callable[[float], Interval]]:
    """A difference and its interval at a level; if a side is people, over people too."""
    if not crowds:
        return found.summary(), found.interval
    paired, means = found.summary(), tuple(crowds.values())
    return with_people(paired, means, 0.95), lambda level: with_people(paired, means, level).interval


def _with_place(
    row: UncorrectedDifference, tables: _Tables, sides: tuple[AnyRun, AnyRun]
) -> tuple[UncorrectedDifference, list[str]]:
    """The difference with the subject's place among people, and a sentence; of two groups of people, Cohen's d."""
    measure = row.measure
    groups = [{name: table[name] for name in tables[0].keys() & tables[1].keys()} for table in tables]
    if all(side.people for side in sides) and (found := cohens_d(*map(scores_of, groups))) is not None:
        said = f"Cohen's d {signed_amount(found, 'number')}, over the pooled SD of people's scores"
        return row, [f"“{measure.title}”: {said}"]
    if bool(sides[0].people) == bool(sides[1].people) or measure.better == "neither":
        return row, []
    crowd = 0 if sides[0].people else 1
    place = place_among(tables[crowd], tables[1 - crowd], -1.0 if measure.better == "lower" else 1.0)
    return structs.replace(row, place=place), [place_sentence(sides[1 - crowd].subject, measure, place)]


def failed_extremes(
    measure: MeasureCard,
    sides: tuple[RunItems, RunItems],
    shared: SharedItems,
    places: Sequence[int],
    group: Mapping[str, str] | None = None,
) -> tuple[int, tuple[Differences, ...]]:
    """The number of failed items, and the differences with them at their worst and at their best for the second.

    There are no differences without failed items, and none for a measure without both ends. An item that one of the two
    has not played at all is not a failed one. An item whose level nobody knows, because both failed, counts in every
    group. Reference: Manski, C. F. (1989). Anatomy of the selection problem. Journal of Human Resources 24.
    """
    tables = sides[0].tables[measure.value], sides[1].tables[measure.value]
    missing = lost_items(tables, (sides[0].lost, sides[1].lost))
    for facet, level in (group or {}).items():
        known = {name: table[name].facets.get(facet, level) for table in tables for name in missing if name in table}
        missing = {name: cluster for name, cluster in missing.items() if known.get(name, level) == level}
    played = [shared.items[place] for place in places]
    failed = len(missing) + partly_failed(tables, played)
    if measure.scale is None or not failed:
        return failed, ()
    names, clusters = [*played, *missing], [*(shared.clusters[place] for place in places), *missing.values()]
    low, high = measure.scale
    ends = [(low, high), (high, low)] if measure.better == "lower" else [(high, low), (low, high)]
    binary = all(right_or_wrong(measure, table) for table in tables)
    return failed, tuple(
        item_differences(
            with_failed(tables[0], names, of_first), with_failed(tables[1], names, of_second), clusters, binary=binary
        )
        for of_first, of_second in ends
    )
