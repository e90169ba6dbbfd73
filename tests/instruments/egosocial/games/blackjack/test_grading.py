"""Grading: verdicts on hand-worked situations, and the exact player graded right throughout."""

import csv
import random
from pathlib import Path

import pytest
from tests.instruments.egosocial.games.notation import card

from sociometer.instruments.egosocial.games.blackjack.grading import grade
from sociometer.instruments.egosocial.games.blackjack.hand import ideal, read_statement
from sociometer.instruments.egosocial.games.blackjack.rules import new_deal
from sociometer.statistics.agreement import cohen_kappa

SIXTEEN = [card("HT"), card("S6")]
SOFT = [card("HA"), card("S6")]
TEN = card("DK")
GOOD_OTHER = "The dealer shows a king, worth 10, and must draw until 17."


@pytest.mark.parametrize(
    ("belief", "right"),
    [
        ("My total is 16, hard, with a high risk of busting.", True),
        ("My total is 16. About 60% of cards bust me.", True),
        ("My total is 16. About 35% of cards bust me.", False),
        ("My total is 15.", False),
        ("My total is 16, soft.", False),
        ("My total is 16. There is a low risk of busting.", False),
        ("My king counts 10 and my 6 counts 6, for a hard total of 16.", True),
        ("My king counts 10 and my 6 counts 6, for a hard total of 17.", False),
        ("My total is 16. More than half of the cards bust me.", True),
        ("My total is 16. Fewer cards than half, under 40%, bust me.", False),
        ("My total is 16. There is a 40% chance that I do not bust.", True),
        ("I feel lucky.", False),
        ("", False),
    ],
)
def test_a_self_belief_is_right_when_the_total_is_stated_and_nothing_is_wrong(belief, right):
    assert grade(SIXTEEN, TEN, belief, GOOD_OTHER, "hit").self_right is right


@pytest.mark.parametrize(
    ("belief", "right"),
    [
        ("I have a soft 17 and cannot bust with one card.", True),
        ("My hand is worth 7 or 17.", True),
        ("My total is 17.", False),
        ("My total is a hard 17.", False),
        ("My total is 7.", False),
        ("My hand is worth 17 if the ace counts 11 and 7 if it counts 1.", True),
        ("My hand is worth 7 if the ace counts 1.", False),
        ("My total is 17 with the ace counted as 11, a soft total.", True),
        ("My total is 17, soft, with the ace counted as 11 and a high risk of busting.", False),
    ],
)
def test_with_an_ace_the_self_belief_must_say_what_kind_of_total_it_is(belief, right):
    assert grade(SOFT, TEN, belief, GOOD_OTHER, "hit").self_right is right


@pytest.mark.parametrize(
    ("belief", "right"),
    [
        (GOOD_OTHER, True),
        ("The dealer shows a 9.", False),
        ("The dealer must draw until 18.", False),
        ("The dealer could have 20.", True),
        ("The dealer could have 24.", False),
        ("The dealer will bust about 21% of the time.", True),
        ("The dealer will bust about 70% of the time.", False),
        ("The dealer has to draw a card.", False),
        ("The dealer is a nice person.", False),
        ("The dealer may bust.", False),
        ("The dealer may have 12.", False),
        ("The dealer will probably not bust.", False),
        ("With a ten up, the dealer will probably not bust.", True),
        ("2, 3, 4, 5, 6, 7, 8, 9, 10: the dealer will probably not bust.", False),
    ],
)
def test_an_external_belief_is_right_when_it_claims_something_and_nothing_wrong(belief, right):
    assert grade(SIXTEEN, TEN, "My total is 16.", belief, "hit").external_right is right


def test_the_action_is_held_against_the_exact_best_one():
    best, worse = (grade(SIXTEEN, TEN, "", "", move) for move in ("hit", "stand"))
    assert (best.best, best.action_best, best.lost_value) == ("hit", True, 0)
    assert not worse.action_best
    assert 0 < worse.lost_value < 0.1


def test_a_default_is_not_the_players_own_best_action():
    assert not grade(SIXTEEN, TEN, "", "", None).action_best


def test_whoever_calculates_exactly_is_graded_right_on_every_claim():
    rng = random.Random(0)
    for _ in range(60):
        deal = new_deal(rng)
        said = ideal(deal.player, deal.open_card)
        found = grade(deal.player, deal.open_card, said["self_belief"], said["external_belief"], said["action"])
        assert found.right and found.action_best
        assert len(found.claims) >= 4
        assert {one.verdict for one in found.claims} == {"right"}


@pytest.mark.parametrize(
    ("reply", "action", "rule"),
    [
        ('{"self_belief": "16", "external_belief": "x", "action": "Hit"}', "hit", "whole"),
        ('Sure!\n```json\n{"self_belief": "a", "external_belief": "b", "action": "stand"}\n```', "stand", "fence"),
        ("Self-Belief: my total is 16.\nExternal-Belief: dealer shows 10.\nAction: I will hit.", "hit", "labels"),
        ("**Self-Belief**: 16\n**External-Belief**: 10", "", "labels"),
        ('{"self_belief": "16", "external_belief": "x", "action": "double"}', "double", "whole"),
        (
            '{"self_belief": "16", "external_belief": "x", "action": "I would not hit; stand"}',
            "I would not hit; stand",
            "whole",
        ),
        ('{"self_belief": "16", "external_belief": "x", "action": "hit or stand"}', "hit or stand", "whole"),
        ("Self-Belief: 16.\nExternal-Belief: 10.\nAction: I won't hit", "I won't hit", "labels"),
        ("Self-Belief: 16.\nExternal-Belief: 10.\nAction: stay", "stand", "labels"),
        ("I hit.", "", "none"),
        ("", "", "empty"),
    ],
)
def test_a_statement_is_read_from_json_or_from_labelled_parts(reply, action, rule):
    found = read_statement(reply)
    assert found.action == action
    assert found.rule.startswith(rule)


def statements(which):
    """Statements that a reader graded (our own words, right and wrong ones), each with the grade of the rule."""
    with Path(__file__).with_name("statements.csv").open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            if row["set"] == which:
                held = [card(name) for name in row["cards"].split()]
                shown = card(row["dealer_shows"])
                yield row, grade(held, shown, row["self_belief"], row["external_belief"], None)


@pytest.mark.parametrize(("which", "count"), [("known", 50), ("unseen", 30)])
@pytest.mark.parametrize("belief", ["self", "external"])
def test_the_rule_agrees_with_a_reader_on_graded_statements(which, count, belief):
    pairs = [
        (row[f"{belief}_right"], "y" if getattr(found, f"{belief}_right") else "n") for row, found in statements(which)
    ]
    assert len(pairs) == count
    assert {reader for reader, _ in pairs} == {"y", "n"}
    assert cohen_kappa([reader for reader, _ in pairs], [rule for _, rule in pairs]).value == pytest.approx(1)
