"""Limit hold'em: the betting worked by hand, and thousands of random hands beside independent libraries."""

import random

import pytest

from sociometer.instruments.egosocial.games import cards
from sociometer.instruments.egosocial.games.game import IllegalMove
from sociometer.instruments.egosocial.games.holdem.rules import HoldemDeal, HoldemState, new_deal


def state(button=0, seed=1):
    return HoldemState(new_deal(random.Random(seed), button))


def test_the_button_posts_the_small_blind_and_acts_first():
    hand = state(button=1)
    assert hand.invested == [2, 1]
    assert hand.actor == 1
    assert hand.legal() == ("call", "raise", "fold")


def test_the_first_steps_of_the_papers_example():
    """Appendix A.2: [1, 2] before the flop, player 0 raises and player 1 calls to [4, 4]."""
    hand = state()
    assert hand.invested == [1, 2]
    hand.apply("raise")
    hand.apply("call")
    assert hand.invested == [4, 4]
    assert len(hand.board) == 3
    assert set(hand.legal()) == {"raise", "fold", "check"}


def test_after_the_flop_the_other_player_acts_first():
    hand = state(button=0)
    for action in ("call", "check"):
        hand.apply(action)
    assert hand.actor == 1


def test_the_big_blind_may_still_raise_after_a_call():
    hand = state()
    hand.apply("call")
    assert hand.street == 0
    assert "raise" in hand.legal()


def test_there_are_at_most_four_raises_a_street_and_the_big_bets_cost_double():
    hand = state()
    for _ in range(4):
        hand.apply("raise")
    assert hand.legal() == ("call", "fold")
    assert hand.invested == [8, 10]
    hand.apply("call")
    for action in ("check", "check", "raise", "call"):
        hand.apply(action)
    assert hand.invested == [14, 14]


def test_the_largest_pot_a_hand_can_have():
    hand = state()
    while not hand.over:
        hand.apply("raise" if "raise" in hand.legal() else "call")
    assert hand.invested == [50, 50]


def test_an_illegal_move_is_refused_naming_the_legal_ones():
    with pytest.raises(IllegalMove, match="legal moves are call, raise, fold"):
        state().apply("check")


def test_payoffs_exist_only_at_the_end():
    with pytest.raises(IllegalMove, match="still on the preflop"):
        state().payoffs()


def test_folding_loses_what_was_put_in():
    hand = state()
    hand.apply("raise")
    hand.apply("fold")
    assert hand.payoffs() == (2, -2)


def random_play(seed, fold=0.15):
    rng = random.Random(seed)
    hand = HoldemState(new_deal(rng, seed % 2))
    while not hand.over:
        legal = [word for word in hand.legal() if word != "fold" or (hand.to_call and rng.random() < fold)]
        yield hand, rng.choice(legal)


def finish(seed):
    hand = None
    for hand, action in random_play(seed):
        hand.apply(action)
    return hand


def test_no_chip_is_made_or_lost_and_nobody_loses_more_than_was_put_in():
    for seed in range(500):
        hand = finish(seed)
        first, second = hand.payoffs()
        assert first + second == 0
        assert abs(first) <= max(hand.invested)


def pokerkit_state(deal):
    from pokerkit import Automation, FixedLimitTexasHoldem, Mode  # here, since it takes long to load

    automations = [
        Automation.ANTE_POSTING,
        Automation.BET_COLLECTION,
        Automation.BLIND_OR_STRADDLE_POSTING,
        Automation.CARD_BURNING,
        Automation.HOLE_CARDS_SHOWING_OR_MUCKING,
        Automation.HAND_KILLING,
        Automation.CHIPS_PUSHING,
        Automation.CHIPS_PULLING,
    ]
    table = FixedLimitTexasHoldem.create_state(tuple(automations), True, 0, (1, 2), 2, 4, 1000, 2, mode=Mode.CASH_GAME)
    # pokerkit seats the button last when two play
    for player in (1 - deal.button, deal.button):
        table.deal_hole("".join(spell(card) for card in deal.hole[player]))
    return table


def spell(card):
    name = cards.name(card)
    return name[1] + name[0].lower()


@pytest.mark.filterwarnings("ignore:.*:UserWarning")
def test_a_hundred_random_hands_are_bet_and_paid_as_pokerkit_bets_and_pays_them():
    for seed in range(100):
        table, dealt = None, 0
        for hand, action in random_play(seed):
            if table is None:
                table = pokerkit_state(hand.deal)
            if len(hand.board) > dealt:
                table.deal_board("".join(spell(card) for card in hand.board[dealt:]))
                dealt = len(hand.board)
            seat = 1 - hand.deal.button if table.actor_index == 0 else hand.deal.button
            assert seat == hand.actor
            # pokerkit counts the big blind as the first bet before the flop; RLCard, as the paper used it, does not
            if not (hand.street == 0 and hand.raises == 3):
                assert table.can_complete_bet_or_raise_to() == ("raise" in hand.legal())
            elif action == "raise":
                action = "call"
            {"raise": table.complete_bet_or_raise_to, "fold": table.fold}.get(action, table.check_or_call)()
            hand.apply(action)
        won = table.payoffs
        assert (won[1 - hand.deal.button], won[hand.deal.button]) in ((won[0], won[1]), (won[1], won[0]))
        ours = hand.payoffs()
        assert (ours[1 - hand.deal.button], ours[hand.deal.button]) == tuple(won)


def rlcard_game(deal):
    from rlcard.games.base import Card
    from rlcard.games.limitholdem import Game

    game = Game()
    game.init_game()
    for seat, player in enumerate(game.players):
        player.hand = [Card(*cards.name(card)) for card in deal.hole[seat]]
        player.in_chips = 1 if seat == deal.button else 2
    game.round.raised = [player.in_chips for player in game.players]
    game.game_pointer = game.round.game_pointer = deal.button
    # RLCard's dealer pops from the end of its deck
    game.dealer.deck = [Card(*cards.name(card)) for card in reversed(deal.board)]
    return game


@pytest.mark.slow
def test_random_hands_have_the_same_legal_moves_chips_and_payoffs_as_in_rlcard():
    """RLCard lets whoever is next begin a street; hands are compared as long as that is the player our rules name."""
    pytest.importorskip("rlcard", reason="RLCard is not installed; make test-all")
    decisions = showdowns = 0
    for seed in range(3000):
        game = None
        for hand, action in random_play(seed, fold=0.3):
            game = game or rlcard_game(hand.deal)
            if game.game_pointer != hand.actor:
                break
            assert set(game.get_legal_actions()) == set(hand.legal())
            assert [player.in_chips for player in game.players] == hand.invested
            game.step(action)
            hand.apply(action)
            decisions += 1
            if hand.over:
                assert game.is_over()
                # RLCard counts in big blinds
                assert tuple(round(2 * won) for won in game.get_payoffs()) == hand.payoffs()
                showdowns += hand.folded < 0
    assert decisions > 5000
    assert showdowns > 50


OPEN_SPIEL = (
    "universal_poker(betting=limit,numPlayers=2,numRounds=4,blind=1 2,firstPlayer=1 2 2 2,raiseSize=2 2 4 4,"
    "maxRaises=4 4 4 4,numSuits=4,numRanks=13,numHoleCards=2,numBoardCards=0 3 1 1)"
)


@pytest.mark.slow
def test_six_thousand_random_hands_have_the_same_states_and_payoffs_as_in_openspiel():
    pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed; make test-all")
    game = pyspiel.load_game(OPEN_SPIEL)
    codes = {"fold": 0, "call": 1, "check": 1, "raise": 2}
    for seed in range(0, 12000, 2):
        theirs, dealt = None, 0
        for hand, action in random_play(seed):
            deal = hand.deal
            if theirs is None:
                theirs = game.new_initial_state()
                for card in (*deal.hole[0], *deal.hole[1]):
                    theirs.apply_action(openspiel_card(card))
            while theirs.is_chance_node():
                theirs.apply_action(openspiel_card(deal.board[dealt]))
                dealt += 1
            assert theirs.current_player() == hand.actor
            assert {code for code in theirs.legal_actions() if code} == {
                codes[word] for word in hand.legal() if word != "fold"
            }
            theirs.apply_action(codes[action])
            hand.apply(action)
        while theirs.is_chance_node():
            theirs.apply_action(openspiel_card(deal.board[dealt]))
            dealt += 1
        assert theirs.is_terminal()
        assert tuple(theirs.returns()) == hand.payoffs()


def openspiel_card(card):
    return cards.rank_of(card) * 4 + (card & 3)


def test_a_deal_has_nine_different_cards():
    deal = new_deal(random.Random(3), 0)
    assert len({*deal.hole[0], *deal.hole[1], *deal.board}) == 9
    assert isinstance(deal, HoldemDeal)
