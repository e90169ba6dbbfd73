"""The authors' own documents: items in English and Chinese, and the norm; errors name the paragraph."""

import re
from pathlib import Path

from msgspec import Struct

from sociometer.core.errors import DataError
from sociometer.core.source import Source
from sociometer.instruments.seceu.docx import read_paragraphs
from sociometer.instruments.seceu.norm import Norm, published_norm

FILES = {"en": "seceu/SECEU_40items_English.docx", "zh": "seceu/SECEU_40items_Chinese.docx"}
NORM_FILE = "seceu/SECEU_norm.docx"
COUNT, OPTIONS = 40, 4
IDS = tuple(f"seceu-{number:02}" for number in range(1, COUNT + 1))
_ENGLISH_HEAD = re.compile(r"Item\s+(\d{1,9})\s*")
_CHINESE_HEAD = re.compile(r"第([一二三四五六七八九十]{1,3})题\s*")
_MARK = re.compile(r"\(\d\)\s*")
_DIGITS = {mark: value for value, mark in enumerate("零一二三四五六七八九")}


class Story(Struct, frozen=True):
    """One official item as written in the document."""

    number: int
    text: str
    options: tuple[str, ...]


def read_stories(source: Source, language: str) -> list[Story]:
    """Return the forty items in a language."""
    path = source.path(FILES[language])
    paragraphs = read_paragraphs(path)
    blocks = _blocks(paragraphs, _ENGLISH_HEAD if language == "en" else _CHINESE_HEAD)
    stories = [_story(path, number, at, lines, language) for number, at, lines in blocks]
    if [story.number for story in stories] != list(range(1, COUNT + 1)):
        found = ", ".join(str(story.number) for story in stories) or "none"
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


def _story(path: Path, number: int, at: int, lines: list[str], language: str) -> Story:
    if language == "en":
        text, options = _english(lines)
    else:
        text, options = _chinese(lines)
    if not text or len(options) != OPTIONS or not all(options):
        raise DataError(f"item {number} has no story with {OPTIONS} options: {len(options)} options found", path, at)
    return Story(number, text, options)


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
