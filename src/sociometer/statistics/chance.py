"""The chance level of a measure on the items that a run played. Imports no numpy."""

from sociometer.core.card import Card, MeasureCard
from sociometer.core.measure import Summary

CHANCE = "chance"
"""The series in which a summary can give the chance level of exactly the items played."""


def chance_of(known: MeasureCard, card: Card, summary: Summary, *, on_official: bool) -> float | None:
    """The chance level of a measure on the items played; the run's own value if it gives one.

    A chance level that follows from the number of options (a half, a quarter) is valid for all items. Any other was
    measured on the bundled items and is not valid for official ones, except for tasks that `run` does not play by
    default: they have official items only.
    """
    if known.primary and isinstance(told := summary.series.get(CHANCE), float):
        return told
    by_options = known.chance is not None and (known.chance == 0 or (1 / known.chance).is_integer())
    if on_official and card.task_card(known.task).default and not by_options:
        return None
    return known.chance
