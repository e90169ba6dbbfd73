"""Stopping early without more errors: bounds that allow for several looks, repeated intervals, futility.

References
----------
Lan, K. K. G., and DeMets, D. L. (1983). Discrete sequential boundaries for clinical trials. Biometrika 70.
O'Brien, P. C., and Fleming, T. R. (1979). A multiple testing procedure for clinical trials. Biometrics 35.
Jennison, C., and Turnbull, B. W. (1999). Group Sequential Methods, chapters 7, 9 and 19. Chapman and Hall.
"""

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np
from msgspec import Struct

from sociometer.core.lazy import lazy
from sociometer.core.measure import Interval
from sociometer.core.stopping import UNDECIDED
from sociometer.statistics.agreement import spearman
from sociometer.statistics.distributions import normal_below, normal_quantile
from sociometer.statistics.intervals import Floats
from sociometer.statistics.paired import Differences, item_differences, verdict_of

special = lazy("scipy.special")

SHARES = (0.2, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 1.0)
"""The shares of the items after which a comparison is looked at."""
FEWEST = 30
"""No look comes before so many items."""
FUTILE = 0.03
"""A run is futile if a verdict at its end is less likely than this, given what was seen."""
FIRST_FUTILE = 0.4
"""The share of the items before which no run is called futile."""
_POINTS = 401
_HIGHEST = 1 - 1e-12


def blocks(items: int) -> tuple[int, ...]:
    """After how many items a rule looks; the last look is at all of them."""
    counts = {math.ceil(round(share * items, 6)) for share in SHARES}
    return tuple(sorted(count for count in counts if count >= min(FEWEST, items)))


@lru_cache(maxsize=512)
def bounds(times: tuple[float, ...], level: float = 0.95) -> tuple[float, ...]:
    """The bound of |Z| at each look, such that without a difference any is crossed with probability 1 − `level`.

    `times` are the shares of the information at the looks. Each direction has spent 2 − 2Φ(z / √t) of its error rate
    α/2 at time t, with z the normal quantile of 1 − α/4 (O'Brien-Fleming type). The bounds follow from the density of
    the sum among runs that go on, carried from look to look by numerical integration.
    """
    side = (1 - level) / 2
    quantile = normal_quantile(1 - side / 2)
    found: list[float] = []
    before, spent = 0.0, 0.0
    points: Floats = np.zeros(1)
    weights: Floats = np.ones(1)
    for time in times:
        total = side if time >= 1 else min(side, 2 * normal_below(-quantile / math.sqrt(time)))
        step = math.sqrt(time - before)
        low, high = 0.0, 10.0 * math.sqrt(time)
        for _ in range(60):
            middle = (low + high) / 2
            if float((weights * special.ndtr((points - middle) / step)).sum()) > total - spent:
                low = middle
            else:
                high = middle
        grid = np.linspace(-high, high, _POINTS)
        kernel = np.exp(-np.square((grid[:, None] - points) / step) / 2) / (step * math.sqrt(2 * math.pi))
        weights = (kernel @ weights) * (grid[1] - grid[0])
        weights[[0, -1]] /= 2
        points, before, spent = grid, time, total
        found.append(high / math.sqrt(time))
    return tuple(found)


def nominal_level(times: tuple[float, ...], level: float = 0.95) -> float:
    """The level at which the interval of the last look is made, so that those of all looks hold together at `level`.

    An interval made so is valid whatever the reason to stop was (a repeated confidence interval). Without looks, it is
    the level itself.
    """
    if not times:
        return level
    return min(_HIGHEST, max(level, 2 * normal_below(bounds(times, level)[-1]) - 1))


def widening(times: tuple[float, ...]) -> float:
    """How many times as wide a 95 % interval is with these looks as without any."""
    return normal_quantile(0.5 + nominal_level(times) / 2) / normal_quantile(0.975)


def earliest(looked: Iterable[tuple[float, ...]]) -> tuple[float, ...]:
    """Of the looks at several runs, those at the run that was stopped earliest; they need the widest intervals."""
    return min((times for times in looked if times), key=lambda times: times[-1], default=())


def repeated_p_value(p_value: float, times: tuple[float, ...]) -> float:
    """The p-value that allows for the looks: the smallest error rate at which the bound of the last look is crossed."""
    if not times:
        return p_value
    nominal, rates = _rates(times)
    found = float(np.exp(np.interp(math.log(max(p_value, 1e-12)), nominal, rates)))
    return min(1.0, max(p_value, found))


@lru_cache(maxsize=64)
def _rates(times: tuple[float, ...]) -> tuple[Floats, Floats]:
    """The logarithm of the nominal error rate of the last look for error rates over all looks, on a grid."""
    rates = np.concatenate([np.geomspace(1e-6, 0.1, 21), np.linspace(0.15, 0.95, 9)])
    nominal = [1 - nominal_level(times, 1 - float(rate)) for rate in rates]
    return np.log(np.maximum.accumulate([*nominal, 1.0])), np.log([*rates, 1.0])


class SequentialLook(Struct, frozen=True):
    """A look at a comparison: the difference with its repeated interval, and what it says."""

    difference: float
    interval: Interval
    verdict: str
    """`better`, `worse`, `differs`, `equivalent`, `cannot be decided`, or empty: go on."""


def look(
    seen: Differences,
    times: tuple[float, ...],
    *,
    better: str = "higher",
    margin: float | None = None,
    level: float = 0.95,
    extremes: Sequence[Differences] = (),
    left_open: bool = False,
) -> SequentialLook:
    """The last of several looks at a comparison, at these shares of the planned items.

    `extremes` are the differences with failed items at their worst and best: there is a verdict only if they give the
    same one, at the last look too. `left_open` says that failed items have no worst and best. Futility does not bind:
    going on in spite of it costs nothing but items.
    """
    at = nominal_level(times, level)
    interval = seen.interval(at)
    mean = float(seen.values.mean())
    verdict: str = verdict_of(interval, better, margin)
    last = times[-1] >= 1
    if left_open or any(verdict_of(one.interval(at), better, margin) != verdict for one in extremes):
        verdict = ""
    if verdict in ("", "cannot tell", "too few"):
        futile = last or (times[-1] >= FIRST_FUTILE and _futile(mean, interval, at, times, margin, level))
        verdict = UNDECIDED if futile else ""
    return SequentialLook(mean, interval, verdict)


def drift(differences: Floats, verdict: str) -> float:
    """The p-value of a drift of the differences, given in the order of play, that speaks against a verdict.

    The order is random, so without a drift every order is equally likely: Spearman's rank test of the differences
    against their places. One-sided for a difference (it moves towards zero and beyond), two-sided for `equivalent`.
    1 if the last third of the items alone shows the same difference, which a drift then has not made.
    """
    mean, later = float(differences.mean()), differences[2 * differences.size // 3 :] * np.sign(differences.mean())
    still = item_differences(np.zeros(later.size), later, binary=False).interval().low
    if float(np.ptp(differences)) == 0.0 or (verdict != "equivalent" and still is not None and still > 0):
        return 1.0
    rho, p_value = spearman(np.arange(differences.size), differences)
    return p_value if verdict == "equivalent" else p_value / 2 if rho * mean < 0 else 1 - p_value / 2


def _futile(
    mean: float, interval: Interval, at: float, times: tuple[float, ...], margin: float | None, level: float
) -> bool:
    """Whether a verdict at the end is less likely than `FUTILE`, given the difference so far.

    The predictive probability with a flat prior: the final estimate is normal about the present one, with the variance
    of the final one times (1 − t) / t. Reference: Spiegelhalter et al. (1986). Controlled Clinical Trials 7.
    """
    if interval.low is None or interval.high is None or interval.high <= interval.low:
        return False
    time = times[-1]
    error = (interval.high - interval.low) / 2 / normal_quantile(0.5 + at / 2) * math.sqrt(time)
    spread = error * math.sqrt((1 - time) / time)
    later = (*times, *(share for share in SHARES if share > time))
    needed = bounds(later, level)[-1] * error

    def above(edge: float) -> float:
        return normal_below((mean - edge) / spread)

    chance = above(needed) + 1 - above(-needed)
    if margin is not None and margin > needed:
        inside = margin - needed
        chance += above(-inside) - above(inside)
    return chance < FUTILE
