"""Correlations on two levels that must not be mixed: over models, and over dialogues within their scenario. Pure."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from sociometer.analysis.correlation import Correlation, pearson


class Point(Struct, frozen=True):
    """One dialogue: who, which scenario, and two numbers."""

    subject: str
    scenario: str
    first: float
    second: float


class Levels(Struct, frozen=True):
    """The two correlations, each None where it cannot be had."""

    over_models: Correlation | None
    within_scenarios: Correlation | None
    models: int
    dialogues: int


def correlate(points: Sequence[Point]) -> Levels:
    """Pearson over the models' means, and over dialogues after each scenario's own mean is taken off both numbers.

    A scenario that only one model met says nothing about models, and is left out of the second.
    """
    by_subject: dict[str, list[Point]] = {}
    by_scenario: dict[str, list[Point]] = {}
    for point in points:
        by_subject.setdefault(point.subject, []).append(point)
        by_scenario.setdefault(point.scenario, []).append(point)
    means = {name: _means(members) for name, members in by_subject.items()}
    centred: list[tuple[float, float]] = []
    for members in by_scenario.values():
        if len({point.subject for point in members}) > 1:
            first, second = _means(members)
            centred.extend((point.first - first, point.second - second) for point in members)
    return Levels(_pearson(list(means.values()), list(means)), _pearson(centred), len(by_subject), len(centred))


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


def _pearson(pairs: Sequence[tuple[float, float]], names: Sequence[str] | None = None) -> Correlation | None:
    if len(pairs) < 3:
        return None
    first, second = zip(*pairs, strict=True)
    try:
        return pearson(first, second, names)
    except ValueError:  # one of the two does not vary
        return None
