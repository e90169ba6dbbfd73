"""Replies of hold'em as they are read."""

import pytest

from sociometer.instruments.egosocial.games.holdem.match import read_action

LEGAL = ("call", "raise", "fold")


@pytest.mark.parametrize(
    "reply", ['{"action": "call"}', '{"action": "CALL"}', "I would call.", "**call**", "Raise or fold? Action: call"]
)
def test_the_one_move_that_is_named_is_read(reply):
    assert read_action(reply, LEGAL).move == "call"


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        ('{"action": "I cannot raise"}', "illegal"),
        ('{"action": "check/call"}', "illegal"),
        ('{"action": "check"}', "illegal"),
        ('{"action": "steal the pot"}', "illegal"),
        ("I won't fold.", "unreadable"),
        ("Whatever.", "unreadable"),
    ],
)
def test_a_denied_move_two_moves_or_none_are_asked_for_again(reply, problem):
    assert (read_action(reply, LEGAL).move, read_action(reply, LEGAL).problem) == (None, problem)
