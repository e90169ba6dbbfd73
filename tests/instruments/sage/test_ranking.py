"""Rankings of models by people and by simulators: a known law, an independent computation, and few models."""

import math
import random
from itertools import permutations

import numpy as np
import pytest

from sociometer.core.errors import DataError
from sociometer.instruments.sage.passport.mixed import mixed_means
from sociometer.instruments.sage.passport.ranking import TalkMean, agree, rank

MODELS = {"best": 4.2, "good": 4.0, "fair": 3.8, "poor": 3.4}


def talks(seed, people=60, tasks=12, each=8, turned=False):
    """Talks of people with models, on tasks; people and tasks are more or less generous."""
    lots = random.Random(seed)
    of_people = {f"p{number}": lots.gauss(0, 0.5) for number in range(people)}
    of_tasks = {f"t{number}": lots.gauss(0, 0.2) for number in range(tasks)}
    found = []
    for person, generous in of_people.items():
        for task in lots.sample(sorted(of_tasks), each):
            model = lots.choice(list(MODELS))
            worth = 7.6 - MODELS[model] if turned else MODELS[model]
            mean = worth + generous + of_tasks[task] + lots.gauss(0, 0.4)
            found.append(TalkMean(person, task, model, mean))
    return found


def restricted_deviance(found, ratios):
    """The same model, written down with the whole covariance matrix."""
    y = np.array([talk.mean for talk in found])
    x = np.array([[talk.model == name for name in sorted(MODELS)] for talk in found], dtype=float)
    covariance = np.eye(len(found))
    for ratio, names in zip(ratios, zip(*((t.person, t.task) for t in found), strict=True), strict=True):
        same = np.array([[one == two for two in names] for one in names])
        covariance += ratio**2 * same
    inverse = np.linalg.inv(covariance)
    information = x.T @ inverse @ x
    means = np.linalg.solve(information, x.T @ inverse @ y)
    left = y - x @ means
    freedom = len(y) - x.shape[1]
    squares = left @ inverse @ left
    deviance = np.linalg.slogdet(covariance)[1] + np.linalg.slogdet(information)[1]
    return deviance + freedom * math.log(squares / freedom), means


def test_the_means_are_those_of_the_whole_covariance_matrix_at_its_lowest_deviance():
    found = talks(1, people=20, each=5)
    fitted = mixed_means(
        [talk.mean for talk in found],
        [talk.model for talk in found],
        [[talk.person for talk in found], [talk.task for talk in found]],
    )
    *ratios, residual = fitted.deviations
    ratios = [ratio / residual for ratio in ratios]
    lowest, means = restricted_deviance(found, ratios)
    assert fitted.means == pytest.approx(means, abs=1e-6)
    for near in ((1.05, 1), (0.95, 1), (1, 1.05), (1, 0.95)):
        moved = [ratio * factor for ratio, factor in zip(ratios, near, strict=True)]
        assert restricted_deviance(found, moved)[0] >= lowest - 1e-9


def test_the_intervals_of_the_differences_cover_the_law():
    covered = 0
    for seed in range(20):
        found = rank("people", talks(seed))
        for (first, second), (_, interval) in found.differences.items():
            covered += interval.low <= MODELS[first] - MODELS[second] <= interval.high
    assert covered >= 0.9 * 20 * 6


def test_even_the_same_order_of_four_models_says_little():
    people = rank("people", talks(1))
    assert people.models == list(MODELS)
    found = agree(people, rank("simulator", talks(2)))
    assert (found.tau, found.chance) == (1.0, pytest.approx(1 / 24))
    assert found.interval.low < 0 and found.interval.high == 1.0
    assert found.decided >= 4 and found.same >= 4 and found.reversed == 0


def test_a_simulator_that_turns_the_order_round_is_found_to():
    found = agree(rank("people", talks(1)), rank("simulator", talks(2, turned=True)))
    assert (found.tau, found.chance) == (-1.0, 1.0)
    assert found.interval.low == -1.0 and found.interval.high > 0
    assert found.reversed >= 4 and found.same == 0


def test_the_interval_keeps_the_strengths_that_the_order_does_not_reject():
    """By hand: with no discordant pair, 1/Z = .025 at the lower end, where Z sums exp(-strength x pairs)."""
    found = agree(rank("people", talks(1)), rank("simulator", talks(2)))
    counts = [sum(a > b for i, a in enumerate(o) for b in o[i + 1 :]) for o in permutations(range(4))]
    tau_of = {}
    for step in range(-400, 401):
        weights = [math.exp(-step / 400 * count) for count in counts]
        expected = sum(w * c for w, c in zip(weights, counts, strict=True)) / sum(weights)
        tau_of[abs(1 / sum(weights) - 0.025)] = 1 - 2 * expected / 6
    assert found.interval.low == pytest.approx(tau_of[min(tau_of)], abs=0.01)


def test_one_model_cannot_be_ranked():
    with pytest.raises(DataError, match="a ranking needs two models"):
        rank("people", [TalkMean("p", "t", "only", 4.0)])
