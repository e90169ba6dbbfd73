"""Exact odds: hand-worked values, an independent recursion, and simulation."""

import random

import pytest

from sociometer.instruments.egosocial.games.blackjack.odds import dealer_ends, odds, unseen
from sociometer.instruments.egosocial.games.blackjack.rules import BlackjackState, new_deal, total_of
from tests.instruments.egosocial.games.notation import card


def held(*words):
    return [card(word) for word in words]


def test_the_risk_of_busting_is_counted_over_the_unseen_cards():
    """Hard 16 against a king: of 49 unseen cards 14 tens, 3 sixes and 12 sevens to nines bust."""
    exact = odds(held("HT", "S6"), card("DK"))
    assert exact.bust_risk == pytest.approx((14 + 3 + 12) / 49)


def test_a_soft_hand_cannot_bust_with_one_card():
    assert odds(held("HA", "S6"), card("DK")).bust_risk == 0


def test_the_dealer_must_draw_to_everything_that_a_low_card_can_make():
    assert odds(held("HT", "S6"), card("D2")).dealer_must_draw == 1
    # with a six only an ace (soft 17) lets the dealer stand
    assert odds(held("HT", "S6"), card("D6")).dealer_must_draw == pytest.approx(45 / 49)


@pytest.mark.parametrize(
    ("player", "shown", "best"),
    [
        (("HT", "S6"), "DT", "hit"),
        (("HT", "S6"), "D6", "stand"),
        (("HT", "S2"), "D3", "hit"),
        (("H7", "S5"), "D4", "stand"),
        # the well-known exception with one deck: a held ten makes twelve safe enough to hit
        (("HT", "S2"), "D4", "hit"),
        (("HA", "S7"), "D9", "hit"),
        (("HA", "S7"), "D2", "stand"),
        (("HT", "S7"), "DA", "stand"),
        (("H5", "S6"), "D5", "hit"),
    ],
)
def test_the_best_move_is_what_basic_strategy_says(player, shown, best):
    assert odds(held(*player), card(shown)).best == best


def slow_dealer(deck, low, ace):
    """The same chances by the plainest recursion, order by order."""
    points = low + 10 if ace and low + 10 <= 21 else low
    if points >= 17:
        return [float(index == min(points - 17, 5)) for index in range(6)]
    ends = [0.0] * 6
    for index, count in enumerate(deck):
        if count:
            fewer = [*deck[:index], count - 1, *deck[index + 1 :]]
            for place, chance in enumerate(slow_dealer(fewer, low + index + 1, ace or index == 0)):
                ends[place] += count / sum(deck) * chance
    return ends


@pytest.mark.parametrize("shown", ["DA", "D7", "DT"])
def test_the_dealers_chances_equal_the_plain_recursion(shown):
    seen = [*held("HT", "S6"), card(shown)]
    points = {"DA": 1, "D7": 7, "DT": 10}[shown]
    expected = slow_dealer(list(unseen(seen)), points, points == 1)
    assert dealer_ends(seen, card(shown)) == pytest.approx(expected)
    assert sum(expected) == pytest.approx(1)


def test_the_value_of_standing_and_of_one_hit_agree_with_simulation():
    player, shown = tuple(held("HT", "S6")), card("DT")
    exact = odds(player, shown)
    rng = random.Random(11)
    stand, hit = [], []
    for _ in range(4_000):
        state = BlackjackState(new_deal(rng, player, shown))
        state.apply("stand")
        stand.append(state.result())
        other = BlackjackState(new_deal(rng, player, shown))
        other.apply("hit")
        while not other.over and odds_best(other.player, shown) == "hit":
            other.apply("hit")
        if not other.over:
            other.apply("stand")
        hit.append(other.result())
    # the spread of one result is at most one, so four standard errors are below 0.064
    assert sum(stand) / len(stand) == pytest.approx(exact.stand, abs=0.064)
    assert sum(hit) / len(hit) == pytest.approx(exact.hit, abs=0.064)


def odds_best(player, shown):
    return odds(player, shown).best if total_of(player).points < 21 else "stand"


def test_chances_are_chances():
    rng = random.Random(1)
    for _ in range(30):
        deal = new_deal(rng)
        exact = odds(deal.player, deal.open_card)
        assert 0 <= exact.bust_risk <= 1
        assert 0 <= exact.dealer_busts <= 1
        assert -1 <= min(exact.hit, exact.stand) <= max(exact.hit, exact.stand) <= 1
