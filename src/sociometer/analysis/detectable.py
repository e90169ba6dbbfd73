"""The smallest difference that the items of a comparison can detect, and the number of items that a margin needs."""

import math

from sociometer.analysis.paired import PairedDifference
from sociometer.analysis.power import (
    items_needed,
    items_needed_binary,
    smallest_detectable,
    smallest_detectable_binary,
)


def detectable_difference(paired: PairedDifference, *, power: float, level: float) -> float | None:
    """The smallest true difference that these items show with the given power; None if it cannot be computed."""
    found = smallest_detectable(paired.standard_error, paired.clusters, power=power, level=level)
    if _by_counts(paired, found):
        found = smallest_detectable_binary(paired.worth, paired.square, power=power, level=level)
    # without variation, the items give no information about what they can detect
    return None if math.isnan(found) or found == 0 else found


def needed_items(paired: PairedDifference, margin: float, *, power: float, level: float) -> int | None:
    """The number of items like these that show a true difference of `margin` with the given power.

    Spread and clustering are taken from the data, the margin from the user. None if the spread is unknown, or if
    shares cannot differ by the margin.
    """
    if paired.items < 2 or not math.isfinite(paired.standard_error) or (paired.binary and margin > 1):
        return None
    if _by_counts(paired, margin):
        design = paired.items / paired.worth
        return items_needed_binary(margin, paired.square, power=power, level=level, design_effect=design)
    if paired.deviation == 0:
        return None
    design = paired.items * paired.standard_error**2 / paired.deviation**2
    return items_needed(margin, paired.deviation, power=power, level=level, design_effect=design)


def _by_counts(paired: PairedDifference, difference: float) -> bool:
    """Whether to compute with counts of items gained and lost instead of the standard deviation.

    True for right-or-wrong items played once, and for repeated ones whose observed variance is smaller than such a
    difference implies.
    """
    return paired.binary and (paired.mcnemar is not None or difference * (1 - difference) > paired.deviation**2)
