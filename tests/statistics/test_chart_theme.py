"""Colours stand out from the page, and a subject has its own in every chart."""

import re

import pytest
import vl_convert

from sociometer.statistics.chart_theme import CATEGORIES, themed, with_subjects
from sociometer.statistics.charts import CurvePoint, Dot, curve_chart, interval_chart


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
