"""Two one-sided tests (TOST): whether two subjects are equivalent within a margin that was stated beforehand."""

from msgspec import Struct

from sociometer.analysis.distributions import t_below, t_quantile
from sociometer.analysis.interval_methods import NO_VARIATION
from sociometer.analysis.intervals import too_few
from sociometer.core.measure import Interval


class Equivalence(Struct, frozen=True):
    """Result of the two one-sided tests; `interval` is the (1 − 2α) interval that must lie inside the margin.

    `p_holm` is corrected over the comparisons of a family; if it is given, `equivalent` follows from it.
    """

    margin: float
    difference: float
    p_value: float
    equivalent: bool
    interval: Interval
    p_holm: float | None = None


def equivalence_of(
    difference: float, standard_error: float, clusters: int, margin: float, alpha: float = 0.05
) -> Equivalence:
    """The two one-sided tests from a difference and its standard error; p is the larger of both.

    t = (d ± margin) / SE with the cluster-robust standard error on G − 1 degrees of freedom; assumes that the
    mean difference is approximately normal. Reference: Schuirmann, D. J. (1987). A comparison of the two one-sided
    tests procedure and the power approach. J. Pharmacokinetics and Biopharmaceutics 15.
    """
    level = 1 - 2 * alpha
    if clusters < 2:
        return Equivalence(margin, difference, 1.0, False, too_few(clusters, level))
    if standard_error == 0:
        inside = abs(difference) < margin
        same = Interval(difference, difference, level, NO_VARIATION, clusters)
        return Equivalence(margin, difference, 0.0 if inside else 1.0, inside, same)
    above = t_below(-(difference + margin) / standard_error, clusters - 1)
    below = t_below((difference - margin) / standard_error, clusters - 1)
    half = t_quantile(1 - alpha, clusters - 1) * standard_error
    interval = Interval(difference - half, difference + half, level, "t on cluster-robust error", clusters)
    p_value = max(above, below)
    return Equivalence(margin, difference, p_value, p_value < alpha, interval)
