"""Differential item functioning: items that work differently for groups of people who are equally able otherwise.

Two tests for each item, both over people:
- `score`: the item's score on the rest score (the mean of the other items), with and without the groups and their
  product with the rest score (uniform and non-uniform DIF); Wald's F with HC3 errors. The effect is the gain in R².
- `answer`: the vector of answers on the groups (Wilks' Λ with Rao's F). The effect is 1 − Λ^(1/s).

An item is flagged if p, corrected by Holm over all tests of the groups, is below .01 and the effect is at least .035
(negligible below it, large from .07; Jodoin and Gierl, 2001). Flagged items leave the rest score and the test is
repeated until the same items are flagged.

References
----------
Jodoin, M. G., and Gierl, M. J. (2001). Evaluating type I error and power rates. Applied Measurement in Education 14.
Swaminathan, H., and Rogers, H. J. (1990). Detecting DIF using logistic regression procedures. JEM 27.
Rao, C. R. (1951). An asymptotic expansion of the distribution of Wilks' criterion.
"""

import math
from collections.abc import Sequence

import numpy as np
from msgspec import Struct, structs
from numpy.typing import ArrayLike, NDArray

from sociometer.statistics.paired import holm

Floats = NDArray[np.float64]
MODERATE, LARGE = 0.035, 0.07
LEVEL = 0.01
FEWEST = 30
"""The smallest group that is tested."""
_MOST_ROUNDS = 10


class ItemDifference(Struct, frozen=True):
    """One test of one item."""

    item: int
    kind: str
    effect: float
    p_value: float
    p_corrected: float = 1.0

    @property
    def size(self) -> str:
        """The effect in words."""
        return "large" if self.effect >= LARGE else "moderate" if self.effect >= MODERATE else "negligible"

    @property
    def flagged(self) -> bool:
        """Whether the item works differently for the groups."""
        return self.p_corrected < LEVEL and self.effect >= MODERATE


def differential_items(scores: ArrayLike, answers: ArrayLike, groups: Sequence[str]) -> list[ItemDifference]:
    """Both tests of every item: `scores` is people × items, `answers` people × items × parts; NaN is a gap."""
    table, vectors = np.asarray(scores, float), np.asarray(answers, float)
    codes = _dummies(groups)
    flagged: set[int] = set()
    found: list[ItemDifference] = []
    for _ in range(_MOST_ROUNDS):
        found = _tests(table, vectors, codes, flagged)
        again = {one.item for one in found if one.flagged}
        if again == flagged:
            break
        flagged = again
    return found


def _tests(table: Floats, vectors: Floats, codes: Floats, left_out: set[int]) -> list[ItemDifference]:
    found = []
    for item in range(table.shape[1]):
        anchors = [other for other in range(table.shape[1]) if other != item and other not in left_out]
        rest = np.nanmean(table[:, anchors or [other for other in range(table.shape[1]) if other != item]], axis=1)
        found += [one for one in (_by_score(item, table[:, item], rest, codes),
                                  _by_answer(item, vectors[:, item], codes)) if one is not None]  # fmt: skip
    corrected = holm([one.p_value for one in found]).tolist() if found else []
    return [structs.replace(one, p_corrected=float(p)) for one, p in zip(found, corrected, strict=True)]


def _by_score(item: int, score: Floats, rest: Floats, codes: Floats) -> ItemDifference | None:
    known = ~np.isnan(score) & ~np.isnan(rest)
    y, x, d = score[known], rest[known], codes[known]
    short = np.column_stack([np.ones(y.size), x])
    long = np.column_stack([short, d, d * x[:, None]])
    total = float(np.square(y - y.mean()).sum())
    without, within = _squares(y, short), _squares(y, long)
    first, second = long.shape[1] - short.shape[1], y.size - long.shape[1]
    if total <= 1e-12 or within <= 1e-12 or second < 1:
        return None
    ratio = _robust_ratio(y, long, first)
    if ratio is None:
        return None
    return ItemDifference(item, "score", max(0.0, without - within) / total, _above(ratio, first, second))


def _robust_ratio(y: Floats, x: Floats, last: int) -> float | None:
    """Wald's F of the last columns with HC3 errors: people who do worse also vary more, which F alone takes for DIF."""
    inverse = np.linalg.pinv(x.T @ x)
    beta = inverse @ x.T @ y
    leverage = np.minimum(np.einsum("ij,jk,ik->i", x, inverse, x), 0.999)
    weighted = x * ((y - x @ beta) / (1 - leverage))[:, None]
    covariance = (inverse @ weighted.T @ weighted @ inverse)[-last:, -last:]
    if np.linalg.matrix_rank(covariance) < last:
        return None
    return float(beta[-last:] @ np.linalg.solve(covariance, beta[-last:])) / last


def _by_answer(item: int, answer: Floats, codes: Floats) -> ItemDifference | None:
    known = ~np.isnan(answer).any(axis=1)
    # The parts add up to the same for everybody: the last one follows from the others.
    y, d = answer[known][:, :-1], codes[known]
    short, long = np.ones((len(y), 1)), np.column_stack([np.ones(len(y)), d])
    without, within = _products(y, short), _products(y, long)
    parts, groups = y.shape[1], d.shape[1]
    sign, log_within = np.linalg.slogdet(within)
    sign_all, log_all = np.linalg.slogdet(without)
    if sign <= 0 or sign_all <= 0:
        return None
    lam = math.exp(min(0.0, float(log_within - log_all)))
    spread = parts**2 + groups**2 - 5
    s = math.sqrt((parts**2 * groups**2 - 4) / spread) if spread > 0 else 1.0
    root = lam ** (1 / s)
    second = s * (len(y) - 1 - (parts + groups + 1) / 2) - (parts * groups - 2) / 2
    if second < 1:
        return None
    ratio = (1 - root) / root * second / (parts * groups)
    return ItemDifference(item, "answer", 1 - root, _above(ratio, parts * groups, second))


def _dummies(groups: Sequence[str]) -> Floats:
    levels = sorted(set(groups))
    if len(levels) < 2:
        raise ValueError(f"two groups are needed, not {len(levels)}")
    return np.array([[float(group == level) for level in levels[1:]] for group in groups])


def _products(y: Floats, x: Floats) -> Floats:
    left: Floats = y - x @ np.linalg.lstsq(x, y, rcond=None)[0]
    return np.asarray(left.T @ left)


def _squares(y: Floats, x: Floats) -> float:
    return float(np.square(y - x @ np.linalg.lstsq(x, y, rcond=None)[0]).sum())


def _above(ratio: float, first: float, second: float) -> float:
    from scipy import stats  # here, since it takes longer to import than a short command takes

    return float(stats.f.sf(max(0.0, ratio), first, second))
