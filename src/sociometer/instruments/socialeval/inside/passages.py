"""Ability questions -> passages to look at inside a model, and questions whose options are compared by probability."""

from __future__ import annotations

import hashlib
import string
from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec import Struct

from sociometer.core.conversation import Choice
from sociometer.core.errors import DataError
from sociometer.core.inner_model import AnswerMode, OptionQuestion, Passage
from sociometer.core.source import Source
from sociometer.instruments.socialeval.abilities import ABILITIES, DIMENSIONS, dimension_of
from sociometer.instruments.socialeval.items import UNMAPPED, AbilityQuestion
from sociometer.instruments.socialeval.play import describe
from sociometer.reading import render_options

_NARRATOR = {"en": "(narration)", "zh": "（旁白）"}


class Labelled(Struct, frozen=True):
    """A question and its main ability."""

    question: AbilityQuestion
    ability: str

    @property
    def dimension(self) -> str:
        """The dimension of its ability."""
        return dimension_of(self.ability)


def labelled(questions: Iterable[AbilityQuestion]) -> tuple[list[Labelled], int]:
    """The questions whose abilities are all of one dimension, by the first ability; and how many were left out."""
    found, left_out = list[Labelled](), 0
    for question in questions:
        named = [ability for ability in question.abilities if ability != UNMAPPED]
        if len({dimension_of(ability) for ability in named}) == 1:
            found.append(Labelled(question, named[0]))
        else:
            left_out += 1
    return found, left_out


def ability_number(item: Labelled) -> int:
    """The place of its ability among the 32."""
    return ABILITIES.index(item.ability)


def dimension_number(item: Labelled) -> int:
    """The place of its dimension among the five."""
    return list(DIMENSIONS).index(item.dimension)


def right_passage(question: AbilityQuestion) -> Passage:
    """The story and the utterance that shows the ability. Neither names the ability."""
    return _said(question, question.options[0])


def wrong_passage(question: AbilityQuestion) -> Passage:
    """The same story with one of the wrong utterances, drawn by the question's name."""
    wrong = question.options[1:]
    drawn = int.from_bytes(hashlib.blake2b(question.id.encode(), digest_size=8).digest()) % len(wrong)
    return _said(question, wrong[drawn])


def last_line(question: AbilityQuestion) -> Passage:
    """The last line of the story itself, with the lines before it."""
    *before, last = _lines(question) or [""]
    return Passage("\n".join(before), f"\n{last}" if before else last)


def file_passages(path: Path) -> list[Passage]:
    """The paragraphs of a text file, each by itself."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot be read as UTF-8 text ({error})", path) from None
    paragraphs = [" ".join(part.split()) for part in text.split("\n\n")]
    if not any(paragraphs):
        raise DataError("the reference text is empty; give a file with some paragraphs", path)
    return [Passage("", part) for part in paragraphs if part]


def _lines(question: AbilityQuestion) -> list[str]:
    scene = [question.scene] if question.scene else []
    return scene + [f"{line.speaker or _NARRATOR[question.language]}: {line.text}" for line in question.lines]


def _said(question: AbilityQuestion, text: str) -> Passage:
    return Passage("\n".join([*_lines(question), f"{question.people[0].name}:"]), f" {text}")


def option_question(question: AbilityQuestion, source: Source, mode: AnswerMode) -> OptionQuestion:
    """The ability question as the task asks it, for its letters; or with each option's text as what follows.

    The right option is first in the scores. Letters are shown in an order drawn by the question's name.
    """
    language, me = question.language, question.people[0].name
    situation = describe(source, "onlooker", language, question.people, question.scene, question.lines)
    if mode == "texts":
        prompt = f"{situation}\n\n{question.question}\n{me}:"
        return OptionQuestion(prompt, tuple(f" {text}" for text in question.options), chat=False)
    order = _order(question.id, len(question.options))
    letters = tuple(string.ascii_uppercase[: len(order)])
    shown = render_options(Choice(tuple(question.options[place] for place in order), letters))
    how = source.prompts.render("answer-letter", language, letters="/".join(letters))
    prompt = source.prompts.render(
        "ability", language, situation=situation, me=me, question=question.question, options=shown, how=how
    )
    return OptionQuestion(prompt, tuple(letters[order.index(place)] for place in range(len(order))))


def _order(name: str, count: int) -> list[int]:
    return sorted(range(count), key=lambda place: hashlib.blake2b(f"{name}/{place}".encode(), digest_size=8).digest())


def halves(clusters: Sequence[str]) -> list[int]:
    """0 or 1 for each item, by its tree: the trees are dealt out by size, so that both halves have as many items."""
    sizes = {cluster: clusters.count(cluster) for cluster in dict.fromkeys(clusters)}
    filled, half = [0, 0], dict[str, int]()
    for cluster in sorted(sizes, key=lambda cluster: (-sizes[cluster], cluster)):
        half[cluster] = filled.index(min(filled))
        filled[half[cluster]] += sizes[cluster]
    return [half[cluster] for cluster in clusters]
