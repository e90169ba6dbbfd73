"""ToMBench's released files -> typed questions in both languages, with every irregularity corrected and listed."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from sociometer.core.errors import DataError

LETTERS = "ABCD"
ABILITIES = ("desire", "emotion", "intention", "belief", "knowledge", "non-literal communication")
_ABILITY = re.compile(r"([A-Z][A-Za-z-]*(?: [Cc]ommunication)?): (.+?)(?= [A-Z][a-z]+: |$)")
_LONGEST_ABILITY = 1_000
_PREFIX = re.compile(r"^([A-D])\s*[.:：．、)）]\s*")


class Wording(Struct, frozen=True):
    """A question in one language."""

    story: str
    question: str
    options: tuple[str, ...]


class TomBenchQuestion(Struct, frozen=True):
    """One released question; `untidy` names what had to be corrected."""

    id: str
    cluster: str
    test: str
    ability: str
    aspects: tuple[str, ...]
    english: Wording
    chinese: Wording
    answer: int
    untidy: tuple[str, ...] = ()

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
    seen: Counter[str] = Counter()
    try:
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield _read_line(line, path, number, slug, stories, seen)
    except UnicodeDecodeError as error:
        raise DataError(f"not UTF-8 text: {error.reason}", path) from None


def _read_line(
    line: str, path: Path, number: int, slug: str, stories: dict[str, int], seen: Counter[str]
) -> TomBenchQuestion:
    untidy: list[str] = []

    def absent(constant: str) -> None:
        untidy.append(f"bare {constant}, which is not JSON")

    try:
        row: Any = json.loads(line, parse_constant=absent)
    except (json.JSONDecodeError, RecursionError) as error:
        raise DataError(f"not JSON: {error}", path, number) from None
    if not isinstance(row, dict):
        raise DataError(f"expected an object, found {type(row).__name__}", path, number)
    ability, aspects = _abilities(_text(row, "能力\nABILITY", path, number), path, number)
    english = _wording(row, ("STORY", "QUESTION", "OPTION-"), untidy, path, number)
    chinese = _wording(row, ("故事", "问题", "选项"), untidy, path, number)
    if len(english.options) != len(chinese.options):
        untidy.append(f"{len(english.options)} English but {len(chinese.options)} Chinese options")
    letter = _text(row, "答案\nANSWER", path, number)
    answer = _answer(letter, row["答案\nANSWER"], untidy)
    if not 0 <= answer < min(len(english.options), len(chinese.options)):
        raise DataError(f"answer {letter!r} is not among the options", path, number)
    # Released indices number the questions of one story, so they repeat within a file: the line is what is unique.
    seen[str(row.get("序号\nINDEX"))] += 1
    if seen[str(row.get("序号\nINDEX"))] > 1:
        untidy.append("index repeats within the file")
    story = stories.setdefault(english.story, len(stories))
    return TomBenchQuestion(
        id=f"tombench-{slug}-{number:03d}",
        cluster=f"tombench-{slug}-story-{story:03d}",
        test=path.stem,
        ability=ability,
        aspects=aspects,
        english=english,
        chinese=chinese,
        answer=answer,
        untidy=tuple(dict.fromkeys(untidy)),
    )


def _text(row: dict[str, Any], key: str, path: Path, number: int) -> str:
    value = row.get(key)
    if not isinstance(value, str) or not value.strip():
        raise DataError(f"{key!r} is {value!r}; expected text", path, number)
    return value.strip()


def _abilities(text: str, path: Path, number: int) -> tuple[str, tuple[str, ...]]:
    found = _ABILITY.findall(text) if len(text) <= _LONGEST_ABILITY else []
    ability = found[0][0].lower() if found else ""
    if ability not in ABILITIES:
        raise DataError(f"unknown ability {text[:80]!r}; known: {', '.join(ABILITIES)}", path, number)
    return ability, tuple(aspect.strip().lower() for _, aspect in found)


def _wording(row: dict[str, Any], keys: tuple[str, str, str], untidy: list[str], path: Path, number: int) -> Wording:
    story, question, prefix = keys
    raw = [row.get(f"{prefix}{letter}") for letter in LETTERS]
    given = [str(option).strip() for option in raw if isinstance(option, str) and option.strip()]
    if len(given) not in (2, 4) or any(isinstance(option, str) for option in raw[len(given) :]):
        raise DataError(f"{len(given)} options under {prefix!r}; expected the first two or all four", path, number)
    matches = [_PREFIX.match(option) for option in given]
    if all(m is not None and m[1] == letter for m, letter in zip(matches, LETTERS, strict=False)):
        untidy.append(f"options carry their own letters ({'Chinese' if prefix == '选项' else 'English'})")
        given = [_PREFIX.sub("", option) for option in given]
    return Wording(_text(row, story, path, number), _text(row, question, path, number), tuple(given))


def _answer(text: str, written: str, untidy: list[str]) -> int:
    letter = text.rstrip(". ")
    if letter != written:
        untidy.append(f"answer written {written!r}")
    return LETTERS.find(letter) if len(letter) == 1 else -1
