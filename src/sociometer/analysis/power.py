"""What these items can detect, and how many items a stated margin needs; never from the observed difference.

References
----------
Cohen, J. (1988). Statistical Power Analysis for the Behavioral Sciences, chapter 2.
Connor, R. J. (1987). Sample size for testing differences in proportions for the paired-sample design.
Biometrics 43.
Miller, E. (2024). Adding error bars to evals. arXiv:2411.00640 (sections 4 and 5).
"""

import functools
import math

import numpy as np
from scipy import optimize, special, stats

from sociometer.analysis.clusters import Floats

EXACT_ITEMS = 20_000
STEPS = 8


def paired_power(difference: float, standard_error: float, clusters: int, level: float = 0.95) -> float:
    """Chance that a two-sided paired t test finds a true difference, by the noncentral t distribution."""
    if clusters < 2 or standard_error <= 0:
        return float("nan")
    freedom = clusters - 1
    critical = float(stats.t.ppf(0.5 + level / 2, freedom))
    shift = abs(difference) / standard_error
    upper, lower = stats.nct.sf(critical, freedom, shift), stats.nct.cdf(-critical, freedom, shift)
    # scipy gives NaN far out, where the tails are known: all above, nothing below
    return float(np.nan_to_num(upper, nan=1.0) + np.nan_to_num(lower, nan=0.0))


def smallest_detectable(standard_error: float, clusters: int, *, power: float = 0.8, level: float = 0.95) -> float:
    """The smallest true difference found with the stated power, given the standard error of the difference."""
    if clusters < 2 or not math.isfinite(standard_error):
        return float("nan")
    if standard_error == 0:
        return 0.0

    def shortfall(shift: float) -> float:
        return paired_power(shift, 1.0, clusters, level) - power

    reach = 2.0
    while shortfall(reach) < 0:
        reach *= 2
    return float(optimize.brentq(shortfall, 1e-9, reach)) * standard_error


def items_needed(
    margin: float, deviation: float, *, power: float = 0.8, level: float = 0.95, design_effect: float = 1.0
) -> int:
    """Items needed to find a true difference of `margin`, stated by the user, with the given power.

    `deviation` is the standard deviation of the item differences; `design_effect` is how many clustered items
    do the work of one independent item. Solved on the noncentral t, at least two items.
    """
    if margin <= 0:
        raise ValueError(f"the margin must be above 0, not {margin}; state the difference that would matter")
    if deviation == 0:
        return 2
    low, high = 2, 4
    while _reached(high, margin, deviation, level) < power:
        low, high = high, high * 2
    while high - low > 1:
        middle = (low + high) // 2
        if _reached(middle, margin, deviation, level) < power:
            low = middle
        else:
            high = middle
    return math.ceil(round(high * max(1.0, design_effect), 6))


def mcnemar_power(items: int, gained: float, lost: float, level: float = 0.95) -> float:
    """Exact chance that the exact McNemar test rejects, for shares of items gained and lost.

    Sums over the number of discordant items (binomial in n) and how they split (binomial in that number).
    """
    discordant = gained + lost
    if items < 1 or discordant <= 0:
        return 0.0
    share, total = gained / discordant, min(1.0, discordant)
    middle, width = items * total, 7 * math.sqrt(items * total * (1 - total)) + 7
    totals = np.arange(max(1, math.floor(middle - width)), min(items, math.ceil(middle + width)) + 1)
    edge = _rejection_edges(1 << items.bit_length(), level)[totals]
    chance = special.bdtr(edge, totals, share) + special.bdtr(edge, totals, 1 - share)
    weights = np.exp(
        special.gammaln(items + 1)
        - special.gammaln(totals + 1)
        - special.gammaln(items - totals + 1)
        + special.xlogy(totals, total)
        + special.xlogy(items - totals, 1 - total)
    )
    return float((weights * np.where(edge >= 0, chance, 0.0)).sum())


@functools.lru_cache(maxsize=64)
def _rejection_edges(items: int, level: float) -> Floats:
    """For 0 … n discordant items, the largest count of the rarer side that is significant (−1: none is)."""
    totals = np.arange(items + 1)
    edge = stats.binom.ppf((1 - level) / 2, totals, 0.5)
    edge = np.where(2 * special.bdtr(np.maximum(edge, 0), totals, 0.5) <= 1 - level, edge, edge - 1)
    edge[0] = -1
    return np.asarray(edge, dtype=np.float64)


def items_needed_binary(
    margin: float, discordant: float, *, power: float = 0.8, level: float = 0.95, design_effect: float = 1.0
) -> int:
    """Items on which the exact McNemar test finds a difference of `margin` in hit rates with the given power.

    `discordant` is the share of items on which the two differ, as it was seen; a difference of `margin` takes at
    least as many. Power moves in small steps with the number of items, so the number is one from which on it holds;
    where that passes `EXACT_ITEMS`, the noncentral t with the same variance gives it.
    """
    if not 0 < margin <= 1:
        raise ValueError(f"the margin of a share must lie above 0 and at most at 1, not {margin}")
    total = min(1.0, max(discordant, margin))
    rough = items_needed(margin, math.sqrt(max(total - margin**2, 0.0)), power=power, level=level)
    if rough > EXACT_ITEMS:
        return math.ceil(round(rough * max(1.0, design_effect), 6))

    def reached(items: int) -> bool:
        return mcnemar_power(items, (total + margin) / 2, (total - margin) / 2, level) >= power

    low, high = 1, max(2, rough)
    while not reached(high):
        low, high = high, high * 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    while short := [items for items in range(high, high + STEPS) if not reached(items)]:
        high = short[-1] + 1
    return math.ceil(round(high * max(1.0, design_effect), 6))


def smallest_detectable_binary(items: float, discordant: float, *, power: float = 0.8, level: float = 0.95) -> float:
    """The smallest difference of two hit rates that the exact McNemar test finds with the stated power.

    `discordant` is the share of items on which the two differ, taken as it is; where even a one-sided
    split of it would not be found, the share that would be found is given instead.
    """
    n = max(1, math.floor(items))
    share = min(1.0, max(discordant, 2 / (n + 2)))

    def reached(difference: float) -> float:
        total = max(share, difference)
        return mcnemar_power(n, (total + difference) / 2, (total - difference) / 2, level)

    if reached(1.0) < power:
        return float("nan")
    low, high = 0.0, 1.0
    while high - low > 1e-4:
        middle = (low + high) / 2
        if reached(middle) < power:
            low = middle
        else:
            high = middle
    return high


def _reached(items: int, margin: float, deviation: float, level: float) -> float:
    return paired_power(margin, deviation / math.sqrt(items), items, level)
