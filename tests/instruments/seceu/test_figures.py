"""Figures draw, place the subject among people and published models, and say what the hill is."""

import json
import re
from functools import cache

import pytest
import vl_convert
from msgspec import structs

from fake_runs import summarised_run
from sociometer.core.measure import Summary
from sociometer.instruments.seceu.family_tree import published_subjects, tree_figures
from sociometer.instruments.seceu.figures import beside, figures
from sociometer.instruments.seceu.norm import eq_density, similarity_density
from sociometer.statistics.chart_theme import themed


@cache
def picture(chart):
    """The drawing of a chart in JSON; several tests look at the same."""
    return vl_convert.vegalite_to_svg(themed(json.loads(chart), "light", 600))


def summarised(rehearse, subject, data=None, **settings):
    made = rehearse(subject, data, **settings)
    name = subject if isinstance(subject, str) else "speaker"
    return summarised_run(name[-4:], "feelings", name, settings, made.summarise("feelings"))


def test_every_chart_draws_on_bundled_items(rehearse):
    made = figures([summarised(rehearse, "baseline/even"), summarised(rehearse, "baseline/random", prompting="all")])
    assert {"distances", "results-1"} <= {figure.name for figure in made}
    for figure in made:
        if figure.chart is not None:
            assert "<svg" in picture(json.dumps(figure.chart))


def test_even_allocations_of_different_items_have_lines_of_different_names(rehearse):
    whole, part = (summarised(rehearse, name) for name in ("baseline/even", "baseline/random"))
    summary = structs.replace(part.summary, series={**part.summary.series, "hedger": {"distance": 2.5}})
    assert "even allocation, " not in json.dumps(figures([whole])[0].chart)
    drawn = json.dumps(figures([whole, structs.replace(part, summary=summary)])[0].chart)
    assert "even allocation, 2.50" in drawn and len(set(re.findall(r"even allocation, [\d.]+", drawn))) == 2


def test_subjects_share_one_table_and_the_lines_for_comparison_stand_once(rehearse):
    made = figures([summarised(rehearse, "baseline/even"), summarised(rehearse, "baseline/random")])
    table = next(figure.table for figure in made if figure.name == "results-1")
    assert [row[0] for row in table.rows].count("for comparison") == 3
    assert {row[0] for row in table.rows} == {"baseline/even", "baseline/random", "for comparison"}


def test_the_subject_stands_among_people_and_published_models(rehearse, official_data):
    made = {figure.name: figure for figure in figures([summarised(rehearse, "baseline/even", official_data)])}
    for name in ("eq-among-people", "similarity-among-people"):
        svg = picture(json.dumps(made[name].chart))
        assert "baseline/even" in svg
        assert "GPT-4" in svg
        assert "even allocation" in svg
        assert "not a histogram" in made[name].caption


def test_a_picture_alone_says_what_the_hill_is_who_failed_and_who_was_picked(rehearse, official_data):
    def in_two_shots(request):
        return "4, 3, 2, 1" if "\nQ" in request.messages[-1].content else "10, 0, 0, 0"

    runs = [
        summarised(rehearse, "baseline/even", official_data),
        summarised(rehearse, "baseline/refuse", official_data),
        summarised(rehearse, in_two_shots, official_data, prompting="best"),
    ]
    made = {figure.name: figure for figure in figures(runs)}
    for name in ("eq-among-people", "similarity-among-people"):
        heading = " ".join(made[name].chart["title"]["text"])
        assert "estimated from percentiles, not counted from people" in heading
        assert "baseline/refuse is not shown (FAILED: 40 of 40 answers contain no allocation)." in heading
    heading = " ".join(made["eq-among-people"].chart["title"]["text"])
    assert "speaker is shown with the best of 5 prompting methods, which overstates its score." in heading
    assert "picked as best)" in picture(json.dumps(made["eq-among-people"].chart))


def test_the_hills_are_densities_of_everyone(rehearse, official_data):
    norm = summarised(rehearse, "baseline/even", official_data).summary.series["norm"]
    for hill in (eq_density(norm), similarity_density(norm)):
        step = hill[1].x - hill[0].x
        assert sum(point.density for point in hill) * step == pytest.approx(1, abs=0.03)
        assert all(point.density >= 0 for point in hill)


def test_nothing_is_drawn_of_nothing(rehearse):
    assert figures([]) == ()
    empty = summarised_run("x", "feelings", "nobody", {}, Summary(()))
    assert figures([empty])[0].name == "distances"


def test_a_transcript_has_its_points_beside_it(rehearse):
    run = rehearse("40, 30, 10, 20").play_all("feelings")
    item, outcome, _ = next(iter(run.scored()))
    table = beside(item, outcome).table
    assert table.rows[0][:3] == (item.options[0], 40.0, 4.0)
    assert "scaled" in table.note


def test_a_kind_keeps_its_colour_where_nobody_was_measured(rehearse, official_data):
    def colours(subject):
        runs = [summarised(rehearse, subject, official_data)]
        chart = next(figure.chart for figure in figures(runs) if figure.name == "eq-among-people")
        return re.findall(r'label: GPT-4;[^>]*fill="(#[0-9a-f]{6})"', picture(json.dumps(chart)))

    found = colours("baseline/even")
    assert found and found == colours("baseline/refuse")


def test_the_tree_of_models_has_whole_years_a_point_for_unknown_sizes_and_a_branch_for_each_family():
    (figure,) = tree_figures(published_subjects(), on_norm=True)
    nodes = {node["label"]: node for node in figure.chart["data"]["values"]}
    layers = figure.chart["layer"]
    assert layers[0]["mark"]["type"] == "line" and layers[0]["encoding"]["detail"] == {"field": "family"}
    assert layers[1]["encoding"]["x"]["axis"]["format"] == "d", "2,020.0 is no year"
    assert nodes["GPT-4"]["size"] > 0 and "size unknown" in nodes["GPT-4"]["note"]
    assert nodes["LLaMA"]["value"] is None and nodes["LLaMA"]["family"] == nodes["Alpaca"]["family"]
    assert "Without a launch date, so not drawn: Curie, Babbage" in figure.caption
