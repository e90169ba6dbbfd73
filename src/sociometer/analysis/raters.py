"""Several raters of the same units: alpha with an interval, each rater against the others, and who settles what."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
from msgspec import Struct, structs

from sociometer.analysis.agreement import Agreement, Scale, cohen_kappa, krippendorff_alpha
from sociometer.core.measure import Interval

DRAWS = 1_000
SEED = 20_240_229
FEWEST_UNITS = 10
Ratings = Mapping[str, Mapping[str, str]]
"""The labels of each rater, by unit."""


class RaterAgreement(Struct, frozen=True):
    """One rater against the others: the units shared with anybody, the share of equal labels, and kappa."""

    rater: str
    units: int
    agreement: float | None
    kappa: Agreement | None


def alpha_of(ratings: Ratings, values: Sequence[str] = (), scale: Scale = "nominal", level: float = 0.95) -> Agreement:
    """Krippendorff's alpha of all raters, with a bootstrap interval over units; numbers keep their distances.

    `values` are the labels in their order, for the nominal and ordinal scales. With fewer than ten units that two
    raters share there is no interval. Raises ValueError if no unit was rated twice.
    """
    table = _table(ratings, values, scale)
    found = krippendorff_alpha(table, scale)
    shared = table[:, (~np.isnan(table)).sum(axis=0) >= 2]
    units = shared.shape[1]
    if units < FEWEST_UNITS or np.isnan(found.value):
        return found
    lots = np.random.default_rng(SEED)
    drawn = [krippendorff_alpha(shared[:, lots.integers(units, size=units)], scale).value for _ in range(DRAWS)]
    # A draw with one label only has no expected disagreement; all raters agree in it.
    known = np.nan_to_num(np.array(drawn), nan=1.0)
    low, high = np.quantile(known, [0.5 - level / 2, 0.5 + level / 2])
    return structs.replace(found, interval=Interval(float(low), float(high), level, "bootstrap over units", units))


def _table(ratings: Ratings, values: Sequence[str], scale: Scale) -> np.ndarray:
    """Raters × units, NaN for a missing label."""
    units = list(dict.fromkeys(unit for labels in ratings.values() for unit in labels))
    names = list(values) or sorted({label for labels in ratings.values() for label in labels.values()})
    codes = {name: float(place) for place, name in enumerate(names)}
    number = float if scale in ("interval", "ratio") else codes.__getitem__
    return np.array(
        [[number(labels[unit]) if unit in labels else float("nan") for unit in units] for labels in ratings.values()],
        dtype=np.float64,
    ).reshape(len(ratings), len(units))


def each_against_the_others(ratings: Ratings) -> list[RaterAgreement]:
    """Each rater's labels paired with every other label of the same unit."""
    found = []
    for rater, mine in ratings.items():
        pairs = [
            (mine[unit], theirs[unit])
            for other, theirs in ratings.items()
            if other != rater
            for unit in mine
            if unit in theirs
        ]
        shared = sum(any(unit in theirs for other, theirs in ratings.items() if other != rater) for unit in mine)
        if not pairs:
            found.append(RaterAgreement(rater, 0, None, None))
            continue
        first, second = zip(*pairs, strict=True)
        kappa = cohen_kappa(first, second)
        # Pairs of one unit are not independent: the interval that treats them so would be too narrow.
        kappa = structs.replace(kappa, interval=kappa.interval if len(ratings) == 2 else None)
        equal = sum(one == two for one, two in pairs) / len(pairs)
        found.append(RaterAgreement(rater, shared, equal, kappa))
    return found


def pairwise_kappa(ratings: Ratings) -> list[tuple[str, str, Agreement]]:
    """Cohen's kappa of every two raters who share a unit."""
    found = []
    for one, two in combinations(ratings, 2):
        shared = [unit for unit in ratings[one] if unit in ratings[two]]
        if shared:
            kappa = cohen_kappa([ratings[one][unit] for unit in shared], [ratings[two][unit] for unit in shared])
            found.append((one, two, kappa))
    return found


def settled(labels: Sequence[str]) -> str | None:
    """The label that more than half of the raters gave; None if another rater must settle it."""
    if not labels:
        return None
    ((first, count), *_) = Counter(labels).most_common(1)
    return first if 2 * count > len(labels) else None
