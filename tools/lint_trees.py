"""Checks world trees of SocialEval: what a walk cannot be told or scored without, and translations that differ.

For whoever writes trees, or reads the released ones: python tools/lint_trees.py FILE|FOLDER…
Exits with code 1 if there are findings.
"""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import click
import msgspec

from sociometer.core.errors import SociometerError
from sociometer.core.measure import Table
from sociometer.core.sheets import read_table
from sociometer.instruments.socialeval.abilities import ABILITIES, canonical_all
from sociometer.instruments.socialeval.items import read_tree_file, tree_files_in
from sociometer.instruments.socialeval.worldtree import (
    GOAL_FULL,
    GOAL_OPEN,
    Choice,
    Node,
    Tree,
    is_utterance,
    pair_twins,
    solve,
)
from sociometer.reporting.terminal import print_table

MEANINGS = {row["kind"]: row["meaning"] for row in read_table(Path(__file__).with_suffix(".csv"))}


class Finding(msgspec.Struct, frozen=True):
    """One problem and its location."""

    kind: str
    source: str
    node: int | None
    detail: str


def lint_trees(trees: Iterable[Tree]) -> list[Finding]:
    """All findings in a collection of trees, tree by tree, then those of translated pairs."""
    trees = list(trees)
    found = [finding for tree in trees for finding in lint_tree(tree)]
    return found + list(_twins(trees))


def lint_tree(tree: Tree) -> Iterator[Finding]:
    """The findings in one tree."""
    yield from _structure(tree)
    yield from _endings(tree)
    yield from _story(tree)
    for node in tree.nodes:
        for number, choice in enumerate(node.choices, start=1):
            yield from _choice(tree, node, number, choice)


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
    """The nodes to which a walk can return."""
    nodes = tree.by_id()
    after = {id_: {choice.target for choice in node.choices} for id_, node in nodes.items()}
    for _ in nodes:  # each round doubles the number of steps that are looked ahead
        further = {id_: found.union(*(after.get(one, ()) for one in found)) for id_, found in after.items()}
        if further == after:
            break
        after = further
    return [id_ for id_, found in after.items() if id_ in found]


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


def _story(tree: Tree) -> Iterator[Finding]:
    """What a walk cannot be told or scored without: a goal, dialogue, known speakers, choices that differ."""
    if not tree.protagonist.goal:
        yield Finding("no-goal", tree.source, None, tree.protagonist.name)
    known = {"", *(person.name for person in (*tree.people, *(one for node in tree.nodes for one in node.enters)))}
    for node in tree.nodes:
        if not node.lines:
            yield Finding("no-dialogue", tree.source, node.id, node.kind)
        for name in dict.fromkeys(line.speaker for line in node.lines):
            if name not in known:
                yield Finding("unknown-speaker", tree.source, node.id, name)
        targets: dict[str, set[int]] = {}
        for choice in node.choices:
            targets.setdefault(_folded(choice.text), set()).add(choice.target)
        for words, found in targets.items():
            if len(found) > 1:
                yield Finding("choice-twice", tree.source, node.id, f"{words!r} leads to {_numbers(found)}")


def _numbers(found: Iterable[int]) -> str:
    return " and ".join(map(str, sorted(found)))


def _folded(text: str) -> str:
    """The words of a text, without capitals, spaces and full stops at its end."""
    return " ".join(text.casefold().split()).rstrip(".。!！ ")


def _choice(tree: Tree, node: Node, number: int, choice: Choice) -> Iterator[Finding]:
    where = f"choice {number}"
    if not is_utterance(choice.text):
        yield Finding("choice-without-words", tree.source, node.id, f"{where} reads {choice.text!r}")
    if choice.situation:
        return
    if not choice.distractors:
        yield Finding("choice-without-distractors", tree.source, node.id, where)
    options = [_folded(text) for text in (choice.text, *choice.distractors)]
    for words in dict.fromkeys(word for word in options if options.count(word) > 1):
        yield Finding("option-twice", tree.source, node.id, f"{where}: {words!r}")
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
        if not {"en", "zh"} <= pair.keys() or pair["en"].shape() == pair["zh"].shape():
            continue
        english, chinese = pair["en"], pair["zh"]
        if english.entry:
            detail = "cn_data and en_data of one entry differ; they count as one tree, as the file says"
            yield Finding("twin-shape", english.source, None, detail)
            continue
        true = next((zh for en, zh in partners if en.id == english.id), None)
        advice = f"its shape is that of {true.source}" if true else "no other Chinese tree has its shape"
        yield Finding("twin-shape", english.source, None, f"differs from {chinese.source}; {advice}")


@click.command()
@click.argument("places", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True))
def command(places: tuple[Path, ...]) -> None:
    """Print the problems of the trees in these files and folders, with file and node."""
    try:
        files = [file for place in places for file in (tree_files_in(place) if place.is_dir() else [place])]
        trees = [tree for file in files for tree in read_tree_file(file)]
    except SociometerError as error:
        sys.exit(str(error))
    found = lint_trees(trees)
    counts = Counter(finding.kind for finding in found)
    kinds = tuple((kind, counts[kind], MEANINGS[kind]) for kind in MEANINGS if counts[kind])
    columns = ("kind", "file", "node", "detail")
    if found:
        print_table(Table("findings", "Findings", columns, tuple(map(msgspec.structs.astuple, found))))
        print_table(Table("kinds", "Findings by kind", ("kind", "findings", "meaning"), kinds))
    click.echo(f"{len(trees)} trees, {len(found) or 'no'} findings.")
    sys.exit(bool(found))


if __name__ == "__main__":
    command()
