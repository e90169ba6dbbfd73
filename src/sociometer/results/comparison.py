"""Compares runs item by item with the first run of the same task: numbers, verdicts, and the verdict as a sentence."""

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import partial
from itertools import combinations, islice

import numpy as np
from msgspec import Struct, structs

from sociometer.core.card import MeasureCard
from sociometer.core.errors import UsageError, unknown
from sociometer.core.measure import Cell, Corrected, Interval, Table
from sociometer.core.task import AnyRun
from sociometer.core.words import listed, lowered
from sociometer.results.candidates import differing_settings, why_not_comparable
from sociometer.statistics.formatting import (
    amount,
    bracketed_interval,
    common_chance,
    group_text,
    number,
    other_stand_ins,
    p_text,
    scale_and_digits,
    signed_amount,
)
from sociometer.statistics.item_values import (
    ItemValue,
    RunItems,
    SharedItems,
    lost_items,
    partly_failed,
    read_items,
    shared_items,
    with_failed,
)
from sociometer.statistics.paired import (
    Differences,
    PairedDifference,
    Verdict,
    influence_table,
    item_differences,
    simultaneous,
    verdict_of,
)
from sociometer.statistics.people import PeopleMean, mean_over_people, place_among, with_people
from sociometer.statistics.power import detectable_difference
from sociometer.statistics.prediction_powered import corrected_difference, differently_asked
from sociometer.statistics.sequential import earliest, nominal_level, repeated_p_value


class Terms(Struct, frozen=True):
    """The options of a comparison: confidence level, and the margin that matters to the user."""

    level: float = 0.95
    margin: float | Mapping[str, float] | None = None
    """As the measure is shown: 3 is three points of a share. One number for the primary measures, or by measure."""

    def __post_init__(self) -> None:
        if not 0.5 < self.level < 1:
            raise UsageError(f"--level must be between 0.5 and 1, not {self.level}; 0.95 is usual.")
        given = self.margin.values() if isinstance(self.margin, Mapping) else [self.margin]
        for value in given:
            if value is not None and not 0 < value < math.inf:
                raise UsageError(f"--margin must be above 0, not {value:g}; give the smallest difference that matters.")

    def margins(self, measures: Iterable[MeasureCard]) -> dict[tuple[str, str], float]:
        """The margin of each measure, by task and name, in the unit of its values (0.03 for three points of a share).

        One number is for primary measures only, because a margin has the unit of its measure.
        """
        known = list(measures)
        if self.margin is None:
            return {}
        if isinstance(self.margin, Mapping):
            names = sorted({card.name for card in known})
            for name in self.margin:
                if name not in names:
                    raise unknown("measure", name, names)
            given = {(card.task, card.name): self.margin[card.name] for card in known if card.name in self.margin}
        else:
            primary = [card for card in known if card.primary]
            if len({card.unit for card in primary}) > 1:
                told = ", ".join(dict.fromkeys(f"{card.name} ({card.unit})" for card in primary))
                raise UsageError(
                    f"--margin {self.margin:g} has no clear unit: the primary measures have different ones ({told}). "
                    "Give --margin MEASURE=VALUE for each that matters, or choose one task with --task."
                )
            given = {(card.task, card.name): self.margin for card in primary}
        scales = {(card.task, card.name): scale_and_digits(card.unit)[0] for card in known}
        for (_, name), value in given.items():
            if any(value > 100 and card.unit == "share" for card in known if card.name == name):
                raise UsageError(f"a margin of {value:g} points for {name} is too large: shares differ by at most 100.")
        return {key: value / scales[key] for key, value in given.items()}


class ComparedMeasure(Struct, frozen=True):
    """Second subject against first on one measure, overall (empty `group`) or on one level of a facet.

    The verdict follows from `paired.interval`, which holds together with the intervals of the whole family.
    `detectable` is the smallest true difference that these items would show with a power of 80 %, at the level of
    the interval; it never depends on the observed difference.
    """

    name: str
    title: str
    unit: str
    better: str
    group: dict[str, str]
    paired: PairedDifference
    p_adjusted: float
    verdict: Verdict
    detectable: float | None
    chance: float | None = None
    margin: float | None = None
    primary: bool = False
    family: int = 1
    """The number of comparisons whose intervals hold together."""
    failed: int = 0
    """Items that one of the two failed to answer, so that they are not compared."""
    with_failed: tuple[Verdict, ...] = ()
    """Verdicts that differ from `verdict` if the failed items count at their worst or their best."""
    extremes: tuple[Interval, ...] = ()
    """The interval of the difference with the failed items at their worst, and at their best."""


class Comparison(Struct, frozen=True):
    """Two subjects on one task; `refused` says why they could not be compared."""

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

    def __str__(self) -> str:
        return self.sentence

    @property
    def where(self) -> str:
        """The instrument and the task, for titles."""
        return f"{self.instrument}/{self.task}"

    @property
    def worse(self) -> bool:
        """Whether the second subject is worse on a primary measure overall, for a gate in CI."""
        return any(row.verdict == "worse" for row in self.primary_rows)

    @property
    def undecided(self) -> str:
        """Why there is no result for the primary measures overall; empty if there is one."""
        few = [f"{row.title.lower()}: {row.paired.clusters}" for row in self.primary_rows if row.verdict == "too few"]
        if self.refused or few:
            return self.refused or f"too few clusters to tell ({', '.join(few)})"
        return "" if self.primary_rows else "no primary measure was compared"

    @property
    def primary_rows(self) -> list[ComparedMeasure]:
        """The primary measures overall."""
        return [row for row in self.measures if row.primary and not row.group]


class UncorrectedDifference(Struct, frozen=True):
    """A paired difference on one measure, overall (empty `group`) or on one level of a facet, before correction."""

    measure: MeasureCard
    group: dict[str, str]
    paired: PairedDifference
    influence: Mapping[Hashable, float]
    interval: Callable[[float], Interval]
    """The interval of the difference at a level."""
    failed: int = 0
    extremes: tuple[Callable[[float], Interval], ...] = ()
    """The interval with the failed items at their worst and at their best for the second subject, at a level."""
    times: tuple[float, ...] = ()
    """The shares of the items after which a stopping rule looked at one of the runs."""
    chance: float | None = None

    @property
    def what(self) -> tuple[str, dict[str, str]]:
        """The measure and its group, whatever the subjects."""
        return self.measure.name, self.group

    @property
    def family(self) -> str:
        """The family to correct for: all primary measures, all others, or one way of grouping one measure."""
        if self.group:
            return f"{self.measure.name} by {'+'.join(sorted(self.group))}"
        return "primary" if self.measure.primary else "secondary"


def decide(
    differences: Sequence[UncorrectedDifference], terms: Terms, margins: Mapping[tuple[str, str], float]
) -> list[ComparedMeasure]:
    """Each difference with its verdict, in the given order; the intervals of a family hold together.

    The comparisons of the later subjects with each other belong to a family too, as in a ranking of the same runs: two
    runs then have the same verdict wherever it is shown.
    """
    families: dict[str, list[int]] = {}
    for index, difference in enumerate(differences):
        families.setdefault(difference.family, []).append(index)
    result: dict[int, ComparedMeasure] = {}
    for members in families.values():
        family = [differences[index] for index in members]
        influence = influence_table([one.influence for one in family])
        alike = [(a, b) for a, b in combinations(range(len(family)), 2) if family[a].what == family[b].what]
        influence = np.column_stack([influence, *(influence[:, b] - influence[:, a] for a, b in alike)])
        raw = [one.paired.p_value for one in family]
        shared = simultaneous(influence, [*raw, *[1.0] * (influence.shape[1] - len(raw))], terms.level)
        for index, one, p_adjusted in zip(members, family, shared.p_values, strict=False):
            margin = margins.get((one.measure.task, one.measure.name))
            result[index] = _decided(one, p_adjusted, shared.level, len(shared.p_values), terms, margin)
    return [result[index] for index in range(len(differences))]


def _decided(
    one: UncorrectedDifference, p_adjusted: float, level: float, family: int, terms: Terms, margin: float | None
) -> ComparedMeasure:
    measure = one.measure
    # made at the level of one comparison and look, the intervals of the family hold together at the level asked for
    at = nominal_level(one.times, level)
    paired = structs.replace(
        one.paired, interval=structs.replace(_possible(one.interval(at), measure), level=terms.level)
    )
    verdict = verdict_of(paired.interval, measure.better, margin)
    extremes = tuple(extreme(at) for extreme in one.extremes)
    others = (verdict_of(extreme, measure.better, margin) for extreme in extremes)
    few = paired.interval.too_few
    return ComparedMeasure(
        name=measure.name,
        title=measure.title,
        unit=measure.unit,
        better=measure.better,
        group=one.group,
        paired=paired,
        p_adjusted=p_adjusted,
        verdict=verdict,
        detectable=None if few else detectable_difference(paired, level=at),
        chance=one.chance,
        margin=margin,
        primary=measure.primary,
        family=family,
        failed=one.failed,
        with_failed=tuple(dict.fromkeys(other for other in others if other != verdict)),
        extremes=extremes,
    )


def _possible(interval: Interval, measure: MeasureCard) -> Interval:
    """The interval of a difference within what the scale of the measure allows."""
    if measure.scale is None or interval.low is None or interval.high is None:
        return interval
    most = measure.scale[1] - measure.scale[0]
    return structs.replace(interval, low=max(-most, interval.low), high=min(most, interval.high))


def overall_sentence(comparison: Comparison) -> str:
    """The verdicts on the primary measures, without those on groups."""
    if comparison.refused:
        return f"{comparison.second} and {comparison.first} cannot be compared: {comparison.refused}."
    primary = _primary(comparison)
    said = "; ".join(_whole(row, comparison, named=len(primary) > 1) for row in primary) + "."
    return said.replace("the data", "The data", 1) if said.startswith("the data cannot tell ") else said


def sentence_of(comparison: Comparison) -> str:
    """The verdicts of one comparison in one sentence."""
    if comparison.refused:
        return overall_sentence(comparison)
    parts = [overall_sentence(comparison).removesuffix(".")]
    for row in _primary(comparison):
        grouped = [other for other in comparison.measures if other.group and other.name == row.name]
        # the first facet of an instrument is its main grouping (abilities); the others appear in the table only
        first = tuple(grouped[0].group) if grouped else ()
        parts += _groups([other for other in grouped if tuple(other.group) == first])
    return "; ".join(parts) + "."


def _primary(comparison: Comparison) -> list[ComparedMeasure]:
    overall = [row for row in comparison.measures if not row.group]
    return [row for row in overall if row.primary] or overall[:1]


def _whole(row: ComparedMeasure, comparison: Comparison, named: bool) -> str:
    on = f" on {lowered(row.title)}" if named else ""
    second, first = comparison.second, comparison.first
    interval = row.paired.interval
    many = f" (adjusted for {row.family} comparisons)" if row.family > 1 else ""
    if row.verdict in ("better", "worse"):
        reverse = row.paired.difference < 0
        size = amount(row.paired.difference, row.unit, interval=interval)
        size += f" {bracketed_interval(interval, row.unit, reverse)}"
        said = f"{second} is {row.verdict} than {first}{on} by {size}{many}"
    elif row.verdict == "differs":
        size = f"{_signed(row)} {bracketed_interval(interval, row.unit)}"
        said = f"{second} differs from {first}{on} by {size}{many}"
    elif row.verdict == "equivalent" and row.margin is not None:
        seen = f"a difference of {_signed(row)} {bracketed_interval(interval, row.unit)}{many}"
        said = f"{second} and {first} are the same{on} within {amount(row.margin, row.unit)}: {seen}"
    elif row.verdict == "too few":
        said = f"{second} against {first}{on}: {_count(row.paired.clusters)} too few to tell"
    else:
        seen = f"a difference of {_signed(row)} {bracketed_interval(interval, row.unit)}{many}"
        said = f"the data cannot tell {second} from {first}{on}: {seen}{_would(row)}"
    return said + failed_text(row)


def failed_text(row: ComparedMeasure) -> str:
    """What the failed items could change; empty if they cannot change the verdict."""
    if not row.with_failed:
        return ""
    items = "the failed item" if row.failed == 1 else f"the {row.failed} failed items"
    return f", but {items} could change this to “{'” or “'.join(row.with_failed)}”"


def _signed(row: ComparedMeasure) -> str:
    return signed_amount(row.paired.difference, row.unit, interval=row.paired.interval)


def _would(row: ComparedMeasure) -> str:
    if row.detectable is None:
        return ""
    size = amount(row.detectable, row.unit, interval=row.paired.interval)
    return f", where {row.paired.items} items could detect {size} or more"


def _groups(rows: Sequence[ComparedMeasure]) -> list[str]:
    parts = []
    for verdict in ("better", "worse"):
        found = [row for row in rows if row.verdict == verdict]
        if found:
            parts.append(f"{verdict} on " + listed([_level(row) for row in found]))
    differing = [row for row in rows if row.verdict == "differs"]
    if differing:
        parts.append("they differ on " + listed([_level(row, signed=True) for row in differing]))
    open_rows = [row for row in rows if row.verdict == "cannot tell" and row.detectable is not None]
    if open_rows and len(open_rows) <= 8:
        sizes = [row.detectable for row in open_rows if row.detectable is not None]
        widest = max((row.paired.interval for row in open_rows), key=_width)
        low, high = (amount(size, open_rows[0].unit, interval=widest) for size in (min(sizes), max(sizes)))
        reach = high if low == high else f"{low.removesuffix('s').removesuffix(' point')} to {high}"
        names = listed([_name(row) for row in open_rows])
        parts.append(f"on {names} the data cannot tell: they could detect {reach} or more")
    elif open_rows:
        parts.append(f"on {len(open_rows)} other groups the data cannot tell")
    return parts


def _level(row: ComparedMeasure, signed: bool = False) -> str:
    """One level with the size of its difference; `signed` keeps the sign, for measures without a better direction."""
    reverse = row.paired.difference < 0 and not signed
    size = _signed(row) if signed else amount(row.paired.difference, row.unit, interval=row.paired.interval)
    return f"{_name(row)} by {size} {bracketed_interval(row.paired.interval, row.unit, reverse)}"


def _width(interval: Interval) -> float:
    return 0.0 if interval.low is None or interval.high is None else interval.high - interval.low


def _name(row: ComparedMeasure) -> str:
    words = [level if len(level) > 2 else f"{facet} {level}" for facet, level in row.group.items()]
    return " ".join(words).replace("_", " ")


def _count(clusters: int) -> str:
    return "no items are" if clusters == 0 else "1 cluster is" if clusters == 1 else f"{clusters} clusters are"


LEVELS_AT_MOST = 40
"""Facets with more levels are not compared by level."""


def compare(candidates: Sequence[AnyRun], terms: Terms | None = None) -> tuple[Comparison, ...]:
    """Every candidate against the first one of the same instrument and task, in the given order."""
    found: list[Comparison] = []
    asked = terms or Terms()
    together = [members for members in _by_task(candidates) if len(members) > 1]
    margins = asked.margins(card for members in together for card in _means(members[0])) if together else {}
    for members in together:
        found += _against_first(members, asked, margins)
    if not found:
        labels = ", ".join(sorted({f"{c.subject} ({c.card.name}/{c.task})" for c in candidates})) or "none"
        raise UsageError(
            f"nothing to compare: no two of the given runs have the same task ({labels}). "
            "Give two runs of the same instrument; 'sociometer runs' lists them."
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
        beside = [c for c in candidates if c.card.name == first.card.name and c.subject not in having]
        elsewhere = [c for c in candidates if c.card.name != first.card.name and not {c.subject, c.name} & having]
        lacking = dict.fromkeys(candidate.subject for candidate in (*beside, *elsewhere))
        found += [_between(first, label, refused=f"{label} has no run of this task") for label in lacking]
    return tuple(found)


def _by_task(candidates: Sequence[AnyRun]) -> list[list[AnyRun]]:
    """The candidates of each task of each instrument."""
    groups: dict[tuple[str, str], list[AnyRun]] = {}
    for candidate in candidates:
        groups.setdefault((candidate.card.name, candidate.task), []).append(candidate)
    return list(groups.values())


def _between(
    first: AnyRun,
    second: str,
    measures: tuple[ComparedMeasure, ...] = (),
    notes: tuple[str, ...] = (),
    refused: str = "",
) -> Comparison:
    """The comparison of two subjects on the task of the first, with its sentence."""
    card, task = first.card, first.task
    title = card.task_title(task)
    made = Comparison(card.name, card.title, task, title, first.subject, second, measures, "", notes, refused)
    return structs.replace(made, sentence=sentence_of(made))


def _means(candidate: AnyRun) -> list[MeasureCard]:
    """The measures of a task that are means over items."""
    return [measure for measure in candidate.card.measures_of(candidate.task) if measure.value]


def _against_first(
    members: Sequence[AnyRun], terms: Terms, margins: Mapping[tuple[str, str], float]
) -> list[Comparison]:
    """Every other candidate of a task against the first; the intervals of all of them hold together."""
    first = members[0]
    measures = _means(first)
    names = list(dict.fromkeys(measure.value for measure in measures))
    start = _Side(first, read_items(first, names))
    pairs = [_pair(start, _Side(second, read_items(second, names)), measures) for second in members[1:]]
    decided = iter(decide([row for pair in pairs for row in pair.rows], terms, margins))
    return [
        _between(first, second.subject, tuple(islice(decided, len(pair.rows))), pair.notes, pair.refused)
        for second, pair in zip(members[1:], pairs, strict=True)
    ]


class _Side(Struct, frozen=True):
    """One side of a comparison: the candidate and the items of its run."""

    candidate: AnyRun
    items: RunItems


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
    notes = [f"{side.subject}: {side.note}" for side in (one, two) if side.note]
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
        sides = (one, two)
        overall = _difference(measure, {}, tables, shared, range(len(shared.items)), sides)
        if measure.primary:
            overall = _with_failed(overall, first, second, shared)
            notes += _place(measure, tables, sides)
        overall, said = _by_people(overall, one, two, shared)
        rows.append(overall)
        notes += said
        if measure.primary:
            levels, single = _by_facets(measure, tables, shared, sides)
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
    judge = f"{number(first.judge, row.measure.unit)} and {number(second.judge, row.measure.unit)}"
    note = f"“{title}” is corrected by people's labels of {labels}; the judge alone says {judge}"
    names = {**first.shares, **second.shares}
    influence = {name: second.shares.get(name, 0.0) - first.shares.get(name, 0.0) for name in names}
    at = partial(_corrected_interval, first, second)
    return structs.replace(row, paired=paired, influence=influence, interval=at, failed=0, extremes=()), [note]


def _corrected_interval(first: Corrected, second: Corrected, level: float) -> Interval:
    return corrected_difference(first, second, level).interval


def _left_out(sides: tuple[_Side, _Side], shared: SharedItems) -> list[str]:
    notes = []
    for side, missing in zip(sides, shared.left_out, strict=True):
        label = side.candidate.subject
        if missing:
            notes.append(f"{missing} scored items of {label} are left out: the other has no score for them")
        if side.items.failed:
            notes.append(f"{side.items.failed} episodes of {label} failed and are not in the comparison")
    used = (name for side in sides for name in other_stand_ins(side.candidate.stand_ins))
    return [*notes, *(f"{name} is a stand-in, not a real model" for name in dict.fromkeys(used))]


def _by_facets(
    measure: MeasureCard,
    tables: tuple[Mapping[str, ItemValue], Mapping[str, ItemValue]],
    shared: SharedItems,
    sides: tuple[AnyRun, AnyRun],
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
                _difference(measure, {name: level}, tables, shared, places, sides) for level, places in several.items()
            ]
            if single := len(levels) - len(several):
                notes.append(
                    f"by {name.replace('_', ' ')}, {single} of {len(levels)} levels have one cluster and are left out"
                )
    return differences, notes


def shared_differences(
    measure: MeasureCard,
    tables: tuple[Mapping[str, ItemValue], Mapping[str, ItemValue]],
    shared: SharedItems,
    places: Sequence[int],
) -> Differences:
    """The item differences over some of the shared items; repeats are paired in order if both runs have as many."""
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
    return item_differences(one, two, clusters, items=items, binary=None if measure.unit == "share" else False)


def _difference(
    measure: MeasureCard,
    group: dict[str, str],
    tables: tuple[Mapping[str, ItemValue], Mapping[str, ItemValue]],
    shared: SharedItems,
    places: Sequence[int],
    sides: tuple[AnyRun, AnyRun],
) -> UncorrectedDifference:
    """The paired difference over some of the shared items; of a run that was looked at, one that holds at every look.

    If both were looked at, the looks of the one that was stopped earlier count.
    """
    found = shared_differences(measure, tables, shared, places)
    times = earliest(side.times for side in sides)
    crowds = _crowds(tables, sides, [shared.items[place] for place in places])
    influence = dict(found.influence())
    # other people would differ as well, and by the same amount in every comparison with them
    influence |= {sides[place].subject: (1, -1)[place == 0] * math.sqrt(one.added) for place, one in crowds.items()}
    paired, at = _with_people(found, crowds)
    paired = structs.replace(paired, p_value=repeated_p_value(paired.p_value, times))
    chance = common_chance(measure, [side.summary for side in sides])
    return UncorrectedDifference(measure, group, paired, influence, at, times=times, chance=chance)


def _crowds(
    tables: Sequence[Mapping[str, ItemValue]], sides: Sequence[AnyRun], items: Sequence[str]
) -> dict[int, PeopleMean]:
    """The means over people of the sides that are people, by place."""
    return {place: mean_over_people(tables[place], items) for place, side in enumerate(sides) if side.people}


def _with_people(
    found: Differences, crowds: Mapping[int, PeopleMean]
) -> tuple[PairedDifference, Callable[[float], Interval]]:
    """A difference and its interval at a level; if a side is people, over people too."""
    if not crowds:
        return found.summary(), found.interval
    paired, means = found.summary(), tuple(crowds.values())
    return with_people(paired, means, 0.95), lambda level: with_people(paired, means, level).interval


def _place(
    measure: MeasureCard,
    tables: tuple[Mapping[str, ItemValue], Mapping[str, ItemValue]],
    sides: tuple[AnyRun, AnyRun],
) -> list[str]:
    """A subject's place among people, in a sentence; nothing if both sides are people, or neither is."""
    if bool(sides[0].people) == bool(sides[1].people) or measure.better == "neither":
        return []
    crowd = 0 if sides[0].people else 1
    return [place_sentence(sides[1 - crowd].subject, measure, tables[crowd], tables[1 - crowd])]


def place_sentence(
    label: str, measure: MeasureCard, people: Mapping[str, ItemValue], subject: Mapping[str, ItemValue]
) -> str:
    """The place of a subject among people: “m is better than 26 of 42 people, 62 % [47, 75]”."""
    found = place_among(people, subject, -1.0 if measure.better == "lower" else 1.0)
    bounds = f" {bracketed_interval(found.interval, 'share')}" if not found.interval.too_few else ""
    return (
        f"“{measure.title}”: {label} is better than {found.better_than:g} of {found.people} people, each on the items"
        f" that they answered ({100 * found.share:.0f} %{bounds}; ties count half)"
    )


def _with_failed(row: UncorrectedDifference, first: _Side, second: _Side, shared: SharedItems) -> UncorrectedDifference:
    """The difference, with what it would be if the failed items counted at their worst and at their best.

    An item that one of the two has not played at all is not a failed one. Reference: Manski, C. F. (1989). Anatomy of
    the selection problem. Journal of Human Resources 24.
    """
    measure, sides = row.measure, (first.items, second.items)
    missing = lost_items([side.tables[measure.value] for side in sides], [side.lost for side in sides])
    tables = [side.tables[measure.value] for side in sides]
    crowds = _crowds(tables, (first.candidate, second.candidate), shared.items)
    found = failed_extremes(measure, sides, shared, row.paired.binary)
    failed = len(missing) + partly_failed(tables, shared.items)
    return structs.replace(row, failed=failed, extremes=tuple(_with_people(one, crowds)[1] for one in found))


def failed_extremes(
    measure: MeasureCard, sides: tuple[RunItems, RunItems], shared: SharedItems, binary: bool
) -> tuple[Differences, ...]:
    """The differences with the failed items at their worst and at their best for the second; empty without any."""
    low, high = measure.low, measure.high
    tables = sides[0].tables[measure.value], sides[1].tables[measure.value]
    missing = lost_items(tables, (sides[0].lost, sides[1].lost))
    partly = partly_failed(tables, shared.items)
    if low is None or high is None or not (missing or partly):
        return ()
    names = [*shared.items, *missing]
    clusters = [*shared.clusters, *missing.values()]
    ends = [(low, high), (high, low)] if measure.better == "lower" else [(high, low), (low, high)]
    return tuple(
        item_differences(
            with_failed(tables[0], names, of_first),
            with_failed(tables[1], names, of_second),
            clusters,
            binary=binary and not partly,
        )
        for of_first, of_second in ends
    )


def _repeats(one: ItemValue, two: ItemValue) -> list[tuple[float, float]]:
    if len(one.repeats) == len(two.repeats):
        return list(zip(one.repeats, two.repeats, strict=True))
    return [(one.value, two.value)]


FAMILIES = (
    "A verdict follows from the interval next to it. The intervals of a family hold together with the level asked for "
    "(max-t). Within a task, the primary measures of all pairs of runs are one family, the other measures are a second "
    "one, and every way of grouping one measure is another. Tasks and instruments are separate families."
)


class Column(Struct, frozen=True):
    """One column: its head, the cell of a row, and whether it is aligned right."""

    head: str
    of: Callable[[ComparedMeasure], Cell]
    right: bool = True


def observed_columns(comparison: Comparison) -> tuple[Column, ...]:
    """The observed values: both means, their difference with its interval, and what can be detected."""
    return (
        Column("measure", lambda row: row.title, right=False),
        Column("group", _group, right=False),
        Column(comparison.first, lambda row: number(row.paired.first, row.unit, interval=row.paired.interval)),
        Column(comparison.second, lambda row: number(row.paired.second, row.unit, interval=row.paired.interval)),
        Column("difference", lambda row: signed_amount(row.paired.difference, row.unit, interval=row.paired.interval)),
        Column("interval", lambda row: bracketed_interval(row.paired.interval, row.unit)),
        Column("adjusted for", lambda row: row.family if row.family > 1 else None),
        Column("could detect", _detectable),
    )


def tested_columns(comparison: Comparison) -> tuple[Column, ...]:
    """The other tests; equivalence appears only if a row has a margin."""
    rows = comparison.measures
    return (
        Column("p", lambda row: p_text(row.paired.p_value)),
        Column("p adjusted", lambda row: p_text(row.p_adjusted)),
        Column("effect", lambda row: None if row.paired.effect is None else round(row.paired.effect, 3)),
        *((Column("same within", _same),) if any(row.margin for row in rows) else ()),
        Column("items", lambda row: row.paired.items),
        Column("clusters", lambda row: row.paired.clusters),
    )


VERDICT = Column("verdict", lambda row: row.verdict, right=False)


def comparison_table(comparison: Comparison) -> Table:
    """One row for each measure and level, with all columns."""
    columns = (*observed_columns(comparison), *tested_columns(comparison), VERDICT)
    rows = tuple(tuple(column.of(row) for column in columns) for row in comparison.measures)
    title = f"{comparison.where}: {comparison.second} against {comparison.first}"
    note = "; ".join(comparison.notes)
    return Table("compare", title, tuple(column.head for column in columns), rows, note[:1].upper() + note[1:])


def _group(row: ComparedMeasure) -> str:
    return group_text({facet.replace("_", " "): level for facet, level in row.group.items()}) or "all"


def _detectable(row: ComparedMeasure) -> Cell:
    return None if row.detectable is None else amount(row.detectable, row.unit, interval=row.paired.interval)


def _same(row: ComparedMeasure) -> Cell:
    """The margin, and whether the interval lies within it."""
    interval = row.paired.interval
    if row.margin is None or interval.low is None or interval.high is None:
        return None
    inside = max(-interval.low, interval.high) < row.margin
    return f"{amount(row.margin, row.unit)}: {'yes' if inside else 'not shown'}"
