"""Reading the released file of ability questions, in its merged and in its one-language layout."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from sociometer.core.errors import DataError
from sociometer.instruments.socialeval.tree_files import person, question, read_json, text_of, whole_numbers
from sociometer.instruments.socialeval.worldtree import Language, Line, Person, Question, orientation_of

UNKNOWN = "unknown"


class RawQuestion(msgspec.Struct, frozen=True):
    """One ability question as released; the right option is first."""

    id: str
    cluster: str
    language: Language
    orientation: str
    category: str
    people: tuple[Person, ...]
    lines: tuple[Line, ...]
    question: Question
    options: tuple[str, ...]


def read_question_file(path: Path) -> Iterator[RawQuestion]:
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


def _halves(entry: dict[str, Any], path: Path) -> Iterator[tuple[Language, int, Any]]:
    """The questions of one entry: a side may hold one question or a list of them."""
    if "cn_data" not in entry and "en_data" not in entry:
        yield _language(entry, path), 0, entry
        return
    sides: tuple[tuple[Language, Any], ...] = (("zh", entry.get("cn_data")), ("en", entry.get("en_data")))
    for language, side in sides:
        for number, half in enumerate(side if isinstance(side, list) else [side]):
            if half:
                yield language, number, half


def _language(entry: dict[str, Any], path: Path) -> Language:
    if path.name.startswith(("cn_", "zh_")):
        return "zh"
    if path.name.startswith("en_"):
        return "en"
    return "zh" if re.search(r"[一-鿿]", str(entry.get("content"))) else "en"


def _read(raw: Any, path: Path, position: int, name: str, cluster: str, language: Language) -> RawQuestion:
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
    orientation = orientation_of(*values[:2]) if len(values) >= 2 else None
    return RawQuestion(
        id=name,
        cluster=cluster,
        language=language,
        orientation=orientation.name if orientation else UNKNOWN,
        category=orientation.category if orientation else UNKNOWN,
        people=people or (Person(name=""),),
        lines=_lines(raw.get("content")),
        question=question(asked),
        options=(right[0], *wrong),
    )


def _lines(content: Any) -> tuple[Line, ...]:
    if isinstance(content, str):
        return (Line("", content.strip()),)
    entries = content if isinstance(content, list) else []
    return tuple(
        Line(str(entry.get("role", "")).strip(), text)
        for entry in entries
        if isinstance(entry, dict) and (text := text_of(entry.get("content")))
    )
