"""Scores and summaries: hand-worked examples, and what a summary says with and without a norm."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from fake_runs import summarised_run
from sociometer.instruments.seceu.items import bundled_scenarios
from sociometer.instruments.seceu.play import Allocated
from sociometer.instruments.seceu.scoring import profile_similarity, score, unread_caveat

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
    assert score(FIRST, outcome(4, 3, 2, 1)).facets == {"prompting": "direct", "context": "school", "direction": "self"}


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
    assert summary.find("eq") is None
    assert summary.measure("distance").value == pytest.approx(2.701, abs=1e-3)
    assert any("our own judgement, not a human norm" in note for note in summary.notes)
    assert any("An even allocation" in note for note in summary.notes)
    assert "norm" not in summary.series


def test_going_by_place_is_named_where_it_pays(rehearse, official_data):
    """In 32 of the 40 official items the first option is the strongest, so 4, 3, 2, 1 unread beats most people."""
    summary = rehearse("4, 3, 2, 1", official_data).summarise("feelings")
    assert round(summary.measure("eq").value) == 122
    assert any("in 32 of 40 items. --shuffle" in note for note in summary.notes)
    made = rehearse("4, 3, 2, 1", official_data)
    people = made.instrument.task("feelings").summarise(structs.replace(made.play_all("feelings"), people=1))
    assert any("'study create --set shuffle=true' prevents" in note for note in people.notes)
    shuffled = rehearse("4, 3, 2, 1", official_data, shuffle=True).summarise("feelings")
    assert shuffled.measure("eq").value < 105
    ours = rehearse("4, 3, 2, 1").summarise("feelings")
    for other, settings in ((shuffled, {"shuffle": True}), (ours, {"shuffle": False})):
        assert not any("without reading" in note for note in other.notes)
        assert unread_caveat(summarised_run("r", "feelings", "m", settings, other)) == ""
    caveat = unread_caveat(summarised_run("r", "feelings", "m", {"shuffle": False}, summary))
    unread = "Writing 4, 3, 2, 1 without reading earns an EQ of 122"
    assert caveat == f"{unread}, so such a score does not show that the subject reads the stories"


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


def test_a_percentile_and_its_interval_lie_between_nothing_and_all(rehearse, official_data):
    summary = rehearse("baseline/random", official_data).summarise("feelings")
    measure = summary.measure("percentile")
    assert 0 <= measure.interval.low <= measure.interval.high <= 1
    assert math.copysign(1, measure.interval.low) == 1


def test_the_share_with_a_less_typical_pattern_has_the_interval_of_the_similarity(rehearse, official_data):
    summary = rehearse("baseline/even", official_data).summarise("feelings")
    measure = summary.measure("similarity-percentile")
    assert measure.value == pytest.approx(0.01) and measure.note.endswith("begins at 1 %, which means 1 % or less")
    assert (measure.interval.low, measure.interval.high) == pytest.approx((0.01, 0.115), abs=0.001)


def test_a_run_without_scores_is_summarised_without_numbers(rehearse):
    summary = rehearse("baseline/even").summarise("feelings", [])
    assert summary.measure("distance").value is None
    assert summary.notes == ("Nothing was scored.",)
