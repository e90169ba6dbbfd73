"""Readers who see only goal and choices: which choices keep the goal, and how often a walk by them reaches it."""

from sociometer.instruments.socialeval.worldtree import GOAL_FULL, end_level, horizon, solve
from tools.cues import take
from tools.lint_trees import reachable


def branches(tree):
    """The reachable nodes with two choices or more."""
    reached = reachable(tree)
    return [node for node in tree.by_id().values() if node.id in reached and len(node.choices) > 1]


def scripted(tree, cue):
    """For each node, the probability of each choice by a reader who follows a cue; ties are broken at random."""
    return {
        node.id: take(cue(tree.protagonist.goal, [choice.text for choice in node.choices])) for node in branches(tree)
    }


def answered(sheet, answers, trees):
    """A reader's answers to a sheet as probabilities for each tree; questions that no tree has now are left out."""
    places = {
        (tree.protagonist.goal, frozenset(choice.text for choice in node.choices)): (tree, node)
        for tree in trees
        if tree.language == sheet["language"]
        for node in branches(tree)
    }
    found = {}
    for question in sheet["questions"]:
        place = places.get((question["asked"], frozenset(question["choices"].values())))
        if place is not None:
            tree, node = place
            text = question["choices"][answers[str(question["number"])]]
            found.setdefault(tree.id, {})[node.id] = [float(choice.text == text) for choice in node.choices]
    return found


def kept(tree, policy):
    """For each branch where a choice can lose the best level: the probability of keeping it, and by chance."""
    solution, found = solve(tree), []
    for node in branches(tree):
        keeps = set(solution.best_choices[node.id])
        if solution.best_at[node.id] == GOAL_FULL and len(keeps) < len(node.choices):
            chance = len(keeps) / len(node.choices)
            own = policy.get(node.id)
            found.append((chance if own is None else sum(own[place] for place in keeps), chance))
    return found


def reached(tree, policy):
    """The probability that a walk reaches the full goal; a node without a policy is chosen from at random."""
    nodes = tree.by_id()
    value = {id_: float(node.is_end and end_level(node) == GOAL_FULL) for id_, node in nodes.items()}
    for _ in range(horizon(tree)):
        for node in nodes.values():
            if not node.is_end:
                shares = policy.get(node.id) or [1 / len(node.choices)] * len(node.choices)
                ways = zip(shares, node.choices, strict=True)
                value[node.id] = sum(share * value.get(choice.target, 0.0) for share, choice in ways)
    return value[tree.root.id]
