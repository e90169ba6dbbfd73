"""Every chart compiles in both themes, names no colour of its own, and keeps the order it was given."""

import json
import re

import pytest
import vl_convert

from sociometer.core.measure import Interval, Measure
from sociometer.statistics.charts import (
    CATEGORIES,
    CurvePoint,
    DensityPoint,
    Dot,
    HeatCell,
    Mark,
    Portion,
    ReferenceLine,
    ScatterPoint,
    contained,
    curve_chart,
    density_chart,
    dot_of,
    heat_map,
    interval_chart,
    place_names,
    scatter_chart,
    stacked_bars,
    themed,
    with_subjects,
)

CHARTS = {
    "intervals": interval_chart(
        [Dot(a, 0.5, 0.4, 0.6, s) for a in ("zeal", "empathy") for s in ("one", "two")],
        domain=(0, 1),
        references=[ReferenceLine("chance", 0.25)],
    ),
    "heat map": heat_map([HeatCell(a, b, 0.5, "*") for a in "xy" for b in "xy"], title="r", diverging=True),
    "curve": curve_chart([CurvePoint(1, 50, "a", 40, 60), CurvePoint(2, 45, "a")], truth=[CurvePoint(1, 50)]),
    "density": density_chart(
        [DensityPoint(90, 0.1), DensityPoint(100, 0.4)], [Mark("m", 95, "m", 90, 99), Mark("printed", 98)]
    ),
    "scatter": scatter_chart(
        [ScatterPoint("m", 1e8, 90), ScatterPoint("n", 1e9, 95)], x_title="size", y_title="EQ", log_x=True, trend=True
    ),
    "scatter with intervals": scatter_chart(
        [ScatterPoint("m", 0.2, 0.9, y_low=0.8, y_high=0.95, x_low=0.1, x_high=0.3), ScatterPoint("n", 0.8, 0.1)],
        x_title="sycophancy",
        y_title="safety",
        x_unit="share",
        y_unit="share",
    ),
    "stacked": stacked_bars([Portion("m", "other", 3), Portion("m", "vague", 5)]),
}


@pytest.mark.parametrize("name", CHARTS)
def test_a_chart_compiles_and_draws_its_marks(name):
    svg = vl_convert.vegalite_to_svg(themed(CHARTS[name], "dark", 500))
    assert svg.count("<path") + svg.count("<text") > 4
    assert "NaN" not in svg
    assert "undefined" not in svg


@pytest.mark.parametrize("name", CHARTS)
def test_colours_come_from_the_theme_alone(name):
    assert not re.search(r"#[0-9a-fA-F]{3,6}\b|\brgb\(", json.dumps(CHARTS[name]))


def test_light_and_dark_differ_and_both_use_their_palette():
    spec = CHARTS["intervals"]
    light, dark = (vl_convert.vegalite_to_svg(themed(spec, mode, 400)) for mode in ("light", "dark"))
    assert CATEGORIES["light"][0] in light and CATEGORIES["light"][0] not in dark
    assert CATEGORIES["dark"][0] in dark


def test_a_theme_leaves_the_chart_it_was_given_alone():
    before = json.dumps(CHARTS["curve"])
    themed(CHARTS["curve"], "dark", 300)
    assert json.dumps(CHARTS["curve"]) == before


def test_labels_keep_the_order_they_came_in():
    svg = vl_convert.vegalite_to_svg(themed(CHARTS["intervals"], "light", 400))
    assert svg.index(">zeal<") < svg.index(">empathy<")


@pytest.mark.parametrize("name", CHARTS)
def test_a_name_is_data_and_never_part_of_an_expression(name):
    odd = "a'b\"c\\u2028\\\\ </script>"
    spec = json.loads(json.dumps(CHARTS[name]).replace('"m"', json.dumps(odd)).replace('"one"', json.dumps(odd)))
    assert vl_convert.vegalite_to_svg(themed(spec, "light", 400)).startswith("<svg")


def test_a_measure_without_interval_becomes_a_dot_that_says_so():
    dot = dot_of("all", Measure("accuracy", 0.5, interval=Interval(None, None)))
    assert dot is not None and dot.low is None and dot.note == "too few for an interval"
    assert dot_of("all", Measure("accuracy", None)) is None


def _contrast(one: str, two: str) -> float:
    def light(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((light(one), light(two)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize(("mode", "paper"), [("light", "#fcfbf8"), ("dark", "#14181c")])
def test_every_colour_stands_out_from_the_page(mode, paper):
    # WCAG 2.1, success criterion 1.4.11: graphics need 3 : 1
    for colour in CATEGORIES[mode]:
        assert _contrast(colour, paper) >= 3.0, colour


def _values(spec, field):
    return [entry[field] for entry in spec["data"]["values"]]


def test_more_series_than_colours_differ_by_shape_and_dash():
    names = [f"s{place}" for place in range(20)]
    curve = curve_chart([CurvePoint(x, place, name) for place, name in enumerate(names) for x in (1, 2)])
    line, points = (layer["encoding"] for layer in curve["layer"])
    shapes = points["shape"]["scale"]["range"]
    assert len({(place % len(CATEGORIES["light"]), shape) for place, shape in enumerate(shapes)}) == 20
    dashes = dict(zip(_values(curve, "series"), _values(curve, "lap"), strict=True))
    assert [dashes[name] for name in names] == [0] * 8 + [1] * 8 + [2] * 4
    assert line["strokeDash"]["field"] == "lap"
    legend = re.findall(r">s\d+<", vl_convert.vegalite_to_svg(themed(curve, "light", 500)))
    assert len(legend) == 20, "each series stands in the legend once"
    few = curve_chart([CurvePoint(1, 50, "a"), CurvePoint(1, 50, "b")])
    assert set(_values(few, "lap")) == {0} and "shape" in few["layer"][1]["encoding"]


def test_groups_of_dots_never_share_colour_and_shape():
    chart = interval_chart([Dot("all", 0.5, group=f"g{place}") for place in range(30)])
    shapes = chart["layer"][-1]["encoding"]["shape"]["scale"]["range"]
    assert len({(place % len(CATEGORIES["light"]), shape) for place, shape in enumerate(shapes)}) == 30


def _text_ends(svg, name):
    """Where the text begins and ends across, by its anchor and the usual width of its letters."""
    for part in re.findall(r"<text[^>]*>[^<]*</text>", svg):
        if part.endswith(f">{name}</text>"):
            place = float(re.search(r"translate\(([-\d.]+),", part)[1])
            share = {"start": 0.0, "middle": 0.5, "end": 1.0}[re.search(r'text-anchor="(\w+)"', part)[1]]
            wide = 6.2 * len(name)
            return place - share * wide, place + (1 - share) * wide, float(re.search(r",([-\d.]+)\)", part)[1])
    raise AssertionError(f"{name} is not drawn")


def test_the_name_of_a_reference_stays_inside_a_narrow_chart_and_clear_of_others():
    chart = interval_chart(
        [Dot("baseline/oracle", 1.0)],
        domain=(0, 1),
        references=[ReferenceLine("people (paper)", 0.9), ReferenceLine("chance", 0.5)],
    )
    narrow, wide = (vl_convert.vegalite_to_svg(themed(chart, "light", width)) for width in (140, 640))
    _, end, high = _text_ends(narrow, "people (paper)")
    assert end <= 140
    assert high < _text_ends(narrow, "chance")[2], "one name stands above the other where they would meet"
    assert _text_ends(wide, "people (paper)")[2] == _text_ends(wide, "chance")[2]


@pytest.mark.parametrize("name", ["intervals", "heat map", "stacked"])
def test_a_height_worked_out_is_the_height_of_the_rows(name):
    spec = {**CHARTS[name], "width": "container"}
    shown = contained(spec)
    assert isinstance(shown["height"], float)
    heights = [
        re.search(r'<svg[^>]*? height="([\d.]+)"', vl_convert.vegalite_to_svg(themed(chart, "light", 500)))[1]
        for chart in (spec, shown)
    ]
    assert heights[0] == heights[1]


@pytest.mark.parametrize("rounds", [2, 3, 10, 40])
def test_an_axis_of_rounds_names_every_whole_number_at_most_once(rounds):
    chart = curve_chart([CurvePoint(number, 50.0, "a") for number in range(1, rounds + 1)], x_title="round")
    svg = vl_convert.vegalite_to_svg(themed(chart, "light", 600))
    shown = [int(text) for text in chart["layer"][0]["encoding"]["x"]["axis"]["values"]]
    assert shown == sorted(set(shown)) and shown[0] == 1 and len(shown) <= 12
    drawn = re.findall(r">(\d+)</text>", svg.split('aria-label="X-axis')[1].split('aria-label="Y-axis')[0])
    assert [int(text) for text in drawn] == shown


def _marks_of(svg, label):
    """Colour and shape of the marks of a label."""
    return set(re.findall(rf'aria-label="[^"]*{label}[^"]*" [^>]*d="([^"]*)" fill="(#[0-9a-f]{{6}})"', svg))


def test_a_subject_has_the_same_colour_and_shape_in_a_chart_of_all_and_of_some():
    everyone = [f"s{place}" for place in range(10)]

    def drawn(names):
        chart = interval_chart([Dot("all", 0.5, group=name) for name in names])
        svg = vl_convert.vegalite_to_svg(themed(with_subjects(chart, everyone), "light", 500))
        return {name: _marks_of(svg, f"group: {name};") for name in names}

    some = drawn(["s9", "s2", "s5"])
    assert all(some.values())
    everything = drawn(everyone)
    assert some == {name: everything[name] for name in some}
    assert len({tuple(marks) for marks in everything.values()}) == 10


def test_subjects_stand_in_the_order_of_the_report_and_others_after_them():
    chart = interval_chart([Dot("b", 0.5), Dot("paper", 0.4, group="p"), Dot("a", 0.3)], quiet="p")
    made = with_subjects(chart, ["a", "b", "c"])
    points = made["layer"][-1]["encoding"]
    assert points["y"]["scale"]["domain"] == ["a", "b", "paper"]
    assert points["color"]["scale"]["domain"] == ["a", "b", "c"], "rows that are subjects have their colours"
    assert chart["layer"][-1]["encoding"]["y"]["scale"]["domain"] == ["b", "paper", "a"], "the chart given is unchanged"
    quiet = next(layer for layer in made["layer"] if layer["mark"].get("style") == "quiet")
    assert "color" not in quiet["encoding"]


def test_layers_that_share_a_channel_agree_on_the_legend():
    dots = [Dot("all", 0.5, 0.4, 0.6, group=name) for name in ("a", "b")]
    made = with_subjects(interval_chart(dots), ["a", "b", "c"])
    legends = [layer["encoding"]["color"]["legend"] for layer in made["layer"]]
    assert legends == [{"values": ["a", "b"]}] * 2


def test_a_dash_follows_the_subject_and_not_its_place_in_the_chart():
    everyone = [f"s{place}" for place in range(10)]
    chart = curve_chart([CurvePoint(1, 50, "s1"), CurvePoint(1, 50, "s9")])
    values = with_subjects(chart, everyone)["data"]["values"]
    assert {value["series"]: value["lap"] for value in values} == {"s1": 0, "s9": 1}


def test_names_of_points_that_are_close_do_not_cover_each_other():
    names = ["claude3.7", "claude3.7-think", "gpt-4.1", "far away"]
    places = place_names(names, [50.0, 50.5, 51.0, 90.0], [60.0, 60.2, 60.1, 20.0])
    assert len({(place.dx, place.dy) for place in places[:3]}) == 3
    assert places[3].align == "right", "a name at the right edge goes to the left of its point"


def test_a_name_crosses_no_whisker_where_there_is_room():
    points = [
        ScatterPoint("a longer name", 0.0, 50.0, y_low=40, y_high=60),
        ScatterPoint("b", 1.2, 45.0, y_low=20, y_high=80),
        ScatterPoint("far", 10.0, 90.0),
    ]
    values = scatter_chart(points, x_title="x", y_title="y")["data"]["values"]
    assert values[0]["name_dy"] != -7 or values[0]["name_align"] != "left", "the whisker of b would cross it"
    assert len(values) == 3


def test_both_whiskers_of_a_point_are_drawn():
    svg = vl_convert.vegalite_to_svg(themed(CHARTS["scatter with intervals"], "light", 500))
    assert svg.count("mark-rule") >= 2
