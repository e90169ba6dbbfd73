"""The result of a subject with one prompting method, and of answers given without reading on the same items."""

import math
from collections.abc import Mapping, Sequence
from statistics import fmean

import msgspec
import numpy as np
from msgspec import Struct

from sociometer.core.measure import Interval
from sociometer.core.words import grouped
from sociometer.instruments.seceu.items import Scenario
from sociometer.instruments.seceu.norm import Norm, band, evenness
from sociometer.instruments.seceu.play import Allocated
from sociometer.statistics.correlation import Correlation, pearson
from sociometer.statistics.item_values import ItemValue
from sociometer.statistics.people import interval_beside

EVEN, UNREAD, SILENT = "even allocation", "4, 3, 2, 1 unread", "no answer"
COMPARED = {EVEN: (2.5, 2.5, 2.5, 2.5), UNREAD: (4.0, 3.0, 2.0, 1.0), SILENT: (0.0, 0.0, 0.0, 0.0)}
"""Points that one can give to every story without reading it."""
Distances = Mapping[str, ItemValue]
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
    standard_evenness: float
    items: int
    evenness: float | None = None
    nulls: int = 0
    replies: int = 0
    readings: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        """Return whether a majority of the answers is null, which the paper calls a failed test."""
        return self.nulls > self.replies / 2

    @property
    def band(self) -> str:
        """Return the paper's word for the EQ; empty without one, and on too few items for an interval."""
        known = self.eq_interval is not None and self.eq_interval.low is not None
        return band(self.eq) if self.eq is not None and known else ""

    @property
    def pattern(self) -> dict[str, float]:
        """Return the distance on each scenario."""
        return {answer.scenario: answer.distance for answer in self.answers}


def result_of(
    method: str, answers: Sequence[tuple[Scenario, Allocated]], norm: Norm | None, people: Distances | None = None
) -> MethodResult:
    """Return the result with one prompting method, over repeats; those of `people` have intervals over people too."""
    repeats = grouped((item.scenario, (item, outcome)) for item, outcome in answers)
    spread = ((item.scenario, even) for item, given in answers if (even := evenness(given.points)) is not None)
    return msgspec.structs.replace(
        _result(method, tuple(_average(group) for group in repeats.values()), norm, people),
        evenness=_mean([fmean(even) for even in grouped(spread).values()]),
        nulls=sum(not any(outcome.points) for _, outcome in answers),
        replies=len(answers),
        readings=tuple(f"{outcome.rule} / {outcome.repair}" for _, outcome in answers),
    )


def unread_result(name: str, result: MethodResult, norm: Norm | None) -> MethodResult:
    """Return the result of the same points on every scenario of a result: those of this name in `COMPARED`."""
    points = COMPARED[name]
    given = tuple(
        msgspec.structs.replace(one, points=points, distance=math.dist(points, one.standard)) for one in result.answers
    )
    found, nulls = _result(name, given, norm), 0 if any(points) else len(given)
    return msgspec.structs.replace(found, evenness=evenness(points), nulls=nulls, replies=len(given))


def _average(group: Sequence[tuple[Scenario, Allocated]]) -> Answered:
    item = group[0][0]
    points = tuple(float(value) for value in np.mean([outcome.points for _, outcome in group], axis=0))
    far = math.fsum(math.dist(outcome.points, item.standard) for _, outcome in group) / len(group)
    return Answered(item.scenario, item.story, item.options, points, item.standard, far)


def _result(
    method: str, answers: tuple[Answered, ...], norm: Norm | None, people: Distances | None = None
) -> MethodResult:
    distances = [answer.distance for answer in answers]
    score = math.fsum(distances) / len(distances)
    standard_even = [value for answer in answers if (value := evenness(answer.standard)) is not None]
    gap, interval, eq, eq_interval = _against_people(answers, score, norm, people)
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
        standard_evenness=_mean(standard_even) or 0.0,
        items=len(answers),
    )


def _against_people(
    answers: Sequence[Answered], score: float, norm: Norm | None, people: Distances | None
) -> tuple[float | None, Interval, float | None, Interval | None]:
    """The gap to people, and its intervals from a bootstrap over items.

    The items are fixed and the norm is for these very items, so the bootstrap resamples the subject's
    differences from people on each item: hard items are hard for both, and resampling distances alone would
    count that as chance.
    """
    alone = {one.scenario: ItemValue(one.scenario, "", one.distance, (one.distance,), {}, b"") for one in answers}
    around = interval_beside(people or alone, norm.template if norm is not None else {}, people=bool(people))
    if norm is None:
        return None, _not_negative(around), None, None
    usual = math.fsum(norm.template[answer.scenario] for answer in answers) / len(answers)
    gap = score - usual
    whole = len(answers) == len(norm.standards)
    # The printed mean is rounded; on all items the paper's own formula holds, on some the gap stands in for it.
    eq = norm.eq(score) if whole else norm.eq(norm.mean + gap)
    slope = -15.0 / norm.deviation
    placed = (None, None) if norm.unreliable else (eq, norm.eq_interval(eq, around.scaled(slope, eq - slope * score)))
    return gap, _not_negative(around), *placed


def _not_negative(interval: Interval) -> Interval:
    """A distance cannot be below zero, though the bootstrap's widened end can."""
    return interval if interval.low is None else msgspec.structs.replace(interval, low=max(0.0, interval.low))


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
