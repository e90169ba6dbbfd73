"""Few labels of people and many of a judge: hand-worked means, coverage and bias in simulations, sample sizes."""

import math

import numpy as np
import pytest
from hypothesis import settings

from sociometer.statistics.prediction_powered import Judged, corrected_difference, corrected_mean, random_sample

LABELS, EPISODES = 60, 240
TRIALS = 1_500 if settings.default.max_examples > 100 else 500


def people(kind, rng, size):
    """What people would say of every episode, and its true mean."""
    return (rng.random(size) < 0.6).astype(float) if kind == "shares" else rng.normal(50, 20, size)


def judged(judge, truth, rng):
    """What a judge says of the same episodes."""
    spread = float(truth.std()) or 1.0
    match judge:
        case "good":
            return truth + spread * rng.normal(0.3, 0.4, truth.size)
        case "useless":
            return rng.normal(0, spread, truth.size)
        case "adversarial":
            return 3 - 2 * truth + spread * rng.normal(0, 0.5, truth.size)
        case "flattering":
            # Right about the good ones, and kind to half of the others.
            return np.where(rng.random(truth.size) < 0.5, truth.max(), truth)


def sampled(truth, scores, rng):
    chosen = set(rng.choice(truth.size, LABELS, replace=False).tolist())
    return [Judged(f"e{n}", scores[n], truth[n] if n in chosen else None) for n in range(truth.size)]


def slow(case):
    return pytest.param(case, marks=pytest.mark.slow)


@pytest.mark.parametrize("kind", ["shares", slow("points")])
@pytest.mark.parametrize("judge", ["adversarial", *(slow(one) for one in ("good", "useless", "flattering"))])
def test_the_interval_covers_the_truth_and_the_mean_has_no_bias(kind, judge):
    rng, mean = np.random.default_rng(8), 0.6 if kind == "shares" else 50.0
    covered, judge_means, means = 0, [], []
    for _ in range(TRIALS):
        truth = people(kind, rng, EPISODES)
        found = corrected_mean(sampled(truth, judged(judge, truth, rng), rng))
        covered += found.interval.low <= mean <= found.interval.high
        means.append(found.value)
        judge_means.append(found.judge)
    assert abs(covered / TRIALS - 0.95) <= 2.7 * math.sqrt(0.95 * 0.05 / TRIALS)
    error = float(np.std(means)) / math.sqrt(TRIALS)
    assert abs(float(np.mean(means)) - mean) < 3.3 * error
    # What is corrected here is worth correcting: the judge's own mean is far off.
    assert abs(float(np.mean(judge_means)) - mean) > 20 * error


def test_clusters_widen_the_interval_and_keep_its_coverage():
    rng, covered, narrow, trials = np.random.default_rng(5), 0, 0, 200
    for _ in range(trials):
        shared = np.repeat(rng.normal(0, 1, 60), 4)
        truth = shared + rng.normal(0, 0.5, 240)
        scores = truth + rng.normal(0.5, 0.8, 240)
        # Whole clusters are labelled, as when people judge all turns of a dialogue.
        chosen = {int(one) for one in rng.choice(60, 25, replace=False)}
        episodes = [
            Judged(f"e{n}", scores[n], truth[n] if n // 4 in chosen else None, cluster=f"c{n // 4}") for n in range(240)
        ]
        found = corrected_mean(episodes)
        covered += found.interval.low <= 0 <= found.interval.high
        alone = corrected_mean([Judged(one.id, one.judge, one.label) for one in episodes])
        narrow += alone.interval.low <= 0 <= alone.interval.high
    assert abs(covered / trials - 0.95) <= 0.04
    assert narrow / trials < 0.85


def test_with_every_episode_labelled_the_mean_is_that_of_the_labels():
    rng = np.random.default_rng(1)
    truth, scores = rng.normal(3, 1, 40), rng.normal(0, 1, 40)
    found = corrected_mean([Judged(f"e{n}", scores[n], truth[n]) for n in range(40)])
    assert found.value == pytest.approx(truth.mean())
    assert found.bias == pytest.approx(scores.mean() - truth.mean())
    half = (found.interval.high - found.interval.low) / 2
    assert half == pytest.approx(2.02 * truth.std(ddof=1) / math.sqrt(40), rel=0.1)


def test_a_perfect_judge_leaves_only_the_uncertainty_of_the_episodes():
    rng = np.random.default_rng(2)
    scores = rng.normal(0, 1, 400)
    episodes = [Judged(f"e{n}", scores[n], scores[n] if n < 20 else None) for n in range(400)]
    found = corrected_mean(episodes)
    assert found.value == pytest.approx(scores.mean()) and found.slope == pytest.approx(1)
    assert (found.interval.high - found.interval.low) / 2 == pytest.approx(1.97 * scores.std() / 20, rel=0.05)


def test_a_judge_that_adds_a_constant_is_corrected_by_it():
    rng = np.random.default_rng(3)
    truth = rng.normal(0, 1, 100)
    found = corrected_mean([Judged(f"e{n}", truth[n] + 7, truth[n] if n < 30 else None) for n in range(100)])
    assert found.bias == pytest.approx(7)
    assert found.bias_interval.low == pytest.approx(7) and found.bias_interval.high == pytest.approx(7)


def test_a_judge_that_always_says_the_same_changes_nothing():
    labels = [0.0, 1.0] * 10
    found = corrected_mean([Judged(f"e{n}", 5.0, labels[n] if n < 20 else None) for n in range(50)])
    assert found.value == pytest.approx(0.5) and found.slope == 0.0


def test_a_share_needs_three_labels_of_its_rarer_value():
    def share(rare, labels=12):
        return corrected_mean(
            [Judged(f"e{n}", float(n % 2), float(n >= rare) if n < labels else None) for n in range(30)]
        )

    assert share(0) is None and share(2) is None
    found = share(3)
    assert found.interval.low < 0.75 < found.interval.high
    assert share(0, labels=30).value == 1.0, "where everything is labelled, nothing is uncertain"
    right = [Judged(f"e{n}", float(n % 4 > 0), float(n % 4 > 0) if n < 12 else None) for n in range(30)]
    found = corrected_mean(right)
    assert found.interval.high - found.interval.low > 0.2, (
        "a judge that is always right on 12 labels may be wrong later"
    )


def test_too_few_labels_give_nothing():
    assert corrected_mean([Judged(f"e{n}", n, float(n) if n < 9 else None) for n in range(50)]) is None


def test_two_runs_on_the_same_scenarios_are_compared_scenario_by_scenario():
    rng, covered, apart = np.random.default_rng(6), 0, 0
    for _ in range(300):
        scenario = rng.normal(0, 3, 100)
        runs = []
        for ability in (0.0, 0.5):
            truth = scenario + ability + rng.normal(0, 1, 100)
            scores = truth + rng.normal(1, 0.5, 100)
            chosen = set(rng.choice(100, 40, replace=False).tolist())
            runs.append(
                corrected_mean([Judged(f"s{n}", scores[n], truth[n] if n in chosen else None) for n in range(100)])
            )
        interval = corrected_difference(*runs).interval
        covered += interval.low <= 0.5 <= interval.high
        apart += interval.high - interval.low < 0.7 * (runs[0].interval.high - runs[0].interval.low)
    assert abs(covered / 300 - 0.95) <= 0.03
    assert apart / 300 > 0.9


def test_a_larger_sample_contains_a_smaller_one():
    names = [f"e{number}" for number in range(40)]
    order = random_sample(names, 40, seed=3)
    assert sorted(order) == sorted(names) and order != names and order != random_sample(names, 40, seed=4)
    assert random_sample(names, 15, seed=3) == order[:15]
