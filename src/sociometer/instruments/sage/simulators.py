"""Simulators compared: variance components, ranks, leniency, the precision of other designs, and their command."""

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import combinations
from math import sqrt
from statistics import fmean, pstdev
from typing import TypeVar

import numpy as np
from msgspec import Struct, structs
from numpy.typing import ArrayLike, NDArray

from sociometer.core.command import CommandContext, Run
from sociometer.core.errors import UsageError
from sociometer.core.instrument import Result
from sociometer.core.lazy import lazy
from sociometer.core.measure import CLUSTER_BOOTSTRAP, Cell, Interval, Table
from sociometer.core.settings import Settings
from sociometer.core.task import AnyRun
from sociometer.instruments.sage import samples
from sociometer.statistics.distributions import (
    chi_square_above,
    chi_square_quantile,
    f_quantile,
    normal_quantile,
    t_quantile,
)
from sociometer.statistics.formatting import bounds_text, estimate, number, p_phrase, stand_in_notes
from sociometer.statistics.intervals import (
    MINIMUM_CLUSTERS,
    SEED,
    Floats,
    bootstrap_means,
    cluster_codes,
    cluster_sums,
    expanded_percentiles,
    too_few,
)
from sociometer.statistics.paired import PairedDifference, paired_difference
from sociometer.statistics.ranking import Rank, rank_correlations, rank_intervals

stats = lazy("scipy.stats")
Scores = Mapping[str, Mapping[str, float]]
"""Final emotions by subject and scenario."""
KeyT = TypeVar("KeyT", str, int)


class Leniency(Struct, frozen=True):
    """How much more lenient a simulator is than the reference on shared dialogues, and the link between the scales.

    The subjects of both simulators are the anchors. `gaps` is how much more lenient it is to each of them. `unlinked`
    and `error` are the root mean square errors for the mean of an anchor that is left out in turn, before and after a
    linear link; None with one anchor. `alike` is the p-value of one link for all anchors: by chance alone their misses
    would differ as much.
    """

    simulator: str
    dialogues: int
    mean: float
    difference: PairedDifference
    slope: float
    intercept: float
    gaps: dict[str, float]
    misses: dict[str, float]
    """What the linear link misses for each anchor, with all anchors in the link."""
    unlinked: float | None
    error: float | None
    alike: float | None

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
        low, high = max(0.0, value - half), min(LARGEST_DIFFERENCE, value + half)
        return Interval(low, high, 0.95, "left-out subjects, Student's t", len(self.gaps))


def rank_on_shared(scores: Mapping[KeyT, Mapping[str, float]]) -> tuple[dict[KeyT, Rank], int]:
    """Ranks on the scenarios that all ranked subjects share, and their number; a subject that shares none has no rank.

    The subjects with the most scenarios come first; each is added as long as half of the shared scenarios remain.
    """
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
    return {key: ranked[str(key)] for key in kept if ranked}, len(shared)


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
    missed = []
    for left in pairs if len(pairs) > 1 else ():
        rest = [pair for subject, found in pairs.items() if subject != left for pair in found]
        steep, above = _line([one for one, _, _ in rest], [two for _, two, _ in rest])
        missed.append(fmean(two - above - steep * one for one, two, _ in pairs[left]))
    rests = {name: [two - intercept - slope * one for one, two, _ in found] for name, found in pairs.items()}
    misses = {name: fmean(found) for name, found in rests.items()}
    before, after = (_root_mean_square(gaps.values()), _root_mean_square(missed)) if missed else (None, None)
    return Leniency(
        simulator, len(every), fmean(own), difference, slope, intercept, gaps, misses, before, after, _alike(rests)
    )


def _root_mean_square(values: Iterable[float]) -> float:
    return sqrt(fmean(value * value for value in values))


def _alike(rests: Mapping[str, Sequence[float]]) -> float | None:
    """Cochran's test of equal misses: p of Σ (miss / standard error)² around their weighted mean; None with one."""
    known = [found for found in rests.values() if len(found) > 1 and pstdev(found) > 0]
    if len(known) < 2:
        return None
    weights = [len(found) / (pstdev(found) ** 2 * len(found) / (len(found) - 1)) for found in known]
    centre = sum(weight * fmean(found) for weight, found in zip(weights, known, strict=True)) / sum(weights)
    spread = sum(weight * (fmean(found) - centre) ** 2 for weight, found in zip(weights, known, strict=True))
    return chi_square_above(spread, len(known) - 1)


def _line(own: Sequence[float], base: Sequence[float]) -> tuple[float, float]:
    """Slope and intercept of the line that gives one scale's scores the mean and the spread of the other's."""
    spread = pstdev(own)
    slope = pstdev(base) / spread if spread else 1.0
    return slope, fmean(base) - slope * fmean(own)


Codes = NDArray[np.int64]
RESIDUAL = "residual"
METHOD = "Henderson's method 1"
INTERVAL = "Williams-Tukey, error by parametric bootstrap"
COMPONENT_DRAWS = 400


class Component(Struct, frozen=True):
    """The variance of one facet, interaction or the residual; `raw` is the estimate before negative ones become 0."""

    facets: tuple[str, ...]
    variance: float
    raw: float
    interval: Interval
    levels: int

    @property
    def name(self) -> str:
        """The facets joined by a multiplication sign; of the residual, its name."""
        return " × ".join(self.facets) or RESIDUAL

    @property
    def deviation(self) -> float:
        """The standard deviation, in the unit of the scores."""
        return math.sqrt(self.variance)


class Components(Struct, frozen=True):
    """All components of a design; the residual has repeats and the interactions that the design cannot separate."""

    components: tuple[Component, ...]
    observations: int
    levels: dict[str, int]
    merged: tuple[str, ...] = ()
    """The interactions that are part of the residual."""
    covariance: tuple[tuple[float, ...], ...] = ()
    """How the estimates of the components vary together, over scores simulated on the same design."""

    def variance(self, *facets: str) -> float:
        """The variance of a facet or an interaction, in any order; without facets, of the residual."""
        found = (one.variance for one in self.components if set(one.facets) == set(facets))
        return next(found, 0.0)

    @property
    def total(self) -> float:
        """The variance of one observation."""
        return sum(one.variance for one in self.components)


def variance_components(
    values: ArrayLike, facets: Mapping[str, Sequence[Hashable]], *, draws: int = COMPONENT_DRAWS
) -> Components:
    """Components of random crossed facets and their interactions, from one row for each observation.

    y = μ + Σ u + e with independent effects of every facet and every interaction. Henderson's method 1: the uncorrected
    sum of squares of each grouping has an expected value that is linear in μ² and the components, with coefficients
    counted from the design; the equations are solved. It needs neither balance nor full cells nor normal effects, and
    gives on a balanced design what the expected mean squares of an analysis of variance give. An estimate below 0
    becomes 0. A facet with one level is left out. An interaction is estimated if some of its cells repeat, and joins
    the residual otherwise.

    Intervals (Williams and Tukey): a component is a mean square minus noise; ν (σ̂² + noise) / χ²(ν) − noise, with ν
    degrees of freedom. The noise follows from the standard error of σ̂² over scores simulated on the same design with
    normal effects of the estimated size. With few levels the interval is wide: two simulators say little about
    simulators.

    References: Henderson, C. R. (1953). Biometrics 9; Searle, Casella and McCulloch (1992). Variance Components;
    Williams, J. S. (1962). Biometrika 49.
    """
    scores = np.asarray(values, dtype=np.float64)
    if scores.ndim != 1 or not np.isfinite(scores).all():
        raise ValueError(f"scores must be one finite number per observation, not an array of shape {scores.shape}")
    coded: dict[str, tuple[Codes, int]] = {}
    for name, labels in facets.items():
        codes, count = cluster_codes(labels, scores.size)
        if count > 1:
            coded[name] = (np.asarray(codes, dtype=np.int64), count)
    if not coded:
        raise ValueError(f"no facet has two levels; given: {', '.join(facets) or 'none'}")
    groups, merged = _groupings(coded, scores.size)
    design = _Design(groups, scores.size)
    raw = design.solve(scores - scores.mean())
    kept = np.maximum(raw, 0.0)
    covariance = design.simulated_covariance(kept, draws)
    errors = np.sqrt(np.diag(covariance))
    names = [*groups, ()]
    sizes = [*(int(codes.max()) + 1 for codes in groups.values()), scores.size]
    free = _freedom(groups, scores.size)
    found = tuple(
        Component(names[at], float(kept[at]), float(raw[at]), _interval(raw[at], errors[at], free[at]), sizes[at])
        for at in range(len(names))
    )
    levels = {name: coded[name][1] if name in coded else 1 for name in facets}
    joined = tuple(" × ".join(each) for each in merged)
    together = tuple(tuple(row) for row in covariance.tolist())
    return Components(found, scores.size, levels, joined, together)


class _Design:
    """The groupings of a design and the equations between sums of squares and components."""

    def __init__(self, groups: Mapping[tuple[str, ...], Codes], observations: int) -> None:
        self._codes = [*groups.values()]
        self._counts = [np.bincount(codes) for codes in self._codes]
        self._observations = observations
        self._matrix = self._equations()

    @property
    def solvable(self) -> bool:
        """Whether the design can separate the components."""
        scaled = self._matrix / np.abs(self._matrix).max(axis=1, keepdims=True)
        return bool(np.linalg.matrix_rank(scaled, tol=1e-9) == len(self._matrix))

    def solve(self, centred: Floats) -> Floats:
        """The components, the residual last, from scores minus their mean (which changes none of them)."""
        sums = [float(centred.sum()) ** 2 / self._observations, *self._squares(centred), float(centred @ centred)]
        return np.asarray(np.linalg.solve(self._matrix, np.asarray(sums))[1:], dtype=np.float64)

    def simulated_covariance(self, components: Floats, draws: int) -> Floats:
        """The covariance of the components' estimates over scores simulated with normal effects of these sizes."""
        generator = np.random.default_rng(SEED)
        found = np.empty((draws, len(components)))
        deviations = np.sqrt(components)
        for draw in range(draws):
            scores = generator.normal(0.0, deviations[-1], self._observations)
            for codes, count, deviation in zip(self._codes, self._counts, deviations[:-1], strict=True):
                scores += generator.normal(0.0, deviation, count.size)[codes]
            found[draw] = self.solve(scores - scores.mean())
        return np.atleast_2d(np.asarray(np.cov(found, rowvar=False), dtype=np.float64))

    def _squares(self, scores: Floats) -> list[float]:
        return [
            float((np.square(np.bincount(codes, scores)) / count).sum())
            for codes, count in zip(self._codes, self._counts, strict=True)
        ]

    def _equations(self) -> Floats:
        """Rows: grand mean, every grouping, every observation. Columns: μ², every component, the residual."""
        total = float(self._observations)
        alone = np.arange(self._observations)
        rows = [(np.zeros_like(alone), np.array([self._observations])), *zip(self._codes, self._counts, strict=True)]
        matrix = [
            [total, *(_share(codes, counts, other) for other in self._codes), float(counts.size)]
            for codes, counts in rows
        ]
        matrix.append([total] * (len(self._codes) + 2))
        return np.asarray(matrix, dtype=np.float64)


def _share(group: Codes, sizes: NDArray[np.int64], other: Codes) -> float:
    """Σ over the levels of a grouping of Σ over the levels of another of (common observations)² / observations."""
    pairs, counts = np.unique(group * (int(other.max()) + 1) + other, return_counts=True)
    return float((np.square(counts) / sizes[pairs // (int(other.max()) + 1)]).sum())


def _groupings(
    coded: Mapping[str, tuple[Codes, int]], observations: int
) -> tuple[dict[tuple[str, ...], Codes], list[tuple[str, ...]]]:
    """The facets and the interactions that the design can separate, and the interactions that it cannot."""
    groups: dict[tuple[str, ...], Codes] = {}
    merged: list[tuple[str, ...]] = []
    for size in range(1, len(coded) + 1):
        for names in combinations(coded, size):
            codes = _joined([coded[name][0] for name in names])
            trial = {**groups, names: codes}
            if any(set(part) < set(names) for part in merged):
                merged.append(names)
            elif len(np.unique(codes)) < observations and _Design(trial, observations).solvable:
                groups = trial
            elif size == 1:
                others = ", ".join(coded)
                raise ValueError(f"the design cannot separate '{names[0]}' from the other facets; given: {others}")
            else:
                merged.append(names)
    return groups, merged


def _joined(codes: Sequence[Codes]) -> Codes:
    joined = codes[0]
    for more in codes[1:]:
        joined = joined * (int(more.max()) + 1) + more
    return np.asarray(np.unique(joined, return_inverse=True)[1], dtype=np.int64)


def _freedom(groups: Mapping[tuple[str, ...], Codes], observations: int) -> list[int]:
    """The degrees of freedom of every grouping and of the residual, from the numbers of cells that occur."""
    cells = {(): 1} | {names: int(codes.max()) + 1 for names, codes in groups.items()}
    found = []
    for names in groups:
        parts = [part for size in range(len(names) + 1) for part in combinations(names, size)]
        found.append(max(1, sum((-1) ** (len(names) - len(part)) * cells[part] for part in parts)))
    return [*found, max(1, observations - 1 - sum(found))]


def _interval(estimate: float, error: float, freedom: int) -> Interval:
    """The interval of Williams and Tukey, starting at 0 if the estimate does not differ from 0."""
    if error == 0 or not math.isfinite(error):
        return Interval(None, None, 0.95, INTERVAL, freedom + 1)
    noise = max(0.0, error * math.sqrt(freedom / 2) - max(estimate, 0.0))
    square = max(0.0, freedom * (estimate + noise))
    low, high = (max(0.0, square / chi_square_quantile(share, freedom) - noise) for share in (_TAIL, 1 - _TAIL))
    return Interval(low, max(estimate, min(high, LARGEST_VARIANCE)), 0.95, INTERVAL, freedom + 1)


LARGEST_DIFFERENCE = 100.0
"""No two means on the scale of 0 to 100 differ by more."""
LARGEST_VARIANCE = 50.0**2
"""No values from 0 to 100 vary more."""
SATTERTHWAITE = "Satterthwaite"
FELDT = "Feldt"
_TAIL = 0.975


class Precision(Struct, frozen=True):
    """A design and its precision: `belongs` is the share of the variation of means that comes from the subjects.

    `error` is the standard error of the difference of two subjects that meet the same levels, `half_width` half of its
    95 % interval. Share and width come from estimated components: the intervals show their uncertainty.
    """

    numbers: dict[str, int]
    belongs: float
    belongs_interval: Interval
    error: float
    half_width: float
    half_width_interval: Interval


def precision(components: Components, subject: str, numbers: Mapping[str, int], *, panel: bool = False) -> Precision:
    """The precision of subjects' means over so many levels of every other facet, all crossed.

    With `panel`, every scenario meets one of the simulators, so that the residual is divided by the scenarios alone.

    Relative error variance: Σ over interactions of the subject with other facets, each divided by the numbers of their
    levels, and the residual divided by all of them. The share is Cronbach's generalizability coefficient
    σ²(subject) / (σ²(subject) + σ²(error)).

    Intervals: the error variance has about ν = 2 σ⁴ / variance(σ²) degrees of freedom (Satterthwaite), with the
    variance from the components' covariance; its interval is that of a χ²(ν), the share's that of Feldt with an F of
    (subjects − 1, ν). References: Cronbach, Gleser, Nanda and Rajaratnam (1972); Brennan, R. L. (2001).
    Generalizability Theory; Satterthwaite (1946), Biometrics Bulletin 2; Feldt (1965), Psychometrika 30.
    """
    weights = _weights(components, subject, numbers, panel)
    noise = sum(weight * one.variance for weight, one in zip(weights, components.components, strict=True))
    own = components.variance(subject)
    error = math.sqrt(2 * noise)
    belongs = own / (own + noise) if own + noise > 0 else 0.0
    freedom, wide = _share_freedom(components, weights, noise), normal_quantile(_TAIL) * math.sqrt(2)
    width, share = (Interval(None, None, 0.95, method) for method in (SATTERTHWAITE, FELDT))
    if freedom is not None:
        low, high = (freedom * noise / chi_square_quantile(tail, freedom) for tail in (_TAIL, 1 - _TAIL))
        low, high = (min(wide * math.sqrt(end), LARGEST_DIFFERENCE) for end in (low, high))
        width = Interval(low, high, 0.95, SATTERTHWAITE)
        ratios = (f_quantile(tail, components.levels[subject] - 1, freedom) for tail in (_TAIL, 1 - _TAIL))
        low, high = (min(1.0, max(0.0, 1 - (1 - belongs) * ratio)) for ratio in ratios)
        share = Interval(low, high, 0.95, FELDT)
    return Precision(dict(numbers), belongs, share, error, normal_quantile(_TAIL) * error, width)


def _weights(components: Components, subject: str, numbers: Mapping[str, int], panel: bool) -> list[float]:
    """How much each component adds to the error variance of a subject's mean."""
    met = [count for name, count in numbers.items() if name != subject]
    everything = max(met) if panel else math.prod(met)
    return [
        0.0
        if (one.facets and subject not in one.facets) or one.facets == (subject,)
        else 1 / (math.prod(numbers[name] for name in one.facets if name != subject) if one.facets else everything)
        for one in components.components
    ]


def _share_freedom(components: Components, weights: Sequence[float], noise: float) -> float | None:
    """The degrees of freedom of the error variance; None if it is 0 or its variance is unknown."""
    varies = sum(
        one * two * each
        for one, row in zip(weights, components.covariance, strict=False)
        for two, each in zip(weights, row, strict=True)
    )
    return max(1.0, 2 * noise**2 / varies) if noise > 0 and varies > 0 else None


DRAWS = 4_000
SUBJECT, SCENARIO, SIMULATOR = "subject", "scenario", "simulator"


class Played(Struct, frozen=True):
    """The final emotion of one dialogue, and who played it."""

    subject: str
    scenario: str
    simulator: str
    final: float
    cluster: str = ""


class Cube(Struct, frozen=True, eq=False):
    """Mean final emotions, scenarios × subjects × simulators; NaN where nothing was played."""

    subjects: tuple[str, ...]
    scenarios: tuple[str, ...]
    simulators: tuple[str, ...]
    clusters: tuple[str, ...]
    cells: Floats

    def met(self) -> NDArray[np.bool_]:
        """Whether a simulator talked with a subject, subjects × simulators."""
        return np.asarray((~np.isnan(self.cells)).any(axis=0))

    def on_shared(self, subjects: Sequence[int], simulators: Sequence[int]) -> "Cube":
        """The scenarios that these subjects finished under each of these simulators that met them.

        Without it, a subject whose hardest dialogues failed would be compared on the easier ones.
        """
        chosen = np.zeros_like(self.met())
        chosen[np.ix_(list(subjects), list(simulators))] = True
        kept = np.flatnonzero(~np.isnan(self.cells[:, self.met() & chosen]).any(axis=1))
        return structs.replace(
            self,
            scenarios=tuple(self.scenarios[at] for at in kept),
            clusters=tuple(self.clusters[at] for at in kept),
            cells=self.cells[kept],
        )


class RankAgreement(Struct, frozen=True):
    """Spearman's rho of two simulators over the subjects that they share."""

    first: str
    second: str
    subjects: int
    rho: float | None
    interval: Interval


def cube(played: Iterable[Played]) -> Cube:
    """The table of all dialogues, repeats averaged."""
    rows = list(played)
    subjects, scenarios, simulators = (
        tuple(dict.fromkeys(getattr(row, name) for row in rows)) for name in ("subject", "scenario", "simulator")
    )
    sums = np.zeros((len(scenarios), len(subjects), len(simulators)))
    counts = np.zeros_like(sums)
    clusters: dict[str, str] = {}
    for row in rows:
        at = scenarios.index(row.scenario), subjects.index(row.subject), simulators.index(row.simulator)
        sums[at] += row.final
        counts[at] += 1
        clusters[row.scenario] = row.cluster or row.scenario
    cells = np.divide(sums, counts, out=np.full_like(sums, np.nan), where=counts > 0)
    return Cube(subjects, scenarios, simulators, tuple(clusters[name] for name in scenarios), cells)


def components_of(played: Sequence[Played]) -> Components | None:
    """The variance components of subject, scenario, simulator and their interactions; None without estimates."""
    labels = {name: [getattr(row, name) for row in played] for name in (SUBJECT, SCENARIO, SIMULATOR)}
    if len(set(labels[SUBJECT])) < 2 or len(set(labels[SCENARIO])) < 2:
        return None
    try:
        return variance_components([row.final for row in played], labels)
    except ValueError:
        return None


def designs_of(components: Components, simulators: Sequence[int], scenarios: Sequence[int]) -> list[Precision]:
    """The precision of every combination of numbers of simulators and scenarios."""
    return [precision(components, SUBJECT, {SIMULATOR: one, SCENARIO: two}) for one in simulators for two in scenarios]


def rank_agreements(table: Cube) -> list[RankAgreement]:
    """Spearman's rho of every two simulators with an interval over scenarios; it needs three subjects."""
    found = []
    met = table.met()
    for first, second in combinations(range(len(table.simulators)), 2):
        shared = [at for at in range(len(table.subjects)) if met[at, first] and met[at, second]]
        names = table.simulators[first], table.simulators[second]
        both = table.on_shared(shared, (first, second))
        able = len(shared) > 2 and bool(both.scenarios)
        # A simulator that none of these subjects met has no mean, and none is needed.
        means = both.cells[:, shared][:, :, [first, second]].mean(axis=0) if able else np.empty((0, 2))
        sample = _sample(both, shared) if able else None
        rho = rank_correlations(means[None, :, 0], means[None, :, 1])[0] if able else np.nan
        interval = too_few(len(set(both.clusters)))
        if sample is not None and np.isfinite(rho):
            interval = _central(rank_correlations(sample[:, :, first], sample[:, :, second]), both)
        found.append(RankAgreement(*names, len(shared), float(rho) if np.isfinite(rho) else None, interval))
    return found


def _sample(table: Cube, places: Sequence[int]) -> Floats | None:
    """Means of subjects under every simulator over drawn scenarios, draws × subjects × simulators."""
    codes, count = cluster_codes(table.clusters, len(table.scenarios))
    if count < MINIMUM_CLUSTERS or not places:
        return None
    flat = table.cells[:, list(places)].reshape(len(table.scenarios), -1)
    sums, sizes = cluster_sums(flat, codes, count)
    return bootstrap_means(sums, sizes, draws=DRAWS).reshape(DRAWS, len(places), len(table.simulators))


def _central(sample: Floats, table: Cube) -> Interval:
    count = len(set(table.clusters))
    if np.isnan(sample).all():
        return too_few(count)
    low, high = expanded_percentiles(sample, count)
    return Interval(low, high, 0.95, CLUSTER_BOOTSTRAP, count)


def simulator_of(run: AnyRun) -> str:
    """The simulator of a run's dialogues."""
    series = run.summary.series
    names = series.get("simulators") or [entry.get("simulator", "") for entry in series.get("dialogues", [])]
    return ", ".join(sorted({str(name) for name in names} - {""}))


def by_simulator(runs: Sequence[AnyRun]) -> dict[str, list[AnyRun]]:
    """The runs of each simulator, most runs first; a run without any outcome is listed with these."""
    groups: dict[str, list[AnyRun]] = {}
    for run in runs:
        groups.setdefault(simulator_of(run), []).append(run)
    ordered = dict(sorted(groups.items(), key=lambda group: -len(group[1])))
    unknown = ordered.get("", [])
    if len(ordered) > 1 and unknown and not any(any(run.summary.series.values()) for run in unknown):
        del ordered[""]
        next(iter(ordered.values())).extend(unknown)
    return ordered


def leaderboard_table(runs: Sequence[AnyRun]) -> Table:
    """Score, success and failure with intervals; ranked within a simulator, on the shared scenarios."""
    rows = [row for members in by_simulator(runs).values() for row in _standings(members)]
    columns = (
        "rank", "rank, 95 %", "subject", "simulator", "score", "from", "to", "success", "failure", "tokens a dialogue",
        "dialogues", "errors", "caveat",
    )  # fmt: skip
    ranked_first = tuple(sorted(rows, key=lambda row: row[0] is None))
    units = {"score": "points", "from": "points", "to": "points", "success": "share", "failure": "share"}
    return Table("leaderboard", "Sentient leaderboard", columns, ranked_first, units=units)


def _standings(runs: Sequence[AnyRun]) -> list[tuple[Cell, ...]]:
    """The lines of one simulator's runs, best first; a stand-in or other scenarios give no rank."""
    finals = {place: _finals(run) for place, run in enumerate(runs) if not run.stand_ins}
    ranked, shared = rank_on_shared(finals)
    order = sorted(range(len(runs)), key=lambda place: -(value_of(runs[place], "sentient") or 0.0))
    rows: list[tuple[Cell, ...]] = []
    for place in sorted(order, key=lambda place: ranked[place].rank if place in ranked else len(runs) + 1):
        run, score = runs[place], runs[place].summary.measure("sentient")
        if score is None:
            continue
        standing = ranked.get(place)
        caveat = ""
        if run.stand_ins:
            caveat = "stand-in: not ranked"
        elif standing is None:
            caveat = "other scenarios: not ranked" if finals[place] else "no outcome: not ranked"
        elif len(finals[place]) > shared:
            caveat = f"ranked on the {shared} scenarios that all runs share: {standing.mean:.1f}"
        more = [value_of(run, name) for name in ("success", "failure", "tokens")]
        who = (standing.rank if standing else None, _range(standing), run.subject, simulator_of(run))
        rows.append((*who, score.value, *ends(score.interval), *more, score.items, score.errors, caveat))
    return rows


def _range(standing: Rank | None) -> str:
    """The ranks that other scenarios of the same kind might give."""
    if standing is None:
        return ""
    return bounds_text(standing.interval, lambda low, high: f"{low:.0f} to {high:.0f}", too_few="too few")


def _finals(run: AnyRun) -> dict[str, float]:
    """The final emotion by scenario, repeats averaged."""
    values: dict[str, list[float]] = {}
    for entry in run.summary.series.get("dialogues", []):
        values.setdefault(entry.get("scenario", entry["item"]), []).append(float(entry["trajectory"][-1]))
    return {name: sum(finals) / len(finals) for name, finals in values.items()}


def value_of(run: AnyRun, name: str) -> float | None:
    """The value of a measure of a run."""
    measure = run.summary.measure(name)
    return measure.value if measure else None


def ends(interval: Interval | None) -> tuple[float | None, float | None]:
    """Both ends of an interval."""
    return (interval.low, interval.high) if interval else (None, None)


_SIMULATORS = (1, 2, 4, 8, 16)
_SCENARIOS = (25, 50, 100, 200)
_FEWEST_ANCHORS = 10
"""With fewer anchors, a link is called too uncertain."""
_SMALL = 0.05
_Scores = dict[str, dict[str, dict[str, float]]]
"""Final emotions by simulator, subject and scenario."""


def simulators(context: CommandContext, options: Settings) -> Result:
    """Ranks, leniency, calibration, and the share of the variation that comes from the subjects, with intervals."""
    runs = [context.run(reference) for reference in options.texts("runs")]
    scores: _Scores = {}
    played: list[Played] = []
    for run in runs:
        name = samples.simulator_of_run(run)
        if run.subject in scores.setdefault(name, {}):
            raise UsageError(f"two runs of '{run.subject}' with the simulator '{name}'; give one of each.")
        scores[name][run.subject] = samples.finals(run)
        played += [
            Played(run.subject, each.scenario.id, each.dialogue.simulator, float(each.dialogue.final), each.cluster)
            for each in samples.stored_dialogues(run)
        ]
    base = options.text("reference") or next(iter(scores))
    if base not in scores:
        raise UsageError(f"no run with the simulator '{base}'; there are: {', '.join(scores)}.")
    table = cube(played)
    components = components_of(played)
    found = [leniency(name, theirs, scores[base]) for name, theirs in scores.items() if name != base]
    gaps = [each for each in found if each is not None]
    tables = [_agreement(table), _leniency(gaps, base), *_links(gaps, base), _calibrated(scores, gaps, base)]
    if components is not None:
        tables += [_components(components), _designs(components)]
    said = [*_more_lenient(gaps, base), *_exchangeable(gaps, base), *_belongs(components, table)]
    return Result(tables=tuple(tables), finding="\n".join(said), notes=tuple(_notes(runs, components)))


def _agreement(table: Cube) -> Table:
    rows = tuple(
        (each.first, each.second, each.subjects, each.rho, *ends(each.interval), each.interval.method)
        for each in rank_agreements(table)
    )
    columns = ("first", "second", "subjects", "Spearman", "from", "to", "interval")
    note = "With fewer than three subjects, no rank correlation is computed."
    return Table("agreement", "Rank agreement of simulators", columns, rows, note=note)


def _leniency(gaps: Sequence[Leniency], base: str) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for each in gaps:
        found = each.difference
        gap = sorted(each.gaps.values())
        spread = f"{gap[0]:.1f} to {gap[-1]:.1f}" if len(gap) > 1 else None
        rows.append(
            (each.simulator, each.dialogues, len(gap), each.mean, found.difference, *ends(found.interval), spread,
             each.slope)
        )  # fmt: skip
    columns = ("simulator", "dialogues", "subjects", "mean", "more lenient by", "from", "to", "by subject", "slope")
    units = dict.fromkeys(("mean", "more lenient by", "from", "to"), "points")
    return Table("leniency", f"Leniency compared with {base}", columns, tuple(rows), units=units)


def _links(gaps: Sequence[Leniency], base: str) -> list[Table]:
    """What the link misses for an anchor that is left out, in points."""
    rows = tuple(
        (each.simulator, len(each.gaps), each.unlinked, each.error, max(map(abs, each.misses.values())), each.alike)
        for each in gaps
        if each.error is not None
    )
    columns = ("simulator", "anchors", "not linked", "linked", "largest miss", "p of one link")
    note = (
        "Root mean square error for the mean of an anchor (a subject of both simulators) that is left out in turn, "
        "before and after a linear link. Largest miss: of the link, for an anchor. p: of one link for all anchors; if "
        "it is small, scores of the two simulators are not exchangeable."
    )
    units = dict.fromkeys(("not linked", "linked", "largest miss"), "points")
    return [Table("links", f"Links to the scale of {base}", columns, rows, note=note, units=units)] if rows else []


def _exchangeable(gaps: Sequence[Leniency], base: str) -> list[str]:
    """Whether linking helps, and whether one link serves all subjects."""
    said = []
    for each in gaps:
        before, after = each.unlinked, each.error
        if before is None or after is None:
            continue
        few = f"; {len(each.gaps)} anchors are too few" if len(each.gaps) < _FEWEST_ANCHORS else ""
        helps = (
            f"A linear link from {each.simulator} to {base} "
            f"{'helps' if after < before else 'does not help'}: a subject that is left out is missed by "
            f"{number(before, 'points')} points before and {number(after, 'points')} after{few}."
        )
        if each.alike is not None and each.alike < _SMALL:
            worst = max(each.misses, key=lambda name: abs(each.misses[name]))
            helps += (
                f" One link does not serve all subjects ({p_phrase(each.alike)}): the scores are not exchangeable, and "
                f"{worst} is off by {number(abs(each.misses[worst]), 'points')} points."
            )
        said.append(helps)
    return said


def _calibrated(scores: _Scores, gaps: Sequence[Leniency], base: str) -> Table:
    lines = {each.simulator: each for each in gaps}
    rows: list[tuple[Cell, ...]] = []
    for name, theirs in scores.items():
        line = lines.get(name)
        for subject, mean in means(theirs).items():
            if name == base:
                rows.append((name, subject, mean, mean, None, None, ""))
            elif line is None:
                rows.append((name, subject, mean, None, None, None, "no shared dialogues"))
            else:
                caveat = "" if line.error is not None else "not computed: only one shared subject"
                rows.append((name, subject, mean, line.calibrated(mean), *ends(line.interval(mean)), caveat))
    note = (
        "Linear equating. The interval comes from leaving out each subject in turn: it shows the possible error of "
        "the calibrated score of a new subject."
    )
    columns = ("simulator", "subject", "score", "calibrated", "from", "to", "caveat")
    points = dict.fromkeys(("score", "calibrated", "from", "to"), "points")
    return Table("calibrated", f"Scores on the scale of {base}", columns, tuple(rows), note=note, units=points)


def _components(found: Components) -> Table:
    rows = []
    for one in sorted(found.components, key=lambda one: -one.variance):
        bounds = (None if end is None else sqrt(end) for end in ends(one.interval))
        share = one.variance / found.total if found.total else None
        rows.append((one.name, one.levels, share, one.deviation, *bounds, one.variance))
    merged = f" Without repeats, {', '.join(found.merged)} cannot be separated from it." if found.merged else ""
    note = (
        f"{METHOD} on {found.observations} dialogues: all effects random, missing cells allowed. The residual is the "
        f"variation between repeats of one dialogue.{merged} Intervals are those of Williams and "
        "Tukey, at most 50: no values from 0 to 100 vary more."
    )
    columns = ("component", "levels", "share", "points", "from", "to", "variance")
    units = {"share": "share", "points": "points", "from": "points", "to": "points", "variance": "number"}
    title = "Variance components of one dialogue's final emotion (standard deviations in points)"
    return Table("components", title, columns, tuple(rows), note=note, units=units, details=("variance",))


def _designs(found: Components) -> Table:
    several = found.levels[SIMULATOR] > 1
    counts = _SIMULATORS if several else (1,)
    rows = tuple(
        (each.numbers[SIMULATOR], each.numbers[SCENARIO],
         each.belongs, *ends(each.belongs_interval), each.half_width, *ends(each.half_width_interval),
         precision(found, SUBJECT, each.numbers, panel=True).half_width, each.error)
        for each in designs_of(found, counts, _SCENARIOS)
    )  # fmt: skip
    shares, widths = ("the subject's", "at least", "at most"), ("half-width", "from", "to")
    units = {**dict.fromkeys(shares, "share"), **dict.fromkeys((*widths, "panel", "standard error"), "points")}
    note = (
        "For the difference between two subjects with the same scenarios and simulators, one repeat each: the share of "
        "the variation of means that comes from the subjects, and half of the 95 % interval. Their own intervals "
        f"(Feldt, Satterthwaite; at most 100, the whole scale) rest on {found.levels[SIMULATOR]} simulators and "
        f"{found.levels[SUBJECT]} subjects. Panel: the half-width if each scenario meets one of the simulators."
    )
    return Table(
        "designs",
        "Precision of a difference by design",
        ("simulators", "scenarios", *shares, *widths, "panel", "standard error"),
        rows,
        note=note,
        units=units,
        details=("standard error",),
    )


def _more_lenient(gaps: Sequence[Leniency], base: str) -> list[str]:
    """How much more lenient each simulator is than the reference, one sentence each."""
    said = []
    for each in gaps:
        gap, interval = each.difference.difference, each.difference.interval
        size = estimate(abs(gap), "points", interval.scaled(-1) if gap < 0 else interval)
        more = "more lenient" if gap > 0 else "stricter"
        said.append(f"{each.simulator} is {more} than {base} by {size} points on {each.dialogues} shared dialogues.")
    return said or [f"No other simulator shares dialogues with {base}."]


def _belongs(found: Components | None, table: Cube) -> list[str]:
    """How much of the difference between two subjects' means belongs to them, in the design that was played."""
    if found is None:
        return []
    scenarios = len(table.scenarios)
    one = designs_of(found, (1,), (scenarios,))[0]
    share = estimate(one.belongs, "share", one.belongs_interval)
    width = estimate(one.half_width, "points", one.half_width_interval)
    said = (
        f"With one simulator and {scenarios} scenarios, {share} of the variation between subjects' means "
        f"comes from the subjects; two of them must differ by {width} points to be told apart."
    )
    return [said] if found.levels[SIMULATOR] > 1 else []


def _notes(runs: Sequence[Run], found: Components | None) -> list[str]:
    said = []
    if found is None:
        said.append("Variance components need two subjects on two shared scenarios, not confounded with simulators.")
    elif found.levels[SIMULATOR] < 2:
        said.append("With one simulator, its effect on a subject cannot be separated from the subject's own.")
    elif found.levels[SIMULATOR] < 5 or found.levels[SUBJECT] < 5:
        said.append(
            f"{found.levels[SIMULATOR]} simulators and {found.levels[SUBJECT]} subjects say little about simulators "
            "and subjects in general: see the intervals of the components."
        )
    return said + stand_in_notes(run.view(samples.dialogue_task(run)) for run in runs)
