"""The simulator of many hands follows the rules of one hand, move for move."""

import random

import numpy as np
import pytest

from sociometer.instruments.egosocial.games.holdem.rules import CODES, HoldemState, new_deal
from tools.holdem_characters import Hands, choose, play_out, random_policy, tally


def test_a_thousand_hands_move_exactly_as_single_hands_do():
    rng = random.Random(5)
    states = [HoldemState(new_deal(rng, index % 2)) for index in range(1000)]
    table = Hands.of([state.deal for state in states])
    while len(rows := table.open_rows()):
        assert rows.tolist() == [index for index, state in enumerate(states) if not state.over]
        actions = []
        for row in rows:
            state = states[row]
            assert table.actor[row] == state.actor
            assert table.invested[row].tolist() == state.invested
            assert table.may_raise(np.array([row]))[0] == ("raise" in state.legal())
            assert table.board_size(np.array([row]))[0] == len(state.board)
            word = rng.choice([word for word in state.legal() if word != "fold" or rng.random() < 0.3])
            state.apply(word)
            actions.append(CODES[word])
        table.step(rows, np.array(actions))
    assert table.payoffs().tolist() == [state.payoffs()[0] for state in states]


def test_dealt_cards_are_different_and_evenly_spread():
    table = Hands.shuffled(np.random.default_rng(1), 20_000)
    nine = np.concatenate([table.hole.reshape(-1, 4), table.board], axis=1)
    assert all(len(set(row)) == 9 for row in nine[:2000].tolist())
    counts = np.bincount(nine.ravel(), minlength=52)
    expected = nine.size / 52
    # each card is in a hand with chance 9/52, so its count has about this standard deviation
    assert np.abs(counts - expected).max() < 5 * np.sqrt(expected * (1 - 9 / 52))


def test_random_players_are_even_and_take_every_action():
    first, second = tally([random_policy, random_policy], 20_000, seed=3)
    assert first.chips_per_hand == -second.chips_per_hand
    assert abs(first.chips_per_hand) < 4 * first.standard_error
    assert first.raise_rate + first.call_rate + first.check_rate + first.fold_rate == pytest.approx(1)
    assert min(first.raise_rate, first.call_rate, first.check_rate, first.fold_rate) > 0.05


def test_an_action_without_probability_is_never_chosen():
    chances = np.tile([0.4, 0.6, 0.0], (5000, 1))
    assert set(choose(chances, np.random.default_rng(0)).tolist()) == {0, 1}


def test_the_same_seed_gives_the_same_hands():
    tables = [Hands.shuffled(np.random.default_rng(9), 50) for _ in range(2)]
    for table in tables:
        play_out(table, [random_policy, random_policy], np.random.default_rng(9))
    assert tables[0].payoffs().tolist() == tables[1].payoffs().tolist()
