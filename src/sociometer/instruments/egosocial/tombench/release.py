"""ToMBench's released files -> typed questions in both languages, with every irregularity corrected."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from sociometer.core.errors import DataError

LETTERS = "ABCD"
ABILITIES = ("desire", "emotion", "intention", "belief", "knowledge", "non-literal communication")
_PREFIX = re.compile(r"^([A-D])\s*[.:：．、)）]\s*")


class Wording(Struct, frozen=True):
    """A question in one language."""

    story: str
    question: str
    options: tuple[str, ...]


class TomBenchQuestion(Struct, frozen=True):
    """One released question."""

    id: str
    cluster: str
    test: str
    ability: str
    english: Wording
    chinese: Wording
    answer: int

    def wording(self, language: str) -> Wording:
        """The question in English (`en`) or Chinese (`zh`)."""
        return self.chinese if language == "zh" else self.english


def read_folder(folder: Path) -> Iterator[TomBenchQuestion]:
    """All questions of the 20 released files, by file name and line."""
    files = sorted(folder.glob("*.jsonl"))
    if not files:
        raise DataError("no *.jsonl file here; ToMBench has 20, one per test", folder)
    for path in files:
        yield from read_file(path)


def read_file(path: Path) -> Iterator[TomBenchQuestion]:
    """The questions of one file; a bad line raises an error with file and line."""
    slug = re.sub(r"[^a-z]+", "-", path.stem.lower()).strip("-")
    stories: dict[str, int] = {}
    try:
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield _read_line(line, path, number, slug, stories)
    except UnicodeDecodeError as error:
        raise DataError(f"not UTF-8 text: {error.reason}", path) from None


def _read_line(line: str, path: Path, number: int, slug: str, stories: dict[str, int]) -> TomBenchQuestion:
    try:
        row: Any = json.loads(line, parse_constant=lambda constant: None)  # some lines have a bare NaN
    except (json.JSONDecodeError, RecursionError) as error:
        raise DataError(f"not JSON: {error}", path, number) from None
    if not isinstance(row, dict):
        raise DataError(f"expected an object, found {type(row).__name__}", path, number)
    ability = _ability(_text(row, "能力\nABILITY", path, number), path, number)
    english = _wording(row, ("STORY", "QUESTION", "OPTION-"), path, number)
    chinese = _wording(row, ("故事", "问题", "选项"), path, number)
    letter = _text(row, "答案\nANSWER", path, number)
    answer = LETTERS.find(letter.rstrip(". ")) if len(letter.rstrip(". ")) == 1 else -1
    if not 0 <= answer < min(len(english.options), len(chinese.options)):
        raise DataError(f"answer {letter!r} is not among the options", path, number)
    story = stories.setdefault(english.story, len(stories))
    return TomBenchQuestion(
        id=f"tombench-{slug}-{number:03d}",
        cluster=f"tombench-{slug}-story-{story:03d}",
        test=path.stem,
        ability=ability,
        english=english,
        chinese=chinese,
        answer=answer,
    )


def _text(row: dict[str, Any], key: str, path: Path, number: int) -> str:
    value = row.get(key)
    if not isinstance(value, str) or not value.strip():
        raise DataError(f"{key!r} is {value!r}; expected text", path, number)
    return value.strip()


def _ability(text: str, path: Path, number: int) -> str:
    """The first ability of a cell such as "Belief: Location false beliefs"."""
    ability = text.partition(":")[0].lower()
    if ability not in ABILITIES:
        raise DataError(f"unknown ability {text[:80]!r}; known: {', '.join(ABILITIES)}", path, number)
    return ability


def _wording(row: dict[str, Any], keys: tuple[str, str, str], path: Path, number: int) -> Wording:
    story, question, prefix = keys
    raw = [row.get(f"{prefix}{letter}") for letter in LETTERS]
    given = [str(option).strip() for option in raw if isinstance(option, str) and option.strip()]
    if len(given) not in (2, 4) or any(isinstance(option, str) for option in raw[len(given) :]):
        raise DataError(f"{len(given)} options under {prefix!r}; expected the first two or all four", path, number)
    matches = [_PREFIX.match(option) for option in given]
    if all(m is not None and m[1] == letter for m, letter in zip(matches, LETTERS, strict=False)):
        given = [_PREFIX.sub("", option) for option in given]
    return Wording(_text(row, story, path, number), _text(row, question, path, number), tuple(given))
