"""Axes, lines for comparison and names: each label is drawn once, inside the chart, and covers no other."""

import re

import pytest
import vl_convert

from sociometer.statistics.chart_parts import ReferenceLine, place_names
from sociometer.statistics.chart_theme import themed
from sociometer.statistics.charts import CurvePoint, Dot, curve_chart, interval_chart


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


@pytest.mark.parametrize("rounds", [2, 3, 10, 40])
def test_an_axis_of_rounds_names_every_whole_number_at_most_once(rounds):
    chart = curve_chart([CurvePoint(number, 50.0, "a") for number in range(1, rounds + 1)], x_title="round")
    svg = vl_convert.vegalite_to_svg(themed(chart, "light", 600))
    shown = [int(text) for text in chart["layer"][0]["encoding"]["x"]["axis"]["values"]]
    assert shown == sorted(set(shown)) and shown[0] == 1 and len(shown) <= 12
    drawn = re.findall(r">(\d+)</text>", svg.split('aria-label="X-axis')[1].split('aria-label="Y-axis')[0])
    assert [int(text) for text in drawn] == shown


def test_names_of_points_that_are_close_do_not_cover_each_other():
    names = ["claude3.7", "claude3.7-think", "gpt-4.1", "far away"]
    places = place_names(names, [50.0, 50.5, 51.0, 90.0], [60.0, 60.2, 60.1, 20.0])
    assert len({(place.dx, place.dy) for place in places[:3]}) == 3
    assert places[3].align == "right", "a name at the right edge goes to the left of its point"
