"""What a reader without the story can guess: goals and ability questions on blind sheets, played, or by a cue."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random

import msgspec

from sociometer.core.command import CommandContext
from sociometer.core.instrument import Result
from sociometer.core.measure import Table
from sociometer.core.settings import Settings
from sociometer.instruments._blind.control import play_blind
from sociometer.instruments._blind.cues import Cue, Shown, readers, take, tried, tried_table
from sociometer.instruments._blind.sheets import Sheet, answered, make_sheet, picked, score_questions
from sociometer.instruments.socialeval import items
from sociometer.instruments.socialeval.lint import reachable
from sociometer.instruments.socialeval.worldtree import GOAL_FULL, Node, Tree, end_level, horizon, solve
from sociometer.reading import arrange, shuffled

Policy = Mapping[int, Sequence[float]]
"""For each node, the probability of each choice; a node that is missing is chosen from at random."""


class BlindResult(msgspec.Struct, frozen=True):
    """How often a reader kept the best level at branches where a choice can lose it, and the value for chance."""

    tree: str
    branches: int
    kept: float
    chance: float
    reached: float
    """The probability that a walk by these answers reaches the full goal."""
    random: float


GOALS = {
    "en": "You see a person's goal and what they can say or do next, without the story. For each question choose the "
    "letter that serves the goal best in the long run. Answer with JSON: an object from question number to letter.",
    "zh": "你只看到一个人的目标和接下来可以说的话或做的事，看不到故事。每题选出从长远看最有助于实现目标的一项。"
    "请用JSON回答：一个对象，键是题号，值是字母。",
}
ABILITIES = {
    "en": "You see questions about what a person says and several utterances, without the story. For each question "
    "choose the letter of the utterance that you think is right. Answer with JSON: an object from question number to "
    "letter.",
    "zh": "你只看到关于人物话语的问题和几句话，看不到故事。每题选出你认为正确的一句。"
    "请用JSON回答：一个对象，键是题号，值是字母。",
}


def sheet(trees: Iterable[Tree], language: str, seed: int) -> Sheet:
    """The blind sheet of the branches in a language; the same trees and seed give the same sheet."""
    found = [(tree, node) for tree in trees if tree.language == language for node in branches(tree)]
    entries = [(tree.protagonist.goal, [choice.text for choice in node.choices]) for tree, node in found]
    return make_sheet(entries, language, GOALS[language], seed)


def branches(tree: Tree) -> Iterator[Node]:
    """The reachable nodes with two choices or more."""
    reached = reachable(tree)
    return (node for node in tree.by_id().values() if node.id in reached and len(node.choices) > 1)


def policies(given: Sheet, answers: Mapping[str, str], trees: Iterable[Tree]) -> tuple[dict[str, Policy], int]:
    """The answers as a policy for each tree of the sheet's language, and how many questions no tree has now."""
    found: dict[str, dict[int, Sequence[float]]] = {}
    places = {
        (tree.protagonist.goal, frozenset(choice.text for choice in node.choices)): (tree, node)
        for tree in trees
        if tree.language == given.language
        for node in branches(tree)
    }
    changed = 0
    for question, text in picked(given, answers):
        place = places.get((question.asked, frozenset(question.choices.values())))
        if place is None:
            changed += 1
        elif text is not None:
            tree, node = place
            found.setdefault(tree.id, {})[node.id] = [float(choice.text == text) for choice in node.choices]
    return dict(found), changed


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
        tree=tree.id,
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
    """Plays ability questions without their story, writes blind sheets, or scores answers to one; else, tries cues."""
    files = options.texts("files")
    trees = items.given_trees(files) if files else items.trees(context.source())
    asked = items.questions_of(trees) if files else context.items("abilities")
    hidden = [item for item in items.without_story(asked) if item.blind]
    given = answered(options)
    if given is not None:
        return _score_answers(trees, hidden, *given)
    if context.subjects:
        return play_blind(context, "abilities", hidden)
    wrote, tables = [], []
    languages = sorted({tree.language for tree in trees})
    for language in languages:
        mine = [item for item in hidden if item.language == language]
        if options.text("to"):
            entries = [(item.question, item.options) for item in mine]
            made = {"": sheet(trees, language, context.seed)}
            made["abilities-"] = make_sheet(entries, language, ABILITIES[language], context.seed)
            for name, one in made.items():
                path = Path(options.text("to")) / f"sheet-{name}{language}.json"
                wrote.append(context.write(path, one.text()))
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
    goals = _blind_table("readers", "Scripted readers who see goals and choices only", "language", rows)
    return Result(tables=(goals, *tables), wrote=tuple(wrote))


def _shuffled(item: items.AbilityQuestion, seed: int) -> Shown:
    """What a reader sees of a question; the right utterance, which is the first of the item, is at a random place."""
    order = shuffled(len(item.options), Random(f"{seed}/{item.id}"))
    return Shown(item.question, arrange(item.options, order), order.index(0), item.cluster, item.abilities[0])


def _blind_table(name: str, title: str, of: str, rows: tuple[tuple[str | int | float, ...], ...]) -> Table:
    shares = ("kept the goal", "by chance", "goal reached", "random walk (exact)")
    units = dict.fromkeys(shares, "share")
    return Table(name, title, ("reader", of, "branches", *shares), rows, units=units)


def _pooled(found: list[BlindResult]) -> tuple[int, float, float, float, float]:
    """Means over the branches of all trees, and over the trees."""
    count = sum(r.branches for r in found)
    kept, chance = (sum(getattr(r, name) * r.branches for r in found) / (count or 1) for name in ("kept", "chance"))
    reached, lot = (sum(getattr(r, name) for r in found) / (len(found) or 1) for name in ("reached", "random"))
    return count, kept, chance, reached, lot


def _score_answers(
    trees: list[Tree], hidden: Sequence[items.AbilityQuestion], given: Sheet, answers: Mapping[str, Mapping[str, str]]
) -> Result:
    asked = {question.asked for question in given.questions}
    if asked & {item.question for item in hidden}:
        scored, said = score_questions(given, answers, hidden)
        return Result(tuple(scored), tuple(said))
    rows: list[tuple[str | int | float, ...]] = []
    notes = []
    for name, mine in answers.items():
        found, changed = policies(given, mine, trees)
        results = [result(tree, found[tree.id]) for tree in trees if tree.id in found]
        rows += [(name, r.tree, *_pooled([r])) for r in results]
        rows.append((name, "all", *_pooled(results)))
        unanswered = len(given.questions) - len(mine)
        if unanswered > 0:
            notes.append(
                f"{name}: {unanswered} questions have no answer; where a tree has other answers they count"
                " as chance, and trees without any are left out."
            )
        if changed:
            notes.append(f"{name}: {changed} questions of the sheet are in no tree; they were left out.")
    table = _blind_table("blind", "Readers who saw goals and choices only", "tree", tuple(rows))
    return Result(tables=(table,), notes=tuple(notes))
