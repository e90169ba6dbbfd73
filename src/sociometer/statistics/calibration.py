"""Calibration of answers that were read from probabilities: Brier score and expected calibration error."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from msgspec import Struct, structs

from sociometer.core.measure import CLUSTER_BOOTSTRAP, Interval, Measure, Summary
from sociometer.core.task import Forecast, Item, RunView
from sociometer.statistics.intervals import (
    MINIMUM_CLUSTERS,
    Floats,
    Labels,
    bootstrap_means,
    cluster_codes,
    cluster_sums,
    expanded_percentiles,
    too_few,
)
from sociometer.statistics.measures import Observation, mean_measure

BINS = 10
BRIER, ERROR, BY_TEXT, TEXT_BRIER, MASS = (
    "Brier score",
    "Calibration error",
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
    found: dict[str, list[tuple[Item, Forecast]]] = {}
    for item, _, score in run.scored():
        for forecast in score.forecasts:
            found.setdefault(forecast.question, []).append((item, forecast))
    return tuple(
        measure
        for question, members in found.items()
        for measure in _measures(members, {"telling": question} if question else {})
    )


def _measures(members: Sequence[tuple[Item, Forecast]], group: dict[str, str]) -> list[Measure]:
    def mean(name: str, value: Callable[[Forecast], float | None]) -> Measure:
        rows = [
            Observation(item.id, item.cluster or item.id, float(found), {})
            for item, forecast in members
            if (found := value(forecast)) is not None
        ]
        return mean_measure(name, rows, group, binary=name == BY_TEXT)

    measures = [mean(BRIER, lambda one: one.brier), _error(members, group)]
    if any(forecast.text_right is not None for _, forecast in members):
        measures += [mean(BY_TEXT, lambda one: one.text_right), mean(TEXT_BRIER, lambda one: one.text_brier)]
    return [*measures, mean(MASS, lambda one: one.letter_mass)]


def _error(members: Sequence[tuple[Item, Forecast]], group: dict[str, str]) -> Measure:
    confidence = np.array([forecast.confidence for _, forecast in members])
    right = np.array([float(forecast.right) for _, forecast in members])
    labels = [item.cluster or item.id for item, _ in members]
    value, interval = expected_calibration_error(confidence, right, labels)
    items = len({item.id for item, _ in members})
    return Measure(ERROR, value, group, interval, items, interval.clusters, note=f"{BINS} bins; few items raise it")


def expected_calibration_error(confidence: Floats, right: Floats, clusters: Labels) -> tuple[float, Interval]:
    """Expected calibration error with a cluster-bootstrap interval.

    Σ_b (n_b / n) |share right in bin b − mean confidence in bin b|, over ten bins of equal width of the confidence
    (Naeini, Cooper and Hauskrecht 2015; Guo et al. 2017). With few items it is above zero even for a perfectly
    calibrated subject, because the share right in a bin is then far from its expectation.
    """
    bins = np.minimum((confidence * BINS).astype(np.int64), BINS - 1)
    gaps = np.zeros((confidence.size, BINS))
    gaps[np.arange(confidence.size), bins] = right - confidence
    value = float(np.abs(gaps.mean(axis=0)).sum())
    codes, count = cluster_codes(clusters, confidence.size)
    if count < MINIMUM_CLUSTERS:
        return value, too_few(count)
    draws = np.abs(bootstrap_means(*cluster_sums(gaps, codes, count))).sum(axis=1)
    # A sum of absolute values: every resampling raises it. Only the spread of the draws is used, around the value.
    draws += value - draws.mean()
    low, high = expanded_percentiles(draws, count)
    return value, Interval(max(0.0, low), min(1.0, high), method=CLUSTER_BOOTSTRAP, clusters=count)
