"""A passage does not name its ability; labels are shuffled inside their groups, and p-values count every layer."""

import numpy as np
import pytest

from sociometer.instruments.socialeval.inside.labels import (
    labelled,
    p_of_best,
    p_value,
    right_passage,
    shuffled_within,
    wrong_passage,
)
from sociometer.instruments.socialeval.items import ability_questions

LABELS = np.array([0, 0, 1, 1, 2, 0, 1, 2, 2, 2])
GROUPS = np.array([0, 0, 0, 0, 0, 1, 1, 1, 1, 1])


def test_the_first_row_is_true_and_every_group_keeps_its_labels():
    rows = shuffled_within(LABELS, GROUPS, 50, seed=1)
    assert (rows[0] == LABELS).all()
    for row in rows:
        for group in (0, 1):
            assert sorted(row[group == GROUPS]) == sorted(LABELS[group == GROUPS])
    assert len({tuple(row) for row in rows}) > 20


def test_the_same_seed_gives_the_same_shuffles():
    assert (shuffled_within(LABELS, GROUPS, 5, seed=1) == shuffled_within(LABELS, GROUPS, 5, seed=1)).all()
    assert (shuffled_within(LABELS, GROUPS, 5, seed=1) != shuffled_within(LABELS, GROUPS, 5, seed=2)).any()


def test_a_p_value_counts_the_observed_value_itself():
    assert p_value(3.0, np.array([1.0, 2.0, 3.0, 4.0])) == pytest.approx(3 / 5)
    assert p_value(9.0, np.zeros(19)) == pytest.approx(1 / 20)


def test_the_best_of_many_layers_is_rarely_significant_without_an_effect():
    """Of 200 studies without an effect, about one in twenty has a best layer with p ≤ .05; uncorrected, most would."""
    generator = np.random.default_rng(0)
    found = plain = 0
    for _ in range(200):
        values = generator.normal(size=(100, 20))
        corrected = p_of_best(values[0], values[1:])
        found += corrected.min() <= 0.05
        plain += min(p_value(values[0, layer], values[1:, layer]) for layer in range(20)) <= 0.05
    assert found <= 20
    assert plain > 80


def test_passages_do_not_name_the_ability_and_end_with_the_utterance(source):
    items, left_out = labelled(ability_questions(source()))
    assert left_out == 0
    for item in items:
        passage = right_passage(item.question)
        assert passage.said.strip() == item.question.options[0]
        assert item.question.question not in passage.before + passage.said
        assert wrong_passage(item.question).said.strip() in item.question.options[1:]
        assert wrong_passage(item.question).before == passage.before
