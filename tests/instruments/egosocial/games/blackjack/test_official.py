"""The official file's layout: system and user messages that name the cards (the lines here are ours)."""

import json

import pytest

from sociometer.core.errors import DataError
from sociometer.instruments.egosocial.games import cards
from sociometer.instruments.egosocial.games.blackjack.official import read


def lines(tmp_path, *users, system="You are playing blackjack."):
    path = tmp_path / "blackjack.jsonl"
    path.write_text("\n".join(json.dumps({"system": system, "user": user}) for user in users), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("user", "player", "shown"),
    [
        ("The dealer's face-up card is HK. Your cards are ['S7', 'D8'].", ["S7", "D8"], "HK"),
        (
            "Dealer's open card: 10 of hearts.\nYour hand: ace of spades, 6 of clubs.\nState your beliefs.",
            ["SA", "C6"],
            "HT",
        ),
        ("Your cards are Spade K and Heart 3. The dealer shows a Diamond 9 as open card.", ["SK", "H3"], "D9"),
        ("Your hand is [H10, C2, D5]; the dealer's visible card is SA.", ["HT", "C2", "D5"], "SA"),
    ],
)
def test_cards_are_found_in_the_words(tmp_path, user, player, shown):
    (line,) = read(lines(tmp_path, user))
    assert cards.names(line.player) == player
    assert cards.name(line.open_card) == shown
    assert line.user == user


def test_cards_without_suits_get_different_ones(tmp_path):
    (line,) = read(lines(tmp_path, "The dealer's face-up card is 8. Your cards are 8 and 8."))
    assert len({*line.player, line.open_card}) == 3
    assert {cards.rank_of(card) for card in (*line.player, line.open_card)} == {6}


@pytest.mark.parametrize(
    ("user", "reason"),
    [
        ("Good luck!", "no cards found"),
        ("The dealer's face-up card is HK. Your cards are hidden.", "found 1 open and 0 own"),
        ("The dealer's face-up card is HK. Your cards are HK and HK.", "more often than a deck has it"),
    ],
)
def test_a_line_without_readable_cards_is_refused_naming_file_and_line(tmp_path, user, reason):
    path = lines(tmp_path, "The dealer's face-up card is HK. Your cards are S7 and D8.", user)
    with pytest.raises(DataError, match=rf"blackjack.jsonl:2: .*{reason}"):
        list(read(path))


def test_a_line_that_is_no_object_is_refused(tmp_path):
    path = tmp_path / "blackjack.jsonl"
    path.write_text("[1, 2]\n", encoding="utf-8")
    with pytest.raises(DataError, match="'system' and 'user'"):
        list(read(path))
