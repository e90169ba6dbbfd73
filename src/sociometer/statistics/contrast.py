"""Conditions against a control on the same items: ratio of change, test, stars, correction for multiple comparisons."""

from collections.abc import Mapping

import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike

from sociometer.core.lazy import lazy
from sociometer.statistics.intervals import Labels
from sociometer.statistics.paired import PairedDifference, benjamini_hochberg, holm, paired_difference

stats = lazy("scipy.stats")


class Change(Struct, frozen=True):
    """A condition against its control; `ratio` is (condition − control) / control, None if the control is 0."""

    condition: str
    paired: PairedDifference
    ratio: float | None
    stars: str
    p_holm: float
    p_benjamini_hochberg: float


class SignedRank(Struct, frozen=True):
    """Wilcoxon's signed-rank test with the matched-pairs rank-biserial correlation as effect size."""

    statistic: float
    p_value: float
    effect: float
    pairs: int


def stars(p_value: float) -> str:
    """Significance as in Fig. 3 of the SESI paper: ns, or *, **, ***, **** below .05, .01, .001, .0001."""
    for mark, limit in (("****", 1e-4), ("***", 1e-3), ("**", 1e-2), ("*", 0.05)):
        if p_value < limit:
            return mark
    return "ns"


def changes(conditions: Mapping[str, tuple[ArrayLike, ArrayLike, Labels | None]]) -> list[Change]:
    """Compare every condition with its control: the values of the control and of the condition, and their clusters.

    Stars mark uncorrected p-values; the corrected ones are over all conditions of the call.
    """
    pairs = [paired_difference(*values) for values in conditions.values()]
    raw = [pair.p_value for pair in pairs]
    found = zip(conditions, pairs, holm(raw).tolist(), benjamini_hochberg(raw).tolist(), strict=True)
    return [
        Change(name, pair, pair.difference / pair.first if pair.first else None, stars(pair.p_value), *corrected)
        for name, pair, *corrected in found
    ]


def signed_rank(first: ArrayLike, second: ArrayLike) -> SignedRank:
    """Wilcoxon's signed-rank test of second against first (zeros dropped), effect (R₊ − R₋) / (R₊ + R₋).

    Assumes independent pairs: pass one pair for each tree, not one for each episode.
    References: Wilcoxon (1945), Biometrics Bulletin 1; Kerby (2014), Comprehensive Psychology 3.
    """
    differences = np.asarray(second, dtype=np.float64) - np.asarray(first, dtype=np.float64)
    differences = differences[np.abs(differences) > 1e-12]
    if differences.size == 0:
        return SignedRank(0.0, 1.0, 0.0, 0)

    result = stats.wilcoxon(differences)
    ranks = stats.rankdata(np.abs(differences))
    effect = float((ranks * np.sign(differences)).sum() / ranks.sum())
    return SignedRank(float(result.statistic), float(result.pvalue), effect, int(differences.size))
