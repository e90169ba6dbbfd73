"""Bundled trees and official files -> trees to walk, and one question for each choice that shows an ability."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, get_args

import msgspec
from msgspec import Struct

from sociometer.core.errors import DataError, hint
from sociometer.core.language import ENGLISH, languages, written_in
from sociometer.core.settings import is_paper
from sociometer.core.source import Source
from sociometer.core.task import Item
from sociometer.instruments.socialeval import worldtree
from sociometer.instruments.socialeval.abilities import canonical_all, completes

NARRATORS = frozenset({"", "description", "content", "scene", "narrator", "narration", "旁白", "描述", "场景"})
"""What the released files write in place of a speaker when nobody speaks."""

MOST_NODES = 500
"""The most nodes a tree may have; the largest released one has 41."""
_FILE = re.compile(r"^\[(-?\d),(-?\d)\]_([a-z]{2,3})_(?P<name>.+)$")
_FORK = re.compile(r"^\s*+fork[- ]?join\s*+(?:[:：]\s*+)?(\S++)\s*$", re.IGNORECASE)
_QUESTION_MARK = re.compile(r"(?<!#)#*+question#", re.IGNORECASE)
_NOTE = re.compile(
    r"(?:(?<!#)#++(?P<kind>skills(?=\s*#)|skill|state)\s*#?|(?<![#a-z])(?P<bare>skills?|state)#)(?P<text>[^#]*)",
    re.IGNORECASE,
)
_CODES = {"cn": "zh"}
"""Languages that the released files call otherwise."""
BOTH = "both"
"""The value of the setting `language` for both languages of the paper."""


def read_tree_file(path: Path) -> list[worldtree.Tree]:
    """The trees of one file: one for the single layout, two for each entry of the merged list; none raises an error."""
    document = read_json(path)
    if isinstance(document, list):
        if not document:
            raise DataError("contains no world tree; give SocialEval's .json files with an interactive_plot", path)
        return list(_merged(document, path))
    name = _FILE.match(path.stem)
    code = _CODES.get(name.group(3), name.group(3)) if name else ""
    language = code if code in languages() else guess_language(document)
    twin = f"{name.group(1)},{name.group(2)}/{name.group('name')}" if name else path.stem
    return [tree_from(document, source=path.name, twin=twin, language=language)]


def read_json(path: Path) -> Any:
    """The document in a JSON file; a file that is not JSON raises an error with its name."""
    try:
        return msgspec.json.decode(path.read_bytes())
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise DataError(f"not JSON ({error}); give a SocialEval .json file", path) from None
    except RecursionError:
        raise DataError("the JSON is nested too deeply; give a SocialEval .json file", path) from None


def is_tree_file(document: Any) -> bool:
    """Whether a document holds world trees in either layout (an ability file does not)."""
    if isinstance(document, dict):
        return "interactive_plot" in document
    if not isinstance(document, list) or not document or not isinstance(document[0], dict):
        return False
    inner = document[0].get("cn_data") or document[0].get("en_data")
    return isinstance(inner, dict) and "interactive_plot" in inner


def _merged(entries: list[Any], path: Path) -> Iterator[worldtree.Tree]:
    source = path.name
    for position, entry in enumerate(entries):
        twin = str(entry.get("data_id", position)) if isinstance(entry, dict) else ""
        halves = [(code, entry.get(f"{code}_data")) for code in ("cn", "en")] if twin else []
        if not any(half for _, half in halves):
            raise DataError(f"entry {position} has neither cn_data nor en_data; is this the merged list?", source)
        for code, half in halves:
            if half:
                tree = tree_from(half, source=f"{source}#{twin}", twin=twin, language=_CODES.get(code, code))
                yield msgspec.structs.replace(tree, entry=f"{path.parent.name}/{source}/{position}")


def tree_from(document: Any, *, source: str, twin: str, language: str) -> worldtree.Tree:
    """One tree from a document of the single layout."""
    if not isinstance(document, dict) or not document.get("interactive_plot"):
        found = list(document)[:5] if isinstance(document, dict) else type(document).__name__
        raise DataError(f"no interactive_plot (found {found}); a tree needs profiles, scenario, plot", source)
    profiles = document.get("predefined_profiles") or []
    if not profiles:
        raise DataError("no predefined_profiles; the first is the protagonist", source)
    raw = profiles[0].get("orientation")
    values = whole_numbers(raw)
    orientation = worldtree.orientation_of(*values[:2]) if len(values) >= 2 else None
    if orientation is None:
        raise DataError(f"the protagonist's orientation {raw!r} is not one of the seven, such as [1, -1]", source)
    if len(document["interactive_plot"]) > MOST_NODES:
        raise DataError(f"{len(document['interactive_plot'])} nodes; a tree may have at most {MOST_NODES}", source)
    nodes = tuple(_node(raw_node, source, i) for i, raw_node in enumerate(document["interactive_plot"]))
    nodes = tuple(sorted(nodes, key=lambda node: node.kind != "beginning"))
    return worldtree.Tree(
        id=f"{orientation.name}-{_slug(twin)}-{language}",
        twin=f"{orientation.name}-{_slug(twin)}",
        language=language,
        source=source,
        orientation=orientation.name,
        people=tuple(person(profile) for profile in profiles),
        scene=text_of(document.get("scenario")),
        nodes=nodes,
    )


def _slug(name: str) -> str:
    """A twin's name without the orientation its file name repeats and without signs a file system dislikes."""
    name = re.sub(r"^-?\d,-?\d/", "", name)
    return re.sub(r"[^0-9A-Za-z一-鿿]+", "-", name).strip("-") or "tree"


def _node(raw: Any, source: str, position: int) -> worldtree.Node:
    if not isinstance(raw, dict) or not isinstance(raw.get("cid"), int):
        raise DataError(f"node {position} has no whole number as cid (found {raw!r:.60})", source)
    kind: Any = raw.get("type")
    if kind not in get_args(worldtree.Kind):
        raise DataError(f"node {raw['cid']}: type {kind!r} is not one of beginning, choice, ending", source)
    entries = raw.get("dialog") or []
    forks = [fork.group(1) for entry in entries if (fork := _fork(entry))]
    level = raw.get("goal achievement")
    if level is not None and level not in (0, 1, 2):
        raise DataError(f"node {raw['cid']}: goal achievement {level!r} is not one of 0, 1, 2", source)
    return worldtree.Node(
        id=raw["cid"],
        kind=kind,
        lines=tuple(line for entry in entries if (line := _line(entry)) is not None),
        enters=tuple(person(entry["profile"]) for entry in entries if isinstance(entry.get("profile"), dict)),
        choices=tuple(_choice(choice, source, raw["cid"]) for choice in raw.get("choices") or []),
        goal=worldtree.GOAL_OPEN if level is None else int(level),
        lost_join=forks[0] if forks else "",
    )


def _fork(entry: dict[str, Any]) -> re.Match[str] | None:
    """The mark that the story should join another branch, in place of a speaker or of the words."""
    return _FORK.match(str(entry.get("role", ""))) or _FORK.match(text_of(entry.get("content")))


def _line(entry: dict[str, Any]) -> worldtree.Line | None:
    text = text_of(entry.get("content"))
    speaker = str(entry.get("role", "")).strip()
    if not text or _fork(entry):
        return None
    return worldtree.Line(speaker="" if speaker.lower() in NARRATORS else speaker, text=text)


def _choice(raw: Any, source: str, node: int) -> worldtree.Choice:
    if not isinstance(raw, dict) or not isinstance(raw.get("cid"), int):
        raise DataError(f"node {node}: a choice has no whole number as cid (found {raw!r:.60})", source)
    confusion = [entry for entry in raw.get("confusion") or [] if isinstance(entry, dict)]
    stance = whole_numbers(raw.get("social state"))
    return worldtree.Choice(
        target=raw["cid"],
        text=text_of(raw.get("content")),
        abilities=names_of(raw.get("skill")),
        situation=raw.get("type") == "situation choice",
        stance=(stance[0], stance[1]) if len(stance) >= 2 else None,
        question=next((question(entry) for entry in confusion if "question" in entry), None),
        distractors=tuple(
            text for e in confusion if e.get("type") == "skill confusion" and (text := text_of(e.get("content")))
        ),
    )


def question(entry: dict[str, Any]) -> worldtree.Question:
    """An ability question; notes such as #skill# and #state# in its text are removed, and a noted ability is kept.

    Some files have the end of an ability's name ("Skill") as a second string of the question: it is moved to the name.
    """
    raw = entry.get("question", entry.get("text"))
    texts = [str(text) for text in (raw if isinstance(raw, list) else [raw]) if text]
    notes = [note for text in texts for note in _NOTE.finditer(text)]
    marks = [" ".join(note[0].split()) for note in notes]
    marked = tuple(
        note["text"].strip()
        for note in notes
        if (note["kind"] or note["bare"]).lower() != "state" and note["text"].strip()
    )
    names = list(names_of(entry.get("skill", entry.get("skills"))) or marked)
    asked: list[str] = []
    for text in (_QUESTION_MARK.sub("", _NOTE.sub("", text)).strip() for text in texts):
        if asked and names and completes(names[-1], text):
            names[-1] = f"{names[-1].strip()} {text}"
            marks.append(text)
        elif text:
            asked.append(text)
    return worldtree.Question(text=" ".join(asked), abilities=tuple(names), marks=tuple(marks))


def person(raw: dict[str, Any]) -> worldtree.Person:
    """Somebody from a released profile."""
    return worldtree.Person(
        name=str(raw.get("name") or "").strip(),
        public=text_of(raw.get("public profile")),
        private=text_of(raw.get("private profile")),
        goal=text_of(raw.get("goal")),
    )


def names_of(raw: Any) -> tuple[str, ...]:
    """Ability names as they were spelled; a bare string counts as one name."""
    names = raw if isinstance(raw, list) else [raw] if isinstance(raw, str) else []
    return tuple(str(name) for name in names if str(name).strip())


def text_of(content: Any) -> str:
    """The words of a content field: a string, a {role, content} pair, or the first of a list of such pairs."""
    if isinstance(content, list):
        content = content[0] if content else ""
    if isinstance(content, dict):
        content = content.get("content")
    return str(content or "").strip()


def whole_numbers(raw: Any) -> list[int]:
    """The whole numbers in a released vector, some of which were written as strings holding two."""
    parts = raw if isinstance(raw, list) else []
    # The first twenty characters of a part hold both of its numbers; Python converts no text of thousands of digits.
    return [int(number) for part in parts for number in re.findall(r"-?\d+", str(part)[:20])]


def guess_language(document: Any) -> str:
    """The language whose letters the scene or the first lines hold, else English."""
    if not isinstance(document, dict):
        return ENGLISH
    return written_in(str(document.get("scenario")) + str((document.get("interactive_plot") or [""])[0]))


UNKNOWN = "unknown"


def read_question_file(path: Path) -> Iterator[AbilityQuestion]:
    """The questions of an ability file: entries with cn_data and en_data, or a plain list in one language."""
    entries = read_json(path)
    if not isinstance(entries, list):
        raise DataError("an ability file is a list of questions; is this a single tree?", path)
    for position, entry in enumerate(entries):
        if not isinstance(entry, dict):
            raise DataError(f"entry {position} is not an object but {type(entry).__name__}", path)
        halves = list(_halves(entry, path))
        cluster = _tree_of([half for _, _, half in halves], position)
        for language, number, half in halves:
            name = str(entry.get("data_id", position))
            suffix = f".{number + 1}" if number else ""
            yield _read(half, path, position, f"{name}{suffix}-{language}", cluster, language)


def is_question_file(document: Any) -> bool:
    """Whether a document contains ability questions in either layout."""
    if not isinstance(document, list) or not document or not isinstance(document[0], dict):
        return False
    inner = document[0].get("en_data") or document[0].get("cn_data") or document[0]
    inner = inner[0] if isinstance(inner, list) and inner else inner
    return isinstance(inner, dict) and "question" in inner and ("choices" in inner or "choice" in inner)


def _tree_of(halves: list[Any], position: int) -> str:
    """The tree of a question, recognised by its protagonist and their goal, because the file does not name it.

    The last half is the English one where there are two, so that twins share a cluster.
    """
    last = halves[-1] if halves and isinstance(halves[-1], dict) else {}
    profiles = last.get("profile")
    first = profiles[0] if isinstance(profiles, list) and profiles else profiles
    if not isinstance(first, dict) or not first.get("name"):
        return f"question {position}"
    return f"{first['name']}: {text_of(first.get('goal'))}"


def _halves(entry: dict[str, Any], path: Path) -> Iterator[tuple[str, int, Any]]:
    """The questions of one entry: a side may hold one question or a list of them."""
    if "cn_data" not in entry and "en_data" not in entry:
        yield _language(entry, path), 0, entry
        return
    for language, side in ((_CODES.get(code, code), entry.get(f"{code}_data")) for code in ("cn", "en")):
        for number, half in enumerate(side if isinstance(side, list) else [side]):
            if half:
                yield language, number, half


def _language(entry: dict[str, Any], path: Path) -> str:
    prefix, named, _ = path.name.partition("_")
    code = _CODES.get(prefix, prefix)
    return code if named and code in languages() else written_in(str(entry.get("content")))


def _read(raw: Any, path: Path, position: int, name: str, cluster: str, language: str) -> AbilityQuestion:
    where = f"entry {position}"
    if not isinstance(raw, dict):
        raise DataError(f"{where} contains {type(raw).__name__}, not a question", path)
    asked = raw.get("question")
    asked = asked[0] if isinstance(asked, list) and asked else asked
    if not isinstance(asked, dict):
        raise DataError(f"{where} has no question; needed: question with text and skills", path)
    choices = [choice for choice in raw.get("choices", raw.get("choice")) or [] if isinstance(choice, dict)]
    right = [text_of(choice.get("content")) for choice in choices if choice.get("type") == "skill choice"]
    wrong = [text_of(choice.get("content")) for choice in choices if choice.get("type") != "skill choice"]
    if len(right) != 1 or not wrong:
        raise DataError(
            f"{where} has {len(right)} right and {len(wrong)} wrong choices; needed: one right and at least one wrong",
            path,
        )
    profiles = raw.get("profile")
    profiles = profiles if isinstance(profiles, list) else [profiles]
    people = tuple(person(profile) for profile in profiles if isinstance(profile, dict))
    values = whole_numbers(profiles[0].get("orientation")) if people else []
    orientation = worldtree.orientation_of(*values[:2]) if len(values) >= 2 else None
    asked_for = question(asked)
    return AbilityQuestion(
        id=name,
        cluster=cluster,
        language=language,
        orientation=orientation.name if orientation else UNKNOWN,
        category=orientation.category if orientation else UNKNOWN,
        abilities=canonical_all(asked_for.abilities) or (UNMAPPED,),
        people=people or (worldtree.Person(name=""),),
        scene="",
        lines=_lines(raw.get("content")),
        question=asked_for.text,
        options=(right[0], *wrong),
    )


def _lines(content: Any) -> tuple[worldtree.Line, ...]:
    if isinstance(content, str):
        return (worldtree.Line("", content.strip()),)
    entries = content if isinstance(content, list) else []
    return tuple(
        worldtree.Line(str(entry.get("role", "")).strip(), text)
        for entry in entries
        if isinstance(entry, dict) and (text := text_of(entry.get("content")))
    )


BUNDLED = Path(__file__).parent / "data"
WORDS = Path(__file__).parent / "words"
MERGED_TREES = "socialeval/worldtree_data.json"
MERGED_QUESTIONS = "socialeval/interpersonal_abilities_data.json"
FOLDERS = ("socialeval", "worldtree_data", "interpersonal_abilities_data", ".")
"""Where files may be in a data folder: in ours, in those of the release, or in the folder itself."""
UNMAPPED = "none of the 32 for certain"


class TreeItem(Item, frozen=True, kw_only=True):
    """A world tree in one language; the cluster is the tree in any language."""

    tree: worldtree.Tree

    @property
    def language(self) -> str:
        """The language of the tree."""
        return self.tree.language

    @property
    def facets(self) -> dict[str, str]:
        """What the tree is grouped by."""
        return {name: getattr(self.tree, name) for name in ("language", "category", "orientation")}


class AbilityQuestion(Item, frozen=True, kw_only=True, omit_defaults=True):
    """Which of several utterances shows an ability at this point of the story; the right one is first."""

    question: str
    options: tuple[str, ...]
    language: str
    orientation: str
    category: str
    abilities: tuple[str, ...]
    people: tuple[worldtree.Person, ...]
    scene: str
    lines: tuple[worldtree.Line, ...]


class Crossroads(Item, frozen=True, kw_only=True, omit_defaults=True):
    """One choice node with the story before it; the protagonist's free reply is compared with the candidates."""

    language: str
    orientation: str
    people: tuple[worldtree.Person, ...]
    scene: str
    lines: tuple[worldtree.Line, ...]
    candidates: tuple[str, ...]
    abilities: tuple[str, ...] = ()
    """The skills of the candidates, which the authors' prompt names; only in their wording."""


def trees(source: Source) -> list[worldtree.Tree]:
    """The trees of the settings: bundled, or official if requested."""
    found = (tree for path in tree_files(source) for tree in read_tree_file(path)) if source.official else _bundled()
    return [tree for tree in found if wanted(tree.language, source)]


@cache
def _bundled() -> tuple[worldtree.Tree, ...]:
    """The bundled trees; read once, because a run reads its items several times."""
    return tuple(tree for path in sorted(BUNDLED.glob("*.json")) for tree in read_tree_file(path))


def wanted(language: str, source: Source) -> bool:
    """Whether the setting `language` includes this one."""
    chosen = source.settings.text("language")
    return language in worldtree.PAPER_LANGUAGES if chosen == BOTH else language == chosen


def tree_files(source: Source) -> list[Path]:
    """The official files that contain the trees; the merged list replaces all others if it exists.

    They may be in any folder: the release or a part of it in either layout, or trees of your own.
    """
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
            "no world tree in this folder; give --data a folder with SocialEval's .json files or your own, or run "
            f"'{hint('get data socialeval')}'",
            folder,
        )
    return found


def given_trees(names: tuple[str, ...]) -> list[worldtree.Tree]:
    """The trees in files and folders that are named on the command line."""
    trees: list[worldtree.Tree] = []
    for name in names:
        path = Path(name)
        if not path.exists():
            raise DataError("no such file or folder; give tree files in either released layout", path)
        files = tree_files_in(path) if path.is_dir() else [path]
        trees += [tree for file in files for tree in read_tree_file(file)]
    return trees


def tree_items(source: Source) -> Iterator[TreeItem]:
    """The trees to walk. An English tree and its translations share a cluster."""
    found = trees(source)
    clusters = clusters_of(found)
    for tree in found:
        yield TreeItem(id=tree.id, cluster=clusters[tree.id], tree=tree)


def clusters_of(found: Iterable[worldtree.Tree]) -> dict[str, str]:
    """The cluster of every tree: its own name, or the English one of translations."""
    found = list(found)
    clusters = {tree.id: tree.id for tree in found}
    for english, other in worldtree.pair_twins(found):
        clusters[english.id] = clusters[other.id] = english.twin
    return clusters


def ability_questions(source: Source) -> Iterator[AbilityQuestion]:
    """The ability questions: from the released ability file if it exists, else from the trees' own choices."""
    files = question_files(source) if source.official else []
    if files:
        found = (question for file in files for question in read_question_file(file))
        return (question for question in found if wanted(question.language, source))
    return questions_of(trees(source))


def question_files(source: Source) -> list[Path]:
    """The files of ability questions in the data folder: the merged file, or any that contain such questions."""
    merged = source.find(MERGED_QUESTIONS)
    if merged is not None:
        return [merged]
    return next((found for folder in _places(source) if (found := _files_with(is_question_file, folder))), [])


def questions_of(found: list[worldtree.Tree]) -> Iterator[AbilityQuestion]:
    """The ability questions in the choices of some trees."""
    clusters = clusters_of(found)
    for tree in found:
        stories = story_to(tree)
        for node in tree.nodes:
            for number, choice in enumerate(node.choices):
                if node.id in stories and asks_ability(choice):
                    yield _question(tree, clusters[tree.id], node, number, stories[node.id])


def asks_ability(choice: worldtree.Choice) -> bool:
    """Whether a choice makes an answerable question: it has text, distractors and a question."""
    texts = (choice.text, *choice.distractors)
    asked = choice.question is not None and bool(choice.question.text)
    return asked and len(texts) > 1 and all(worldtree.is_utterance(text) for text in texts)


def _question(tree: worldtree.Tree, cluster: str, node: worldtree.Node, number: int, story: Story) -> AbilityQuestion:
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
            if node.id in stories and len(candidates) > 1 and all(map(worldtree.is_utterance, candidates)):
                story = stories[node.id]
                skills = dict.fromkeys(skill for choice in node.choices for skill in choice.abilities)
                yield Crossroads(
                    id=f"{tree.id}/{node.id}",
                    cluster=clusters[tree.id],
                    language=tree.language,
                    orientation=tree.orientation,
                    people=story.people,
                    scene=tree.scene,
                    lines=story.lines,
                    candidates=candidates,
                    abilities=tuple(skills) if is_paper(source.settings) else (),
                )


class Story(Struct, frozen=True):
    """The dialogue and the people on the way to a node and in it."""

    people: tuple[worldtree.Person, ...]
    lines: tuple[worldtree.Line, ...]


def story_to(tree: worldtree.Tree) -> dict[int, Story]:
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
            said = worldtree.Line(tree.protagonist.name, choice.text)
            stories[following.id] = Story(
                people=(*before.people, *following.enters), lines=(*before.lines, said, *following.lines)
            )
            waiting.append(following)
    return stories
