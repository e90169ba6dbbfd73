"""The energy score of answers against a sample of people: how well a set of answers matches the whole distribution.

ES = mean ‖Y − X‖ − ½ mean ‖Y − Y′‖, over the subject's answers Y and people X. It is the multivariate form of the CRPS
and strictly proper: no distribution of answers has a lower expected score than people's own, which has ½ mean ‖X − X′‖.
One answer for all (a hedge, or people's mean) pays for its lack of spread. Means over Y, Y′ and X, X′ are over distinct
pairs, so that the score of few answers is not biased; a single answer has no second term.

References
----------
Gneiting, T., and Raftery, A. E. (2007). Strictly proper scoring rules, prediction, and estimation. JASA 102.
Ferro, C. A. T. (2014). Fair scores for ensemble forecasts. Quarterly Journal of the Royal Meteorological Society 140.
"""

import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


class EnergyScore(Struct, frozen=True):
    """The score of one item, and what it would be for people's own distribution."""

    score: float
    floor: float
    """The expected score of people's own distribution; nothing does better in the long run."""
    answers: int


def energy_score(answers: ArrayLike, people: ArrayLike, counts: ArrayLike | None = None) -> EnergyScore:
    """The energy score of answers against people, one row each; `counts` says how many people gave each row."""
    given, sample = np.atleast_2d(np.asarray(answers, float)), np.atleast_2d(np.asarray(people, float))
    if given.shape[1] != sample.shape[1]:
        raise ValueError(f"answers have {given.shape[1]} numbers each, people's {sample.shape[1]}")
    weights = np.ones(len(sample)) if counts is None else np.asarray(counts, float)
    if weights.shape != (len(sample),) or weights.sum() < 2:
        raise ValueError("the energy score needs at least two people, with one count for each row")
    apart = float((_distances(given, sample) @ weights).mean() / weights.sum())
    own = 0.0
    if len(given) > 1:
        own = float(_distances(given, given).sum() / (len(given) * (len(given) - 1)))
    return EnergyScore(apart - own / 2, person_score(sample, weights) / 2, len(given))


def person_score(people: ArrayLike, counts: ArrayLike | None = None) -> float:
    """The expected score of one person's answer: the mean distance between two people."""
    sample = np.atleast_2d(np.asarray(people, float))
    weights = np.ones(len(sample)) if counts is None else np.asarray(counts, float)
    total = float(weights.sum())
    return float(weights @ _distances(sample, sample) @ weights) / (total * (total - 1))


def _distances(first: Floats, second: Floats) -> Floats:
    found: Floats = np.sqrt(np.square(first[:, None, :] - second[None, :, :]).sum(axis=2))
    return found
