"""Prompting methods are compared on the stories that all of them share."""

import pytest

from fake_runs import summarised_run


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


def test_best_prefers_a_completed_test_to_a_failed_one(rehearse):
    def say(request):
        return "0, 0, 0, 10" if request.sampling.temperature else "no idea"

    assert rehearse(say, prompting="best").summarise("feelings").series["prompting"] == "direct"
