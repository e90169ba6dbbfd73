"""Every chart compiles in both themes, names no colour of its own, and keeps the order it was given."""

import json
import re
from xml.etree import ElementTree

import pytest
import vl_convert

from sociometer.core.measure import Interval, Measure
from sociometer.statistics.chart_parts import ReferenceLine
from sociometer.statistics.chart_theme import CATEGORIES, contained, themed
from sociometer.statistics.charts import (
    CurvePoint,
    DensityPoint,
    Dot,
    HeatCell,
    Mark,
    Portion,
    ScatterPoint,
    curve_chart,
    density_chart,
    dot_of,
    heat_map,
    interval_chart,
    scatter_chart,
    stacked_bars,
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
    "histogram": density_chart(
        [DensityPoint(1, 4), DensityPoint(2, 7), DensityPoint(3, 7)], [Mark("mean", 1.9, "", 1.6, 2.2)], steps=True
    ),
    "scatter": scatter_chart(
        [ScatterPoint("m", 1e8, 90), ScatterPoint("n", 1e9, 95)], x_title="size", y_title="EQ", log_x=True, trend=True
    ),
    "scatter with intervals": scatter_chart(
        [ScatterPoint("m", 0.2, 0.9, y_low=0.8, y_high=0.95, x_low=0.1, x_high=0.3), ScatterPoint("n", 0.8, 0.1)],
        x_title="structured",
        y_title="empathy",
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


def test_one_point_of_a_curve_has_its_interval_and_its_line_for_comparison():
    chart = curve_chart([CurvePoint(1000, -10, "a", -42, 23)], truth=[CurvePoint(1000, 0)])
    drawn = vl_convert.vegalite_to_svg(themed(chart, "light", 500))
    lines = [(float(x), float(y)) for x, y in re.findall(r'<line [^>]*x2="([-\d.]+)" y2="([-\d.]+)"', drawn)]
    assert any(abs(x) > 300 and not y for x, y in lines), "the dashed line crosses the chart"
    assert {layer["mark"]["type"] for layer in chart["layer"]} == {"rule", "line", "point"}


def test_each_note_of_a_curve_is_written_at_its_points_in_its_style():
    points = [CurvePoint(1, -9, note="worse"), CurvePoint(2, 8, note="better"), CurvePoint(3, 1, note="other")]
    chart = curve_chart(points, noted={"worse": "bad", "better": "ink"})
    words = [layer["mark"] for layer in chart["layer"] if layer["mark"]["type"] == "text"]
    assert [(one["text"], one["style"]) for one in words] == [("worse", "bad"), ("better", "ink")]
    assert words[0]["align"] == {"expr": "datum.x == 1 ? 'left' : 'center'"}, "not on the numbers of the axis"
    assert words[0]["dy"] > 0 > words[1]["dy"], "a word is on the far side of its point from zero"


def test_groups_of_dots_never_share_colour_and_shape():
    chart = interval_chart([Dot("all", 0.5, group=f"g{place}") for place in range(30)])
    shapes = chart["layer"][-1]["encoding"]["shape"]["scale"]["range"]
    assert len({(place % len(CATEGORIES["light"]), shape) for place, shape in enumerate(shapes)}) == 30


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


def _texts(element, across=0.0, down=0.0):
    """Every text of a picture that is not turned, with its box as a browser would draw it, a little too narrow."""
    for x, y in re.findall(r"translate\(([-\d.]+)[ ,]([-\d.]+)\)", element.get("transform") or ""):
        across, down = across + float(x), down + float(y)
    if element.tag.endswith("text") and element.text and "rotate" not in (element.get("transform") or ""):
        wide = 5.2 * len(element.text)
        left = across - {"end": wide, "middle": wide / 2}.get(element.get("text-anchor"), 0)
        yield element.text, (left, down - 9, left + wide, down)
    for part in element:
        yield from _texts(part, across, down)


@pytest.mark.parametrize("width", [400, 560, 640])
def test_names_in_a_picture_are_inside_it_and_do_not_cover_each_other(width):
    values = {
        "random walk, English": -0.05,
        "random walk, Chinese": 0.0,
        "people, English": 0.05,
        "people, Chinese": 0.1,
    }
    dots = [
        Dot(language, place / 20, group=f"a model of the paper {place}") for place in range(10) for language in "AB"
    ]
    lines = [ReferenceLine(name, value) for name, value in values.items()]
    chart = interval_chart(dots, title="difference", domain=(-1, 1), references=lines)
    root = ElementTree.fromstring(vl_convert.vegalite_to_svg(themed(contained(chart), width=width)))
    texts = [*_texts(root)]
    assert {name for name, _ in texts} >= {*values, "a model of the paper 9"}
    for place, (name, (left, top, right, bottom)) in enumerate(texts):
        assert left >= 0 and right <= float(root.get("width")) and top >= 0, name
        for other, box in texts[place + 1 :]:
            assert right <= box[0] or box[2] <= left or bottom <= box[1] or box[3] <= top, (name, other)


@pytest.mark.parametrize("kind", ["rows", "people"])
def test_names_of_rows_that_are_too_long_for_a_phone_are_in_lines_with_room_for_them(kind):
    names = [
        "openrouter/anthropic/claude-sonnet-4.5-thinking",
        "名字很长的一个中文模型名字很长",
        'it\'s "\\d" + ' * 4,
        "m",
    ]
    marks = [Mark(name, place, name) for place, name in enumerate(names)]
    rows = interval_chart([Dot(name, 0.5) for name in names])
    chart = rows if kind == "rows" else density_chart([DensityPoint(1, 4), DensityPoint(2, 7)], marks, steps=True)
    root = ElementTree.fromstring(vl_convert.vegalite_to_svg(themed(contained(chart), width=340)))
    texts = [[*text.itertext()] for text in root.iter("{http://www.w3.org/2000/svg}text")]
    lines = {re.sub(r"\s", "", "".join(parts)): len(parts) for parts in texts}
    assert [lines.get(re.sub(r"\s", "", name)) for name in names] == [4, 2, 3, 1], lines
    assert float(root.get("height")) > 4 * 14 * len(names), "each row has room for four lines"
