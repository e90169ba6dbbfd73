"""The energy score is lowest for people's own distribution; an even spread pays for what it does not say."""

import numpy as np
import pytest

from sociometer.instruments.seceu.method_result import energy_score, person_score

EVEN = (2.5, 2.5, 2.5, 2.5)


@pytest.fixture
def people():
    return 10 * np.random.default_rng(1).dirichlet((4, 2, 1, 1), size=400)


def test_a_hand_worked_example():
    people = [(10.0, 0.0), (0.0, 10.0)]
    apart = np.hypot(10, 10)
    assert energy_score([(10.0, 0.0)], people) == pytest.approx(apart / 2)
    assert energy_score([(5.0, 5.0)], people) == pytest.approx(apart / 2)
    assert energy_score(people, people) == pytest.approx(apart / 2 - apart / 2)
    assert person_score(people) == pytest.approx(apart)


def test_counts_are_the_same_as_repeated_rows():
    rows, counts = [(7.0, 1, 1, 1), (1.0, 7, 1, 1), EVEN], [3, 2, 5]
    repeated = [row for row, count in zip(rows, counts, strict=True) for _ in range(count)]
    assert energy_score([EVEN], rows, counts) == pytest.approx(energy_score([EVEN], repeated))
    assert person_score(rows, counts) == pytest.approx(person_score(repeated))


def test_answers_drawn_like_people_beat_every_single_answer(people):
    rng = np.random.default_rng(2)
    like_people = energy_score(10 * rng.dirichlet((4, 2, 1, 1), size=300), people)
    mean, even = (energy_score([answer], people) for answer in (people.mean(axis=0), EVEN))
    assert like_people == pytest.approx(person_score(people) / 2, rel=0.03)
    assert like_people < mean * 0.8 < mean < even


def test_repeats_of_one_hedge_earn_nothing(people):
    assert energy_score([EVEN] * 9, people) == pytest.approx(energy_score([EVEN], people))


def test_few_answers_are_not_biased(people):
    rng = np.random.default_rng(3)
    scores = [energy_score(10 * rng.dirichlet((4, 2, 1, 1), size=3), people) for _ in range(200)]
    assert np.mean(scores) == pytest.approx(person_score(people) / 2, rel=0.03)


def test_wrong_input_is_named():
    with pytest.raises(ValueError, match="answers have 3 numbers each, people's 4"):
        energy_score([(1, 2, 3)], [EVEN, EVEN])
    with pytest.raises(ValueError, match="at least two people"):
        energy_score([EVEN], [EVEN])
