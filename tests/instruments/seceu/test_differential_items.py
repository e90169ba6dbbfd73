"""Planted DIF is found in the items where it was planted; without any, no item is flagged."""

import numpy as np
import pytest

from sociometer.instruments.seceu.norming import differential_items

ITEMS = 20


def simulated(seed, people=300, group_effect=0.0):
    """People around shared standards; one group may be less able throughout, which is no DIF."""
    rng = np.random.default_rng(seed)
    truth = rng.dirichlet(np.full(4, 3.0), size=ITEMS)
    groups = ["north" if place % 2 else "south" for place in range(people)]
    steady = np.exp(rng.normal(3.0, 0.4, people) - group_effect * np.array([group == "north" for group in groups]))
    answers = np.array([[10 * rng.dirichlet(row * s + 0.01) for row in truth] for s in steady])
    return answers, groups


def scored(answers):
    return np.sqrt(np.square(answers - np.nanmean(answers, axis=0)).sum(axis=2))


def flagged(answers, groups):
    return {one.item for one in differential_items(scored(answers), answers, groups) if one.flagged}


def test_nothing_is_flagged_where_nothing_was_planted():
    """The rule allows one sample in a hundred to have a false alarm; of twenty, one is borne."""
    alarms = [seed for seed in range(20) if flagged(*simulated(seed))]
    assert len(alarms) <= 1, alarms


@pytest.mark.parametrize("seed", range(3))
def test_a_group_that_is_less_able_throughout_is_no_dif(seed):
    assert flagged(*simulated(seed, group_effect=0.7)) == set()


@pytest.mark.parametrize("seed", range(3))
def test_items_that_a_group_reads_differently_are_found(seed):
    answers, groups = simulated(seed)
    north = [place for place, group in enumerate(groups) if group == "north"]
    for item in (3, 11):
        answers[north, item] = answers[north, item][:, [1, 0, 2, 3]] * 0.5 + answers[north, item][:, [2, 3, 0, 1]] * 0.5
    assert flagged(answers, groups) == {3, 11}


def test_an_item_that_is_harder_for_a_group_is_found_in_its_score():
    answers, groups = simulated(8)
    rng = np.random.default_rng(0)
    north = [place for place, group in enumerate(groups) if group == "north"]
    answers[north, 5] = 10 * rng.dirichlet((0.8, 0.8, 0.8, 0.8), size=len(north))
    found = [one for one in differential_items(scored(answers), answers, groups) if one.flagged]
    assert {one.item for one in found} == {5}
    assert "score" in {one.kind for one in found}
    assert next(one for one in found if one.kind == "score").size == "large"


def test_three_groups_and_gaps_are_borne():
    answers, _ = simulated(2)
    groups = [("a", "b", "c")[place % 3] for place in range(len(answers))]
    answers[::17, 4] = np.nan
    found = differential_items(scored(answers), answers, groups)
    assert {one.item for one in found} == set(range(ITEMS))
    with pytest.raises(ValueError, match="two groups are needed, not 1"):
        differential_items(scored(answers), answers, ["a"] * len(answers))
