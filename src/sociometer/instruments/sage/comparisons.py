"""Simulators and subjects side by side: rank agreement, leniency, calibration, divergence of leaderboards. Pure."""

from collections.abc import Mapping, Sequence
from math import sqrt
from statistics import fmean, pstdev
from typing import Generic, TypeVar

from msgspec import Struct

from sociometer.analysis.agreement import spearman
from sociometer.analysis.distributions import t_quantile
from sociometer.analysis.intervals import too_few
from sociometer.analysis.paired import PairedDifference, paired_difference
from sociometer.core.measure import Interval

Scores = Mapping[str, Mapping[str, float]]
"""Final emotions by subject and scenario."""
KeyT = TypeVar("KeyT", str, int)


class Leniency(Struct, frozen=True):
    """How much more lenient a simulator is than the reference on shared dialogues, and the line between the scales.

    `gaps` is how much kinder it is to each subject. `error` is the root mean square of what the line misses when each
    subject in turn is left out of it; None with one subject.
    """

    simulator: str
    dialogues: int
    mean: float
    difference: PairedDifference
    slope: float
    intercept: float
    gaps: dict[str, float]
    error: float | None

    def calibrated(self, score: float) -> float | None:
        """A score on the reference's scale (linear equating: same mean, same spread); None if one subject is behind it.

        One subject cannot show how much of the gap is the simulator's and how much is this subject with it.
        """
        return None if self.error is None else self.intercept + self.slope * score

    def interval(self, score: float) -> Interval:
        """The interval of a calibrated score, by Student's t over the subjects behind the line."""
        value = self.calibrated(score)
        if value is None or self.error is None:
            return too_few(len(self.gaps))
        half = t_quantile(0.975, len(self.gaps) - 1) * self.error
        return Interval(value - half, value + half, 0.95, "left-out subjects, Student's t", len(self.gaps))


class Divergence(Struct, frozen=True):
    """A subject's rank here and on another leaderboard, both among the subjects on both."""

    subject: str
    here: float
    there: float
    moved: float
    stated: float
    """The rank on the other leaderboard, among all of its subjects."""


class Place(Struct, frozen=True):
    """A rank on a leaderboard, and the mean behind it; equal means share a rank."""

    rank: int
    score: float


class Board(Struct, Generic[KeyT], frozen=True):
    """Ranks on the scenarios that all subjects share; a subject that shares none has no rank."""

    places: dict[KeyT, Place]
    shared: int


def rank_on_shared(scores: Mapping[KeyT, Mapping[str, float]]) -> Board[KeyT]:
    """Those with the most scenarios first, each next one as long as half of what all before share is left."""
    kept: list[KeyT] = []
    shared: set[str] = set()
    for key in sorted(scores, key=lambda key: -len(scores[key])):
        common = shared & scores[key].keys() if kept else set(scores[key])
        if common and 2 * len(common) >= len(shared):
            kept.append(key)
            shared = common
    found = {key: fmean(scores[key][name] for name in sorted(shared)) for key in kept}
    places = {key: Place(1 + sum(other > mean for other in found.values()), mean) for key, mean in found.items()}
    return Board(places, len(shared))


def means(scores: Scores) -> dict[str, float]:
    """Each subject's mean over its scenarios."""
    return {subject: fmean(values.values()) for subject, values in scores.items() if values}


def leniency(simulator: str, theirs: Scores, reference: Scores) -> Leniency | None:
    """A simulator against the reference on the dialogues (subject and scenario) that both have; None without any."""
    pairs = {
        subject: [(theirs[subject][name], reference[subject][name], name) for name in shared]
        for subject in sorted(set(theirs) & set(reference))
        if (shared := sorted(set(theirs[subject]) & set(reference[subject])))
    }
    every = [pair for found in pairs.values() for pair in found]
    if len(every) < 2:
        return None
    own, base = [one for one, _, _ in every], [two for _, two, _ in every]
    difference = paired_difference(base, own, [scenario for _, _, scenario in every])
    slope, intercept = _line(own, base)
    gaps = {subject: fmean(one - two for one, two, _ in found) for subject, found in pairs.items()}
    misses = []
    for left in pairs if len(pairs) > 1 else ():
        rest = [pair for subject, found in pairs.items() if subject != left for pair in found]
        line = _line([one for one, _, _ in rest], [two for _, two, _ in rest])
        misses.append(fmean(two - line[1] - line[0] * one for one, two, _ in pairs[left]))
    error = sqrt(fmean(miss * miss for miss in misses)) if misses else None
    return Leniency(simulator, len(every), fmean(own), difference, slope, intercept, gaps, error)


def _line(own: Sequence[float], base: Sequence[float]) -> tuple[float, float]:
    """Slope and intercept of the line that gives one scale's scores the mean and the spread of the other's."""
    spread = pstdev(own)
    slope = pstdev(base) / spread if spread else 1.0
    return slope, fmean(base) - slope * fmean(own)


def paired_subjects(first: Mapping[str, float], second: Mapping[str, float]) -> PairedDifference | None:
    """The second subject minus the first on their shared scenarios; None without any."""
    shared = sorted(set(first) & set(second))
    if not shared:
        return None
    return paired_difference([first[name] for name in shared], [second[name] for name in shared], shared)


def divergence(scores: Mapping[str, float], ranks: Mapping[str, float]) -> tuple[list[Divergence], float | None]:
    """The ranks of subjects here and elsewhere, largest differences first, and Spearman's rho of the two orders."""
    shared = sorted(set(scores) & set(ranks), key=lambda name: -scores[name])
    here, there = _places([-scores[name] for name in shared]), _places([ranks[name] for name in shared])
    moved = [
        Divergence(name, own, other, other - own, ranks[name])
        for name, own, other in zip(shared, here, there, strict=True)
    ]
    rho = None
    if len(shared) >= 3 and len({ranks[name] for name in shared}) > 1 and len({scores[name] for name in shared}) > 1:
        rho = spearman([-scores[name] for name in shared], [ranks[name] for name in shared])[0]
    return sorted(moved, key=lambda each: -abs(each.moved)), rho


def _places(values: Sequence[float]) -> list[float]:
    """The rank of each value from the smallest; ties share the middle rank."""
    return [sum(other < value for other in values) + (1 + values.count(value)) / 2 for value in values]


def majority(labels: Sequence[str]) -> str | None:
    """The most common label, or None on a tie."""
    counts = {label: labels.count(label) for label in set(labels)}
    best = [label for label, count in counts.items() if count == max(counts.values())]
    return best[0] if len(best) == 1 else None
