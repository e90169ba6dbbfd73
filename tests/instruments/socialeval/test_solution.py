"""The exact solution, against trees worked by hand and against simulated walks."""

import math
import zlib

import numpy as np
import pytest

from sociometer.instruments.socialeval.worldtree import GOAL_FULL, departure, end_level, horizon, regret, solve

WALKS = 20_000


def test_a_tree_worked_by_hand(draw, at):
    # 0 -> 1 or an ending with 0; 1 -> goal 2, goal 1 or goal 0: full 1/2 · 1/3 = 1/6
    tree = draw(at(0, 1, 2), at(1, 3, 4, 5), at(2, goal=0), at(3, goal=2), at(4, goal=1), at(5, goal=0))
    solution = solve(tree)
    assert solution.random == pytest.approx(1 / 6)
    assert solution.best == 2
    assert solution.best == GOAL_FULL
    assert solution.best_choices == {0: (0,), 1: (0,)}


def test_two_roads_that_join_are_one_ending(draw, at):
    tree = draw(at(0, 1, 2), at(1, 3, 4), at(2, 3, 4), at(3, goal=2), at(4, goal=0))
    assert solve(tree).random == pytest.approx(1 / 2)
    assert solve(tree).best_choices[0] == (0, 1)


def test_where_no_ending_reaches_the_goal_the_best_is_the_next_level(draw, at):
    solution = solve(draw(at(0, 1, 2), at(1, goal=1), at(2, goal=0)))
    assert solution.best == 1
    assert solution.best_choices[0] == (0,)


def test_an_ending_without_a_flag_and_a_dead_end_are_open(draw, at):
    tree = draw(at(0, 1, 2), at(1), at(2, kind="choice"))
    assert solve(tree).random == 0
    assert end_level(tree.nodes[2]) == -1
    assert solve(tree).best == -1


def test_a_cycle_has_a_value_and_its_best_policy_leaves_it(draw, at):
    tree = draw(at(0, 1, 0), at(1, 0, 2), at(2, goal=2))
    solution = solve(tree)
    assert solution.best == 2
    assert solution.best_choices[0][0] == 0
    assert solution.best_choices[1][0] == 1
    assert 0 < solution.random < 1


def test_a_choice_that_leads_nowhere_is_lost(draw, at):
    assert solve(draw(at(0, 1, 9), at(1, goal=2))).random == 0.5


def test_departure_names_the_first_step_that_gave_the_goal_up(draw, at):
    tree = draw(at(0, 1, 2), at(1, 3, 4), at(2, goal=1), at(3, goal=2), at(4, goal=0))
    solution = solve(tree)
    assert departure(tree, solution, ((0, 0), (1, 0))) is None
    assert departure(tree, solution, ((0, 0), (1, 1))) == 2
    assert departure(tree, solution, ((0, 1),)) == 1
    assert [regret(solution, level) for level in (2, 1, 0, -1)] == [0, 1, 2, 2]


def simulated_levels(tree):
    """The levels that 20,000 uniformly random walks end at, all walked side by side."""
    rng = np.random.default_rng(zlib.crc32(tree.id.encode()))
    row = {node.id: i for i, node in enumerate(tree.nodes)}
    lost = len(tree.nodes)
    widest = max(len(node.choices) for node in tree.nodes)
    ways = np.full((lost + 1, widest), lost)
    counts = np.zeros(lost + 1, dtype=int)
    levels = np.full(lost + 1, -1)
    for i, node in enumerate(tree.nodes):
        counts[i] = len(node.choices)
        ways[i, : counts[i]] = [row.get(choice.target, lost) for choice in node.choices]
        levels[i] = end_level(node) if node.is_end else -1
    places = np.zeros(WALKS, dtype=int)
    for _ in range(len(tree.nodes)):
        walking = counts[places] > 0
        picks = (rng.random(WALKS) * counts[places]).astype(int)
        places = np.where(walking, ways[places, np.minimum(picks, widest - 1)], places)
    return levels[places]


def exact_equals_simulated(tree):
    exact = solve(tree).random
    error = math.sqrt(max(exact * (1 - exact), 1e-12) / WALKS)
    assert abs((simulated_levels(tree) == 2).mean() - exact) <= 4 * error + 1e-9, tree.id


def test_bundled_odds_equal_those_of_simulated_walks(bundled):
    for tree in bundled:
        exact_equals_simulated(tree)


def test_official_odds_equal_those_of_simulated_walks(official):
    for tree in official:
        exact_equals_simulated(tree)


def test_odds_add_up_to_one_and_best_bounds_them(bundled):
    for tree in bundled:
        solution = solve(tree)
        assert 0 <= solution.random <= (solution.best == GOAL_FULL)
        assert horizon(tree) == len(tree.nodes)
