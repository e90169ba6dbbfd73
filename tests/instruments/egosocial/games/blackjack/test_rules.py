"""Blackjack: totals, the dealer, results, and thousands of hands beside RLCard."""

import random

import pytest

from sociometer.instruments.egosocial.games import cards
from sociometer.instruments.egosocial.games.blackjack.rules import BlackjackDeal, BlackjackState, new_deal, total_of
from sociometer.instruments.egosocial.games.game import IllegalMove
from tests.instruments.egosocial.games.notation import card


def held(text):
    return tuple(card(word) for word in text.split())


@pytest.mark.parametrize(
    ("hand", "points", "soft"),
    [
        ("H7 S8", 15, False),
        ("HA S6", 17, True),
        ("HA S6 DK", 17, False),
        ("HA SA", 12, True),
        ("HA SA D9", 21, True),
        ("HA SA D9 C5", 16, False),
        ("HK SQ D2", 22, False),
    ],
)
def test_an_ace_counts_eleven_until_that_would_bust(hand, points, soft):
    total = total_of(held(hand))
    assert (total.points, total.soft) == (points, soft)


def play(player, dealer, pile, moves):
    state = BlackjackState(BlackjackDeal(held(player), held(dealer), held(pile)))
    for move in moves:
        state.apply(move)
    return state


def test_the_dealer_draws_below_seventeen_and_stands_on_every_seventeen():
    assert play("HK SQ", "D9 D7", "C5 C2", ["stand"]).dealer == list(held("D9 D7 C5"))
    assert play("HK SQ", "DA D6", "C5 C2", ["stand"]).dealer == list(held("DA D6"))


@pytest.mark.parametrize(
    ("player", "dealer", "pile", "moves", "result"),
    [
        ("HK SQ", "D9 D7", "C5", ["stand"], -1),
        ("HK SQ", "D9 D7", "CK", ["stand"], 1),
        ("HK SQ", "DK D9", "C5", ["stand"], 1),
        ("HK SQ", "DK DJ", "C5", ["stand"], 0),
        ("HK S6", "D9 D7", "CK CK", ["hit"], -1),
        ("HK S6", "D9 D9", "C5 CK", ["hit", "stand"], 1),
    ],
)
def test_who_wins(player, dealer, pile, moves, result):
    assert play(player, dealer, pile, moves).result() == result


def test_after_the_end_there_is_no_legal_move():
    state = play("HK SQ", "DK DJ", "C5", ["stand"])
    assert state.legal() == ()
    with pytest.raises(IllegalMove, match="legal moves are none"):
        state.apply("hit")


def test_a_result_exists_only_at_the_end():
    with pytest.raises(IllegalMove, match="not over"):
        BlackjackState(new_deal(random.Random(1))).result()


def test_a_deal_can_be_completed_around_given_cards():
    deal = new_deal(random.Random(2), held("HK S6"), card("D9"))
    everything = (*deal.player, *deal.dealer, *deal.pile)
    assert deal.player == held("HK S6")
    assert deal.open_card == card("D9")
    assert len(set(everything)) == len(everything)


def test_the_pile_lasts_for_the_longest_hands():
    for seed in range(300):
        state = BlackjackState(new_deal(random.Random(seed)))
        while not state.over and total_of(state.player).points < 21:
            state.apply("hit")
        if not state.over:
            state.apply("stand")
        assert state.result() in (-1, 0, 1)


@pytest.mark.slow
def test_three_thousand_hands_score_and_end_as_in_rlcard():
    judger_module = pytest.importorskip(
        "rlcard.games.blackjack.judger", reason="RLCard is not installed; make test-all"
    )
    from types import SimpleNamespace

    from rlcard.games.base import Card

    judger = judger_module.BlackjackJudger(None)
    rng = random.Random(4)
    for _ in range(3000):
        state = BlackjackState(new_deal(rng))
        while not state.over:
            state.apply(rng.choice(state.legal()))
        totals = [
            judger.judge_score([Card(*cards.name(card)) for card in hand]) for hand in (state.player, state.dealer)
        ]
        assert totals == [total_of(state.player).points, total_of(state.dealer).points]
        sides = [SimpleNamespace(status="bust" if total > 21 else "alive", score=total, hand=None) for total in totals]
        game = SimpleNamespace(players=[sides[0]], dealer=sides[1], winner={})
        judger.judge_game(game, 0)
        assert {2: 1, 1: 0, -1: -1}[game.winner["player0"]] == state.result()
