"""Variance components of crossed random facets (generalizability theory)."""

import math
from collections.abc import Hashable, Mapping, Sequence
from itertools import combinations

import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike, NDArray

from sociometer.core.measure import Interval
from sociometer.statistics.distributions import chi_square_quantile
from sociometer.statistics.intervals import SEED, Floats, cluster_codes

Codes = NDArray[np.int64]
RESIDUAL = "residual"
METHOD = "Henderson's method 1"
INTERVAL = "Williams-Tukey, error by parametric bootstrap"
COMPONENT_DRAWS = 400
_TAIL = 0.975


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

    def variance(self, *facets: str) -> float:
        """The variance of a facet or an interaction, in any order; without facets, of the residual."""
        found = (one.variance for one in self.components if set(one.facets) == set(facets))
        return next(found, 0.0)

    @property
    def total(self) -> float:
        """The variance of one observation."""
        return sum(one.variance for one in self.components)


def variance_components(
    values: ArrayLike,
    facets: Mapping[str, Sequence[Hashable]],
    *,
    span: float = math.inf,
    draws: int = COMPONENT_DRAWS,
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
    normal effects of the estimated size. With few levels the interval is wide. No values that differ by at most `span`
    have a larger variance than (span / 2)².

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
    errors = design.simulated_errors(kept, draws)
    names = [*groups, ()]
    sizes = [*(int(codes.max()) + 1 for codes in groups.values()), scores.size]
    free = _freedom(groups, scores.size)
    found = tuple(
        Component(names[at], float(kept[at]), float(raw[at]), _interval(raw[at], errors[at], free[at], span), sizes[at])
        for at in range(len(names))
    )
    levels = {name: coded[name][1] if name in coded else 1 for name in facets}
    joined = tuple(" × ".join(each) for each in merged)
    return Components(found, scores.size, levels, joined)


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

    def simulated_errors(self, components: Floats, draws: int) -> Floats:
        """The standard errors of the components over scores simulated with normal effects of these sizes."""
        generator = np.random.default_rng(SEED)
        found = np.empty((draws, len(components)))
        deviations = np.sqrt(components)
        for draw in range(draws):
            scores = generator.normal(0.0, deviations[-1], self._observations)
            for codes, count, deviation in zip(self._codes, self._counts, deviations[:-1], strict=True):
                scores += generator.normal(0.0, deviation, count.size)[codes]
            found[draw] = self.solve(scores - scores.mean())
        return np.asarray(found.std(axis=0, ddof=1), dtype=np.float64)

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


def _interval(estimate: float, error: float, freedom: int, span: float) -> Interval:
    """The interval of Williams and Tukey, starting at 0 if the estimate does not differ from 0."""
    if error == 0 or not math.isfinite(error):
        return Interval(None, None, 0.95, INTERVAL, freedom + 1)
    noise = max(0.0, error * math.sqrt(freedom / 2) - max(estimate, 0.0))
    square = max(0.0, freedom * (estimate + noise))
    low, high = (max(0.0, square / chi_square_quantile(share, freedom) - noise) for share in (_TAIL, 1 - _TAIL))
    return Interval(low, max(estimate, min(high, (span / 2) ** 2)), 0.95, INTERVAL, freedom + 1)
