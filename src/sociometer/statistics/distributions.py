"""Tails and quantiles of the distributions that intervals and tests need, equal to those of scipy.stats.

Importing scipy.stats takes longer than a short command, importing scipy.special about a third of that. So nothing here
uses scipy.stats, the normal and the chi-square distribution use the standard library, and the other functions import
scipy.special when they are called: a run whose items are independent needs neither.
"""

import math
from statistics import NormalDist

from sociometer.core.lazy import lazy

special = lazy("scipy.special")

_NORMAL = NormalDist()


def normal_quantile(share: float) -> float:
    """The value below which this share of a standard normal distribution lies."""
    return _NORMAL.inv_cdf(share)


def normal_below(value: float) -> float:
    """The share of a standard normal distribution below a value."""
    return math.erfc(-value / math.sqrt(2)) / 2


def t_quantile(share: float, freedom: float) -> float:
    """The value below which this share of Student's t distribution lies."""
    return float(special.stdtrit(freedom, share))


def t_below(value: float, freedom: float) -> float:
    """The share of Student's t distribution below a value; the share above it is that below its negative."""
    return float(special.stdtr(freedom, value))


def noncentral_t_below(value: float, freedom: float, shift: float) -> float:
    """The share of the noncentral t distribution below a value; NaN if it cannot be computed (far from zero)."""
    return float(special.nctdtr(freedom, shift, value))


def f_quantile(share: float, above: float, below: float) -> float:
    """The value below which this share of an F distribution with these two degrees of freedom lies."""
    return float(special.fdtri(above, below, share))


def chi_square_above(value: float, freedom: int) -> float:
    """The share of a chi-square distribution above a value; NaN without degrees of freedom.

    The finite sums for whole degrees of freedom. Reference: Abramowitz and Stegun (1964), 26.4.4 and 26.4.5.
    """
    if freedom < 1:
        return float("nan")
    half = value / 2
    if freedom % 2:
        share, term, step = math.erfc(math.sqrt(half)), math.exp(-half) * math.sqrt(half / math.pi) * 2, 1.5
    else:
        share, term, step = 0.0, math.exp(-half), 1.0
    for _ in range(freedom // 2):
        share += term
        term *= half / step
        step += 1
    return share


def binomial_below(count: int, trials: int, chance: float = 0.5) -> float:
    """The probability of at most `count` successes in so many trials, by the incomplete beta function."""
    if count < 0:
        return 0.0
    if count >= trials:
        return 1.0

    return float(special.betaincc(count + 1, trials - count, chance))
