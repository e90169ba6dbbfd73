"""The number of failed episodes of each measure of a summary. Imports no numpy, so that commands start fast."""

from collections import Counter
from collections.abc import Sequence

from sociometer.core.measure import Measure


def known_errors(measures: Sequence[Measure]) -> list[int | None]:
    """The number of failures of each measure; None if it is unknown.

    A failed episode may lack the facets that would assign it to a group. A group's count of zero is therefore known
    only if the groups of its kind contain all failures.
    """
    overall = {measure.name: measure.errors for measure in measures if not measure.group}
    most = max(overall.values(), default=0)
    assigned: Counter[tuple[str, tuple[str, ...]]] = Counter()
    for measure in measures:
        assigned[measure.name, tuple(measure.group)] += measure.errors
    return [
        None
        if not measure.errors and assigned[measure.name, tuple(measure.group)] < (overall.get(measure.name) or most)
        else measure.errors
        for measure in measures
    ]
