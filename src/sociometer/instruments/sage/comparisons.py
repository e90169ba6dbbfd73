"""Simulators and subjects side by side: rank agreement, leniency, calibration, divergence of leaderboards. Pure."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from statistics import fmean, pstdev
from typing import Generic, TypeVar

from msgspec import Struct

from sociometer.analysis.agreement import spearman
from sociometer.analysis.paired import PairedDifference, paired_difference

Scores = Mapping[str, Mapping[str, float]]
"""Final emotions by subject and scenario."""
KeyT = TypeVar("KeyT", str, int)


class RankAgreement(Struct, frozen=True):
    """The rank agreement of two simulators."""

    first: str
    second: str
    subjects: int
    rho: float | None


class Leniency(Struct, frozen=True):
    """How much more lenient a simulator is than the reference on shared dialogues, and the line between the scales."""

    simulator: str
    dialogues: int
    mean: float
    difference: PairedDifference
    slope: float
    intercept: float

    def calibrated(self, score: float) -> float:
        """A score on the reference's scale (linear equating: same mean, same spread)."""
        return self.intercept + self.slope * score


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


def rank_agreements(by_simulator: Mapping[str, Scores]) -> list[RankAgreement]:
    """Spearman's rho of every two simulators over the subjects of both; None with fewer than three."""
    found = []
    for first, second in combinations(by_simulator, 2):
        one, two = means(by_simulator[first]), means(by_simulator[second])
        shared = sorted(set(one) & set(two))
        rho = None
        if len(shared) >= 3:
            values = [one[name] for name in shared], [two[name] for name in shared]
            if len(set(values[0])) > 1 and len(set(values[1])) > 1:
                rho = spearman(*values)[0]
        found.append(RankAgreement(first, second, len(shared), rho))
    return found


def leniency(simulator: str, theirs: Scores, reference: Scores) -> Leniency | None:
    """A simulator against the reference on the dialogues (subject and scenario) that both have; None without any."""
    shared = [
        (subject, scenario)
        for subject in sorted(set(theirs) & set(reference))
        for scenario in sorted(set(theirs[subject]) & set(reference[subject]))
    ]
    if len(shared) < 2:
        return None
    own = [theirs[subject][scenario] for subject, scenario in shared]
    base = [reference[subject][scenario] for subject, scenario in shared]
    difference = paired_difference(base, own, [scenario for _, scenario in shared])
    spread = pstdev(own)
    slope = pstdev(base) / spread if spread else 1.0
    return Leniency(simulator, len(shared), fmean(own), difference, slope, fmean(base) - slope * fmean(own))


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
