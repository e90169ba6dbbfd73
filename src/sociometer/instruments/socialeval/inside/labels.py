"""The questions with their labels, the passages that a model reads, and labels shuffled for p-values."""

import hashlib
from collections.abc import Iterable

import numpy as np
from msgspec import Struct

from sociometer.core.inner_model import Passage
from sociometer.core.language import texts_in
from sociometer.instruments.socialeval.abilities import dimension_of
from sociometer.instruments.socialeval.items import UNMAPPED, WORDS, AbilityQuestion
from sociometer.statistics.intervals import Floats, Integers


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


def right_passage(question: AbilityQuestion) -> Passage:
    """The story and the utterance that shows the ability. Neither names the ability."""
    return _said(question, question.options[0])


def wrong_passage(question: AbilityQuestion) -> Passage:
    """The same story with one of the wrong utterances, drawn by the question's name."""
    wrong = question.options[1:]
    drawn = int.from_bytes(hashlib.blake2b(question.id.encode(), digest_size=8).digest()) % len(wrong)
    return _said(question, wrong[drawn])


def _lines(question: AbilityQuestion) -> list[str]:
    scene = [question.scene] if question.scene else []
    narrator = texts_in(WORDS, question.language)["narrator"]
    return scene + [f"{line.speaker or narrator}: {line.text}" for line in question.lines]


def _said(question: AbilityQuestion, text: str) -> Passage:
    return Passage("\n".join([*_lines(question), f"{question.people[0].name}:"]), f" {text}")


def shuffled_within(labels: Integers, groups: Integers, draws: int, seed: int) -> Integers:
    """The labels as given in the first row, then `draws` rows in which they are shuffled inside each group.

    A group (a tree) keeps its own number of each label, so that what a tree has in common cannot look like an effect
    of the labels.
    """
    generator = np.random.default_rng(seed)
    result = np.tile(labels, (draws + 1, 1))
    for group in np.unique(groups):
        places = np.flatnonzero(groups == group)
        if places.size > 1:
            result[1:, places] = generator.permuted(result[1:, places], axis=1)
    return result


def p_value(observed: float, null: Floats) -> float:
    """The share of values at least as large as the observed one, which is counted among them: (1 + b) / (1 + m)."""
    return float((1 + np.count_nonzero(null >= observed - 1e-12)) / (1 + null.size))


def p_of_best(observed: Floats, null: Floats) -> Floats:
    """p-values of several statistics, each compared with the largest of every shuffle (Westfall and Young 1993).

    `observed` has one value per statistic (a layer), `null` is shuffles × statistics, shuffled together. The
    probability of any false finding among all statistics is then at most the level.
    """
    largest = null.max(axis=1)
    return np.array([p_value(float(value), largest) for value in observed])
