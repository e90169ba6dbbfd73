"""Statements in the words of real models."""

import json

from sociometer.instruments.egosocial.games.blackjack import MOVES, read_statement


def test_the_authors_own_format_is_read(official):
    """The released games: “Self-Belief is {…}. External-Belief is {…}. My action is {…}.”"""
    path = official / "egosocialarena" / "sample_game_process.json"
    games = json.loads(path.read_text(encoding="utf-8"))["games"]
    read = [read_statement(turn["assistant"]) for game in games for turn in game["dialogue"]]
    assert len(read) == 98
    assert [one for one in read if not (one.self_belief and one.external_belief and one.action in MOVES)] == []
