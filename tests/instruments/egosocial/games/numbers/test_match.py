"""The matches of number guessing, and replies as they are read."""

from collections import Counter
from pathlib import Path

import pytest

from rehearsal import Rehearsal
from sociometer.instruments import load
from sociometer.instruments.egosocial.games.numbers.match import Guess, read_guess
from sociometer.instruments.egosocial.games.numbers.opponents import KINDS


@pytest.mark.parametrize(
    "reply",
    [
        '{"prediction": 45, "choice": 30}',
        '{"prediction": "45", "choice": "30"}',
        'I think:\n```json\n{"prediction": 45.0, "choice": 30}\n```',
        "Prediction: 45\nChoice: 30",
        "I predict 45 and choose 30.",
        "Since the opponent chose 50 in round 1, my prediction for round 2 is 45 and my choice is 30.",
        "In round 3, I predict the opponent will choose 45 again; my choice is 30.",
    ],
)
def test_both_numbers_are_read(reply):
    assert read_guess(reply).move == Guess(45, 30)


@pytest.mark.parametrize(
    "reply",
    [
        '{"prediction": 0, "choice": 30}',
        '{"prediction": 45, "choice": 101}',
        "predict −3, choose 5",
        "predict -3, choose 5",
    ],
)
def test_a_number_out_of_range_is_illegal(reply):
    assert (read_guess(reply).move, read_guess(reply).problem) == (None, "illegal")


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "45",
        "no",
        '{"prediction": 45}',
        '{"prediction": "many", "choice": 2}',
        "9" * 400,
        "null",
        "I predict 45; my choice is 2/3 of 45.",
        "I predict 45, or perhaps I predict 40; my choice is 30.",
    ],
)
def test_a_missing_number_is_unreadable(reply):
    assert (read_guess(reply).move, read_guess(reply).problem) == (None, "unreadable")


def test_by_default_three_opponents_of_each_kind_are_drawn_and_the_seed_decides_which(baseline, rehearsal):
    first, again, other = (
        list(show.instrument.task("numbers").items(show.source()))
        for show in (rehearsal(baseline("oracle"), seed=seed) for seed in (1, 1, 2))
    )
    assert first == again
    assert [item.drawn for item in first] != [item.drawn for item in other]
    assert Counter(item.opponent for item in first) == dict.fromkeys(KINDS, 3)
    assert len({item.cluster for item in first}) == len(first)


def test_official_matches_are_the_papers_three_opponents(script):
    show = Rehearsal(load("egosocial"), {"subject": script("?")}, data=Path())
    items = list(show.instrument.task("numbers").items(show.source()))
    assert [item.id for item in items] == ["numbers-level-1-10", "numbers-level-2-10", "numbers-level-3-10"]
    assert all(item.drawn is None for item in items)
