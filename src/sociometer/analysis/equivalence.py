"""Two one-sided tests: whether two subjects are the same within a margin that was stated beforehand."""

from msgspec import Struct
from numpy.typing import ArrayLike
from scipy import stats

from sociometer.analysis.clusters import Labels
from sociometer.analysis.paired import paired_difference
from sociometer.analysis.shown import NO_VARIATION
from sociometer.core.measure import Interval


class Equivalence(Struct, frozen=True):
    """Result of the two one-sided tests; `interval` is the (1 − 2α) interval that must lie inside the margin.

    `p_holm` is corrected over the comparisons made together, where there were such; `equivalent` then follows it.
    """

    margin: float
    difference: float
    p_value: float
    equivalent: bool
    interval: Interval
    p_holm: float | None = None


def equivalence_test(
    first: ArrayLike,
    second: ArrayLike,
    margin: float,
    clusters: Labels | None = None,
    *,
    items: Labels | None = None,
    alpha: float = 0.05,
) -> Equivalence:
    """TOST on paired items: p is the larger of the tests against −margin and +margin.

    t = (d ± margin) / SE with the cluster-robust standard error on G − 1 degrees of freedom; assumes that the
    mean difference is near normal. Reference: Schuirmann, D. J. (1987). A comparison of the two one-sided
    tests procedure and the power approach. J. Pharmacokinetics and Biopharmaceutics 15.
    """
    if margin <= 0:
        raise ValueError(f"the margin must be above 0, not {margin}; state the difference that would not matter")
    level = 1 - 2 * alpha
    paired = paired_difference(first, second, clusters, items=items, level=level, draws=1)
    return equivalence_of(paired.difference, paired.standard_error, paired.clusters, margin, alpha)


def equivalence_of(
    difference: float, standard_error: float, clusters: int, margin: float, alpha: float = 0.05
) -> Equivalence:
    """The two one-sided tests from a difference and its standard error."""
    level = 1 - 2 * alpha
    if clusters < 2:
        return Equivalence(margin, difference, 1.0, False, Interval(None, None, level, "too few", clusters))
    if standard_error == 0:
        inside = abs(difference) < margin
        same = Interval(difference, difference, level, NO_VARIATION, clusters)
        return Equivalence(margin, difference, 0.0 if inside else 1.0, inside, same)
    above = float(stats.t.sf((difference + margin) / standard_error, clusters - 1))
    below = float(stats.t.cdf((difference - margin) / standard_error, clusters - 1))
    half = float(stats.t.ppf(1 - alpha, clusters - 1)) * standard_error
    interval = Interval(difference - half, difference + half, level, "t on cluster-robust error", clusters)
    p_value = max(above, below)
    return Equivalence(margin, difference, p_value, p_value < alpha, interval)
