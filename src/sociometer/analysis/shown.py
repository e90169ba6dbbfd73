"""What counts and intervals may be said to be where they are shown; light, for commands that compute nothing."""

from collections import Counter
from collections.abc import Sequence

from sociometer.core.measure import Measure

NO_VARIATION = "no variation"
"""The method of an interval where every value was the same: its bounds say nothing of other items."""
SAME_ON_EVERY_ITEM = "the same on every item"
"""What stands in place of such bounds."""


def known_errors(measures: Sequence[Measure]) -> list[int | None]:
    """The failures of every measure of a summary; None where it counts none although there were some.

    A group counts none for sure where the groups of its kind hold all the failures there were; else some could not be
    put into a group.
    """
    overall = {measure.name: measure.errors for measure in measures if not measure.group}
    most = max(overall.values(), default=0)
    placed: Counter[tuple[str, tuple[str, ...]]] = Counter()
    for measure in measures:
        placed[measure.name, tuple(measure.group)] += measure.errors
    return [
        None
        if not measure.errors and placed[measure.name, tuple(measure.group)] < (overall.get(measure.name) or most)
        else measure.errors
        for measure in measures
    ]
