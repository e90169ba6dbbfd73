"""Hand strength: hand-worked hands, and thousands of random ones beside pokerkit."""

import itertools

import numpy as np
import pytest

from sociometer.instruments.egosocial.games import cards
from sociometer.instruments.egosocial.games.holdem.strength import strengths
from tests.instruments.egosocial.games.notation import card

CATEGORIES = (
    "high card",
    "one pair",
    "two pair",
    "three of a kind",
    "straight",
    "flush",
    "full house",
    "four of a kind",
    "straight flush",
)


def category_of(strength):
    return CATEGORIES[strength >> 20]


def strength(hand):
    return int(strengths(np.array([hand]))[0])


def held(text):
    return [card(word) for word in text.split()]


@pytest.mark.parametrize(
    ("hand", "category"),
    [
        ("SA SK SQ SJ ST H2 D3", "straight flush"),
        ("SA S2 S3 S4 S5 HK DK", "straight flush"),
        ("S9 H9 D9 C9 SA HA DA", "four of a kind"),
        ("S9 H9 D9 SA HA DA C2", "full house"),
        ("S9 H9 D9 SA HA C2 S3", "full house"),
        ("S2 S5 S9 SJ SK HK DK", "flush"),
        ("SA H2 D3 C4 S5 HK DK", "straight"),
        ("ST HJ DQ CK SA H2 D2", "straight"),
        ("SA H2 D3 CK SQ HK DK", "three of a kind"),
        ("SA HA D3 C3 SQ HQ D2", "two pair"),
        ("SA HA D3 C4 SQ H9 D7", "one pair"),
        ("SA HK D3 C4 SQ H9 D7", "high card"),
        ("SQ HK SA H2 D3 C7 S8", "high card"),
    ],
)
def test_the_category_of_a_hand(hand, category):
    assert category_of(strength(held(hand))) == category


def test_the_papers_board_makes_three_kings_for_its_player():
    """Appendix A.2: HK H2 with DA DK SK S4 H7 against CQ S9."""
    board = held("DA DK SK S4 H7")
    assert category_of(strength(held("HK H2") + board)) == "three of a kind"
    assert category_of(strength(held("CQ S9") + board)) == "one pair"


def test_the_fifth_card_decides_and_the_sixth_does_not():
    board = held("SA HA D9 C5 H4")
    assert strength(held("SK D2") + board) > strength(held("SQ DJ") + board)
    assert strength(held("SK D2") + board) == strength(held("HK D3") + board)


def random_hands(count, size=7):
    rng = np.random.default_rng(7)
    return np.array([rng.permutation(52)[:size] for _ in range(count)])


def test_absent_cards_do_not_count():
    hands = random_hands(500)
    present = np.arange(7) < 5
    assert strengths(hands, np.broadcast_to(present, hands.shape)).tolist() == strengths(hands[:, :5]).tolist()


def test_random_hands_rank_as_pokerkit_ranks_them():
    from pokerkit import StandardHighHand  # here, since it takes long to load

    ours = strengths(random_hands(1500)).tolist()
    hands = random_hands(1500).tolist()
    theirs = [
        StandardHighHand.from_game("".join(cards.name(c)[1] + cards.name(c)[0].lower() for c in h)) for h in hands
    ]
    order = sorted(range(len(hands)), key=ours.__getitem__)
    for low, high in itertools.pairwise(order):
        assert (ours[low] < ours[high]) == (theirs[low] < theirs[high])
        assert (ours[low] == ours[high]) == (theirs[low] == theirs[high])
