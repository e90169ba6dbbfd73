"""Power of paired comparisons: the smallest difference that items can show.

Nothing here depends on the observed difference.

References
----------
Cohen, J. (1988). Statistical Power Analysis for the Behavioral Sciences, chapter 2.
Connor, R. J. (1987). Sample size for testing differences in proportions for the paired-sample design.
Biometrics 43.
Miller, E. (2024). Adding error bars to evals. arXiv:2411.00640 (sections 4 and 5).
"""

import functools
import math
from collections.abc import Callable

import numpy as np

from sociometer.core.lazy import lazy
from sociometer.statistics.distributions import noncentral_t_below, normal_quantile, t_quantile
from sociometer.statistics.paired import PairedDifference

special = lazy("scipy.special")


def paired_power(difference: float, standard_error: float, clusters: float, level: float = 0.95) -> float:
    """Power of a two-sided paired t test for a true difference, by the noncentral t distribution."""
    if clusters < 2 or standard_error <= 0:
        return float("nan")
    freedom = clusters - 1
    critical = t_quantile(0.5 + level / 2, freedom)
    shift = abs(difference) / standard_error
    below, lower = noncentral_t_below(critical, freedom, shift), noncentral_t_below(-critical, freedom, shift)
    # NaN is far from zero: there the upper tail is 1 and the lower tail 0
    return (1.0 if math.isnan(below) else 1 - below) + (0.0 if math.isnan(lower) else lower)


def smallest_detectable(standard_error: float, clusters: float, *, power: float = 0.8, level: float = 0.95) -> float:
    """The smallest true difference that is found with the given power, from the standard error of the difference."""
    if clusters < 2 or not math.isfinite(standard_error):
        return float("nan")
    return 0.0 if standard_error == 0 else _smallest_shift(clusters, power, level) * standard_error


@functools.lru_cache(maxsize=4096)
def _smallest_shift(clusters: float, power: float, level: float) -> float:
    """The smallest detectable difference in standard errors, by bisection; comparisons ask for the same ones often."""
    high = 2.0
    while paired_power(high, 1.0, clusters, level) < power:
        high *= 2
    return _bisected(lambda shift: paired_power(shift, 1.0, clusters, level) >= power, high, 1e-13 * high)


def binary_power(items: int, gained: float, lost: float, level: float = 0.95) -> float:
    """The exact probability that Bonett and Price's interval excludes zero, for given shares of items gained and lost.

    With T discordant items it excludes zero if their difference exceeds z √((T + 2) / (1 + z²/(n + 2))). The sum is
    over the number of discordant items (binomial in n) and over their split (binomial in that number).
    """
    discordant = gained + lost
    if items < 1 or discordant <= 0:
        return 0.0
    share, total = gained / discordant, min(1.0, discordant)
    middle, width = items * total, 7 * math.sqrt(items * total * (1 - total)) + 7
    totals = np.arange(max(1, math.floor(middle - width)), min(items, math.ceil(middle + width)) + 1)
    z = normal_quantile(0.5 + level / 2)
    # the largest count of the smaller side with which the interval excludes zero; negative if there is none
    edge = np.ceil((totals - z * np.sqrt((totals + 2) / (1 + z * z / (items + 2)))) / 2) - 1
    chance = special.bdtr(edge, totals, share) + special.bdtr(edge, totals, 1 - share)
    weights = np.exp(
        special.gammaln(items + 1)
        - special.gammaln(totals + 1)
        - special.gammaln(items - totals + 1)
        + special.xlogy(totals, total)
        + special.xlogy(items - totals, 1 - total)
    )
    return float((weights * np.where(edge >= 0, chance, 0.0)).sum())


def repeated_power(
    difference: float, items: float, square: float, disagreement: float, *, clusters: float = 0.0, level: float = 0.95
) -> float:
    """The probability that the interval excludes zero if right-or-wrong items are played several times and averaged.

    `square` is the mean squared difference of the averaged items, `disagreement` that of single answers: the rest is
    chance, which repeats average out. Two runs that differ by d disagree on at least a share d of single answers; the
    averages keep as much of it as of the stated disagreement, to which two items without chance are added because few
    items say little. The interval is that of Bonett and Price with two items of the usual size added.
    """
    kept = (items * square + 2) / (items * disagreement + 2)
    size = square / disagreement if disagreement else 1.0
    centre = items * difference / (items + 2)
    spread = max(square, kept * difference, difference**2)
    variance = (items * spread + 2 * size) / (items + 2) - centre**2
    return paired_power(centre, math.sqrt(max(0.0, variance) / (items + 2)), clusters or items, level)


def smallest_detectable_repeated(
    items: float, square: float, disagreement: float, *, clusters: float = 0.0, power: float = 0.8, level: float = 0.95
) -> float:
    """The smallest difference that right-or-wrong items show if they are played several times; 1 if there is none."""
    of_items = {"clusters": clusters, "level": level}
    return _bisected(lambda by: repeated_power(by, items, square, disagreement, **of_items) >= power, 1.0, 1e-4)


def smallest_detectable_binary(items: float, discordant: float, *, power: float = 0.8, level: float = 0.95) -> float:
    """The smallest difference of two shares that the interval shows with the given power.

    `discordant` is the observed share of items on which the two differ. If that share is too small for any split of it
    to be significant, a larger share is assumed: the smallest difference whose items are all discordant in one
    direction and that is found. NaN if there are too few items for any difference.
    """
    n = max(1, math.floor(items))
    return _smallest_binary(n, min(1.0, max(discordant, 2 / (n + 2))), power, level)


@functools.lru_cache(maxsize=4096)
def _smallest_binary(n: int, share: float, power: float, level: float) -> float:
    """The smallest detectable difference of shares, by bisection; comparisons ask for the same ones often."""

    def reached(difference: float) -> float:
        total = max(share, difference)
        return binary_power(n, (total + difference) / 2, (total - difference) / 2, level)

    if reached(1.0) < power:
        return float("nan")
    return _bisected(lambda difference: reached(difference) >= power, 1.0, 1e-4)


def _bisected(reached: Callable[[float], bool], high: float, width: float) -> float:
    """The smallest value up to `high` that reaches the power, to within `width`."""
    low = 0.0
    while high - low > width:
        middle = (low + high) / 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high


def detectable_difference(paired: PairedDifference, *, level: float) -> float | None:
    """The smallest true difference that these items show with a power of 80 %; None if it cannot be computed."""
    found = smallest_detectable(paired.standard_error, paired.freedom + 1, level=level)
    if paired.binary and paired.mcnemar is not None:
        found = smallest_detectable_binary(paired.worth, paired.square, level=level)
    elif paired.binary:
        spread = paired.worth, paired.square, paired.disagreement
        found = max(found, smallest_detectable_repeated(*spread, clusters=paired.freedom + 1, level=level))
    # without variation, the items give no information about what they can detect
    return None if math.isnan(found) or found == 0 else found
