"""Conditions against a control on the same items: change ratio, test, stars, correction for many comparisons."""

from collections.abc import Mapping, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike
from scipy import stats

from sociometer.analysis.clusters import Labels
from sociometer.analysis.multiplicity import benjamini_hochberg, holm
from sociometer.analysis.paired import PairedDifference, paired_difference


class Change(Struct, frozen=True):
    """A condition against its control; `ratio` is (condition − control) / control, None at a control of 0."""

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
    """Significance as the SESI paper's Fig. 3 marks it: ns, *, **, ***, **** for .05, .01, .001, .0001."""
    for mark, limit in (("****", 1e-4), ("***", 1e-3), ("**", 1e-2), ("*", 0.05)):
        if p_value < limit:
            return mark
    return "ns"


def changes(
    control: ArrayLike,
    conditions: Mapping[str, ArrayLike],
    clusters: Labels | None = None,
    *,
    items: Labels | None = None,
    level: float = 0.95,
) -> list[Change]:
    """Compare every condition with the control on the same items; stars are of the uncorrected p-values.

    The corrected ones stand beside them, over all conditions given in one call.
    """
    pairs: Sequence[PairedDifference] = [
        paired_difference(control, values, clusters, items=items, level=level) for values in conditions.values()
    ]
    raw = [pair.p_value for pair in pairs]
    adjusted = zip(holm(raw).tolist(), benjamini_hochberg(raw).tolist(), strict=True)
    return [
        Change(
            name,
            pair,
            pair.difference / pair.first if pair.first else None,
            stars(pair.p_value),
            corrected[0],
            corrected[1],
        )
        for name, pair, corrected in zip(conditions, pairs, adjusted, strict=True)
    ]


def signed_rank(first: ArrayLike, second: ArrayLike) -> SignedRank:
    """Wilcoxon's signed-rank test of second against first (zeros dropped), effect (R₊ − R₋) / (R₊ + R₋).

    Assumes pairs to be independent: give one pair a tree, not one an episode.
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
