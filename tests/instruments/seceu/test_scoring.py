"""Scores and summaries: hand-worked examples, the hedger's line, failed tests, best of several."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_runs import summarised_run
from sociometer.instruments.seceu.items import bundled_scenarios
from sociometer.instruments.seceu.play import Allocated
from sociometer.instruments.seceu.scoring import profile_similarity, score

FIRST = next(iter(bundled_scenarios("en")))
ORDER = (0, 1, 2, 3)


def outcome(*points):
    return Allocated(points, points, "in order", "none", ORDER)


def test_the_distance_is_euclidean():
    standard = FIRST.standard
    worked = math.sqrt(sum((10 * (at == 0) - value) ** 2 for at, value in enumerate(standard)))
    assert score(FIRST, outcome(10, 0, 0, 0)).values["distance"] == pytest.approx(worked)
    assert score(FIRST, outcome(*standard)).values["distance"] == 0


def test_the_facets_name_context_direction_and_prompting():
    assert score(FIRST, outcome(4, 3, 2, 1)).facets == {
        "prompting": "direct",
        "context": "school",
        "direction": "self",
    }


def test_a_flat_answer_has_no_profile():
    assert profile_similarity((2.5, 2.5, 2.5, 2.5), (4, 3, 2, 1)) == 0
    assert profile_similarity((0, 0, 0, 0), (4, 3, 2, 1)) == 0
    assert profile_similarity((4, 3, 2, 1), (4, 3, 2, 1)) == pytest.approx(1)
    assert profile_similarity((1, 2, 3, 4), (4, 3, 2, 1)) == pytest.approx(-1)


@given(st.lists(st.floats(0, 10), min_size=4, max_size=4))
def test_a_profile_lies_between_minus_one_and_one(points):
    assert -1 <= profile_similarity(points, (4, 3, 2, 1)) <= 1


def test_without_a_norm_there_is_no_eq_and_the_key_is_called_a_judgement(rehearse):
    summary = rehearse("baseline/even").summarise("feelings")
    assert summary.measure("eq") is None
    assert summary.measure("distance").value == pytest.approx(2.701, abs=1e-3)
    assert any("our own judgement, not a human norm" in note for note in summary.notes)
    assert any("An even allocation" in note for note in summary.notes)
    assert "norm" not in summary.series


def test_even_allocation_earns_an_eq_of_112_on_the_official_norm(rehearse, official_data):
    summary = rehearse("baseline/even", official_data).summarise("feelings")
    assert summary.measure("distance").value == pytest.approx(2.124, abs=1e-3)
    assert round(summary.measure("eq").value) == 112
    assert summary.measure("similarity").value == pytest.approx(-0.31, abs=0.005)
    assert "different mechanism" in summary.measure("similarity").note
    interval = summary.measure("eq").interval
    assert interval.low < 112 < interval.high


def test_the_standard_scores_themselves_earn_the_top_eq(rehearse, official_data):
    summary = rehearse("baseline/oracle", official_data).summarise("feelings")
    assert summary.measure("distance").value == pytest.approx(0, abs=0.005)
    assert summary.measure("eq").value == pytest.approx(100 + 15 * 2.79 / 0.822, abs=0.1)
    assert summary.measure("eq").note.startswith(
        "'expert' in the paper's terms; an even allocation earns 112; people's standard error"
    )
    assert summary.measure("similarity").value is None


def test_no_answer_stands_at_51_and_is_a_failed_test(rehearse, official_data):
    summary = rehearse("baseline/refuse", official_data).summarise("feelings")
    assert summary.measure("eq").value is None
    assert summary.measure("eq").note.startswith("FAILED: 40 of 40")
    assert summary.measure("distance").unreadable == 40
    results = next(table for table in summary.tables if table.name == "results")
    assert results.rows[0][2] == "FAILED"
    silent = next(row for row in results.rows if row[0] == "no answer")
    assert round(silent[2]) == 51


def test_going_by_place_is_named_where_it_pays(rehearse, official_data):
    """In 32 of the 40 official items the first option is the strongest, so 4, 3, 2, 1 unread beats most people."""
    summary = rehearse("4, 3, 2, 1", official_data).summarise("feelings")
    assert round(summary.measure("eq").value) == 122
    assert any("in 32 of 40 items. --shuffle" in note for note in summary.notes)
    shuffled = rehearse("4, 3, 2, 1", official_data, shuffle=True).summarise("feelings")
    assert shuffled.measure("eq").value < 105
    assert not any("down the list" in note for note in shuffled.notes)
    ours = rehearse("4, 3, 2, 1").summarise("feelings")
    assert not any("down the list" in note for note in ours.notes)


@pytest.mark.parametrize(("nulls", "failed"), [(20, False), (21, True)])
def test_a_majority_of_null_answers_fails_and_half_does_not(rehearse, official_data, nulls, failed):
    answered = iter([*(["no idea"] * nulls), *(["4, 3, 2, 1"] * (40 - nulls))])
    summary = rehearse(lambda _: next(answered), official_data).summarise("feelings")
    assert (summary.measure("eq").value is None) == failed


def test_the_interval_is_of_the_difference_from_people(rehearse, official_data):
    """Items that are hard for people and for the subject alike must not widen the interval of the EQ."""
    made = rehearse("baseline/even", official_data)
    run = made.play_all("feelings")
    template = run.norm["template"]
    summary = made.instrument.task("feelings").summarise(run)
    gaps = [score.values["distance"] - template[item.scenario] for item, _, score in run.scored()]
    spread = (sum((gap - sum(gaps) / 40) ** 2 for gap in gaps) / 39) ** 0.5 / 40**0.5
    interval = summary.measure("eq").interval
    assert interval.high - interval.low == pytest.approx(2 * 2.02 * spread * 15 / 0.822, rel=0.1)


def test_some_items_give_an_estimate_that_says_so(rehearse, official_data):
    made = rehearse("baseline/even", official_data)
    every = list(made.instrument.task("feelings").items(made.source()))
    whole = made.summarise("feelings").measure("eq").value
    some = made.summarise("feelings", every[:20])
    assert any("estimated from 20 of 40" in note for note in some.notes)
    assert some.measure("eq").note.endswith("estimated on 20 of 40 items")
    other = made.summarise("feelings", every[20:])
    mean = (some.measure("eq").value + other.measure("eq").value) / 2
    assert mean == pytest.approx(whole, abs=0.1)


def test_all_ways_of_prompting_are_shown_and_the_first_leads(rehearse):
    summary = rehearse("baseline/random", prompting="all").summarise("feelings")
    groups = {measure.group.get("prompting") for measure in summary.measures if measure.name == "distance"}
    assert {"direct", "zero-shot", "zero-shot-steps", "two-shot", "two-shot-steps"} <= groups
    assert summary.series["prompting"] == "direct"
    overall, direct = (summary.measure("distance", **group) for group in ({}, {"prompting": "direct"}))
    assert (overall.value, overall.items) == (direct.value, 40)
    assert overall.note.startswith("prompting method 'direct'; ")


def test_best_names_the_best_and_says_that_choosing_flatters(rehearse, official_data):
    def say(request):
        return "1, 2, 3, 4" if request.sampling.temperature else "2.5, 2.5, 2.5, 2.5"

    summary = rehearse(say, official_data, prompting="best").summarise("feelings")
    assert summary.series["prompting"] == "zero-shot"
    assert round(summary.measure("eq").value) == 112
    assert any("'zero-shot' is the best of 5" in note and "overstates" in note for note in summary.notes)
    for name in ("distance", "eq"):
        assert summary.measure(name).items == 40
        assert "'zero-shot', best of 5 methods: choosing the best overstates the score" in summary.measure(name).note
    assert summary.measure("distance").value == pytest.approx(2.124, abs=1e-3)


def test_ways_are_judged_only_on_scenarios_that_all_were_played_on(rehearse, official_data):
    """A way that was played on one easy scenario more must not win by it."""
    made = rehearse("baseline/random", official_data, prompting="best")
    every = list(made.instrument.task("feelings").items(made.source()))
    shared = made.summarise("feelings", every[:15])
    more = made.summarise("feelings", [*every[:15], *every[15:18]])
    assert more.measure("distance").value == shared.measure("distance").value
    assert more.measure("eq").items == 3
    assert "estimated on 3 of 40 items" in more.measure("eq").note
    assert all(measure.items <= 3 for measure in more.measures)
    assert any("on the 3 stories played with all of them; 1 are left out" in note for note in more.notes)


@pytest.mark.parametrize("official", [False, True])
def test_no_best_is_named_where_no_scenario_was_played_in_every_way(rehearse, request, official):
    data = request.getfixturevalue("official_data") if official else None
    made = rehearse("baseline/random", data, prompting="best")
    every = list(made.instrument.task("feelings").items(made.source()))
    summary = made.summarise("feelings", every[:4])
    for name in ("distance", "eq") if official else ("distance",):
        assert summary.measure(name).value is None
        assert summary.measure(name).note == "too few stories are shared by all prompting methods to name the best one"
    assert "Too few stories are shared by all prompting methods to name the best one." in summary.notes
    assert "cannot be compared" in summary.tables[0].note
    assert "prompting" not in summary.series
    run = summarised_run("run", "feelings", "someone", {}, summary)
    assert made.instrument.figures([run])


def test_a_percentile_and_its_interval_lie_between_nothing_and_all(rehearse, official_data):
    summary = rehearse("baseline/random", official_data).summarise("feelings")
    measure = summary.measure("percentile")
    assert 0 <= measure.interval.low <= measure.interval.high <= 1
    assert math.copysign(1, measure.interval.low) == 1


def test_best_prefers_a_completed_test_to_a_failed_one(rehearse):
    def say(request):
        return "0, 0, 0, 10" if request.sampling.temperature else "no idea"

    assert rehearse(say, prompting="best").summarise("feelings").series["prompting"] == "direct"


def test_repeats_are_averaged_and_count_as_one_item(rehearse):
    summary = rehearse("baseline/random").summarise("feelings", repeats=3)
    assert summary.measure("distance").items == 40


def test_the_worst_and_best_items_show_both_profiles(rehearse):
    summary = rehearse("baseline/random").summarise("feelings")
    table = next(table for table in summary.tables if table.name == "items")
    assert len(table.rows) == 10
    distances = [row[2] for row in table.rows]
    assert distances == sorted(distances)
    assert "(" in table.rows[0][4]


def test_the_rules_that_read_and_repaired_are_counted(rehearse):
    summary = rehearse("40, 30, 10, 20").summarise("feelings")
    table = next(table for table in summary.tables if table.name == "readings")
    assert table.rows == (("in order", "scaled", 40),)


def test_a_run_without_scores_is_summarised_without_numbers(rehearse):
    summary = rehearse("baseline/even").summarise("feelings", [])
    assert summary.measure("distance").value is None
    assert summary.notes == ("Nothing was scored.",)
