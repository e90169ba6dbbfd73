from random import Random

import pytest

from sociometer.instruments.sage.analyses.correlations import Point, correlate
from sociometer.instruments.sage.simulators.study import divergence, leniency, rank_on_shared


def test_leniency_and_calibration_by_hand():
    reference = {"a": {"x": 10.0, "y": 30.0}, "b": {"x": 20.0, "y": 40.0}}
    twice = {name: {item: 20 + 2 * value for item, value in values.items()} for name, values in reference.items()}
    found = leniency("kind", twice, reference)
    assert found.dialogues == 4 and found.difference.difference == pytest.approx(20 + 25)
    assert found.slope == pytest.approx(0.5)
    assert found.calibrated(20 + 2 * 33.0) == pytest.approx(33)
    assert found.error == pytest.approx(0), "the line of either subject hits the other"
    assert leniency("kind", {"z": {"x": 1.0}}, reference) is None


def test_a_calibration_that_rests_on_one_subject_is_refused():
    reference, kind = {"a": {"x": 10.0, "y": 30.0}}, {"a": {"x": 40.0, "y": 50.0}, "b": {"x": 60.0}}
    found = leniency("kind", kind, reference)
    assert found.difference.difference == pytest.approx(25)
    assert found.error is None and found.calibrated(50.0) is None
    assert found.interval(50.0).too_few


def test_the_error_of_a_calibration_is_what_it_misses_on_subjects_left_out():
    # kinder by 10 to one subject and by 30 to the other: a line from either misses the other by 20
    reference = {"a": {"x": 10.0, "y": 30.0}, "b": {"x": 10.0, "y": 30.0}}
    kind = {"a": {"x": 20.0, "y": 40.0}, "b": {"x": 40.0, "y": 60.0}}
    found = leniency("kind", kind, reference)
    assert found.gaps == {"a": pytest.approx(10), "b": pytest.approx(30)}
    assert found.error == pytest.approx(20)
    bounds = found.interval(40.0)
    assert (bounds.low, bounds.high, bounds.clusters) == (0, 100, 2), "two subjects tell little"
    assert found.alike < 0.01 and found.misses == {
        "a": pytest.approx(7.07, abs=0.01),
        "b": pytest.approx(-7.07, abs=0.01),
    }


def flat(scores):
    return {name: {f"s{n}": value for n in range(12)} for name, value in scores.items()}


def test_divergence_shows_the_largest_moves_first():
    moved, (rho, _) = divergence(flat({"a": 80.0, "b": 60.0, "c": 40.0}), {"a": 3.0, "b": 2.0, "c": 1.0, "d": 4.0})
    assert rho == pytest.approx(-1)
    assert {each.subject: each.moved for each in moved} == {"a": 2, "b": 0, "c": -2}
    assert moved[-1].subject == "b"
    assert divergence(flat({"a": 1.0}), {"a": 1.0})[1][0] is None


def test_the_agreement_of_two_orders_has_an_interval_over_scenarios():
    rng = Random(1)
    levels = {"a": 60, "b": 55, "c": 50, "d": 45}
    scores = {name: {f"s{n}": rng.gauss(level, 20) for n in range(40)} for name, level in levels.items()}
    _, (rho, bounds) = divergence(scores, {"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0})
    assert bounds.low <= rho <= bounds.high
    assert bounds.high - bounds.low > 0.1
    few = {name: dict(list(values.items())[:3]) for name, values in scores.items()}
    assert divergence(few, {"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0})[1][1].too_few


def test_table_3_diverges_from_arena_as_the_paper_says():
    from sociometer.instruments.sage.published.reproduce import table

    rows = table("table3")
    scores = flat({row["model"]: float(row["score"]) for row in rows})
    moved, (rho, _) = divergence(scores, {row["model"]: float(row["arena_rank"]) for row in rows})
    places = {each.subject: each for each in moved}
    assert (places["GPT-4.1"].here, places["GPT-4.1"].stated) == (2, 9)
    assert 0.5 < rho < 0.9


def test_the_two_levels_of_correlation_are_not_mixed():
    # better models score higher on both; within a scenario the two numbers go against each other
    points = []
    for level, subject in enumerate("abcd"):
        for scenario, shift in (("x", 0.0), ("y", 30.0), ("z", 10.0)):
            wobble = {"a": 1, "b": -1, "c": 1, "d": -1}[subject] * {"x": 1, "y": -1, "z": 0}[scenario]
            points.append(Point(subject, scenario, 10 * level + shift + 15 * wobble, 5 * level - 15 * wobble))
    levels = correlate(points)
    assert levels.over_models.r == pytest.approx(1)
    assert levels.within_scenarios.r < 0.5
    assert (levels.models, levels.dialogues) == (4, 12)


def test_neither_scenarios_nor_models_enter_the_within_correlation():
    own = {("x", "a"): 1, ("x", "b"): -1, ("x", "c"): 0, ("y", "a"): -1, ("y", "b"): 0, ("y", "c"): 1}
    own |= {("z", "a"): 0, ("z", "b"): 1, ("z", "c"): -1}
    points = [
        Point(subject, scenario, 50.0 * ord(scenario) + 9.0 * ord(subject) + value, -70.0 * ord(scenario) + value)
        for (scenario, subject), value in own.items()
    ]
    assert correlate(points).within_scenarios.r == pytest.approx(1)
    alone = [Point("a", f"s{number}", number, number) for number in range(5)]
    assert correlate(alone).within_scenarios is None and correlate(alone).over_models is None


@pytest.mark.parametrize("models", [2, 5])
def test_numbers_that_have_nothing_to_do_with_each_other_seldom_correlate_within_scenarios(models):
    """Models and scenarios differ as a whole in both numbers; within them there is nothing."""
    rng, runs = Random(models), 300
    alarms = 0
    for _ in range(runs):
        apart = [(rng.gauss(0, 1), rng.gauss(0, 1)) for _ in range(models)]
        hard = [(rng.gauss(0, 1), rng.gauss(0, 1)) for _ in range(20)]
        points = [
            Point(f"m{model}", f"s{scenario}", x + s + rng.gauss(0, 1), y + t + rng.gauss(0, 1))
            for scenario, (s, t) in enumerate(hard)
            for model, (x, y) in enumerate(apart)
        ]
        interval = correlate(points).within_scenarios.interval
        alarms += not interval.low <= 0 <= interval.high
    assert 0.02 < alarms / runs < 0.08, "a 95 % interval misses the truth in about one of twenty"


def test_two_models_give_one_point_a_scenario():
    points = [
        Point(subject, f"s{scenario}", sign * scenario, sign * (scenario % 3 - 1))
        for scenario in range(1, 11)
        for subject, sign in (("a", 1.0), ("b", -1.0))
    ]
    levels = correlate(points)
    assert (levels.dialogues, levels.within_scenarios.interval.clusters) == (20, 10)


def test_one_short_run_does_not_turn_a_board_round():
    long = {
        name: dict.fromkeys((f"s{number}" for number in range(10)), value) for name, value in (("a", 5.0), ("b", 4.0))
    }
    ranked, shared = rank_on_shared({**long, "short": {"s0": 9.0}})
    assert shared == 10 and set(ranked) == {"a", "b"}


def test_places_rest_on_the_scenarios_that_all_met():
    ranked, shared = rank_on_shared(
        {
            "easy one more": {"x": 20.0, "y": 30.0, "easy": 100.0},
            "plain": {"x": 30.0, "y": 40.0},
            "plain too": {"y": 50.0, "x": 20.0},
            "elsewhere": {"z": 90.0},
            "nowhere": {},
        }
    )
    assert shared == 2
    places = {name: (place.rank, place.mean) for name, place in ranked.items()}
    assert places == {"easy one more": (3, 25.0), "plain": (1, 35.0), "plain too": (1, 35.0)}
    assert all(place.interval.too_few for place in ranked.values())
