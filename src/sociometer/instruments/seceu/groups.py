"""Groups of the people of a norm: who they are, how they score, and stories that work differently for some of them."""

import math
from collections import Counter
from collections.abc import Sequence
from statistics import fmean, median, stdev

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from sociometer.instruments.seceu.differential_items import FEWEST, LEVEL, differential_items
from sociometer.instruments.seceu.responses import Person

Floats = NDArray[np.float64]
MOST_LEVELS = 12
"""A column with more different values is no group (a name, a time)."""


class GroupMean(Struct, frozen=True):
    """The people of one group: their mean score and its standard error."""

    group: str
    people: int
    mean: float
    error: float


class DifferentItem(Struct, frozen=True):
    """One test of one story: `score` (how far people are from the standard) or `points` (what they answer)."""

    scenario: str
    kind: str
    effect: float
    """The share of variance that the groups explain beyond people's rest score."""
    size: str
    p_value: float
    p_corrected: float
    flagged: bool


class GroupDifference(Struct, frozen=True):
    """The groups of one column; `note` says why something was not tested."""

    column: str
    groups: tuple[GroupMean, ...]
    test: str = ""
    p_value: float | None = None
    items: tuple[DifferentItem, ...] = ()
    note: str = ""

    @property
    def flagged(self) -> tuple[str, ...]:
        """The stories that work differently for the groups."""
        return tuple(dict.fromkeys(item.scenario for item in self.items if item.flagged))


class SampleLine(Struct, frozen=True):
    """The description of the sample by one column."""

    column: str
    text: str
    unknown: int


def group_columns(person: Person) -> list[str]:
    """The columns that say something about a person."""
    return [name for name in ("sex", "age", *person.groups) if person.group(name)]


def sample_lines(people: Sequence[Person], columns: Sequence[str]) -> list[SampleLine]:
    """The sample, column by column: counts, or mean, SD and range of numbers."""
    found = []
    for column in columns:
        values = [value for person in people if (value := person.group(column))]
        numbers = _numbers(values)
        if numbers and len(set(numbers)) > 2:
            spread = f", SD {stdev(numbers):.1f}" if len(numbers) > 1 else ""
            text = f"{min(numbers):g} to {max(numbers):g}, mean {fmean(numbers):.1f}{spread}"
        else:
            counts = Counter(values).most_common()
            named = [f"{count} {value}" for value, count in counts[:MOST_LEVELS]]
            text = ", ".join(named) + (f" and {len(counts) - MOST_LEVELS} more" if len(counts) > MOST_LEVELS else "")
        found.append(SampleLine(column, text, len(people) - len(values)))
    return found


def sample_text(people: int, lines: Sequence[SampleLine]) -> str:
    """The sample in one line."""
    told = [f"{line.column} {line.text}{f' ({line.unknown} unknown)' if line.unknown else ''}" for line in lines]
    return "; ".join([f"{people} people", *told])


def group_difference(
    column: str, people: Sequence[Person], scenarios: Sequence[str], points: Floats, distances: Floats
) -> GroupDifference:
    """The mean score of each group of a column, a test of their difference, and DIF of every story."""
    labels = _labels([person.group(column) for person in people])
    counts = Counter(label for label in labels if label)
    if len(counts) > MOST_LEVELS or len(counts) < 2:
        why = "has a single value" if len(counts) < 2 else f"has {len(counts)} different values"
        return GroupDifference(column, (), note=f"'{column}' {why}: not compared.")
    scores = np.nanmean(distances, axis=1)
    means = tuple(_mean(group, scores[[label == group for label in labels]]) for group in sorted(counts))
    test, p_value = _test([scores[[label == group for label in labels]] for group in sorted(counts)])
    large = {group for group, count in counts.items() if count >= FEWEST}
    if len(large) < 2:
        note = f"'{column}' has fewer than two groups of {FEWEST} people: no test of single stories."
        return GroupDifference(column, means, test, p_value, note=note)
    kept = [place for place, label in enumerate(labels) if label in large]
    found = differential_items(distances[kept], points[kept], [labels[place] for place in kept])
    items = tuple(
        DifferentItem(
            scenarios[one.item], {"answer": "points"}.get(one.kind, one.kind), one.effect, one.size, one.p_value,
            one.p_corrected, one.flagged,
        )
        for one in found
    )  # fmt: skip
    small = sorted(set(counts) - large)
    note = f"Too small for the test of single stories: {', '.join(small)}." if small else ""
    return GroupDifference(column, means, test, p_value, items, note)


def difference_text(found: GroupDifference) -> str:
    """Which stories work differently for the groups of a column, in one sentence."""
    if not found.items:
        return found.note
    names = found.flagged
    if not names:
        return f"{found.column}: no story works differently for the groups (p corrected over all tests < {LEVEL:g})."
    return f"{found.column}: {len(names)} of the stories work differently for the groups: {', '.join(names)}."


def _labels(values: Sequence[str]) -> list[str]:
    """The group of each person; many different numbers are split at their median."""
    known = [value for value in values if value]
    numbers = _numbers(known)
    if not numbers or len(set(numbers)) <= MOST_LEVELS // 2:
        return list(values)
    middle = median(numbers)
    if middle == max(numbers):  # more than half have the highest value
        middle = max(number for number in numbers if number < middle)
    return [
        "" if not value else f"up to {middle:g}" if float(value) <= middle else f"over {middle:g}" for value in values
    ]


def _numbers(values: Sequence[str]) -> list[float]:
    """The values as numbers; none if one of them is not a finite number."""
    try:
        numbers = [float(value) for value in values]
    except ValueError:
        return []
    return numbers if all(map(math.isfinite, numbers)) else []


def _mean(group: str, scores: Floats) -> GroupMean:
    error = float(scores.std(ddof=1)) / scores.size**0.5 if scores.size > 1 else 0.0
    return GroupMean(group, int(scores.size), float(scores.mean()), error)


def _test(groups: Sequence[Floats]) -> tuple[str, float | None]:
    """Student's t test of two groups, as the paper tests the sexes, or an analysis of variance of more."""
    if any(group.size < 2 for group in groups) or all(float(np.ptp(group)) == 0 for group in groups):
        return "", None
    from scipy import stats  # here, since it takes longer to import than a short command takes

    free = sum(group.size for group in groups) - len(groups)
    if len(groups) == 2:
        t = stats.ttest_ind(*groups)
        return f"t({free}) = {float(t.statistic):.2f}", float(t.pvalue)
    f = stats.f_oneway(*groups)
    return f"F({len(groups) - 1}, {free}) = {float(f.statistic):.2f}", float(f.pvalue)
