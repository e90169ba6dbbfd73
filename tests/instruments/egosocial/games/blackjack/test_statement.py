"""Statements in the words of real models, and the fields next to the sentences: the truth earns most."""

import json
import random
from itertools import product

import pytest

from sociometer.instruments import card_of
from sociometer.instruments.egosocial.games.blackjack.odds import facts_of
from sociometer.instruments.egosocial.games.blackjack.rules import MOVES, new_deal
from sociometer.instruments.egosocial.games.blackjack.statement import (
    BEST_CONSTANT,
    DEALER_SPREAD,
    OWN_SPREAD,
    Fields,
    grade_fields,
    read_fields,
    read_statement,
    true_fields,
)
from tests.instruments.egosocial.games.notation import card

CONSTANT = (
    '{"self_belief": "My total is 20, hard.", "own_total": 20, "own_kind": "hard", "own_bust_percent": "26.5%", '
    '"external_belief": "The dealer must draw below 17.", "open_card_value": 10, "dealer_bust_percent": "23%", '
    '"dealer_final_total": 20, "action": "stand"}'
)


def test_fields_of_a_deal_worked_by_hand():
    """Jack and 6 against an ace: hard 16; 4 × (6 to 9) + 15 tens of 49 unseen cards bust, less the 6 in hand."""
    facts = facts_of([card("HJ"), card("S6")], card("SA"))
    assert true_fields(facts) == Fields(16, "hard", 61.2, 11, 12.0, 21)
    assert facts.exact.bust_risk == pytest.approx((3 + 4 * 3 + 15) / 49)
    found = grade_fields(Fields(16, "soft", 55, 1, 40, 17), facts)
    assert found.right == {
        "own_total": True,
        "own_kind": False,
        "own_bust_percent": True,
        "open_card_value": True,
        "dealer_bust_percent": False,
        "dealer_final_total": False,
    }


def test_the_rule_for_chances_is_proper_nothing_beats_the_truth():
    facts = facts_of([card("HJ"), card("S6")], card("S7"))
    truth = facts.exact.bust_risk
    scores = {percent: grade_fields(Fields(own_bust_percent=percent), facts).own_skill for percent in range(101)}
    assert max(scores, key=scores.get) == round(100 * truth)
    assert grade_fields(Fields(own_bust_percent=100 * truth), facts).own_skill == 1
    assert grade_fields(Fields(), facts).own_skill <= min(scores.values())


def deals():
    """Every first decision by the points of its three cards, with its weight."""
    cards = {1: ["SA", "HA", "DA"]} | {points: [f"{suit}{points}" for suit in "SHD"] for points in range(2, 10)}
    cards[10] = ["ST", "HT", "DT"]
    counts = dict.fromkeys(range(1, 10), 4) | {10: 16}
    for chosen in product(range(1, 11), repeat=3):
        if chosen[0] > chosen[1]:  # the two cards of the player have no order
            continue
        weight, names, used = 1 + (chosen[0] < chosen[1]), [], {}
        for points in chosen:
            taken = used.get(points, 0)
            weight *= counts[points] - taken
            names.append(cards[points][taken])
            used[points] = taken + 1
        held, shown = [card(name) for name in names[:2]], card(names[2])
        yield weight, facts_of(held, shown)


def test_the_stated_spreads_and_best_constants_are_those_of_all_deals():
    every = list(deals())
    whole = sum(weight for weight, _ in every)

    def spread(value):
        mean = sum(weight * value(facts) for weight, facts in every) / whole
        return (sum(weight * (value(facts) - mean) ** 2 for weight, facts in every) / whole) ** 0.5

    assert spread(lambda facts: facts.exact.bust_risk) == pytest.approx(OWN_SPREAD, abs=1e-4)
    assert spread(lambda facts: facts.exact.dealer_busts) == pytest.approx(DEALER_SPREAD, abs=1e-4)
    constant = Fields(20, "hard", 10, 10, 30.5, 20)
    graded = [(weight, grade_fields(constant, facts).right) for weight, facts in every]
    for name, share in BEST_CONSTANT.items():
        right = sum(weight for weight, found in graded if found[name])
        assert right / whole == pytest.approx(share, abs=1e-3)


def test_a_constant_answer_earns_what_the_card_states(script, rehearsal):
    summary = rehearsal(script(CONSTANT), deals=150).summarise("blackjack")
    stated = {measure.name: measure.chance for measure in card_of("egosocial").measures_of("blackjack")}
    assert summary.measure("accuracy").value <= stated["accuracy"] + 0.02
    assert summary.measure("exact_fields").value == pytest.approx(stated["exact_fields"], abs=0.03)
    assert summary.measure("own_chance").value == pytest.approx(stated["own_chance"], abs=0.08)
    assert summary.measure("dealer_chance").value == pytest.approx(stated["dealer_chance"], abs=0.15)


def test_whoever_calculates_exactly_has_every_field_right(baseline, rehearsal):
    summary = rehearsal(baseline("oracle"), deals=20).summarise("blackjack")
    for name in ("accuracy", "self_belief", "external_belief", "exact_fields"):
        assert summary.measure(name).value == 1
    assert summary.measure("own_chance").value == pytest.approx(1, abs=1e-3)
    assert summary.tables[0].name == "fields"


@pytest.mark.parametrize(
    ("said", "percent"),
    [
        ('"62%"', 62), ("62", 62), ("0.62", 62), ('"0.62"', 62), ('"0.5%"', 0.5), ('"0.5 percent"', 0.5), ("0", 0),
        ('"1%"', 1), ("1", None), ("1.0", None), ('"1"', None), ("162", None), ('"about 12"', None),
    ],
)  # fmt: skip
def test_a_chance_is_read_with_its_sign_and_a_bare_one_is_not(said, percent):
    reply = f'{{"own_total": 16, "own_bust_percent": {said}, "action": "hit"}}'
    assert read_statement(reply).fields.own_bust_percent == percent


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ({"own_total": "16", "own_kind": "Hard", "own_bust_percent": "62%"}, Fields(16, "hard", 62)),
        ({"own_total": "16.5", "own_kind": "soft or hard", "dealer_final_total": "about 20"}, Fields()),
        ({"own_kind": ""}, None),
        ({}, None),
    ],
)
def test_fields_are_read_as_models_write_them(given, read):
    assert read_fields(given) == read


def test_totals_that_are_nearly_as_likely_count_as_the_most_likely_one():
    """Two tens against a 10: the dealer ends on 20 far more often. 7 and 2 against a 4: 17 to 21 are all close."""
    clear, close = facts_of([card("HT"), card("ST")], card("DT")), facts_of([card("H7"), card("S2")], card("D4"))
    assert clear.likely_ends == (20,)
    assert len(close.likely_ends) > 1
    for total in range(17, 22):
        near = close.ends[total - 17] >= max(close.ends[:5]) - 0.02
        assert grade_fields(Fields(dealer_final_total=total), close).right["dealer_final_total"] == near


@pytest.mark.parametrize(
    "lost",
    [
        "own_total: 16\nown_kind: hard\nown_bust_percent: 62%\naction: stand",
        "- own_total = 16\n- action: stand",
        '{"self": {"own_total": 16}, "dealer": {"open_card_value": 10}, "action": "stand"}',
        CONSTANT.replace('"26.5%"', "1"),
        CONSTANT.replace('"own_total": 20', '"own_total": "about 20"'),
    ],
)
def test_fields_that_cannot_be_read_are_asked_for_again_and_counted(lost, script, play):
    subject = script(lost, CONSTANT)
    played = play("blackjack", subject)
    assert "missing" in subject.asked[1].messages[-1].content
    first = played.episode.outcome.decisions[0]
    assert (first.faults.unreadable, first.faults.defaulted, first.incomplete) == (1, False, False)
    assert played.episode.score.unreadable == 0
    still = play("blackjack", script(lost)).episode
    assert still.outcome.decisions[0].incomplete
    assert still.outcome.decisions[0].faults.unreadable == 2
    assert still.score.unreadable == len(still.outcome.decisions)
    assert still.score.values["right"] == 0
    assert -1 <= still.score.values["dealer_skill"] <= 1


def test_a_second_reply_adds_to_the_first_and_a_legal_move_is_kept(script, play):
    fields = CONSTANT.replace(', "action": "stand"', "")
    decision = play("blackjack", script('{"action": "stand"}', fields)).episode.outcome.decisions[0]
    assert (decision.action, decision.faults.defaulted, decision.statement.fields.own_total) == ("stand", False, 20)


def test_the_sentences_cannot_change_what_the_fields_earn(script, rehearsal):
    rng = random.Random(1)
    deal = new_deal(rng)
    assert grade_fields(
        true_fields(facts_of(deal.player, deal.open_card)), facts_of(deal.player, deal.open_card)
    ).own_right
    plain = rehearsal(script(CONSTANT), deals=10).summarise("blackjack")
    chatty = rehearsal(script(CONSTANT.replace("below 17.", "below 17. I am sure that I am right.")), deals=10)
    for name in ("accuracy", "exact_fields", "own_chance"):
        assert plain.measure(name).value == chatty.summarise("blackjack").measure(name).value


def test_the_authors_own_format_is_read(official):
    """The released games: “Self-Belief is {…}. External-Belief is {…}. My action is {…}.”"""
    path = official / "egosocialarena" / "sample_game_process.json"
    games = json.loads(path.read_text(encoding="utf-8"))["games"]
    read = [read_statement(turn["assistant"]) for game in games for turn in game["dialogue"]]
    assert len(read) == 98
    assert [one for one in read if not (one.self_belief and one.external_belief and one.action in MOVES)] == []
