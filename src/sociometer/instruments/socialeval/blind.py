"""What a reader without the story can guess: ability questions, played; goals and ability questions, by a cue."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from random import Random

import msgspec

from sociometer.core.command import CommandContext
from sociometer.core.instrument import Result
from sociometer.core.measure import Table
from sociometer.core.settings import Settings
from sociometer.instruments._blind.control import play_blind
from sociometer.instruments._blind.cues import Cue, Shown, readers, take, tried, tried_table
from sociometer.instruments.socialeval import items
from sociometer.instruments.socialeval.lint import reachable
from sociometer.instruments.socialeval.worldtree import GOAL_FULL, Node, Tree, end_level, horizon, solve
from sociometer.reading import arrange, shuffled

Policy = Mapping[int, Sequence[float]]
"""For each node, the probability of each choice; a node that is missing is chosen from at random."""


class BlindResult(msgspec.Struct, frozen=True):
    """How often a reader kept the best level at branches where a choice can lose it, and the value for chance."""

    branches: int
    kept: float
    chance: float
    reached: float
    """The probability that a walk by these answers reaches the full goal."""
    random: float


def branches(tree: Tree) -> Iterator[Node]:
    """The reachable nodes with two choices or more."""
    reached = reachable(tree)
    return (node for node in tree.by_id().values() if node.id in reached and len(node.choices) > 1)


def result(tree: Tree, policy: Policy) -> BlindResult:
    """The score of a policy on one tree."""
    solution = solve(tree)
    kept, chances = [], []
    for node in branches(tree):
        keeps = set(solution.best_choices[node.id])
        if solution.best_at[node.id] < GOAL_FULL or len(keeps) == len(node.choices):
            continue
        chances.append(len(keeps) / len(node.choices))
        taken = policy.get(node.id)
        kept.append(sum(taken[i] for i in keeps) if taken else chances[-1])
    count = len(kept)
    return BlindResult(
        branches=count,
        kept=sum(kept) / count if count else 0.0,
        chance=sum(chances) / count if count else 0.0,
        reached=reaching(tree, policy),
        random=solution.random,
    )


def reaching(tree: Tree, policy: Policy) -> float:
    """The probability that a walk by a policy reaches the full goal."""
    nodes = tree.by_id()
    value = {id_: float(node.is_end and end_level(node) == GOAL_FULL) for id_, node in nodes.items()}
    for _ in range(horizon(tree)):
        for node in nodes.values():
            if not node.is_end:
                shares = policy.get(node.id) or [1 / len(node.choices)] * len(node.choices)
                value[node.id] = sum(
                    share * value.get(choice.target, 0.0) for share, choice in zip(shares, node.choices, strict=True)
                )
    return value[tree.root.id]


def scripted(tree: Tree, reader: Cue) -> Policy:
    """The policy of a scripted reader, who sees goal and choices; ties are broken at random."""
    return {
        node.id: take(reader(tree.protagonist.goal, [choice.text for choice in node.choices]))
        for node in branches(tree)
    }


def blind(context: CommandContext, options: Settings) -> Result:
    """Plays ability questions without their story; without a subject, tries cues."""
    files = options.texts("files")
    trees = items.given_trees(files) if files else items.trees(context.source())
    asked = items.questions_of(trees) if files else context.items("abilities")
    hidden = [item for item in items.without_story(asked) if item.blind]
    if context.subjects:
        return play_blind(context, "abilities", hidden)
    tables = []
    languages = sorted({tree.language for tree in trees})
    for language in languages:
        mine = [item for item in hidden if item.language == language]
        if mine:
            shown = [_shuffled(item, context.seed) for item in mine]
            table = tried_table(tried(shown), shown)
            title = f"Ability questions in {language}, tried without the story"
            tables.append(msgspec.structs.replace(table, name=f"cues-{language}", title=title))
    rows = tuple(
        (name, language, *_pooled([result(t, scripted(t, reader)) for t in trees if t.language == language]))
        for name, reader in readers().items()
        for language in languages
    )
    shares = ("kept the goal", "by chance", "goal reached", "random walk (exact)")
    title, columns = "Scripted readers who see goals and choices only", ("reader", "language", "branches", *shares)
    goals = Table("readers", title, columns, rows, units=dict.fromkeys(shares, "share"))
    return Result(tables=(goals, *tables))


def _shuffled(item: items.AbilityQuestion, seed: int) -> Shown:
    """What a reader sees of a question; the right utterance, which is the first of the item, is at a random place."""
    order = shuffled(len(item.options), Random(f"{seed}/{item.id}"))
    return Shown(item.question, arrange(item.options, order), order.index(0), item.cluster, item.abilities[0])


def _pooled(found: list[BlindResult]) -> tuple[int, float, float, float, float]:
    """Means over the branches of all trees, and over the trees."""
    count = sum(r.branches for r in found)
    kept, chance = (sum(getattr(r, name) * r.branches for r in found) / (count or 1) for name in ("kept", "chance"))
    reached, lot = (sum(getattr(r, name) for r in found) / (len(found) or 1) for name in ("reached", "random"))
    return count, kept, chance, reached, lot
