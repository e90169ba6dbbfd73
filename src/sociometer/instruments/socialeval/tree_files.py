"""Reading the two released layouts of world trees, and writing the first of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from sociometer.core.errors import DataError
from sociometer.instruments.socialeval.abilities import completes
from sociometer.instruments.socialeval.worldtree import (
    GOAL_OPEN,
    Choice,
    Kind,
    Language,
    Line,
    Node,
    Person,
    Question,
    Tree,
    orientation_of,
)

NARRATORS = frozenset({"", "description", "content", "scene", "narrator", "narration", "旁白", "描述", "场景"})
"""What the released files write in place of a speaker when nobody speaks."""

MOST_NODES = 500
"""The most nodes a tree may have; the largest released one has 41."""
_FILE = re.compile(r"^\[(-?\d),(-?\d)\]_(cn|en)_(?P<name>.+)$")
_FORK = re.compile(r"^\s*+fork[- ]?join\s*+(?:[:：]\s*+)?(\S++)\s*$", re.IGNORECASE)
_QUESTION_MARK = re.compile(r"(?<!#)#*+question#", re.IGNORECASE)
_NOTE = re.compile(r"(?<!#)#++(?P<kind>skills?|state)\s*#(?P<text>[^#]*)", re.IGNORECASE)
_CODES: dict[str, Language] = {"cn": "zh", "en": "en", "zh": "zh"}


def read_tree_file(path: Path) -> list[Tree]:
    """The trees of one file: one for the single layout, two for each entry of the merged list; none raises an error."""
    document = read_json(path)
    if isinstance(document, list):
        if not document:
            raise DataError("contains no world tree; give SocialEval's .json files with an interactive_plot", path)
        return list(_merged(document, path))
    name = _FILE.match(path.stem)
    language = _CODES[name.group(3)] if name else guess_language(document)
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


def _merged(entries: list[Any], path: Path) -> Iterator[Tree]:
    source = path.name
    for position, entry in enumerate(entries):
        twin = str(entry.get("data_id", position)) if isinstance(entry, dict) else ""
        halves = [(code, entry.get(f"{code}_data")) for code in ("cn", "en")] if twin else []
        if not any(half for _, half in halves):
            raise DataError(f"entry {position} has neither cn_data nor en_data; is this the merged list?", source)
        for code, half in halves:
            if half:
                tree = tree_from(half, source=f"{source}#{twin}", twin=twin, language=_CODES[code])
                yield msgspec.structs.replace(tree, entry=f"{path.parent.name}/{source}/{position}")


def tree_from(document: Any, *, source: str, twin: str, language: Language) -> Tree:
    """One tree from a document of the single layout."""
    if not isinstance(document, dict) or not document.get("interactive_plot"):
        found = list(document)[:5] if isinstance(document, dict) else type(document).__name__
        raise DataError(f"no interactive_plot (found {found}); a tree needs profiles, scenario, plot", source)
    profiles = document.get("predefined_profiles") or []
    if not profiles:
        raise DataError("no predefined_profiles; the first is the protagonist", source)
    raw = profiles[0].get("orientation")
    values = whole_numbers(raw)
    orientation = orientation_of(*values[:2]) if len(values) >= 2 else None
    if orientation is None:
        raise DataError(f"the protagonist's orientation {raw!r} is not one of the seven, such as [1, -1]", source)
    if len(document["interactive_plot"]) > MOST_NODES:
        raise DataError(f"{len(document['interactive_plot'])} nodes; a tree may have at most {MOST_NODES}", source)
    nodes = tuple(_node(raw_node, source, i) for i, raw_node in enumerate(document["interactive_plot"]))
    nodes = tuple(sorted(nodes, key=lambda node: node.kind != "beginning"))
    return Tree(
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


def _node(raw: Any, source: str, position: int) -> Node:
    if not isinstance(raw, dict) or not isinstance(raw.get("cid"), int):
        raise DataError(f"node {position} has no whole number as cid (found {raw!r:.60})", source)
    kind = raw.get("type")
    if kind not in ("beginning", "choice", "ending"):
        raise DataError(f"node {raw['cid']}: type {kind!r} is not one of beginning, choice, ending", source)
    entries = raw.get("dialog") or []
    forks = [fork.group(1) for entry in entries if (fork := _fork(entry))]
    level = raw.get("goal achievement")
    if level is not None and level not in (0, 1, 2):
        raise DataError(f"node {raw['cid']}: goal achievement {level!r} is not one of 0, 1, 2", source)
    return Node(
        id=raw["cid"],
        kind=_kind(kind),
        lines=tuple(line for entry in entries if (line := _line(entry)) is not None),
        enters=tuple(person(entry["profile"]) for entry in entries if isinstance(entry.get("profile"), dict)),
        choices=tuple(_choice(choice, source, raw["cid"]) for choice in raw.get("choices") or []),
        goal=GOAL_OPEN if level is None else int(level),
        lost_join=forks[0] if forks else "",
    )


def _kind(kind: str) -> Kind:
    return "beginning" if kind == "beginning" else "ending" if kind == "ending" else "choice"


def _fork(entry: dict[str, Any]) -> re.Match[str] | None:
    """The mark that the story should join another branch, in place of a speaker or of the words."""
    return _FORK.match(str(entry.get("role", ""))) or _FORK.match(text_of(entry.get("content")))


def _line(entry: dict[str, Any]) -> Line | None:
    text = text_of(entry.get("content"))
    speaker = str(entry.get("role", "")).strip()
    if not text or _fork(entry):
        return None
    return Line(speaker="" if speaker.lower() in NARRATORS else speaker, text=text)


def _choice(raw: Any, source: str, node: int) -> Choice:
    if not isinstance(raw, dict) or not isinstance(raw.get("cid"), int):
        raise DataError(f"node {node}: a choice has no whole number as cid (found {raw!r:.60})", source)
    confusion = [entry for entry in raw.get("confusion") or [] if isinstance(entry, dict)]
    stance = whole_numbers(raw.get("social state"))
    return Choice(
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


def question(entry: dict[str, Any]) -> Question:
    """An ability question; notes such as #skill# and #state# in its text are removed, and a noted ability is kept.

    Some files have the end of an ability's name ("Skill") as a second string of the question: it is moved to the name.
    """
    raw = entry.get("question", entry.get("text"))
    texts = [str(text) for text in (raw if isinstance(raw, list) else [raw]) if text]
    notes = [note for text in texts for note in _NOTE.finditer(text)]
    marks = [" ".join(note[0].split()) for note in notes]
    marked = tuple(note["text"].strip() for note in notes if note["kind"].lower() != "state" and note["text"].strip())
    names = list(names_of(entry.get("skill", entry.get("skills"))) or marked)
    asked: list[str] = []
    for text in (_QUESTION_MARK.sub("", _NOTE.sub("", text)).strip() for text in texts):
        if asked and names and completes(names[-1], text):
            names[-1] = f"{names[-1].strip()} {text}"
            marks.append(text)
        elif text:
            asked.append(text)
    return Question(text=" ".join(asked), abilities=tuple(names), marks=tuple(marks))


def person(raw: dict[str, Any]) -> Person:
    """Somebody from a released profile."""
    return Person(
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


def guess_language(document: Any) -> Language:
    """Chinese if the scene or the first lines hold Chinese characters, else English."""
    if not isinstance(document, dict):
        return "en"
    text = str(document.get("scenario")) + str((document.get("interactive_plot") or [""])[0])
    return "zh" if re.search(r"[一-鿿]", text) else "en"
