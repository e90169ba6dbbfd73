"""The family of drawn opponents and the learner that knows it: the ceiling, the floor and what lies between."""

import random
from collections import Counter
from pathlib import Path
from statistics import fmean

import pytest

from rehearsal import Rehearsal
from sociometer.instruments import load
from sociometer.instruments.egosocial.games import numbers as game
from sociometer.instruments.egosocial.games.numbers import Round, forecasts, is_legal


def played(opponent, replies, seed=0):
    """A match against an opponent, seen from its side."""
    rng, rounds = random.Random(seed), []
    for reply in replies:
        rounds.append(Round(game.next_number(opponent, rounds, rng), reply))
    return rounds


def numbers(opponent, replies=(50,) * 10, seed=0):
    return [one.mine for one in played(opponent, replies, seed)]


def test_the_probabilities_of_all_members_add_up_to_one():
    assert sum(share for _, share in game.every_member()) == pytest.approx(1)
    for kind in game.KINDS:
        assert sum(share for _, share in game.members(kind)) == pytest.approx(1)


def test_each_rule_worked_by_hand():
    rule = game.Rule
    assert numbers(game.Drawn("constant", 37, rule("stay"))) == [37] * 10
    assert numbers(game.Drawn("slope", 80, rule("slope", -6)))[:4] == [80, 74, 68, 62]
    # 60 × 0.8 = 48, 38.4 → 38, 30.4 → 30
    assert numbers(game.Drawn("factor", 60, rule("factor", 0.8)))[:4] == [60, 48, 38, 30]
    # a best reply to 30 and 60 is 20 and 40; plus 6
    assert numbers(game.Drawn("reply", 70, rule("reply", 2 / 3, 6)), (30, 60, 1)) == [70, 26, 46]
    # the target of 70 and 30 is 40; times 1.2 is 48; then of 48 and 60 is 43.2, times 1.2 is 51.84
    assert numbers(game.Drawn("reply", 70, rule("copy", 1.2)), (30, 60, 1)) == [70, 48, 52]
    switch = game.Drawn("switching", 20, rule("stay"), 0, rule("slope", 5), 3)
    assert numbers(switch)[:6] == [20, 20, 20, 25, 30, 35]


def test_a_noisy_opponent_strays_around_its_rule_and_does_not_drift():
    seen = numbers(game.Drawn("noisy", 50, game.Rule("stay"), 2), (50,) * 200)
    assert set(seen) == {48, 49, 50, 51, 52}


def test_a_mixture_chooses_between_two_depths():
    mixed = game.Drawn("reply", 50, game.Rule("reply", 1.0, 0, 2 / 3))
    assert set(numbers(mixed, (60,) * 40)[1:]) == {60, 40}


@pytest.mark.parametrize("kind", game.KINDS)
@pytest.mark.parametrize("reply", [1, 100])
def test_every_drawn_opponent_stays_within_the_rules(kind, reply):
    for seed in range(40):
        opponent = game.draw(kind, random.Random(seed))
        assert opponent.kind == kind
        assert all(is_legal(number) for number in numbers(opponent, (reply,) * 30, seed))


@pytest.mark.slow
def test_the_learner_is_right_as_often_as_it_expects():
    """Over 300 drawn matches, its most likely number comes as often as its forecasts say, round by round."""
    expected, hits = Counter(), Counter()
    for index in range(300):
        kind = game.KINDS[index % 6]
        rng = random.Random(f"calibration {index}")
        rounds = played(game.draw(kind, rng), [rng.randint(1, 100) for _ in range(10)], index)
        for number, (forecast, one) in enumerate(zip(forecasts(rounds), rounds, strict=True), 1):
            expected[number] += forecast.hit_rate
            hits[number] += forecast.mode == one.mine
    for number in range(1, 11):
        assert abs(hits[number] - expected[number]) < 4 * (0.25 * 300) ** 0.5
    assert expected[1] / 300 < 0.05
    assert expected[10] / 300 > 0.75


def test_the_learner_sees_nothing_but_the_rounds_before():
    rounds = played(game.draw("slope", random.Random(3)), (50,) * 6)
    other = [*rounds[:5], Round(1, 1)]
    assert forecasts(rounds)[5] == forecasts(other)[5]


def test_regret_is_never_negative_and_zero_for_the_learners_own_prediction():
    rounds = played(game.draw("reply", random.Random(5)), (40, 30, 20, 60, 10, 80))
    for forecast in forecasts(rounds):
        assert forecast.regret(forecast.median) == 0
        assert all(forecast.regret(guess) >= 0 for guess in range(1, 101, 7))
        assert forecast.regret(None) == max(forecast.regret(1), forecast.regret(100))


def test_a_forecast_after_a_plain_slope_worked_by_hand():
    """80, 74, 68: a slope of −6, not a factor of 0.9 (80, 72), goes on with 62."""
    rounds = [Round(80, 50), Round(74, 50), Round(68, 50), Round(62, 50)]
    assert forecasts(rounds)[3].mode == 62
    assert forecasts(rounds)[3].hit_rate > 0.8


def repeating(choice):
    """A player who predicts the opponent's last number and chooses by a function of the round."""

    def answer(request):
        lines = [line for line in request.messages[1].content.splitlines() if "your opponent chose" in line]
        last = lines[-1].partition("your opponent chose ")[2].partition(";")[0] if lines else "50"
        return f'{{"prediction": {last}, "choice": {choice(len(lines))}}}'

    return answer


def test_a_constant_choice_earns_nothing_beyond_repeating_the_last_number(script, rehearsal):
    """Against replies a constant choice makes the opponent constant, so that repeating its number is right."""

    def shares(choice):
        run = rehearsal(script(repeating(choice)), drawn=4).play_all("numbers")
        scores = [score.values for item, _, score in run.scored() if item.opponent == "reply"]
        return [fmean(values[name] for values in scores) for name in ("right", "beyond")]

    frozen, varied = shares(lambda number: 40), shares(lambda number: (40, 71, 12, 55, 88, 23)[number % 6])
    assert frozen[0] > varied[0] + 0.3
    assert frozen[1] == varied[1] == 0


CONSTANTS = {"one and one": (1, 1), "fifty and a best reply": (50, 33), "a hundred": (100, 100), "twelve": (12, 1)}


@pytest.mark.slow
@pytest.mark.parametrize("name", CONSTANTS)
def test_constant_players_earn_next_to_nothing_and_have_learnt_nothing(name, script, rehearsal):
    prediction, choice = CONSTANTS[name]
    subject = script(f'{{"prediction": {prediction}, "choice": {choice}}}')
    summary = rehearsal(subject, drawn=36).summarise("numbers")
    assert summary.measure("accuracy").value < 0.10
    assert summary.measure("learnt").value <= 1 / 36
    assert summary.measure("ceiling").value > 0.6
    assert summary.measure("regret").value > 10
    assert summary.measure("beyond_repeating").value < 0


def test_a_player_who_repeats_the_last_number_lies_below_the_ceiling(script, rehearsal):
    summary = rehearsal(script(repeating(lambda number: 40)), drawn=7).summarise("numbers")
    assert 0 < summary.measure("accuracy").value < summary.measure("ceiling").value
    assert 0 < summary.measure("regret").value < 10
    assert summary.measure("reached").value == 0


def test_an_opponent_that_models_the_other_replies_to_what_it_expects():
    rounds = [Round(50, 60), Round(40, 48)]
    trend, mean = (game.Drawn("modelling", 50, game.Rule(how, 2 / 3, 6)) for how in ("trend", "mean"))
    assert game.next_chances(trend, rounds) == {30: 1.0}
    assert game.next_chances(mean, rounds) == {42: 1.0}


def test_by_default_three_opponents_of_each_kind_are_drawn_and_the_seed_decides_which(baseline, rehearsal):
    first, again, other = (
        list(show.instrument.task("numbers").items(show.source()))
        for show in (rehearsal(baseline("oracle"), seed=seed) for seed in (1, 1, 2))
    )
    assert first == again
    assert [item.drawn for item in first] != [item.drawn for item in other]
    assert Counter(item.opponent for item in first) == dict.fromkeys(game.KINDS, 3)
    assert len({item.cluster for item in first}) == len(first)


def test_regret_is_given_by_round_and_falls_for_the_learner(baseline, rehearsal):
    summary = rehearsal(baseline("oracle"), drawn=7).summarise("numbers")
    by_round = summary.series["by_round"]
    assert [point["round"] for point in by_round] == list(range(1, 11))
    assert by_round[0]["ceiling"] < by_round[3]["ceiling"]
    assert all(point["accuracy"] == 1 for point in by_round)
    assert {"round", "ceiling", "repeating", "regret"} <= set(summary.tables[0].columns)


def test_official_matches_are_the_papers_three_opponents(script):
    show = Rehearsal(load("egosocial"), {"subject": script("?")}, data=Path())
    items = list(show.instrument.task("numbers").items(show.source()))
    assert [item.id for item in items] == ["numbers-level-1-10", "numbers-level-2-10", "numbers-level-3-10"]
    assert all(item.drawn is None for item in items)
