"""What the items of a comparison would show, and how many of their kind a stated margin takes."""

import math

from sociometer.analysis.paired import PairedDifference
from sociometer.analysis.power import (
    items_needed,
    items_needed_binary,
    smallest_detectable,
    smallest_detectable_binary,
)


def detectable(paired: PairedDifference, *, power: float, level: float) -> float | None:
    """The smallest true difference that these items show with the stated power; None where nothing can be said."""
    found = smallest_detectable(paired.standard_error, paired.clusters, power=power, level=level)
    if _by_counts(paired, found):
        found = smallest_detectable_binary(paired.worth, paired.square, power=power, level=level)
    # nothing varied: these items say nothing of what they would show
    return None if math.isnan(found) or found == 0 else found


def needed(paired: PairedDifference, margin: float, *, power: float, level: float) -> int | None:
    """Items like these on which a true difference of `margin` is found with the stated power.

    Spread and clustering are as seen, the margin as stated; None where the spread is unknown or no share can differ
    by so much.
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
    """Whether to count items gained and lost: where each was right or wrong once, and where they were repeated but
    vary less than a difference of so many shares must."""
    return paired.binary and (paired.mcnemar is not None or difference * (1 - difference) > paired.deviation**2)
