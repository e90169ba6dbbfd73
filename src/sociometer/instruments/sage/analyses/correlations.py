"""Correlations on two levels that must not be mixed: over models, and over dialogues within a scenario. Pure."""

from collections.abc import Mapping, Sequence
from math import sqrt

import numpy as np
from msgspec import Struct

from sociometer.core.measure import Interval
from sociometer.statistics.correlation import Correlation, fisher_interval, pearson
from sociometer.statistics.intervals import Floats

_NOTHING_LEFT = 1e-9


class Point(Struct, frozen=True):
    """One dialogue: its model, its scenario, and two numbers."""

    subject: str
    scenario: str
    first: float
    second: float


class Within(Struct, frozen=True):
    """Pearson's r of two numbers after subtracting their scenario's means."""

    r: float
    interval: Interval


class Levels(Struct, frozen=True):
    """The two correlations, each None if it cannot be computed."""

    over_models: Correlation | None
    within_scenarios: Within | None
    models: int
    dialogues: int


def correlate(points: Sequence[Point]) -> Levels:
    """Pearson over the models' means, and over dialogues after subtracting each scenario's and each model's mean.

    A scenario that only one model played, and a model with only one such scenario, do not count in the second.
    """
    by_subject: dict[str, list[Point]] = {}
    by_scenario: dict[str, list[Point]] = {}
    for point in points:
        by_subject.setdefault(point.subject, []).append(point)
        by_scenario.setdefault(point.scenario, []).append(point)
    means = {name: _means(members) for name, members in by_subject.items()}
    shared = [members for members in by_scenario.values() if len({point.subject for point in members}) > 1]
    dialogues = sum(map(len, shared))
    return Levels(_pearson(list(means.values()), list(means)), _within(shared), len(by_subject), dialogues)


def points_of(series: Sequence[Mapping[str, object]], first: str, second: str) -> list[Point]:
    """The points of two numbers out of a stored relationship summary's series."""
    return [
        Point(str(entry["subject"]), str(entry["scenario"]), _number(entry[first]), _number(entry[second]))
        for entry in series
        if first in entry and second in entry
    ]


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else float("nan")


def _means(members: Sequence[Point]) -> tuple[float, float]:
    count = len(members)
    return sum(point.first for point in members) / count, sum(point.second for point in members) / count


def _within(scenarios: Sequence[Sequence[Point]]) -> Within | None:
    """Pearson's r over dialogues after subtracting the means of scenarios and models from both numbers.

    Differences between whole models belong to the other level. Every mean costs a degree of freedom: N dialogues of S
    scenarios and M models tell as much as N - S - M + 2 points of one sample do, and the interval is theirs.
    """
    points = [point for members in scenarios for point in members]
    models = {point.subject for point in points}
    free = len(points) - len(scenarios) - len(models) + 2
    if free < 3:
        return None
    first, second = _centred(points).T
    spread = sqrt(float(first @ first) * float(second @ second))
    if spread < _NOTHING_LEFT:
        return None
    r = max(-1.0, min(1.0, float(first @ second) / spread))
    return Within(r, fisher_interval(r, free))


def _centred(points: Sequence[Point]) -> Floats:
    """Both numbers of every point without the means of its scenario and its model (residuals of both together)."""
    names = [(place, name) for place in ("scenario", "subject") for name in {getattr(each, place) for each in points}]
    design = np.array([[float(getattr(each, place) == name) for place, name in names] for each in points])
    both = np.array([(each.first, each.second) for each in points])
    return np.asarray(both - design @ np.linalg.lstsq(design, both, rcond=None)[0])


def _pearson(pairs: Sequence[tuple[float, float]], names: Sequence[str]) -> Correlation | None:
    if len(pairs) < 3:
        return None
    first, second = zip(*pairs, strict=True)
    try:
        return pearson(first, second, names)
    except ValueError:  # one of the two does not vary
        return None
