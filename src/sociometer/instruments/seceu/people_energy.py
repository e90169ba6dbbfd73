"""A subject's answers against the distribution of people's (energy score), for norms with people's allocations."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike, NDArray

from sociometer.core.measure import Interval
from sociometer.instruments.seceu.norm import Norm
from sociometer.statistics.intervals import MINIMUM_CLUSTERS, SEED, clustered_mean_interval, too_few

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


DRAWS = 2000
EVEN = (2.5, 2.5, 2.5, 2.5)

Rows = tuple[tuple[float, ...], ...]


class PeopleEnergy(Struct, frozen=True):
    """The energy score over the stories; lower is better."""

    score: float
    interval: Interval
    skill: float | None
    """1 for people's own distribution, 0 for an even spread; below 0 is worse than saying nothing."""
    skill_interval: Interval | None
    floor: float
    """The score of people's own distribution."""
    person: float
    """The expected score of one person's answers."""
    even: float
    answers: float
    """The mean number of answers to a story."""
    varied: bool
    """Whether every story has several answers. With one, an even spread beats a subject that answers like a person."""


def people_energy(answers: Mapping[str, Sequence[Sequence[float]]], norm: Norm | None) -> PeopleEnergy | None:
    """The score of the answers to each story; None if the norm does not have people's allocations."""
    if norm is None or not answers or any(name not in norm.allocations for name in answers):
        return None
    scores, floors, people, evens = [], [], [], []
    for scenario, given in answers.items():
        rows = norm.allocations[scenario]
        floor, even = _of_people(rows)
        points, counts = _split(rows)
        scores.append(energy_score(list(given), points, counts).score)
        floors.append(floor)
        people.append(2 * floor)
        evens.append(even)
    skill, around = _skill(np.array(scores), np.array(floors), np.array(evens))
    return PeopleEnergy(
        score=float(np.mean(scores)),
        interval=clustered_mean_interval(scores, binary=False),
        skill=skill,
        skill_interval=around,
        floor=float(np.mean(floors)),
        person=float(np.mean(people)),
        even=float(np.mean(evens)),
        answers=float(np.mean([len(given) for given in answers.values()])),
        varied=all(len(given) > 1 for given in answers.values()),
    )


@cache
def _of_people(rows: Rows) -> tuple[float, float]:
    """The score of people's own distribution, and of an even spread, on one story."""
    points, counts = _split(rows)
    return person_score(points, counts) / 2, energy_score([EVEN], points, counts).score


def _split(rows: Rows) -> tuple[list[tuple[float, ...]], list[float]]:
    """The allocations, and how many people gave each."""
    return [row[:-1] for row in rows], [row[-1] for row in rows]


def _skill(scores: np.ndarray, floors: np.ndarray, evens: np.ndarray) -> tuple[float | None, Interval | None]:
    """The position between an even spread (0) and people's own distribution (1), with a bootstrap over stories."""

    def share(chosen: np.ndarray) -> Any:
        room = (evens - floors)[chosen].mean(axis=-1)
        return np.asarray((evens - scores)[chosen].mean(axis=-1) / np.where(room > 0, room, np.nan))

    whole = float(share(np.arange(scores.size)))
    if not np.isfinite(whole):
        return None, None
    if scores.size < MINIMUM_CLUSTERS:
        return whole, too_few(scores.size)
    drawn = share(np.random.default_rng(SEED).integers(0, scores.size, (DRAWS, scores.size)))
    low, high = np.nanquantile(drawn, (0.025, 0.975))
    return whole, Interval(float(low), float(high), 0.95, "bootstrap over stories", scores.size)
