"""Decision study: how precise a comparison of subjects is with other numbers of simulators, scenarios and repeats."""

import math
from collections.abc import Mapping, Sequence

from msgspec import Struct

from sociometer.analysis.distributions import chi_square_quantile, f_quantile, normal_quantile
from sociometer.analysis.variance_components import Components
from sociometer.core.measure import Interval

MOST = 100_000
"""The largest number of levels that is tried."""
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


def precision(components: Components, subject: str, numbers: Mapping[str, int], repeats: int = 1) -> Precision:
    """The precision of subjects' means over so many levels of every other facet, all crossed.

    Relative error variance: Σ over interactions of the subject with other facets, each divided by the numbers of their
    levels, and the residual divided by all of them and the repeats. The share is Cronbach's generalizability
    coefficient σ²(subject) / (σ²(subject) + σ²(error)). Where the design had no repeats, the residual holds the
    highest interaction, which repeats do not reduce; `repeats` should then be 1.

    Intervals: the error variance has about ν = 2 σ⁴ / variance(σ²) degrees of freedom (Satterthwaite), with the
    variance from the components' covariance; its interval is that of a χ²(ν), the share's that of Feldt with an F of
    (subjects − 1, ν). References: Cronbach, Gleser, Nanda and Rajaratnam (1972); Brennan, R. L. (2001).
    Generalizability Theory; Satterthwaite (1946), Biometrics Bulletin 2; Feldt (1965), Psychometrika 30.
    """
    weights = _weights(components, subject, numbers, repeats)
    noise = sum(weight * one.variance for weight, one in zip(weights, components.components, strict=True))
    own = components.variance(subject)
    error = math.sqrt(2 * noise)
    belongs = own / (own + noise) if own + noise > 0 else 0.0
    freedom, wide = _freedom(components, weights, noise), normal_quantile(_TAIL) * math.sqrt(2)
    width, share = (Interval(None, None, 0.95, method) for method in (SATTERTHWAITE, FELDT))
    if freedom is not None:
        low, high = (freedom * noise / chi_square_quantile(tail, freedom) for tail in (_TAIL, 1 - _TAIL))
        width = Interval(wide * math.sqrt(low), wide * math.sqrt(high), 0.95, SATTERTHWAITE)
        ratios = (f_quantile(tail, components.levels[subject] - 1, freedom) for tail in (_TAIL, 1 - _TAIL))
        low, high = (min(1.0, max(0.0, 1 - (1 - belongs) * ratio)) for ratio in ratios)
        share = Interval(low, high, 0.95, FELDT)
    return Precision(dict(numbers), belongs, share, error, normal_quantile(_TAIL) * error, width)


def _weights(components: Components, subject: str, numbers: Mapping[str, int], repeats: int) -> list[float]:
    """How much each component adds to the error variance of a subject's mean."""
    everything = math.prod(count for name, count in numbers.items() if name != subject) * repeats
    return [
        0.0
        if (one.facets and subject not in one.facets) or one.facets == (subject,)
        else 1 / (math.prod(numbers[name] for name in one.facets if name != subject) if one.facets else everything)
        for one in components.components
    ]


def _freedom(components: Components, weights: Sequence[float], noise: float) -> float | None:
    """The degrees of freedom of the error variance; None if it is 0 or its variance is unknown."""
    varies = sum(
        one * two * each
        for one, row in zip(weights, components.covariance, strict=False)
        for two, each in zip(weights, row, strict=True)
    )
    return 2 * noise**2 / varies if noise > 0 and varies > 0 else None


def levels_needed(
    components: Components, subject: str, facet: str, fixed: Mapping[str, int], half_width: float, *, safe: bool = False
) -> int | None:
    """The smallest number of levels of a facet that gives a difference this half-width; None if no number does.

    `fixed` are the numbers of the other facets. An interaction of the subject with one of them stays, however many
    levels the facet has. `safe`: also if the components are as large as their interval allows.
    """
    if half_width <= 0:
        raise ValueError(f"the half-width must be above 0, not {half_width}")

    def reached(count: int) -> bool:
        found = precision(components, subject, {**fixed, facet: count})
        width = found.half_width_interval.high if safe else found.half_width
        return width is not None and width <= half_width

    if not reached(MOST):
        return None
    low, high = 0, MOST
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high
