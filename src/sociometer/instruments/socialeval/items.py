"""Bundled trees and official files -> trees to walk, and one question for each choice that shows an ability."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from sociometer.core.errors import DataError
from sociometer.core.settings import is_paper
from sociometer.core.source import Source
from sociometer.core.task import Item
from sociometer.instruments.socialeval.abilities import canonical_all
from sociometer.instruments.socialeval.lint import is_utterance, pair_twins
from sociometer.instruments.socialeval.questions import RawQuestion, is_question_file, read_question_file
from sociometer.instruments.socialeval.tree_files import is_tree_file, read_json, read_tree_file
from sociometer.instruments.socialeval.worldtree import Choice, Line, Node, Person, Tree

BUNDLED = Path(__file__).parent / "data"
MERGED_TREES = "socialeval/worldtree_data.json"
MERGED_QUESTIONS = "socialeval/interpersonal_abilities_data.json"
FOLDERS = ("socialeval", "worldtree_data", "interpersonal_abilities_data", ".")
"""Where files may be in a data folder: in ours, in those of the release, or in the folder itself."""
UNMAPPED = "none of the 32 for certain"


class TreeItem(Item, frozen=True, kw_only=True):
    """A world tree in one language; the cluster is the tree in any language."""

    tree: Tree


class AbilityQuestion(Item, frozen=True, kw_only=True):
    """Which of several utterances shows an ability at this point of the story; the right one is first."""

    language: str
    orientation: str
    category: str
    abilities: tuple[str, ...]
    people: tuple[Person, ...]
    scene: str
    lines: tuple[Line, ...]
    question: str
    options: tuple[str, ...]


class Crossroads(Item, frozen=True, kw_only=True, omit_defaults=True):
    """One choice node with the story before it; the protagonist's free reply is compared with the candidates."""

    language: str
    orientation: str
    people: tuple[Person, ...]
    scene: str
    lines: tuple[Line, ...]
    candidates: tuple[str, ...]
    abilities: tuple[str, ...] = ()
    """The skills of the candidates, which the authors' prompt names; only in their wording."""


def trees(source: Source) -> list[Tree]:
    """The trees of the settings: bundled, or official if requested."""
    found = [tree for path in tree_files(source) for tree in read_tree_file(path)]
    return [tree for tree in found if wanted(tree.language, source)]


def wanted(language: str, source: Source) -> bool:
    """Whether the setting `language` includes this one."""
    return source.settings.text("language") in ("both", language)


def tree_files(source: Source) -> list[Path]:
    """The files that contain the trees; the merged list replaces all others if it exists.

    Official trees may be in any folder: the release or a part of it in either layout, or the output of `build`.
    """
    if not source.official:
        return sorted(BUNDLED.glob("*.json"))
    merged = source.find(MERGED_TREES) or source.find(f"worldtree_data/{Path(MERGED_TREES).name}")
    if merged is not None and merged.is_file():
        return [merged]
    for folder in _places(source):
        found = _files_with(is_tree_file, folder)
        if found:
            return found
    last = source.find("socialeval") or next(iter(source.folders), None)
    return tree_files_in(last) if last is not None and last.is_dir() else [source.path(MERGED_TREES)]


def _places(source: Source) -> Iterator[Path]:
    return (place for folder in source.folders for name in FOLDERS if (place := folder / name).is_dir())


def _files_with(holds: Callable[[Any], bool], folder: Path) -> list[Path]:
    return [path for path in sorted(folder.glob("*.json")) if holds(read_json(path))]


def tree_files_in(folder: Path) -> list[Path]:
    """The tree files in a folder, by name; an empty folder raises an error."""
    found = _files_with(is_tree_file, folder)
    if not found:
        raise DataError(
            "no world tree in this folder; give --data a folder with SocialEval's .json files or the output of "
            "'build', or run 'sociometer data fetch socialeval'",
            folder,
        )
    return found


def given_trees(names: tuple[str, ...]) -> list[Tree]:
    """The trees in files and folders that are named on the command line."""
    trees: list[Tree] = []
    for name in names:
        path = Path(name)
        if not path.exists():
            raise DataError("no such file or folder; give tree files in either released layout", path)
        files = tree_files_in(path) if path.is_dir() else [path]
        trees += [tree for file in files for tree in read_tree_file(file)]
    return trees


def tree_items(source: Source) -> Iterator[TreeItem]:
    """The trees to walk. A Chinese and an English tree that are translations share a cluster."""
    found = trees(source)
    clusters = clusters_of(found)
    for tree in found:
        yield TreeItem(id=tree.id, cluster=clusters[tree.id], tree=tree)


def clusters_of(found: Iterable[Tree]) -> dict[str, str]:
    """The cluster of every tree: its own name, or the English one of a translated pair."""
    found = list(found)
    clusters = {tree.id: tree.id for tree in found}
    for english, chinese in pair_twins(found):
        clusters[english.id] = clusters[chinese.id] = english.twin
    return clusters


def ability_questions(source: Source) -> Iterator[AbilityQuestion]:
    """The ability questions: from the released ability file if it exists, else from the trees' own choices."""
    files = question_files(source) if source.official else []
    if files:
        raw = (question for file in files for question in read_question_file(file))
        return (_from_file(question) for question in raw if wanted(question.language, source))
    return questions_of(trees(source))


def question_files(source: Source) -> list[Path]:
    """The files of ability questions in the data folder: the merged file, or any that contain such questions."""
    merged = source.find(MERGED_QUESTIONS)
    if merged is not None:
        return [merged]
    return next((found for folder in _places(source) if (found := _files_with(is_question_file, folder))), [])


def _from_file(raw: RawQuestion) -> AbilityQuestion:
    return AbilityQuestion(
        id=raw.id,
        cluster=raw.cluster,
        language=raw.language,
        orientation=raw.orientation,
        category=raw.category,
        abilities=canonical_all(raw.question.abilities) or (UNMAPPED,),
        people=raw.people,
        scene="",
        lines=raw.lines,
        question=raw.question.text,
        options=raw.options,
    )


def questions_of(found: list[Tree]) -> Iterator[AbilityQuestion]:
    """The ability questions in the choices of some trees."""
    clusters = clusters_of(found)
    for tree in found:
        stories = story_to(tree)
        for node in tree.nodes:
            for number, choice in enumerate(node.choices):
                if node.id in stories and asks_ability(choice):
                    yield _question(tree, clusters[tree.id], node, number, stories[node.id])


def asks_ability(choice: Choice) -> bool:
    """Whether a choice makes an answerable question: it has text, distractors and a question."""
    texts = (choice.text, *choice.distractors)
    asked = choice.question is not None and bool(choice.question.text)
    return asked and len(texts) > 1 and all(is_utterance(text) for text in texts)


def _question(tree: Tree, cluster: str, node: Node, number: int, story: Story) -> AbilityQuestion:
    choice = node.choices[number]
    asked = choice.question.abilities if choice.question else ()
    return AbilityQuestion(
        id=f"{tree.id}/{node.id}.{number + 1}",
        cluster=cluster,
        language=tree.language,
        orientation=tree.orientation,
        category=tree.category,
        abilities=canonical_all(asked) or canonical_all(choice.abilities) or (UNMAPPED,),
        people=story.people,
        scene=tree.scene,
        lines=story.lines,
        question=choice.question.text if choice.question else "",
        options=(choice.text, *choice.distractors),
    )


def crossroads(source: Source) -> Iterator[Crossroads]:
    """The choice nodes of all trees whose candidates are utterances."""
    found = trees(source)
    clusters = clusters_of(found)
    for tree in found:
        stories = story_to(tree)
        for node in tree.nodes:
            candidates = tuple(choice.text for choice in node.choices)
            if node.id in stories and len(candidates) > 1 and all(map(is_utterance, candidates)):
                story = stories[node.id]
                yield Crossroads(
                    id=f"{tree.id}/{node.id}",
                    cluster=clusters[tree.id],
                    language=tree.language,
                    orientation=tree.orientation,
                    people=story.people,
                    scene=tree.scene,
                    lines=story.lines,
                    candidates=candidates,
                    abilities=_skills(node) if is_paper(source.settings) else (),
                )


def _skills(node: Node) -> tuple[str, ...]:
    """The skills that the choices of a node show, each once, as the file spells them."""
    return tuple(dict.fromkeys(skill for choice in node.choices for skill in choice.abilities))


class Story(Struct, frozen=True):
    """The dialogue and the people on the way to a node and in it."""

    people: tuple[Person, ...]
    lines: tuple[Line, ...]


def story_to(tree: Tree) -> dict[int, Story]:
    """The story up to every reachable node, by the shortest path."""
    nodes = tree.by_id()
    root = tree.root
    stories = {root.id: Story(people=(*tree.people, *root.enters), lines=root.lines)}
    waiting = [root]
    while waiting:
        node = waiting.pop(0)
        for choice in node.choices:
            if choice.target not in nodes or choice.target in stories:
                continue
            following, before = nodes[choice.target], stories[node.id]
            said = Line(tree.protagonist.name, choice.text)
            stories[following.id] = Story(
                people=(*before.people, *following.enters), lines=(*before.lines, said, *following.lines)
            )
            waiting.append(following)
    return stories
