"""The ideal observer: right when evidence is plain, even when there is none."""

import random

import numpy as np
import pytest

from sociometer.instruments.egosocial.games.holdem.match import PlayedHand, actions_of
from sociometer.instruments.egosocial.games.holdem.net import STYLES, PokerTable, load
from sociometer.instruments.egosocial.games.holdem.rules import CODES, HoldemMove, HoldemState, new_deal
from sociometer.instruments.egosocial.games.holdem.scoring import best_guess, naive_guess, posterior

ROW = np.array([0])


def play(style, hands, seed, training_seed=0):
    """Hands of a player who only calls or checks, against the trained opponent of a style."""
    rng = random.Random(seed)
    played = []
    for number in range(hands):
        state = HoldemState(new_deal(rng, number % 2))
        table = PokerTable.of([state.deal])
        while not state.over:
            word = "check" if "check" in state.legal() else "call"
            if state.actor == 1:
                chances = load(style, training_seed)(table, ROW)[0]
                draw = rng.random()
                word = "fold" if draw < chances[0] else "raise" if draw >= 1 - chances[2] else word
            table.step(ROW, np.array([CODES[word]]))
            state.apply(word)
        played.append(PlayedHand(state.deal, tuple(state.moves), state.payoffs()[0]))
    return played


def test_no_move_of_the_opponent_means_no_evidence():
    state = HoldemState(new_deal(random.Random(1), 0))
    state.apply("fold")
    hand = PlayedHand(state.deal, tuple(state.moves), state.payoffs()[0])
    assert posterior([hand]) == dict.fromkeys(STYLES, 0.5)


def test_beliefs_add_up_to_one():
    for seed in range(10):
        assert sum(posterior(play("aggressive", 2, seed)).values()) == pytest.approx(1, abs=2e-4)


def test_more_hands_make_the_observer_surer_and_it_is_right_as_often_as_it_expects():
    expected, right = {}, {}
    for hands in (1, 4):
        beliefs = [(style, posterior(play(style, hands, seed, seed % 3))) for style in STYLES for seed in range(12)]
        expected[hands] = sum(max(belief.values()) for _, belief in beliefs) / len(beliefs)
        right[hands] = sum(best_guess(belief) == style for style, belief in beliefs) / len(beliefs)
    assert 0.6 < expected[1] < expected[4] <= 1
    for hands in (1, 4):
        # a calibrated observer of 24 matches misses its own expectation by less than four standard errors
        assert abs(right[hands] - expected[hands]) < 4 * (0.25 / 24) ** 0.5


def test_the_naive_observer_counts_raises_and_knows_no_net():
    def hand(*actions):
        return PlayedHand(
            new_deal(random.Random(1), 0), tuple(HoldemMove("preflop", 1, action) for action in actions), 0
        )

    assert naive_guess([hand("raise", "call")]) == "aggressive"
    assert naive_guess([hand("raise"), hand("call", "check")]) == "conservative"
    assert naive_guess([hand("fold")]) == "conservative"
    assert naive_guess([hand()]) is None
    assert actions_of([hand("raise"), hand()]) == ["raise"]


SUBJECTS = ["random", "caller", "raiser", "folder"]


def subject(kind):
    """A player of one habit for the subject's chair."""
    words = {"caller": ("check", "call"), "raiser": ("raise", "check", "call"), "folder": ("fold",)}.get(kind)
    rng = random.Random(3)

    def answer(request):
        text = request.messages[-1].content
        if "style of play" in text:
            return "A"
        legal = text.rpartition("holding one of: ")[2].rstrip(".").split(", ")
        word = rng.choice(legal) if words is None else next(word for word in words if word in legal)
        return f'{{"action": "{word}"}}'

    return answer


@pytest.mark.slow
@pytest.mark.parametrize("kind", SUBJECTS)
def test_the_default_number_of_hands_is_enough_for_an_observer_who_only_counts_raises(kind, script, rehearsal):
    summary = rehearsal(script(subject(kind)), matches=150).summarise("holdem")
    assert summary.measure("naive_observer").value >= 0.80
    assert summary.measure("ceiling").value >= summary.measure("naive_observer").value - 0.05
    assert summary.measure("no_information").value == 0


def test_matches_without_information_are_counted_apart(script, rehearsal):
    summary = rehearsal(script(subject("folder")), matches=6, hands=1).summarise("holdem")
    assert summary.measure("no_information").value == 1
    assert summary.measure("accuracy").value is None
    assert any("In 6 matches the opponent never acted" in note for note in summary.notes)
