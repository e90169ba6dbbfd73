"""The exact solution of a world tree as a goal-conditioned decision process: random walk, best walk, regret."""

from __future__ import annotations

from functools import lru_cache
from statistics import fmean

import msgspec

from sociometer.instruments.socialeval.worldtree import GOAL_FULL, GOAL_NOT, GOAL_OPEN, Node, Tree


class Solution(msgspec.Struct, frozen=True):
    """The solution of a tree: a random walk's chance of the full goal, and each node's best level and best choices."""

    random: float
    best: int
    best_at: dict[int, int]
    best_choices: dict[int, tuple[int, ...]]

    @property
    def best_full(self) -> float:
        """The probability of the full goal under the best policy: one if any ending reaches it."""
        return float(self.best == GOAL_FULL)


class Departure(msgspec.Struct, frozen=True):
    """Where a walk left the best path: the step (from one), the node, and the choice that would have kept it."""

    step: int
    node: int
    better: int


def end_level(node: Node) -> int:
    """The goal level a walk has when it stops at this node."""
    return node.goal if node.kind == "ending" else GOAL_OPEN


def horizon(tree: Tree) -> int:
    """The most choices a walk may make: a tree without cycles never needs as many as it has nodes."""
    return len(tree.nodes)


@lru_cache(maxsize=1024)
def solve(tree: Tree) -> Solution:
    """Solve a tree by backward induction over the choices left, so that even a faulty, cyclic file has a value."""
    nodes = tree.by_id()
    odds = {id_: float(node.is_end and end_level(node) == GOAL_FULL) for id_, node in nodes.items()}
    best = {id_: end_level(node) if node.is_end else GOAL_OPEN for id_, node in nodes.items()}
    steps_left = dict.fromkeys(nodes, 0)
    inner = [node for node in nodes.values() if not node.is_end]
    for _ in range(horizon(tree)):
        next_odds, next_best, next_steps = dict(odds), dict(best), dict(steps_left)
        for node in inner:
            targets = [choice.target for choice in node.choices]
            next_odds[node.id] = fmean(odds.get(target, 0.0) for target in targets)
            level = max(best.get(target, GOAL_OPEN) for target in targets)
            if level != best[node.id]:
                near = min(steps_left.get(t, 0) for t in targets if best.get(t, GOAL_OPEN) == level)
                next_best[node.id], next_steps[node.id] = level, near + 1
        if (next_odds, next_best) == (odds, best):
            break
        odds, best, steps_left = next_odds, next_best, next_steps
    return Solution(
        random=odds[tree.root.id],
        best=best[tree.root.id],
        best_at=best,
        best_choices={node.id: _keeping(node, best, steps_left) for node in inner},
    )


def _keeping(node: Node, best: dict[int, int], steps_left: dict[int, int]) -> tuple[int, ...]:
    """The choices that keep the node's best level, nearest ending first, so that the first of them never circles."""
    keeping = [i for i, choice in enumerate(node.choices) if best.get(choice.target, GOAL_OPEN) == best[node.id]]
    return tuple(sorted(keeping, key=lambda i: steps_left.get(node.choices[i].target, 0)))


def departure(tree: Tree, solution: Solution, taken: tuple[tuple[int, int], ...]) -> Departure | None:
    """The first of the (node, choice) pairs taken that gave up the best level reachable, or nothing."""
    nodes = tree.by_id()
    for step, (id_, index) in enumerate(taken, start=1):
        kept = solution.best_at.get(nodes[id_].choices[index].target, GOAL_OPEN)
        if kept < solution.best_at[id_]:
            return Departure(step=step, node=id_, better=solution.best_choices[id_][0])
    return None


def regret(solution: Solution, level: int) -> float:
    """How far below the best level a walk ended, in goal levels (an open ending counts as not reached)."""
    return float(max(solution.best, GOAL_NOT) - max(level, GOAL_NOT))
