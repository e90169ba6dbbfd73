"""What a comparison on the items of a run can show, said before the run is played."""

import math
from collections import Counter
from collections.abc import Iterable

from sociometer.core.card import MeasureCard
from sociometer.core.instrument import Instrument
from sociometer.core.task import Item
from sociometer.core.words import plural
from sociometer.results.wording import POWER_TERMS
from sociometer.statistics.formatting import amount
from sociometer.statistics.intervals import MINIMUM_CLUSTERS
from sociometer.statistics.power import smallest_detectable, smallest_detectable_binary, smallest_detectable_repeated

_DISCORDANT = 0.2
"""The share of right-or-wrong items that two models are assumed to answer differently."""


def planned_sentence(instrument: Instrument, task: str, items: Iterable[Item], repeats: int) -> str:
    """The smallest difference that the items of a task can show; empty without a primary measure that is a mean."""
    measure = instrument.card.primary_of(task)
    if measure is None:
        return ""
    names = [item.cluster or item.id for item in items]
    count = len(names)
    families = len(set(names))
    family = instrument.card.cluster_of(task)
    held = f"{families} {plural(family)}"
    if families < MINIMUM_CLUSTERS:
        return f"{count} items are too few for a verdict: they have {held}, and a comparison needs {MINIMUM_CLUSTERS}."
    many = f"{count} items"
    alike = "items are independent"
    if families < count:
        many = f"{count} items ({held})"
        alike = f"the items of a {family} count as one"
    if repeats > 1:
        many = f"{many}, played {repeats} times,"
    size = amount(planned_difference(measure, names, repeats), measure.unit)
    _, assumed = _assumed(measure)
    return f"{many} can show a difference of {size} or more ({POWER_TERMS}). Assumed: {assumed}; {alike}."


def planned_difference(measure: MeasureCard, families: Iterable[str], repeats: int = 1) -> float:
    """The smallest difference that items of these families show with a power of 80 %, by what is assumed of them.

    The items of a family count as one (Kish's design effect). Half of the differences are assumed to be in the items
    and half in single answers, which repeats average out.
    """
    sizes = Counter(families)
    design_effect = sum(size * size for size in sizes.values()) / sizes.total()
    worth = max(2, round(sizes.total() / design_effect))
    square, _ = _assumed(measure)
    averaged = square / 2 + square / 2 / repeats
    if measure.unit != "share":
        return smallest_detectable(math.sqrt(averaged) / math.sqrt(worth), len(sizes))
    once = smallest_detectable_binary(worth, min(1.0, square))
    if repeats == 1:
        return once
    return min(once, smallest_detectable_repeated(worth, averaged, square))


def _assumed(measure: MeasureCard) -> tuple[float, str]:
    """The mean squared difference of two models on an item, and where it comes from in words."""
    if measure.human_item_deviation is not None:
        deviation = measure.human_item_deviation
        words = f"two models differ on an item as two people do (SD {deviation:g} each), half of that by chance"
        return 2 * deviation**2, words
    low, high = 0.0, 1.0
    if measure.low is not None and measure.high is not None:
        low, high = measure.low, measure.high
    square = _DISCORDANT * (high - low) ** 2
    if measure.unit == "share":
        return square, "two models answer 20 % of the items differently, half of that by chance"
    return square, "the mean squared difference is a fifth of the scale's, half of that by chance"
