"""Decision study: how precise a comparison of subjects is with other numbers of simulators, scenarios and repeats."""

import math
from collections.abc import Mapping, Sequence
from itertools import combinations

from msgspec import Struct

from sociometer.analysis.distributions import normal_quantile
from sociometer.analysis.variance_components import Components

MOST = 100_000
"""The largest number of levels that is looked for."""


class Precision(Struct, frozen=True):
    """A design and its precision: `belongs` is the share of the variation of observed means that is the subjects' own.

    `error` is the standard error of the difference of two subjects that meet the same levels, `half_width` half of its
    95 % interval.
    """

    numbers: dict[str, int]
    belongs: float
    error: float
    half_width: float


def precision(components: Components, subject: str, numbers: Mapping[str, int], repeats: int = 1) -> Precision:
    """The precision of subjects' means over so many levels of every other facet, all crossed.

    Relative error variance: Σ over interactions of the subject with other facets, each divided by the numbers of their
    levels, and the residual divided by all of them and the repeats. The share is Cronbach's generalizability
    coefficient σ²(subject) / (σ²(subject) + σ²(error)). Where the design had no repeats, the residual holds the
    highest interaction, which repeats do not reduce; `repeats` should then be 1. References: Cronbach, Gleser, Nanda
    and Rajaratnam (1972); Brennan, R. L. (2001). Generalizability Theory.
    """
    others = [name for name in numbers if name != subject]
    noise = components.variance() / (math.prod(numbers[name] for name in others) * repeats)
    for size in range(1, len(others) + 1):
        for names in combinations(others, size):
            noise += components.variance(subject, *names) / math.prod(numbers[name] for name in names)
    own = components.variance(subject)
    error = math.sqrt(2 * noise)
    belongs = own / (own + noise) if own + noise > 0 else 0.0
    return Precision(dict(numbers), belongs, error, normal_quantile(0.975) * error)


def levels_needed(
    components: Components, subject: str, facet: str, fixed: Mapping[str, int], half_width: float
) -> int | None:
    """The least number of levels of a facet that gives a difference this half-width; None if no number does.

    `fixed` are the numbers of the other facets. An interaction of the subject with one of them stays, however many
    levels the facet has.
    """
    if half_width <= 0:
        raise ValueError(f"the half-width must be above 0, not {half_width}")

    def reached(count: int) -> bool:
        return precision(components, subject, {**fixed, facet: count}).half_width <= half_width

    if not reached(MOST):
        return None
    low, high = 0, MOST
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high


def designs(components: Components, subject: str, choices: Mapping[str, Sequence[int]]) -> list[Precision]:
    """The precision of every combination of numbers."""
    found: list[dict[str, int]] = [{}]
    for name, counts in choices.items():
        found = [{**one, name: count} for one in found for count in counts]
    return [precision(components, subject, numbers) for numbers in found]
