"""Figures of the report itself: the profile over all instruments, and measures of an instrument that draws none."""

import math
from collections.abc import Callable, Mapping, Sequence
from textwrap import wrap

from msgspec import Struct

from sociometer.core.card import Card, MeasureCard
from sociometer.core.measure import Figure
from sociometer.core.task import AnyRun
from sociometer.core.words import counted, grouped, listed, plural, sentence
from sociometer.reporting.people import Crowd
from sociometer.results.profile import ProfileLine
from sociometer.results.verdicts import Comparison
from sociometer.statistics import formatting
from sociometer.statistics.chart_parts import ReferenceLine
from sociometer.statistics.charts import CurvePoint, Dot, curve_chart, dots_of, interval_chart
from sociometer.statistics.intervals import MINIMUM_CLUSTERS
from sociometer.statistics.people import histogram
from sociometer.store.stored_run import StoredRun

Lines = Sequence[ProfileLine]
Crowds = Mapping[str, Crowd]
Shared = Mapping[tuple[str, str, str], float]
LETTERS = 100
"""The maximum length of a line above a chart, in letters."""


def profile_figure(lines: Sequence[ProfileLine]) -> Figure:
    """All primary measures on one scale, from chance to people, or to the top if the value of people is unknown."""
    placed = [line for line in lines if line.value is not None and line.position is not None]
    dots, goals = [], set()
    for line in placed:
        ends = (line.interval.low, line.interval.high) if line.interval else (None, None)
        low, high = sorted(line.placed(end) or 0.0 for end in ends) if None not in ends else (None, None)  # type: ignore[arg-type]
        goal = "people" if line.human is not None else "the top"
        goals.add(goal)
        name = f"to {goal} · {_name(line)}"
        dots.append(Dot(name, line.position or 0.0, low, high, line.subject, f"100 % is {goal}"))
    end = " or ".join(sorted(goals))
    references = [ReferenceLine("chance", 0.0), ReferenceLine(end or "people", 1.0)]
    chart = interval_chart(dots, title=f"from chance to {end}", references=references)
    caption = "Each measure on a scale from chance (0 %) to people, or to "
    caption += "the best possible score where that is unknown."
    left = dict.fromkeys(_name(line) for line in lines if line.value is not None and line.position is None)
    if left:
        without = f"Not shown, because the chance score is unknown: {', '.join(left)}."
        caption += f" {without}"
        chart["title"] = {"text": wrap(without, LETTERS), "fontSize": 11, "fontWeight": "normal", "anchor": "start"}
    return Figure("profile", "Profile over all instruments", caption, chart)


def _name(line: ProfileLine) -> str:
    name = line.instrument if line.measure_title == line.instrument else f"{line.instrument}: {line.measure_title}"
    return f"{name}, {line.item_set}".removesuffix(", ")


def measures_figure(card: Card, task: str, runs: Sequence[AnyRun]) -> Figure:
    """The primary measure of a task, overall and by group, for every subject."""
    primary = next((m for m in card.measures_of(task) if m.primary), None) or card.measures_of(task)[0]
    dots = dots_of(
        (formatting.group_text(measure.group) or "all", measure, run.subject)
        for run in runs
        if run.task == task
        for measure in run.summary.measures
        if measure.name == primary.name
    )
    # a group may have items with another number of options, and so another chance
    grouped = len({dot.label for dot in dots}) > 1
    chance = formatting.sure_chance(primary) if grouped else primary.chance
    lines = [ReferenceLine(name, at) for name, at in (("chance", chance), ("people", primary.human)) if at is not None]
    domain = (primary.low, primary.high) if primary.low is not None and primary.high is not None else None
    chart = interval_chart(dots, title=primary.title, unit=primary.unit, domain=domain, references=lines)
    return Figure(f"{task}-measures", primary.title, "", chart)


def run_figures(run: StoredRun) -> tuple[Figure, ...]:
    """The figures of a run: those of its instrument, and what a stopping rule saw."""
    draw, views = run.definition.figures, [run.summarised(task) for task in run.tasks]
    evidence = [found for view in views for found in evidence_figure(view)]
    return (*(draw(views) if draw else ()), *evidence)


def evidence_figure(run: AnyRun) -> list[Figure]:
    """The difference from a stored run that a rule saw after each block of items, with the interval that then held."""
    stopping = run.summary.stopping
    if stopping is None:
        return []
    measure = next(one for one in run.card.measures_of(run.task) if one.name == stopping.measure)
    in_points = measure.unit == "share"
    scale, unit = (100, "points") if in_points else (1, measure.unit)
    points = [
        CurvePoint(
            at.items, scale * at.value, run.subject, at.low and scale * at.low, at.high and scale * at.high, at.verdict
        )
        for at in stopping.looks
        if at.value is not None
    ]
    side = {"higher": ", higher is better", "lower": ", higher is worse"}.get(measure.better, "")
    title = f"{measure.title}: difference{' in points' * in_points}{side}"
    zero = [CurvePoint(point.x, 0.0) for point in points]
    noted = {"worse": "bad", "better": "ink"}
    chart = curve_chart(points, x_title="items played", y_title=title, unit=unit, truth=zero, noted=noted)
    return [Figure(f"{run.task}-{run.run}-evidence", "Evidence over items", f"{stopping}.", chart)]


CROWDED = 20
"""The end of a scale has no label if a mark is closer than this, in percent."""
CROWDED_NARROW = 52
"""The same for an instrument with several tasks, whose strips are narrow."""


class StripDot(Struct, frozen=True):
    """A subject on a strip; `at`, `low` and `high` are in percent of the width."""

    subject: str
    place: int
    """The index of the subject in the report, for its colour."""
    at: float | None
    low: float | None
    high: float | None
    text: str
    range_text: str
    caveat: str = ""
    beside: str = ""
    """The numbers of unreadable replies and failures, if there are any."""
    columns: tuple[tuple[float, float, float, int], ...] = ()
    """How the scores of people are distributed: left end, width and height in percent, and the number of people."""
    among: "StripMark | None" = None
    """The line through the columns of people: its value on the items that they have too."""

    @property
    def counts(self) -> list[tuple[int, int]]:
        """Round numbers of people, four at most, with their heights in percent: the axis of the columns."""
        most = max(column[3] for column in self.columns)
        step = next(size * 10**power for power in range(9) for size in (1, 2, 5) if most < 4 * size * 10**power)
        return [(count, round(100 * count / most)) for count in range(0, most + 1, step)]


class StripMark(Struct, frozen=True):
    """A reference value on a strip, such as chance or people."""

    name: str
    at: float
    text: str
    lower: bool = False
    """Whether its name goes below the name of another mark, which is close, or below the ends of the scale."""


class Strip(Struct, frozen=True):
    """The strip of one measure of one instrument."""

    instrument: str
    task: str
    """The title of the task, if the instrument was played with several; else empty."""
    measure: str
    ends: tuple[tuple[float, str], ...]
    """The numbers below it: the ends of the scale, and others on the way if there are columns of people."""
    better: str
    dots: tuple[StripDot, ...]
    marks: tuple[StripMark, ...]
    note: str = ""


def strips(
    lines: Sequence[ProfileLine],
    subjects: Sequence[str],
    cards: Sequence[Card],
    company: Mapping[str, str] | None = None,
    crowds: Sequence[Crowd] = (),
    comparisons: Sequence[Comparison] = (),
) -> tuple[Strip, ...]:
    """Strips in the order of the lines; the best subject of each first, two subjects in the given order.

    `company` names the models in the other roles of each run. Runs with another simulator or judge or other items are
    not on one scale and have strips of their own.
    """
    others = company or {}
    groups = grouped(
        ((one.instrument, one.task, one.measure, one.item_set, others.get(one.run, "")), one) for one in lines
    )
    by_name = {card.name: card for card in cards}
    beside = [one for one in comparisons if one.first_run in {crowd.of[0] for crowd in crowds}]
    shared = {(one.second_run, one.task, row.name): row.paired.second for one in beside for row in one.primary_rows}
    tasks = {name: len({(task, *apart) for of, task, _, *apart in groups if of == name}) for name in by_name}
    return tuple(
        _strip(
            sorted(members, key=_best_first) if len(subjects) > 2 else members,
            subjects,
            by_name[key[0]],
            tasks[key[0]],
            key[4] if sum(other[:4] == key[:4] for other in groups) > 1 else "",
            {one.run: crowd for crowd in crowds for one in members if crowd.of == (one.run, one.task, one.measure)},
            shared,
        )
        for key, members in groups.items()
    )


def difference_strips(comparison: Comparison, subjects: Sequence[str]) -> tuple[Strip, ...]:
    """The differences of two subjects overall, positive ones to the right; on one strip, one side is the better one."""
    found: list[Strip] = []
    first, second = comparison.first, comparison.second
    drawn = (row for row in comparison.measures if not row.group and (row.primary or row.paired.first or row.value))
    keyed = (((row.unit, row.better, row.unit == "number" and row.name), row) for row in drawn)
    for (unit, better, _), rows in grouped(keyed).items():
        most = max(abs(end) for row in rows for end in (row.value, row.low, row.high) if end is not None) or 1.0
        dots = []
        for row in rows:
            ends = (row.value, row.low, row.high)
            at, low, high = (None if end is None else round(50 + 49 * end / most, 2) for end in ends)
            size = formatting.signed_amount(row.value, unit, interval=row.paired.interval)
            bounds = formatting.bracketed_interval(row.paired.interval, unit, cluster=comparison.cluster)
            shown = row.title, subjects.index(second), at, low, high, size, f"{bounds}, {row.verdict_text}"
            dots.append(StripDot(*shown))
        title = "" if found else f"{second} minus {first}: to the right of 0, {second} is higher"
        left, right = (second, first) if better == "lower" else (first, second)
        word = "higher" if better == "neither" else "better"
        sides = (0.0, f"← {left} {word}"), (100.0, f"{right} {word} →")
        found.append(
            Strip(comparison.instrument, "", title, sides, "neither", tuple(dots), (StripMark("difference", 50, "0"),))
        )
    return tuple(found)


def _best_first(line: ProfileLine) -> tuple[bool, float]:
    value = line.value or 0.0
    return line.value is None, value if line.better == "lower" else -value


def _strip(
    members: Lines, subjects: Sequence[str], card: Card, tasks: int, company: str, crowds: Crowds, shared: Shared
) -> Strip:
    first = members[0]
    known = next(m for m in card.measures_of(first.task) if m.name == first.measure)
    drawn = [line for line in members if not line.unread]  # the score of no answers measures nothing
    low, high = _scale(drawn or members, known, [score for crowd in crowds.values() for score in crowd.scores])
    counts = {line.items for line in members}

    def place(value: float | None) -> float | None:
        return None if value is None else round(100 * min(1.0, max(0.0, (value - low) / (high - low))), 2)

    def among(line: ProfileLine) -> StripMark | None:
        value = shared.get((line.run, line.task, line.measure), line.value)
        if (at := place(value)) is None or line not in drawn or line.run in crowds:
            return None
        return StripMark(line.subject, at, formatting.number(value, line.unit, interval=line.interval))

    dots = tuple(
        StripDot(
            line.subject,
            subjects.index(line.subject),
            place(line.value if line in drawn else None),
            place(line.interval.low) if line.interval and line in drawn else None,
            place(line.interval.high) if line.interval and line in drawn else None,
            formatting.number(line.value, line.unit, interval=line.bounds),
            _around(line) + f" {counted(line.items, 'item')}" * (len(counts) > 1),
            "no mark: unreadable answers on most items"
            if line not in drawn
            else "stand-in"
            if line.baseline or formatting.subject_stand_in(line.stand_ins)
            else "",
            _beside(line),
            _columns(crowds[line.run], place) if line.run in crowds else (),
            among(line),
        )
        for line in members
    )
    # runs of different parts of the items may have more than one chance level; the strip then shows none
    chance = first.chance if len({line.chance for line in members}) == 1 else None
    references = (("chance", chance), ("norm" if known.on_norm else "people", first.human))
    placed = [(name, place(value) or 0.0, value) for name, value in references if value is not None]
    close = CROWDED if tasks == 1 else CROWDED_NARROW
    lower = known.on_norm or bool(crowds)
    marks = tuple(
        StripMark(
            name, at, formatting.number(value, first.unit), lower or (index > 0 and abs(at - placed[0][1]) < 2 * close)
        )
        for index, (name, at, value) in enumerate(placed)
    )
    # an end has no label if the label of a mark needs the space; beside people and their norm the mark gives way
    digits = 0 if (high - low) * formatting.scale_and_digits(first.unit)[0] >= 1 else 2
    both = [(end, formatting.number(end, first.unit, digits)) for end in (low, high)]
    axis = _axis(low, high, first.unit) if crowds else both
    texts = ((place(value) or 0.0, text) for value, text in axis)
    ends = tuple(one for one in texts if lower or all(abs(one[0] - mark.at) >= close for mark in marks))
    task = card.task_title(first.task) if tasks > 1 else ""
    items = counted(first.items, first.item_set.removesuffix("s") or "item")
    items = items if len(counts) == 1 else f"each on its own {first.item_set or 'items'}"
    measure = ", ".join(part for part in (first.measure_title, company, items) if part)
    note = _note(members, card.cluster_of(first.task))
    return Strip(card.name, task, measure, ends, first.better, dots, marks, note)


def _columns(crowd: Crowd, place: Callable[[float], float | None]) -> tuple[tuple[float, float, float, int], ...]:
    """The histogram of the scores of people: left end, width and height of each column, and how many people it has."""
    counts, edges = histogram(crowd.scores)
    ends, most = [place(edge) or 0.0 for edge in edges], max(counts)
    found = zip(ends[:-1], ends[1:], counts, strict=True)
    return tuple((low, round(high - low, 2), round(100 * count / most), count) for low, high, count in found if count)


def _axis(low: float, high: float, unit: str) -> list[tuple[float, str]]:
    """Round numbers on a scale, six at most, with their texts."""
    size = 10.0 ** math.floor(math.log10(high - low))
    step = next(size * part for part in (0.2, 0.5, 1, 2) if (high - low) / (size * part) < 6)
    digits = max(0, -math.floor(math.log10(step * formatting.scale_and_digits(unit)[0]) + 1e-9))
    places = range(math.ceil(low / step), math.floor(high / step) + 1)
    return [(step * place, formatting.number(step * place, unit, digits)) for place in places]


def _around(line: ProfileLine) -> str:
    """The interval of a value; empty if there are too few independent items, which is said once for the strip."""
    if line.bounds is None or line.value is None:
        return ""
    bounds = formatting.bracketed_interval(line.bounds, line.unit)
    return formatting.bounds_text(line.bounds, lambda *_: bounds, too_few="", same=bounds)


def _note(members: Lines, cluster: str) -> str:
    """What the notes of a strip's values say of people, as their error of measurement, and why it has no interval."""
    parts = {part for line in members for part in line.note.split("; ") if part.startswith("people's ")}
    told = sentence(parts.pop()) if len(parts) == 1 else ""
    return " ".join(filter(None, (told, _without_intervals(members, cluster))))


def _without_intervals(members: Lines, cluster: str) -> str:
    """Why values of a strip have no interval; empty if all have one."""
    few = [line for line in members if line.value is not None and line.interval is not None and line.interval.too_few]
    if not few:
        return ""
    most = max((line.interval for line in few if line.interval is not None), key=lambda one: one.clusters)
    what = most.scarce(cluster)
    if len(few) == len(members):
        return f"No intervals: {counted(most.clusters, what)} at most, and {MINIMUM_CLUSTERS} are needed."
    names = listed([line.subject for line in few], 2)
    return f"No interval for {names}: fewer than {MINIMUM_CLUSTERS} {plural(what)}."


def _beside(line: ProfileLine) -> str:
    counts = ((line.unreadable, "unreadable"), (line.errors, "failed"))
    roles = (one.partition(": ") for one in formatting.other_stand_ins(line.stand_ins))
    found = [f"{count} {what}" for count, what in counts if count]
    return ", ".join([*found, *(f"stand-in as {role} ({name})" for role, _, name in roles)])


def _scale(members: Sequence[ProfileLine], known: MeasureCard, scores: Sequence[float]) -> tuple[float, float]:
    """The range of the card, or of the values, chance, people and their scores with some space around them.

    The second applies if the card has no range, for a norm of people (to the next ten), whose ends are far from all
    values, and for the high end of a distance where all of them lie in its lower half.
    """
    seen = [value for line in members for value in (line.value, line.chance, line.human, line.top) if value is not None]
    seen += [
        end for line in members if line.interval for end in (line.interval.low, line.interval.high) if end is not None
    ]
    seen += scores
    low, high = (min(seen), max(seen)) if seen else (0.0, 1.0)
    space = (high - low) * 0.08 or abs(high) * 0.1 or 1.0
    if known.on_norm:
        return 10 * math.floor((low - space) / 10), 10 * math.ceil((high + space) / 10)
    first, last = known.low, known.high
    if known.better == "lower" and known.unit == "number" and first is not None and last is not None:
        last = None if 2 * (high + space - first) < last - first else last
    return low - space if first is None else first, high + space if last is None else last
