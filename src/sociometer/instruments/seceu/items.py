"""Bundled scenarios and official items -> typed items, one for each prompting method."""

import hashlib
import math
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import msgspec
from msgspec import Struct

from sociometer.core.archives import read_member
from sociometer.core.errors import DataError, UsageError
from sociometer.core.language import ENGLISH, in_language
from sociometer.core.source import Source
from sociometer.core.task import Item
from sociometer.instruments.seceu.norm import Norm, published_norm, read_norm
from sociometer.reading import read_items

MOST_BYTES = 20_000_000
MOST_DEPTH = 200
MOST_NESTED_PARAGRAPHS = 8
_BODY = "word/document.xml"
_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_BREAKS = {f"{_WORD}tab": "\t", f"{_WORD}br": "\n", f"{_WORD}cr": "\n"}


def read_paragraphs(path: Path) -> list[str]:
    """Return the text of each paragraph in order, tabs and line breaks kept; one inside another is part of both."""
    parser = ElementTree.XMLParser(target=_Body(path))  # noqa: S314 - no entities: a DOCTYPE is refused
    try:
        parser.feed(read_member(path, _BODY, MOST_BYTES, next_step="fetch the file again"))
        body = parser.close()
    except (ElementTree.ParseError, LookupError, ValueError) as error:
        raise DataError(f"the document's text is not XML ({error}); fetch the file again", path) from None
    return ["".join(map(_said, paragraph.iter())) for paragraph in body.iter(f"{_WORD}p")]


def _said(element: ElementTree.Element) -> str:
    return element.text or "" if element.tag == f"{_WORD}t" else _BREAKS.get(element.tag, "")


class _Body(ElementTree.TreeBuilder):
    """Refuses what no Word file has: a DOCTYPE, where entities are declared, and endless nesting."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self._depth = self._paragraphs = 0

    def doctype(self, *_: object) -> None:
        raise DataError("the document declares XML entities, which no Word file needs; it is not read", self._path)

    def start(self, tag: str, attributes: dict[str, str], /) -> ElementTree.Element:
        self._depth += 1
        self._paragraphs += tag == f"{_WORD}p"
        if self._depth > MOST_DEPTH or self._paragraphs > MOST_NESTED_PARAGRAPHS:
            raise DataError("the document's text is nested deeper than in any Word file; it is not read", self._path)
        return super().start(tag, attributes)

    def end(self, tag: str, /) -> ElementTree.Element:
        self._depth -= 1
        self._paragraphs -= tag == f"{_WORD}p"
        return super().end(tag)


FILES = {"en": "seceu/SECEU_40items_English.docx", "zh": "seceu/SECEU_40items_Chinese.docx"}
"""The languages of the release."""
NORM_FILE = "seceu/SECEU_norm.docx"
COUNT, OPTIONS = 40, 4
IDS = tuple(f"seceu-{number:02}" for number in range(1, COUNT + 1))
_ENGLISH_HEAD = re.compile(r"Item\s+(\d{1,9})\s*")
_CHINESE_HEAD = re.compile(r"第([一二三四五六七八九十]{1,3})题\s*")
_MARK = re.compile(r"\(\d\)\s*")
_DIGITS = {mark: value for value, mark in enumerate("零一二三四五六七八九")}


def read_stories(source: Source, language: str) -> list[tuple[str, tuple[str, ...]]]:
    """Return the text and the options of the forty items in a language."""
    if language not in FILES:
        raise UsageError(f"SECEU has official items in {' and '.join(FILES)}, not in '{language}'; remove --official.")
    path = source.path(FILES[language])
    paragraphs = read_paragraphs(path)
    blocks = _blocks(paragraphs, _ENGLISH_HEAD if language == ENGLISH else _CHINESE_HEAD)
    stories = [_story(path, number, at, lines, language) for number, at, lines in blocks]
    if [number for number, _, _ in blocks] != list(range(1, COUNT + 1)):
        found = ", ".join(str(number) for number, _, _ in blocks) or "none"
        raise DataError(f"expected items 1 to {COUNT}, found {found}; fetch the file again", path)
    return stories


def read_official_norm(source: Source) -> Norm:
    """Return the published norm: the authors' file, with the percentiles that their tables print."""
    path = source.path(NORM_FILE)
    paragraphs = read_paragraphs(path)
    standards = [row for text in paragraphs if len(row := _numbers(text)) == OPTIONS and "[" not in text]
    tail = "".join(paragraphs[next((at for at, text in enumerate(paragraphs) if "[" in text), 0) :])
    template = _numbers(tail.partition("[")[2].partition("]")[0])
    if len(standards) != COUNT or len(template) != COUNT:
        raise DataError(
            f"expected {COUNT} rows of {OPTIONS} standard scores and a template of {COUNT}, "
            f"found {len(standards)} and {len(template)}; fetch the file again",
            path,
        )
    for number, row in enumerate(standards, 1):
        if not 9.9 <= sum(row) <= 10.1:
            raise DataError(f"the standard scores of item {number} sum to {sum(row):g}, not to 10", path)
    return published_norm(standards, template, IDS)


def _blocks(paragraphs: list[str], head: re.Pattern[str]) -> list[tuple[int, int, list[str]]]:
    """The number, the paragraph's place and the paragraphs of each item."""
    blocks: list[tuple[int, int, list[str]]] = []
    for at, text in enumerate(paragraphs, 1):
        match = head.fullmatch(text.strip())
        if match:
            blocks.append((_number(match[1]), at, []))
        elif blocks and text.strip():
            blocks[-1][2].append(text)
    return blocks


def _story(path: Path, number: int, at: int, lines: list[str], language: str) -> tuple[str, tuple[str, ...]]:
    text, options = _english(lines) if language == ENGLISH else _chinese(lines)
    if not text or len(options) != OPTIONS or not all(options):
        raise DataError(f"item {number} has no story with {OPTIONS} options: {len(options)} options found", path, at)
    return text, options


def _english(lines: list[str]) -> tuple[str, tuple[str, ...]]:
    story = " ".join(line.strip() for line in lines if not line.strip().startswith("Options:"))
    listed = " ".join(line.partition("Options:")[2] for line in lines if line.strip().startswith("Options:"))
    options = tuple(part.strip(" ;:.") for part in _MARK.split(listed) if part.strip(" ;:."))
    return story.removeprefix("Story:").strip(), options


def _chinese(lines: list[str]) -> tuple[str, tuple[str, ...]]:
    """The story runs to its last colon; the options follow, separated by tabs, on the same line or the next."""
    story, _, listed = "\t".join(lines).rpartition("：")
    return story.strip() + "：" if story else "", tuple(part.strip() for part in listed.split("\t") if part.strip())


def _numbers(text: str) -> tuple[float, ...]:
    parts = [part for part in re.split(r"[\s,]+", text.strip()) if part]
    try:
        return tuple(float(part) for part in parts)
    except ValueError:
        return ()


def _number(text: str) -> int:
    if text.isascii():
        return int(text)
    tens, ten, units = text.rpartition("十")
    return ((_DIGITS[tens] if tens else 1) * 10 if ten else 0) + (_DIGITS[units] if units else 0)


BUNDLED = Path(__file__).parent / "data" / "scenarios.jsonl"
TOTAL = 10
METHODS = ("direct", "zero-shot", "zero-shot-steps", "two-shot", "two-shot-steps")
SEVERAL = ("all", "best")


class Scenario(Item, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A story, four feelings, and the standard strength of each."""

    scenario: str
    language: str
    prompting: str
    story: str
    options: tuple[str, str, str, str]
    standard: tuple[float, float, float, float]
    context: str = ""
    direction: str = ""

    def asked_digest(self) -> bytes:
        """Return a digest without the standard, which is the people's own, and for all prompts."""
        plain = (self.scenario, self.language, self.story, self.options)
        return hashlib.blake2b(msgspec.json.encode(plain), digest_size=16).digest()


class Bundled(Struct, frozen=True, forbid_unknown_fields=True):
    """A line of our own file: one scenario in some languages, with its authors' judgement as key."""

    id: str
    context: str
    direction: str
    story: dict[str, str]
    options: dict[str, tuple[str, str, str, str]]
    key: tuple[float, float, float, float]

    def __post_init__(self) -> None:
        if not math.isclose(sum(self.key), TOTAL) or min(self.key) < 0:
            raise ValueError(f"key {self.key} does not add up to {TOTAL} points")


def scenarios(source: Source) -> Iterable[Scenario]:
    """Return the items of the settings: every scenario with every prompting method."""
    methods = prompting_methods(source.settings.text("prompting"))
    norm = norm_for(source)
    language = source.settings.text("language")
    plain = official_scenarios(source, language) if source.official else bundled_scenarios(language)
    for scenario in plain:
        known = with_norm(scenario, norm)
        for method in methods:
            name = known.scenario if method == "direct" else f"{known.scenario}@{method}"
            yield msgspec.structs.replace(known, id=name, prompting=method)


def prompting_methods(prompting: str) -> tuple[str, ...]:
    """Return the prompting methods of a setting."""
    return METHODS if prompting in SEVERAL else (prompting,)


def norm_for(source: Source) -> Norm | None:
    """Return the human norm to use: the user's file, else the official one for official items, else none."""
    given = source.settings.text("norm")
    if given:
        return read_norm(Path(given))
    return read_official_norm(source) if source.official else None


def with_norm(scenario: Scenario, norm: Norm | None) -> Scenario:
    """Return the scenario with the norm's standard scores instead of its own; one that it lacks cannot be chosen."""
    if norm is None or scenario.scenario not in norm.standards:
        return scenario
    standard = norm.standards[scenario.scenario]
    if len(standard) != len(scenario.options):
        raise DataError(f"norm '{norm.name}' has {len(standard)} standard scores for '{scenario.scenario}', not 4")
    return msgspec.structs.replace(scenario, standard=standard)


def official_scenarios(source: Source, language: str) -> Iterator[Scenario]:
    """Yield the authors' forty items in a language, with their standard scores."""
    standards = read_official_norm(source).standards
    for (story, options), name in zip(read_stories(source, language), IDS, strict=True):
        yield _scenario(name, language, story=story, options=options, standard=standards[name])


def bundled_scenarios(language: str, path: Path = BUNDLED) -> Iterator[Scenario]:
    """Yield our forty scenarios, or those of another file, in a language, with their authors' judgement as standard."""
    for line in read_items(in_language(path, language), Bundled):
        if language not in line.story or language not in line.options:
            raise DataError(f"scenario '{line.id}' has no story with options in '{language}'", path)
        yield _scenario(
            line.id,
            language,
            story=line.story[language],
            options=line.options[language],
            standard=line.key,
            context=line.context,
            direction=line.direction,
        )


def _scenario(name: str, language: str, **fields: Any) -> Scenario:
    return Scenario(id=name, cluster=name, scenario=name, language=language, prompting="direct", **fields)
