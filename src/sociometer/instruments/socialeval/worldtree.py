"""World trees: people, episodes, choices, endings with their goal; and the exact solution of a tree."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from statistics import fmean
from typing import Literal

import msgspec

from sociometer.core.language import ENGLISH

PAPER_LANGUAGES = ("zh", "en")
"""The languages of the paper, in the order of its tables."""
Kind = Literal["beginning", "choice", "ending"]
GOAL_FULL = 2
GOAL_PARTLY = 1
GOAL_NOT = 0
GOAL_OPEN = -1
"""The level of an ending whose file carries no goal flag: the story stops without an answer."""


class Orientation(msgspec.Struct, frozen=True):
    """A social orientation: what the protagonist wants for self and for others, each -1, 0 or 1."""

    name: str
    category: str
    self_interest: int
    altruism: int


ORIENTATIONS: tuple[Orientation, ...] = (
    Orientation("cooperation", "prosocial", 1, 1),
    Orientation("negotiation", "prosocial", 1, 0),
    Orientation("assistance", "prosocial", 0, 1),
    Orientation("altruism", "prosocial", -1, 1),
    Orientation("competition", "proself", 1, -1),
    Orientation("induction", "antisocial", 0, -1),
    Orientation("conflict", "antisocial", -1, -1),
)


CATEGORIES: tuple[str, ...] = ("prosocial", "proself", "antisocial")


def orientation_of(self_interest: int, altruism: int) -> Orientation | None:
    """The orientation with these two values, or None for the two pairs that the taxonomy leaves out."""
    wanted = (self_interest, altruism)
    return next((one for one in ORIENTATIONS if (one.self_interest, one.altruism) == wanted), None)


class Person(msgspec.Struct, frozen=True):
    """A person of the tree: what everybody knows, what only they know, and what they want."""

    name: str
    public: str = ""
    private: str = ""
    goal: str = ""


class Line(msgspec.Struct, frozen=True):
    """One line of a dialogue; an empty speaker is narration."""

    speaker: str
    text: str


class Question(msgspec.Struct, frozen=True):
    """What the ability question of a choice asks, and the abilities its author named there."""

    text: str
    abilities: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    """The author's notes that were removed from the text, such as an ability after #skill#."""


class Choice(msgspec.Struct, frozen=True):
    """A candidate utterance of the protagonist, its target node, and its ability question."""

    target: int
    text: str
    abilities: tuple[str, ...] = ()
    situation: bool = False
    stance: tuple[int, int] | None = None
    question: Question | None = None
    distractors: tuple[str, ...] = ()


class Node(msgspec.Struct, frozen=True):
    """An episode of the tree: the people who enter, the dialogue, then choices or an ending's goal level."""

    id: int
    kind: Kind
    lines: tuple[Line, ...] = ()
    enters: tuple[Person, ...] = ()
    choices: tuple[Choice, ...] = ()
    goal: int = GOAL_OPEN
    lost_join: str = ""

    @property
    def is_end(self) -> bool:
        """Whether a walk stops here: an ending, or a choice node without choices."""
        return self.kind == "ending" or not self.choices


class Tree(msgspec.Struct, frozen=True):
    """One world tree in one language, with the file it came from."""

    id: str
    twin: str
    language: str
    source: str
    orientation: str
    people: tuple[Person, ...]
    scene: str
    nodes: tuple[Node, ...]
    entry: str = ""
    """The entry of a merged list that contains it; empty if it has a file of its own."""

    @property
    def protagonist(self) -> Person:
        """The person whose part the subject plays."""
        return self.people[0]

    @property
    def category(self) -> str:
        """The orientation's category: prosocial, proself or antisocial."""
        return next(known.category for known in ORIENTATIONS if known.name == self.orientation)

    @property
    def root(self) -> Node:
        """The node every walk begins at."""
        return self.nodes[0]

    def by_id(self) -> dict[int, Node]:
        """The nodes by their number; of two with the same number, the first one is used."""
        found: dict[int, Node] = {}
        for node in self.nodes:
            found.setdefault(node.id, node)
        return found

    def shape(self) -> tuple[tuple[int, str, int, tuple[int, ...]], ...]:
        """The parts that a faithful translation keeps: nodes, kinds, goal levels and where each choice leads."""
        return tuple(
            (node.id, node.kind, node.goal, tuple(choice.target for choice in node.choices))
            for node in sorted(self.nodes, key=lambda node: node.id)
        )


_VECTOR = re.compile(r"^[(（\[]?\s*-?\d\s*[,，]\s*-?\d\s*([,，]\s*-?\d\s*)?[)）\]]?$")


def is_utterance(text: str) -> bool:
    """Whether a candidate contains words; some released ones contain only a state vector such as (1, -1, 0)."""
    return bool(text) and not _VECTOR.match(text)


def languages_of(groups: Iterable[Mapping[str, str]]) -> list[str]:
    """The languages of the paper, and after them the others that groups have."""
    return [*PAPER_LANGUAGES, *sorted({group.get("language", ENGLISH) for group in groups} - {*PAPER_LANGUAGES})]


def pair_twins(trees: Iterable[Tree]) -> list[tuple[Tree, Tree]]:
    """English trees, each with a translation of it, according to the file or by their shape."""
    trees = list(trees)
    by_entry = {tree.entry: tree for tree in trees if tree.entry and tree.language != ENGLISH}
    pairs = [(tree, by_entry[tree.entry]) for tree in trees if tree.language == ENGLISH and tree.entry in by_entry]
    paired = {tree.entry for tree, _ in pairs}
    left, codes = [tree for tree in trees if tree.entry not in paired], {tree.language for tree in trees} - {ENGLISH}
    return pairs + [pair for code in sorted(codes) for pair in _alike(left, code)]


def _alike(trees: list[Tree], language: str) -> list[tuple[Tree, Tree]]:
    """The pairs among trees in separate files: the same name and shape, else the only one of the same shape.

    The released files are numbered apart in each language, so a shared number is no proof.
    """
    english, others = ([tree for tree in trees if tree.language == code] for code in (ENGLISH, language))
    pairs: list[tuple[Tree, Tree]] = []
    for tree in english:
        alike = [one for one in others if one.orientation == tree.orientation and one.shape() == tree.shape()]
        named = [one for one in alike if one.twin == tree.twin]
        rivals = [e for e in english if e.orientation == tree.orientation and e.shape() == tree.shape()]
        if named or (len(alike) == 1 and len(rivals) == 1):
            pairs.append((tree, (named or alike)[0]))
    return pairs


class Solution(msgspec.Struct, frozen=True):
    """The solution of a tree: a random walk's chance of the full goal, and each node's best level and best choices."""

    random: float
    best: int
    best_at: dict[int, int]
    best_choices: dict[int, tuple[int, ...]]


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


def departure(tree: Tree, solution: Solution, taken: tuple[tuple[int, int], ...]) -> int | None:
    """The step (from one) whose (node, choice) pair was the first to give up the best level reachable, or None."""
    nodes = tree.by_id()
    for step, (id_, index) in enumerate(taken, start=1):
        kept = solution.best_at.get(nodes[id_].choices[index].target, GOAL_OPEN)
        if kept < solution.best_at[id_]:
            return step
    return None


def regret(solution: Solution, level: int) -> float:
    """How far below the best level a walk ended, in goal levels (an open ending counts as not reached)."""
    return float(max(solution.best, GOAL_NOT) - max(level, GOAL_NOT))
