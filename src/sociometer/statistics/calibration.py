"""Calibration of answers that were read from probabilities: Brier score and overconfidence."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from msgspec import Struct, structs

from sociometer.core.measure import Measure, Summary
from sociometer.core.task import Forecast, Item, RunView
from sociometer.core.words import grouped
from sociometer.statistics.measures import Observation, mean_measure

BRIER, OVERCONFIDENCE, BY_TEXT, TEXT_BRIER, MASS = (
    "Brier score",
    "Confidence minus accuracy",
    "Accuracy by option text",
    "Brier score by option text",
    "Probability of a letter",
)
_NOTE = (
    "Answers were read from probabilities, averaged over option orders; nothing was generated. Accuracy is that of the"
    " likeliest letter. Do not compare it with accuracy from free replies without saying so."
)
ItemT = TypeVar("ItemT", bound=Item)
OutcomeT = TypeVar("OutcomeT", bound=Struct)


def with_calibration(
    summarise: Callable[[RunView[ItemT, OutcomeT]], Summary],
) -> Callable[[RunView[ItemT, OutcomeT]], Summary]:
    """The same summary; for a run whose answers were read from probabilities, with their calibration."""

    def summarised(run: RunView[ItemT, OutcomeT]) -> Summary:
        summary = summarise(run)
        measures = calibration_measures(run)
        if not measures:
            return summary
        return structs.replace(summary, measures=(*summary.measures, *measures), notes=(*summary.notes, _NOTE))

    return summarised


def calibration_measures(run: RunView[Any, Any]) -> tuple[Measure, ...]:
    """Calibration for each question of an item; empty for a run whose answers were read from replies."""
    made = ((item, forecast) for item, _, score in run.scored() for forecast in score.forecasts)
    found = grouped((forecast.question, (item, forecast)) for item, forecast in made)
    return tuple(
        measure
        for question, members in found.items()
        for measure in _measures(members, {"telling": question} if question else {})
    )


def _measures(members: Sequence[tuple[Item, Forecast]], group: dict[str, str]) -> list[Measure]:
    def mean(name: str, value: Callable[[Forecast], float | None], low: float = 0.0, high: float = 1.0) -> Measure:
        rows = [
            Observation(item.id, item.cluster or item.id, float(found), {})
            for item, forecast in members
            if (found := value(forecast)) is not None
        ]
        return mean_measure(name, rows, group, binary=name == BY_TEXT, scale=(low, high))

    measures = [
        mean(BRIER, lambda one: one.brier, high=2.0),
        mean(OVERCONFIDENCE, lambda one: one.confidence - one.right, low=-1.0),
    ]
    if any(forecast.text_right is not None for _, forecast in members):
        measures += [mean(BY_TEXT, lambda one: one.text_right), mean(TEXT_BRIER, lambda one: one.text_brier, high=2.0)]
    return [*measures, mean(MASS, lambda one: one.letter_mass)]
