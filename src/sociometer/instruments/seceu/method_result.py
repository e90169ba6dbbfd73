"""A subject's result with one prompting method: score, EQ, percentiles and pattern, as the paper defines them."""

import math
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
from msgspec import Struct

from sociometer.core.measure import Interval
from sociometer.instruments.seceu.crossed_mean import crossed_mean
from sociometer.instruments.seceu.items import TOTAL, Scenario
from sociometer.instruments.seceu.norm import Norm, distance, evenness
from sociometer.instruments.seceu.people_energy import PeopleEnergy, people_energy
from sociometer.instruments.seceu.play import Allocated
from sociometer.statistics.correlation import Correlation, pearson
from sociometer.statistics.intervals import clustered_mean_interval

EVEN, UNREAD, SILENT = COMPARED = ("even allocation", "4, 3, 2, 1 unread", "no answer")
BY_PLACE = (4.0, 3.0, 2.0, 1.0)
SMALLEST_PATTERN = 10
SMALLEST_SPREAD = 0.05  # standard scores are printed to two decimals: less spread than this is their rounding


class Answered(Struct, frozen=True):
    """One scenario: the points, averaged over repeats, and their distance from the standard."""

    scenario: str
    story: str
    options: tuple[str, ...]
    points: tuple[float, ...]
    standard: tuple[float, ...]
    distance: float
    draws: tuple[tuple[float, ...], ...] = ()
    """Every answer to the scenario; empty if there is one, the points."""


class ErrorSource(Struct, frozen=True):
    """A source of variation of the score: how many levels it has, and its standard error in points of distance."""

    source: str
    levels: float
    error: float


class MethodResult(Struct, frozen=True):
    """A subject with one prompting method."""

    method: str
    answers: tuple[Answered, ...]
    score: float
    interval: Interval
    gap: float | None
    """Mean difference from people's own distances on the same items; None without a norm."""
    eq: float | None
    eq_interval: Interval | None
    similarity: float | None
    similarity_p: float | None
    similarity_interval: Interval | None
    evenness: float | None
    standard_evenness: float
    nulls: float
    items: int
    readings: tuple[str, ...] = ()
    energy: PeopleEnergy | None = None
    """The answers against the distribution of people; None if the norm does not have it."""
    wordings: int = 1
    sources: tuple[ErrorSource, ...] = ()
    """What the interval covers, if repeats or wordings were run."""

    @property
    def failed(self) -> bool:
        """Return whether a majority of the answers is null, which the paper calls a failed test."""
        return self.nulls > self.items / 2

    @property
    def pattern(self) -> dict[str, float]:
        """Return the distance on each scenario."""
        return {answer.scenario: answer.distance for answer in self.answers}


def result_of(method: str, answers: Sequence[tuple[Scenario, Allocated]], norm: Norm | None) -> MethodResult:
    """Return the result of the answers with one prompting method; repeats of an item are averaged."""
    repeats: dict[str, list[tuple[Scenario, Allocated]]] = {}
    for item, outcome in answers:
        repeats.setdefault(item.scenario, []).append((item, outcome))
    averaged = tuple(_average(group) for group in repeats.values())
    nulls = sum(sum(not any(outcome.points) for _, outcome in group) / len(group) for group in repeats.values())
    readings = tuple(f"{outcome.rule} / {outcome.repair}" for _, outcome in answers)
    evens = [even for _, outcome in answers if (even := evenness(outcome.points)) is not None]
    made = _result(method, averaged, norm, nulls, readings, _mean(evens))
    return msgspec.structs.replace(made, sources=_sources(made, list(repeats.values())))


def result_over_wordings(
    method: str, wordings: Mapping[str, Sequence[tuple[Scenario, Allocated]]], norm: Norm | None
) -> MethodResult | None:
    """Return the mean over wordings of one prompt, with an interval over scenarios and wordings.

    Only scenarios that were played with every wording count; None if there are fewer than two.
    """
    shared = set.intersection(*({item.scenario for item, _ in answers} for answers in wordings.values()))
    if len(shared) < 2 or len(wordings) < 2:
        return None
    kept = [pair for answers in wordings.values() for pair in answers if pair[0].scenario in shared]
    made = result_of(method, kept, norm)
    order = [answer.scenario for answer in made.answers]
    table = [
        [
            _mean([distance(outcome.points, item.standard) for item, outcome in answers if item.scenario == name])
            or 0.0
            for answers in wordings.values()
        ]
        for name in order
    ]
    usual = [norm.template[name] if norm is not None else 0.0 for name in order]
    crossed = crossed_mean([[value - own for value in row] for row, own in zip(table, usual, strict=True)])
    sources = [ErrorSource("stories", len(order), crossed.item_error)]
    sources.append(ErrorSource("wordings", len(wordings), crossed.wording_error))
    sources.append(ErrorSource("answers and the rest", len(kept) / len(order), crossed.rest_error))
    interval = _not_negative(crossed.interval.scaled(1.0, math.fsum(usual) / len(usual)))
    eq_interval = made.eq_interval
    if norm is not None and made.eq is not None:
        slope = -15.0 / norm.deviation
        eq_interval = crossed.interval.scaled(slope, made.eq - slope * crossed.mean)
    return msgspec.structs.replace(
        made, interval=interval, eq_interval=eq_interval, wordings=len(wordings), sources=tuple(sources)
    )


def _sources(made: MethodResult, groups: Sequence[Sequence[tuple[Scenario, Allocated]]]) -> tuple[ErrorSource, ...]:
    """The sources of variation with repeats: the choice of scenarios and the answers; the interval covers both."""
    if max(map(len, groups), default=1) < 2 or len(groups) < 2:
        return ()
    distances = [[distance(outcome.points, item.standard) for item, outcome in group] for group in groups]
    within = [float(np.var(group, ddof=1)) / len(group) for group in distances if len(group) > 1]
    answers = math.sqrt(math.fsum(within) / len(within) / len(distances))
    whole = float(np.std([np.mean(group) for group in distances], ddof=1)) / math.sqrt(len(distances))
    stories = math.sqrt(max(0.0, whole**2 - answers**2))
    drawn = math.fsum(map(len, groups)) / len(groups)
    return ErrorSource("stories", len(groups), stories), ErrorSource("repeats", drawn, answers)


def hedger(result: MethodResult, norm: Norm | None) -> MethodResult:
    """Return the result of an even allocation on the same scenarios."""
    flat = tuple(_answer(answer, (TOTAL / len(answer.options),) * len(answer.options)) for answer in result.answers)
    return _result(EVEN, flat, norm, 0, (), 1.0)


def by_place(result: MethodResult, norm: Norm | None) -> MethodResult:
    """Return the result of writing 4, 3, 2, 1 down the list of options without reading."""
    listed = tuple(_answer(answer, BY_PLACE) for answer in result.answers)
    return _result(UNREAD, listed, norm, 0, (), evenness(BY_PLACE))


def silent(result: MethodResult, norm: Norm | None) -> MethodResult:
    """Return the result of giving no answer on the same scenarios."""
    empty = tuple(_answer(answer, (0.0,) * len(answer.options)) for answer in result.answers)
    return _result(SILENT, empty, norm, len(empty), (), None)


def _average(group: Sequence[tuple[Scenario, Allocated]]) -> Answered:
    item = group[0][0]
    points = tuple(float(value) for value in np.mean([outcome.points for _, outcome in group], axis=0))
    far = math.fsum(distance(outcome.points, item.standard) for _, outcome in group) / len(group)
    draws = tuple(outcome.points for _, outcome in group) if len(group) > 1 else ()
    return Answered(item.scenario, item.story, item.options, points, item.standard, far, draws)


def _answer(answer: Answered, points: tuple[float, ...]) -> Answered:
    far = distance(points, answer.standard)
    return Answered(answer.scenario, answer.story, answer.options, points, answer.standard, far)


def _result(
    method: str,
    answers: tuple[Answered, ...],
    norm: Norm | None,
    nulls: float,
    readings: tuple[str, ...],
    even: float | None,
) -> MethodResult:
    distances = [answer.distance for answer in answers]
    score = math.fsum(distances) / len(distances)
    standard_even = [value for answer in answers if (value := evenness(answer.standard)) is not None]
    gap, interval, eq, eq_interval = _against_people(answers, score, norm)
    pattern = _pattern(answers, norm)
    return MethodResult(
        method=method,
        answers=answers,
        score=score,
        interval=interval,
        gap=gap,
        eq=eq,
        eq_interval=eq_interval,
        similarity=None if pattern is None else pattern.r,
        similarity_p=None if pattern is None else pattern.p_value,
        similarity_interval=None if pattern is None else pattern.interval,
        evenness=even,
        standard_evenness=_mean(standard_even) or 0.0,
        nulls=nulls,
        items=len(answers),
        readings=readings,
        energy=people_energy({answer.scenario: answer.draws or (answer.points,) for answer in answers}, norm),
    )


def _against_people(
    answers: Sequence[Answered], score: float, norm: Norm | None
) -> tuple[float | None, Interval, float | None, Interval | None]:
    """The gap to people, and its intervals from a bootstrap over items.

    The items are fixed and the norm is for these very items, so the bootstrap resamples the subject's
    differences from people on each item: hard items are hard for both, and resampling distances alone would
    count that as chance.
    """
    if norm is None:
        return (
            None,
            _not_negative(clustered_mean_interval([answer.distance for answer in answers], binary=False)),
            None,
            None,
        )
    people = [norm.template[answer.scenario] for answer in answers]
    gaps = [answer.distance - usual for answer, usual in zip(answers, people, strict=True)]
    gap = math.fsum(gaps) / len(gaps)
    usual = math.fsum(people) / len(people)
    whole = len(answers) == len(norm.standards)
    around = clustered_mean_interval(gaps, binary=False)
    # The printed mean is rounded; on all items the paper's own formula holds, on some the gap stands in for it.
    eq = norm.eq(score) if whole else norm.eq(norm.mean + gap)
    slope = -15.0 / norm.deviation
    return gap, _not_negative(around.scaled(1.0, usual)), eq, around.scaled(slope, eq - slope * gap)


def _not_negative(interval: Interval) -> Interval:
    """A distance cannot be below zero, though the bootstrap's widened end can."""
    if interval.low is None or interval.low >= 0:
        return interval
    return Interval(0.0, interval.high, interval.level, interval.method, interval.clusters)


def _pattern(answers: Sequence[Answered], norm: Norm | None) -> Correlation | None:
    if norm is None or len(answers) < SMALLEST_PATTERN:
        return None
    distances = [answer.distance for answer in answers]
    people = [norm.template[answer.scenario] for answer in answers]
    if np.ptp(distances) < SMALLEST_SPREAD or np.ptp(people) < SMALLEST_SPREAD:
        return None
    return pearson(distances, people)


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None
