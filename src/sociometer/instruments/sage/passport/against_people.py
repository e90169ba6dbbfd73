"""The simulator against people: what it adds to the floor, and where it is kinder, more compliant or flatter."""

import math
from collections.abc import Iterable, Sequence
from statistics import fmean

import numpy as np
from msgspec import Struct

from sociometer.core.measure import Cell, Interval, Table
from sociometer.core.words import grouped
from sociometer.instruments.sage.passport import criterion
from sociometer.instruments.sage.passport.floor import (
    PersonState,
    correlation_of_centred,
    partial_correlation,
    people_table,
    predicted,
)
from sociometer.instruments.sage.passport.jackknife import Floats, Used, correlation_interval, interval_of
from sociometer.instruments.sage.passport.people import PersonAnswer, PersonProbe
from sociometer.instruments.sage.passport.talks import SCALES, Report
from sociometer.statistics.formatting import estimate, number
from sociometer.statistics.intervals import cluster_codes

NO_INTERVAL = Interval(None, None)
_SHOWN_TURNS = 8
"""Later turns are one row of the curve."""


class JudgedTurn(Struct, frozen=True):
    """A turn of a person's talk: what the person reported, and the simulator for this and for another reply."""

    person: str
    talk: str
    subject: str
    state: PersonState
    reported: float
    judged: float | None
    """None if the answer could not be read."""
    other: float | None = None
    other_length: int = 0
    has_other: bool = True
    preferred: bool | None = None


class JudgedEnd(Struct, frozen=True):
    """The end of a talk: the relief that the person reported, and the simulator's; None if it was not readable."""

    person: str
    failed: bool
    relief: float
    judged: float | None


class Value(Struct, frozen=True):
    """A number with its interval over people."""

    value: float | None
    interval: Interval = NO_INTERVAL

    @property
    def low(self) -> float:
        """The lower bound; minus infinity without one."""
        return -math.inf if self.interval.low is None else self.interval.low

    @property
    def high(self) -> float:
        """The upper bound; infinity without one."""
        return math.inf if self.interval.high is None else self.interval.high


class AtTurn(Struct, frozen=True):
    """The mean reports at one turn."""

    turn: str
    turns: int
    people: float
    simulator: float


class Relief(Struct, frozen=True):
    """The mean relief at the end of successful and of failed talks, and whether the simulator tells them apart."""

    succeeded: int
    failed: int
    people_succeeded: float | None
    people_failed: float | None
    simulator_succeeded: float | None
    simulator_failed: float | None
    noticed: Value
    """The probability that a failed talk gets less relief from the simulator than a successful one."""
    people_noticed: float | None
    """The same of the people's own relief."""
    r: Value
    """The correlation of the simulator's relief with the people's."""


class AgainstPeople(Struct, frozen=True, kw_only=True):
    """Everything that was found about a simulator against the people of one study."""

    study: str
    report: Report
    people: int
    talks: int
    turns: int
    first_turns: int
    unreadable: float
    """The share of all answers about these people that could not be read."""
    previous: float | None
    """The correlation of the previous report with the next one."""
    floor: float | None
    """The correlation of the reports with those that the state predicts."""
    added: Value
    """The partial correlation of the simulator's reports with the people's, given the state."""
    another: Value
    """The same of the difference between the reports for the reply and for another one in its place."""
    halves: float | None
    """The ceiling: the correlation of the people's means over odd and even turns of a talk."""
    whole: float | None
    """The same for whole talks (Spearman-Brown)."""
    talk_means: Value
    """The correlation of the simulator's talk means with the people's."""
    kindness: Value
    """The simulator's reports minus the people's, in points."""
    kindness_bounds: tuple[float, float]
    """The same with all unreadable answers at the low and at the high end."""
    compliance: Value
    """How fast that difference grows within a talk, in points a turn."""
    deviation: float
    """The standard deviation of the people's reports."""
    spread: float
    """The simulator's as a share of the people's."""
    used: tuple[tuple[int, float, float], ...]
    """How often people and the simulator gave each value of a short scale."""
    curve: tuple[AtTurn, ...]
    pairs: int = 0
    order: Value = Value(None)
    """The share of pairs of replies that the simulator orders as the person did; a tie is a half."""
    relief: Relief | None = None

    @property
    def line(self) -> str:
        """The agreement in words."""
        if self.added.value is None:
            reason = "its reports do not vary beyond what the state of the talk gives"
            return f"against the people of {self.study}: {reason} ({self.people} people)"
        added = estimate(self.added.value, "number", self.added.interval)
        return f"adds {added} to the floor against the people of {self.study} ({self.people} people)"


def turns_of(rows: Iterable[tuple[PersonProbe, PersonAnswer]]) -> tuple[list[JudgedTurn], list[JudgedEnd]]:
    """The turns and the ends of the talks that a simulator was asked about."""
    rows = list(rows)
    others = {item.turn_id: (item, out) for item, out in rows if item.asks == "other"}
    turns: list[JudgedTurn] = []
    ends: list[JudgedEnd] = []
    for item, out in rows:
        if item.asks == "report":
            other, answer = others.get(item.turn_id, (None, None))
            turns.append(
                JudgedTurn(
                    person=item.cluster,
                    talk=item.of_talk,
                    subject=item.subject,
                    state=item.state,
                    reported=float(item.reported),
                    judged=out.report,
                    other=answer.report if answer else None,
                    other_length=len(other.reply) if other else len(item.reply),
                    has_other=other is not None,
                    preferred=item.preferred,
                )
            )
        if item.asks == "intensity":
            before, after = item.intensity_before, item.intensity_after
            if before is not None and after is not None:
                judged = None if out.report is None else float(before - out.report)
                ends.append(JudgedEnd(item.cluster, item.failed, float(before - after), judged))
    return turns, ends


def examine_people(
    study: str,
    report: Report,
    turns: Sequence[JudgedTurn],
    ends: Sequence[JudgedEnd] = (),
    unreadable: float | None = None,
) -> AgainstPeople | None:
    """What the reports of a simulator say about it; None without any turn."""
    if not turns:
        return None
    low, high = SCALES[report]
    people = [turn.person for turn in turns]
    codes = cluster_codes(people, len(turns))[0]
    everything = np.ones(len(turns), dtype=bool)
    reported = np.array([turn.reported for turn in turns])
    table = people_table([turn.state for turn in turns], (low, high))
    expected = predicted(table, reported, people)
    judged = _filled([turn.judged for turn in turns], expected)
    gaps = judged - reported

    def mean_gap(used: Used) -> float | None:
        return float(gaps[used].mean())

    missing = np.array([turn.judged is None for turn in turns])
    if unreadable is None:
        unreadable = float(missing.mean())
    floor = correlation_of_centred(reported - reported.mean(), expected - expected.mean())
    halves = _halves(turns)
    deviation = float(reported.std())
    return AgainstPeople(
        study=study,
        report=report,
        people=len(set(people)),
        talks=len({turn.talk for turn in turns}),
        turns=len(turns),
        first_turns=sum(not turn.state.earlier for turn in turns),
        unreadable=unreadable,
        previous=_previous(turns),
        floor=floor,
        added=Value(*_partial(judged, reported, table, codes)),
        another=_another(turns, judged, reported, table, codes),
        halves=halves,
        whole=None if halves is None else 2 * halves / (1 + halves),
        talk_means=_talk_means(turns, judged),
        kindness=Value(*interval_of(mean_gap, codes, everything, "people")),
        kindness_bounds=(
            float(np.where(missing, low, judged).mean() - reported.mean()),
            float(np.where(missing, high, judged).mean() - reported.mean()),
        ),
        compliance=_compliance(turns, gaps, codes),
        deviation=deviation,
        spread=float(judged.std()) / deviation if deviation else math.nan,
        used=_used(judged, reported, low, high),
        curve=_curve(turns, judged),
        pairs=sum(turn.preferred is not None for turn in turns),
        order=_order(turns, codes),
        relief=_relief(ends),
    )


def _filled(values: Sequence[float | None], expected: Floats) -> Floats:
    """The simulator's reports; one that could not be read is what the state predicts, so that it adds nothing."""
    return np.array(
        [given if value is None else value for value, given in zip(values, expected, strict=True)], dtype=np.float64
    )


def _partial(judged: Floats, reported: Floats, table: Floats, codes: np.ndarray) -> tuple[float | None, Interval]:
    def partial(used: Used) -> float | None:
        return partial_correlation(judged[used], reported[used], table[used])

    return correlation_interval(partial, codes, np.ones(judged.size, dtype=bool), "people")


def _another(turns: Sequence[JudgedTurn], judged: Floats, reported: Floats, table: Floats, codes: np.ndarray) -> Value:
    """The partial correlation of the difference to another reply, on the turns that have one."""
    asked = np.array([turn.has_other for turn in turns])
    if not asked.any():
        return Value(None)
    difference = np.zeros(len(turns))
    for place, turn in enumerate(turns):
        if turn.judged is not None and turn.other is not None:
            difference[place] = judged[place] - turn.other
    size = np.log1p([turn.other_length for turn in turns])
    wider = np.column_stack([table, size, size**2])
    return Value(*_partial(difference[asked], reported[asked], wider[asked], codes[asked]))


def _previous(turns: Sequence[JudgedTurn]) -> float | None:
    later = [turn for turn in turns if turn.state.earlier]
    if len(later) < 3:
        return None
    before = np.array([float(turn.state.earlier[-1]) for turn in later])
    after = np.array([turn.reported for turn in later])
    return correlation_of_centred(before - before.mean(), after - after.mean())


def _halves(turns: Sequence[JudgedTurn]) -> float | None:
    reports = grouped((turn.talk, turn.reported) for turn in turns)
    halves = [(fmean(of[::2]), fmean(of[1::2])) for of in reports.values() if len(of) > 1]
    if len(halves) < 3:
        return None
    odd, even = np.array(halves).T
    return correlation_of_centred(odd - odd.mean(), even - even.mean())


def _talk_means(turns: Sequence[JudgedTurn], judged: Floats) -> Value:
    pairs = zip(turns, judged.tolist(), strict=True)
    by_talk = grouped(((turn.person, turn.talk), (value, turn.reported)) for turn, value in pairs)
    people = [person for person, _ in by_talk]
    means = np.array([np.mean(values, axis=0) for values in by_talk.values()])
    codes = cluster_codes(people, len(people))[0]

    def correlation(used: Used) -> float | None:
        mine, theirs = (means[used] - means[used].mean(axis=0)).T
        return correlation_of_centred(mine, theirs)

    every = np.ones(len(people), dtype=bool)
    return Value(*correlation_interval(correlation, codes, every, "people"))


def _compliance(turns: Sequence[JudgedTurn], gaps: Floats, codes: np.ndarray) -> Value:
    """The slope of the difference over the turns, within talks."""
    talks = cluster_codes([turn.talk for turn in turns], len(turns))[0]
    sizes = np.bincount(talks)
    number = np.array([float(turn.state.turn) for turn in turns])
    number -= (np.bincount(talks, weights=number) / sizes)[talks]
    within = gaps - (np.bincount(talks, weights=gaps) / sizes)[talks]

    def slope(used: Used) -> float | None:
        width = float(number[used] @ number[used])
        return float(number[used] @ within[used]) / width if width else None

    return Value(*interval_of(slope, codes, np.ones(len(turns), dtype=bool), "people"))


def _used(judged: Floats, reported: Floats, low: int, high: int) -> tuple[tuple[int, float, float], ...]:
    if high - low > 10:
        return ()
    rounded = np.round(judged)
    return tuple(
        (value, float((reported == value).mean()), float((rounded == value).mean())) for value in range(low, high + 1)
    )


def _curve(turns: Sequence[JudgedTurn], judged: Floats) -> tuple[AtTurn, ...]:
    rows: list[tuple[int, tuple[float, float]]] = []
    for turn, value in zip(turns, judged.tolist(), strict=True):
        rows.append((min(turn.state.turn, _SHOWN_TURNS), (turn.reported, value)))
    curve: list[AtTurn] = []
    for shown, pairs in sorted(grouped(rows).items()):
        name = f"{shown} and later" if shown == _SHOWN_TURNS else f"{shown}"
        people, simulator = (fmean(values) for values in zip(*pairs, strict=True))
        curve.append(AtTurn(name, len(pairs), people, simulator))
    return tuple(curve)


def _order(turns: Sequence[JudgedTurn], codes: np.ndarray) -> Value:
    """The share of pairs of replies that the simulator orders as the person did; a tie is a half."""
    right = np.full(len(turns), np.nan)
    for place, turn in enumerate(turns):
        if turn.preferred is None:
            continue
        right[place] = criterion.CHANCE
        if turn.judged is not None and turn.other is not None and turn.judged != turn.other:
            right[place] = float((turn.judged > turn.other) == turn.preferred)
    asked = ~np.isnan(right)
    if not asked.any():
        return Value(None)

    def share(used: Used) -> float | None:
        return float(right[used].mean())

    return Value(*interval_of(share, codes, asked, "people"))


def _relief(ends: Sequence[JudgedEnd]) -> Relief | None:
    if not ends:
        return None
    failed = np.array([end.failed for end in ends])
    mine = np.array([math.nan if end.judged is None else end.judged for end in ends])
    theirs = np.array([end.relief for end in ends])
    codes = cluster_codes([end.person for end in ends], len(ends))[0]
    every = np.ones(len(ends), dtype=bool)

    def noticed(used: Used) -> float | None:
        return less_relief(mine[used & failed], mine[used & ~failed])

    def correlation(used: Used) -> float | None:
        readable = used & ~np.isnan(mine)
        if readable.sum() < 3:
            return None
        ours, people = mine[readable], theirs[readable]
        return correlation_of_centred(ours - ours.mean(), people - people.mean())

    return Relief(
        succeeded=int((~failed).sum()),
        failed=int(failed.sum()),
        people_succeeded=_mean_of(theirs[~failed]),
        people_failed=_mean_of(theirs[failed]),
        simulator_succeeded=_mean_of(mine[~failed]),
        simulator_failed=_mean_of(mine[failed]),
        noticed=Value(*interval_of(noticed, codes, every, "talks")),
        people_noticed=less_relief(theirs[failed], theirs[~failed]),
        r=Value(*correlation_interval(correlation, codes, every, "talks")),
    )


def _mean_of(values: Floats) -> float | None:
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else None


def less_relief(failed: Floats, succeeded: Floats) -> float | None:
    """The probability that a failed talk has less relief; a tie or an unreadable answer is a half."""
    if not failed.size or not succeeded.size:
        return None
    gaps = succeeded[None, :] - failed[:, None]
    below = np.where(np.isnan(gaps) | (gaps == 0), criterion.CHANCE, (gaps > 0).astype(np.float64))
    return float(below.mean())


def verdict(findings: AgainstPeople) -> tuple[list[str], list[str]]:
    """Why the simulator is not a person, and why it is used with care, by the criterion."""
    not_a_person: list[str] = []
    care: list[str] = []
    unread = f"{number(findings.unreadable, 'share')} of its answers about people are unreadable"
    if findings.unreadable > criterion.NOT_UNREADABLE:
        not_a_person.append(unread)
    elif findings.unreadable > criterion.CARE_UNREADABLE:
        care.append(unread)
    few_people = findings.people < criterion.FEWEST_PEOPLE
    if few_people or findings.turns < criterion.FEWEST_PEOPLE_TURNS:
        care.append(f"compared with too few people ({findings.people}; {findings.turns} turns)")
        return not_a_person, care
    if findings.added.value is None or findings.added.low <= 0:
        not_a_person.append("it adds nothing to what predicts people's reports without the reply")
    elif findings.another.value is None or findings.another.low <= 0:
        not_a_person.append("it follows people's reports no better with their reply than with another one")
    elif findings.added.value < criterion.CARE_PEOPLE:
        care.append(
            f"given the state of the talk, its reports follow people's own only with r = {findings.added.value:.2f}"
        )
    _judge_kindness(findings, not_a_person, care)
    _judge_compliance(findings, care)
    if findings.spread < criterion.CARE_NARROW or findings.spread > criterion.CARE_WIDE:
        care.append(f"its reports spread {findings.spread:.1f} times as far as people's")
    if findings.pairs >= criterion.FEWEST_PAIRS and findings.order.low <= criterion.CHANCE:
        care.append("of two replies it does not reliably prefer the one that people prefer")
    if findings.relief and _misses_failures(findings.relief):
        care.append("it does not notice that a talk failed")
    return not_a_person, care


def _misses_failures(relief: Relief) -> bool:
    known = min(relief.failed, relief.succeeded)
    return known >= criterion.FEWEST_ENDINGS and relief.noticed.low <= criterion.CHANCE


def _judge_kindness(findings: AgainstPeople, not_a_person: list[str], care: list[str]) -> None:
    kindness = findings.kindness
    if kindness.value is None:
        return
    nearest = max(kindness.low, -kindness.high) / findings.deviation if findings.deviation else 0.0
    points = number(abs(kindness.value), "number")
    direction = "kinder" if kindness.value > 0 else "harsher"
    reason = f"it is {points} points {direction} than people"
    if nearest > criterion.NOT_KINDNESS:
        not_a_person.append(reason)
    elif nearest > criterion.CARE_KINDNESS:
        care.append(reason)


def _judge_compliance(findings: AgainstPeople, care: list[str]) -> None:
    slope = findings.compliance
    low, high = SCALES[findings.report]
    if slope.value is None or abs(slope.value) < criterion.CARE_COMPLIANCE * (high - low):
        return
    if slope.low > 0:
        care.append(f"it becomes {slope.value:.2f} points a turn kinder than people")
    if slope.high < 0:
        care.append(f"it becomes {-slope.value:.2f} points a turn harsher than people")


def tables(findings: AgainstPeople) -> list[Table]:
    """The findings as tables of the passport."""
    shown = [_main_table(findings), _curve_table(findings)]
    if findings.used:
        shown.append(_used_table(findings))
    if findings.relief:
        shown.append(_relief_table(findings.relief))
    return shown


def two_decimals(value: float | None) -> str | None:
    """A number without an interval."""
    return None if value is None else f"{value:.2f}"


def _main_table(findings: AgainstPeople) -> Table:
    def shown(value: Value, unit: str = "number") -> str:
        return estimate(value.value, unit, value.interval)

    rows: list[tuple[Cell, ...]] = [
        ("people", findings.people),
        ("talks", findings.talks),
        ("turns (first turns)", f"{findings.turns} ({findings.first_turns})"),
        ("unreadable answers", number(findings.unreadable, "share")),
        ("r of the previous report alone", two_decimals(findings.previous)),
        ("floor: r of the state", two_decimals(findings.floor)),
        ("added part: r given the state", shown(findings.added)),
        ("r of the difference to another reply, given the state", shown(findings.another)),
        ("ceiling: r of odd and even turns", two_decimals(findings.halves)),
        ("the same for whole talks", two_decimals(findings.whole)),
        ("r of the simulator's talk means with people's", shown(findings.talk_means)),
        ("kindness: simulator minus people, points", shown(findings.kindness)),
        ("compliance: points a turn", shown(findings.compliance)),
        ("standard deviation of people's reports", two_decimals(findings.deviation)),
        ("spread: the simulator's as a share of it", two_decimals(findings.spread)),
    ]
    low, high = findings.kindness_bounds
    if low != high:
        bounds = f"{number(low, 'number')} to {number(high, 'number')}"
        rows.insert(-3, ("the same, all unreadable answers low or high", bounds))
    if findings.pairs:
        rows.append(("pairs of replies", findings.pairs))
        rows.append(("pairs in the person's order", shown(findings.order, "share")))
    note = (
        "State: what the earlier reports, the turn and the length of the reply predict, fitted on"
        " other people. An unreadable answer counts as what the state predicts. Another reply: one"
        " that another person got to the same task."
    )
    title = f"Against the people of study {findings.study} ({findings.report})"
    return Table("people", title, ("what", "value"), tuple(rows), note=note)


def _curve_table(findings: AgainstPeople) -> Table:
    rows = tuple(
        (each.turn, each.turns, each.people, each.simulator, each.simulator - each.people) for each in findings.curve
    )
    columns = ("turn", "reports", "people", "simulator", "difference")
    return Table("compliance", f"Mean {findings.report} by turn", columns, rows)


def _used_table(findings: AgainstPeople) -> Table:
    columns = (findings.report, "people", "simulator")
    units = {"people": "share", "simulator": "share"}
    return Table("spread", "How often each value is given", columns, findings.used, units=units)


def _relief_table(findings: Relief) -> Table:
    noticed = estimate(findings.noticed.value, "share", findings.noticed.interval)
    people_noticed = number(findings.people_noticed, "share")
    rows: tuple[tuple[Cell, ...], ...] = (
        ("talks that succeeded", findings.succeeded, findings.succeeded),
        ("mean relief", findings.people_succeeded, findings.simulator_succeeded),
        ("talks that failed", findings.failed, findings.failed),
        ("mean relief of these", findings.people_failed, findings.simulator_failed),
        ("a failed talk has less relief", people_noticed, noticed),
        ("r with people's relief", None, estimate(findings.r.value, "number", findings.r.interval)),
    )
    note = "Relief: intensity of the feeling before the talk minus after it. A tie is a half."
    return Table("relief", "Relief at the end", ("what", "people", "simulator"), rows, note=note)
