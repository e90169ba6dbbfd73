"""Replies of number guessing as they are read."""

import pytest

from sociometer.instruments.egosocial.games.numbers import Guess, read_guess


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
    "reply", ['{"prediction": 0, "choice": 30}', '{"prediction": 45, "choice": 101}', "predict -3, choose 5"]
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
        "I predict 45, or perhaps I predict 40; my choice is 30.",
    ],
)
def test_a_missing_number_is_unreadable(reply):
    assert (read_guess(reply).move, read_guess(reply).problem) == (None, "unreadable")
