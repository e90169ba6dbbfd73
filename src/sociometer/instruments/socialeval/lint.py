"""The problems of world trees, each with its file and node."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Literal

import msgspec

from sociometer.instruments.socialeval.abilities import ABILITIES, canonical_all
from sociometer.instruments.socialeval.solution import solve
from sociometer.instruments.socialeval.worldtree import GOAL_FULL, GOAL_OPEN, Choice, Node, Tree

FindingKind = Literal[
    "duplicate-node",
    "missing-target",
    "unreachable",
    "cycle",
    "ending-without-goal",
    "lost-join",
    "no-success",
    "choice-node-without-choices",
    "choice-without-distractors",
    "choice-without-words",
    "mark-in-question",
    "ability-missing",
    "ability-spelling",
    "ability-unknown",
    "ability-differs-from-question",
    "twin-shape",
]

MEANINGS: dict[FindingKind, str] = {
    "duplicate-node": "two nodes have the same number",
    "missing-target": "a choice leads to a missing node",
    "unreachable": "no walk reaches this node",
    "cycle": "a walk can return to this node",
    "ending-without-goal": "an ending has no goal flag",
    "lost-join": "a node is marked to continue in a branch that the file does not name",
    "no-success": "no walk reaches the full goal",
    "choice-node-without-choices": "a choice node offers nothing",
    "choice-without-distractors": "an ability question lacks its distractors",
    "choice-without-words": "a candidate utterance is a state vector or empty",
    "mark-in-question": "a question contains a note of its author, such as #skill#, which is removed",
    "ability-missing": "a choice names no ability",
    "ability-spelling": "an ability has a nonstandard spelling with a clear meaning",
    "ability-unknown": "an ability does not clearly match one of the 32",
    "ability-differs-from-question": "a choice and its question name different abilities",
    "twin-shape": "the Chinese and the English tree differ in shape",
}

_VECTOR = re.compile(r"^[(（\[]?\s*-?\d\s*[,，]\s*-?\d\s*([,，]\s*-?\d\s*)?[)）\]]?$")


class Finding(msgspec.Struct, frozen=True):
    """One problem and its location."""

    kind: FindingKind
    source: str
    node: int | None
    detail: str


def lint(trees: Iterable[Tree]) -> list[Finding]:
    """All findings in a collection of trees, tree by tree, then those of translated pairs."""
    trees = list(trees)
    found = [finding for tree in trees for finding in lint_tree(tree)]
    return found + list(_twins(trees))


def lint_tree(tree: Tree) -> Iterator[Finding]:
    """The findings in one tree."""
    yield from _structure(tree)
    yield from _endings(tree)
    for node in tree.nodes:
        for number, choice in enumerate(node.choices, start=1):
            yield from _choice(tree, node, number, choice)


def is_utterance(text: str) -> bool:
    """Whether a candidate contains words; some released ones contain only a state vector such as (1, -1, 0)."""
    return bool(text) and not _VECTOR.match(text)


def _structure(tree: Tree) -> Iterator[Finding]:
    nodes = tree.by_id()
    seen: set[int] = set()
    for node in tree.nodes:
        if node.id in seen:
            yield Finding("duplicate-node", tree.source, node.id, "the first of the two is used")
        seen.add(node.id)
        for choice in node.choices:
            if choice.target not in nodes:
                yield Finding("missing-target", tree.source, node.id, f"a choice leads to {choice.target}")
    reached = reachable(tree)
    for node in tree.nodes:
        if node.id not in reached:
            yield Finding("unreachable", tree.source, node.id, f"{node.kind}")
    for id_ in cyclic(tree):
        yield Finding("cycle", tree.source, id_, "a walk can return to this node")


def reachable(tree: Tree) -> set[int]:
    """The nodes that a walk from the beginning can reach."""
    nodes = tree.by_id()
    reached: set[int] = set()
    waiting = [tree.root.id]
    while waiting:
        id_ = waiting.pop()
        if id_ in nodes and id_ not in reached:
            reached.add(id_)
            waiting.extend(choice.target for choice in nodes[id_].choices)
    return reached


def cyclic(tree: Tree) -> list[int]:
    """The nodes that remain after repeatedly removing every node whose choices all lead out."""
    nodes = tree.by_id()
    left = {id_: {c.target for c in node.choices if c.target in nodes} for id_, node in nodes.items()}
    while True:
        leaves = {id_ for id_, targets in left.items() if not targets & left.keys()}
        if not leaves:
            break
        left = {id_: targets for id_, targets in left.items() if id_ not in leaves}
    return [id_ for id_ in left if _returns(id_, left)]


def _returns(start: int, ways: dict[int, set[int]]) -> bool:
    waiting, seen = list(ways[start]), set[int]()
    while waiting:
        id_ = waiting.pop()
        if id_ == start:
            return True
        if id_ in ways and id_ not in seen:
            seen.add(id_)
            waiting.extend(ways[id_])
    return False


def _endings(tree: Tree) -> Iterator[Finding]:
    for node in tree.nodes:
        if node.kind == "ending" and node.goal == GOAL_OPEN:
            yield Finding(
                "ending-without-goal", tree.source, node.id, "counts as not achieved and is reported separately"
            )
        if node.is_end and node.lost_join:
            yield Finding("lost-join", tree.source, node.id, f"marked fork-join {node.lost_join}")
        elif node.kind != "ending" and not node.choices:
            yield Finding("choice-node-without-choices", tree.source, node.id, "a walk stops here")
    best = solve(tree).best
    if best < GOAL_FULL:
        yield Finding("no-success", tree.source, None, f"the best level a walk can reach is {max(best, 0)}")


def _choice(tree: Tree, node: Node, number: int, choice: Choice) -> Iterator[Finding]:
    where = f"choice {number}"
    if not is_utterance(choice.text):
        yield Finding("choice-without-words", tree.source, node.id, f"{where} reads {choice.text!r}")
    if choice.situation:
        return
    if not choice.distractors:
        yield Finding("choice-without-distractors", tree.source, node.id, where)
    if choice.question is not None and choice.question.marks:
        yield Finding("mark-in-question", tree.source, node.id, f"{where}: {', '.join(choice.question.marks)}")
    if not choice.abilities:
        yield Finding("ability-missing", tree.source, node.id, where)
    for spelling in choice.abilities:
        names = canonical_all((spelling,))
        if not names:
            yield Finding("ability-unknown", tree.source, node.id, f"{where}: {spelling!r}")
        elif spelling.lower() not in ABILITIES:
            yield Finding("ability-spelling", tree.source, node.id, f"{where}: {spelling!r} is {', '.join(names)}")
    if choice.question is not None and _differs(choice):
        asked = ", ".join(canonical_all(choice.question.abilities) or choice.question.abilities) or "none"
        shown = ", ".join(canonical_all(choice.abilities) or choice.abilities) or "none"
        yield Finding(
            "ability-differs-from-question", tree.source, node.id, f"{where} shows {shown}, asked for {asked}"
        )


def _differs(choice: Choice) -> bool:
    question = choice.question.abilities if choice.question else ()
    return set(canonical_all(choice.abilities)) != set(canonical_all(question))


def _twins(trees: list[Tree]) -> Iterator[Finding]:
    halves: dict[str, dict[str, Tree]] = {}
    for tree in trees:
        halves.setdefault(tree.entry or tree.twin, {})[tree.language] = tree
    partners = pair_twins(trees)
    for pair in halves.values():
        if set(pair) != {"en", "zh"} or pair["en"].shape() == pair["zh"].shape():
            continue
        english, chinese = pair["en"], pair["zh"]
        if english.entry:
            detail = "cn_data and en_data of one entry differ; they count as one tree, as the file says"
            yield Finding("twin-shape", english.source, None, detail)
            continue
        true = next((zh for en, zh in partners if en.id == english.id), None)
        advice = f"its shape is that of {true.source}" if true else "no other Chinese tree has its shape"
        yield Finding("twin-shape", english.source, None, f"differs from {chinese.source}; {advice}")


def pair_twins(trees: Iterable[Tree]) -> list[tuple[Tree, Tree]]:
    """English and Chinese trees that are translations of each other, according to the file or by their shape."""
    trees = list(trees)
    by_entry = {tree.entry: tree for tree in trees if tree.entry and tree.language == "zh"}
    pairs = [(tree, by_entry[tree.entry]) for tree in trees if tree.language == "en" and tree.entry in by_entry]
    paired = {tree.entry for tree, _ in pairs}
    return pairs + _alike([tree for tree in trees if tree.entry not in paired])


def _alike(trees: list[Tree]) -> list[tuple[Tree, Tree]]:
    """The pairs among trees in separate files: the same name and shape, else the only one of the same shape.

    The released files are numbered apart in each language, so a shared number is no proof.
    """
    english = [tree for tree in trees if tree.language == "en"]
    chinese = [tree for tree in trees if tree.language == "zh"]
    pairs: list[tuple[Tree, Tree]] = []
    for tree in english:
        alike = [z for z in chinese if z.orientation == tree.orientation and z.shape() == tree.shape()]
        named = [z for z in alike if z.twin == tree.twin]
        rivals = [e for e in english if e.orientation == tree.orientation and e.shape() == tree.shape()]
        if named or (len(alike) == 1 and len(rivals) == 1):
            pairs.append((tree, (named or alike)[0]))
    return pairs
