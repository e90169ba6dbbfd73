"""Simulators and subjects side by side: rank agreement, leniency, calibration, divergence of leaderboards. Pure."""

from collections.abc import Mapping, Sequence
from math import sqrt
from statistics import fmean, pstdev
from typing import Generic, TypeVar

import numpy as np
from msgspec import Struct

from sociometer.core.measure import CLUSTER_BOOTSTRAP, Interval
from sociometer.statistics.agreement import spearman
from sociometer.statistics.distributions import t_quantile
from sociometer.statistics.intervals import MINIMUM_CLUSTERS, bootstrap_means, expanded_percentiles, too_few
from sociometer.statistics.paired import PairedDifference, paired_difference
from sociometer.statistics.ranking import rank_correlations, rank_intervals

Scores = Mapping[str, Mapping[str, float]]
"""Final emotions by subject and scenario."""
KeyT = TypeVar("KeyT", str, int)
_DRAWS = 4_000


class Leniency(Struct, frozen=True):
    """How much more lenient a simulator is than the reference on shared dialogues, and the line between the scales.

    `gaps` is how much more lenient it is to each subject. `error` is the root mean square error of the line for each
    subject that is left out in turn; None with one subject.
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
        """A score on the reference's scale (linear equating: same mean, same spread); None with one subject.

        One subject cannot show how much of the gap comes from the simulator and how much from this subject.
        """
        return None if self.error is None else self.intercept + self.slope * score

    def interval(self, score: float) -> Interval:
        """The interval of a calibrated score, by Student's t over the subjects that the line is based on."""
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
    """A rank on a leaderboard, the mean behind it, and the range of ranks on other scenarios; equal means share one."""

    rank: int
    score: float
    ranks: Interval


class Board(Struct, Generic[KeyT], frozen=True):
    """Ranks on the scenarios that all subjects share; a subject that shares none has no rank."""

    places: dict[KeyT, Place]
    shared: int


def rank_on_shared(scores: Mapping[KeyT, Mapping[str, float]]) -> Board[KeyT]:
    """The subjects with the most scenarios, each added as long as at least half of the shared scenarios remain."""
    kept: list[KeyT] = []
    shared: set[str] = set()
    for key in sorted(scores, key=lambda key: -len(scores[key])):
        common = shared & scores[key].keys() if kept else set(scores[key])
        if common and 2 * len(common) >= len(shared):
            kept.append(key)
            shared = common
    names = sorted(shared)
    table = [[scores[key][name] for key in kept] for name in names]
    ranked = {each.subject: each for each in rank_intervals(table, list(map(str, kept)), names)} if names else {}
    places = {
        key: Place(ranked[str(key)].rank, ranked[str(key)].mean, ranked[str(key)].interval) for key in kept if ranked
    }
    return Board(places, len(shared))


def on_shared(scores: Scores) -> dict[str, dict[str, float]]:
    """The scores of the ranked subjects on the scenarios that all of them share."""
    kept = list(rank_on_shared(scores).places)
    shared = set.intersection(*(set(scores[name]) for name in kept)) if kept else set()
    return {name: {scenario: scores[name][scenario] for scenario in sorted(shared)} for name in kept}


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


class OrderAgreement(Struct, frozen=True):
    """Spearman's rho of two orders, with its interval over scenarios; None with fewer than three subjects."""

    rho: float | None
    interval: Interval


def divergence(scores: Scores, ranks: Mapping[str, float]) -> tuple[list[Divergence], OrderAgreement]:
    """The ranks of subjects here and elsewhere, largest differences first, and the agreement of the two orders.

    `scores` are those on the scenarios that all subjects share.
    """
    found = means(scores)
    shared = sorted(set(found) & set(ranks), key=lambda name: -found[name])
    here, there = _places([-found[name] for name in shared]), _places([ranks[name] for name in shared])
    moved = [
        Divergence(name, own, other, other - own, ranks[name])
        for name, own, other in zip(shared, here, there, strict=True)
    ]
    return sorted(moved, key=lambda each: -abs(each.moved)), _order_agreement(scores, shared, ranks)


def _order_agreement(scores: Scores, shared: Sequence[str], ranks: Mapping[str, float]) -> OrderAgreement:
    scenarios = sorted(set.intersection(*(set(scores[name]) for name in shared))) if shared else []
    few = too_few(len(scenarios))
    found = means(scores)
    if len(shared) < 3 or len({ranks[name] for name in shared}) < 2 or len({found[name] for name in shared}) < 2:
        return OrderAgreement(None, few)
    there = [ranks[name] for name in shared]
    rho = spearman([-found[name] for name in shared], there)[0]
    if len(scenarios) < MINIMUM_CLUSTERS:
        return OrderAgreement(rho, few)
    table = np.array([[scores[name][scenario] for name in shared] for scenario in scenarios], dtype=np.float64)
    drawn = bootstrap_means(table, np.ones_like(table), draws=_DRAWS)
    sample = rank_correlations(-drawn, np.broadcast_to(np.array(there), drawn.shape))
    low, high = expanded_percentiles(sample, len(scenarios))
    return OrderAgreement(rho, Interval(low, high, 0.95, CLUSTER_BOOTSTRAP, len(scenarios)))


def _places(values: Sequence[float]) -> list[float]:
    """The rank of each value from the smallest; ties share the middle rank."""
    return [sum(other < value for other in values) + (1 + values.count(value)) / 2 for value in values]


def majority(labels: Sequence[str]) -> str | None:
    """The most common label, or None on a tie."""
    counts = {label: labels.count(label) for label in set(labels)}
    best = [label for label, count in counts.items() if count == max(counts.values())]
    return best[0] if len(best) == 1 else None
