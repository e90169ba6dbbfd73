"""The ladder: levels that grow, keys that two oracles agree on, and a span that settles where the subject is."""

import random
from collections import Counter
from itertools import pairwise

import pytest

from sociometer.instruments.egosocial.ladder import HIGHEST_LEVEL, Step, _Acting, climbed, next_level, rung, span
from sociometer.instruments.egosocial.stories.mind import Oracle
from sociometer.instruments.egosocial.stories.telling import texts
from tests.instruments.egosocial.stories.second_oracle import second_answer


def test_every_level_is_harder_than_the_one_before():
    for lower, higher in pairwise(rung(level) for level in range(1, HIGHEST_LEVEL + 1)):
        assert higher.steps > lower.steps
        assert higher.beliefs >= lower.beliefs
    with pytest.raises(ValueError, match="level 0"):
        rung(0)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_two_oracles_agree_on_the_ladder(language):
    """`python bench/two_oracles.py --ladder` compares 1,000 questions."""
    for level in (1, 2, 3, 4, 6, 10):
        for number in range(4):
            scene = climbed(11, level, number, language)
            told = scene.tellings[0]
            assert second_answer(told.story, told.question, language) == told.options[told.answer], scene.id


def test_the_first_person_differs_only_in_the_person():
    third, first = climbed(3, 4, 1, "en").tellings
    assert third.options == first.options
    assert third.answer == first.answer
    assert " you " in f" {first.story.lower()} "
    assert " you " not in f" {third.story.lower()} "


@pytest.mark.parametrize("level", [1, 2, 6])
def test_no_option_and_no_place_of_it_wins(level):
    scenes = [climbed(21, level, number, "en").tellings[0] for number in range(60)]
    assert max(Counter(told.answer for told in scenes).values()) < 20
    assert max(Counter(told.options[told.answer] for told in scenes).values()) < 20
    assert len({told.story for told in scenes}) == 60


def test_what_people_say_follows_from_what_the_oracle_finds_that_they_believe():
    acting = _Acting(random.Random(4), rung(7), texts("en").words)
    for _ in range(60):
        acting.step()
    oracle = Oracle(acting.story())
    for name in acting.people:
        assert [acting.believed(name, thing) for thing in acting.things] == [
            oracle.belief((name,), thing) for thing in acting.things
        ]


def climb(right, questions=12):
    past = []
    for _ in range(questions):
        level = next_level(past)
        past.append(Step(level, right(level)))
    return past


def test_the_span_is_where_right_answers_end():
    assert span(climb(lambda level: level <= 2)) == pytest.approx(2.5, abs=0.4)
    assert span(climb(lambda level: level <= 16)) == pytest.approx(16.5, abs=0.4)
    assert span(climb(lambda level: False)) < 1
    rng = random.Random(2)
    fair = [span(climb(lambda level: rng.random() < (0.95 if level <= 8 else 1 / (level + 2)))) for _ in range(100)]
    assert sum(fair) / len(fair) == pytest.approx(8.5, abs=0.4)


def test_a_strong_subject_is_near_its_span_after_four_questions():
    levels = [step.level for step in climb(lambda level: level <= 14)]
    assert levels[0] == 4
    assert all(abs(level - 14.5) < 2 for level in levels[3:])


def test_a_subject_that_is_always_right_ends_at_the_top():
    assert climb(lambda level: True)[-1].level == HIGHEST_LEVEL
