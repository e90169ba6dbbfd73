"""Figures of a pack carry their caveats and say which values have no interval."""

from sociometer.core.measure import Figure
from sociometer.reporting.paper_figures import marked, without_intervals
from sociometer.reporting.plot import drawn
from sociometer.statistics.charts import Dot, Portion, interval_chart, stacked_bars


def chart(*dots):
    return interval_chart(list(dots), title="accuracy")


def test_values_without_an_interval_are_named():
    found = without_intervals(chart(Dot("all", 0.5, 0.4, 0.6, "owl"), Dot("all", 0.2, group="emu")))
    assert found == "Shown without an interval: emu, all."


def test_a_chart_with_all_intervals_says_nothing_and_one_without_any_says_so():
    assert without_intervals(chart(Dot("all", 0.5, 0.4, 0.6))) == ""
    assert (
        without_intervals(stacked_bars([Portion("owl", "friendly", 0.5)], title="share")) == "No intervals are shown."
    )


def test_many_values_without_an_interval_are_counted():
    dots = [Dot("a", 0.5, 0.4, 0.6), *(Dot(f"b{place}", 0.5) for place in range(9))]
    assert without_intervals(chart(*dots)).endswith("b0, b1, b2, b3 and 5 more.")


def test_the_remarks_are_in_the_svg_and_in_the_pdf():
    spec = marked(chart(Dot("all", 0.5, 0.4, 0.6)), "Accuracy", ["owl: a stand-in."])
    figure = Figure("x", "Accuracy", chart=spec)
    assert "owl: a stand-in." in drawn(figure, "svg").decode()
    assert drawn(figure, "pdf").startswith(b"%PDF-")


def test_a_picture_has_its_title_and_below_it_the_words_of_the_chart_and_the_remarks():
    spec = {**chart(Dot("all", 0.5, 0.4, 0.6)), "title": {"text": ["Grey curve: estimated."], "fontSize": 12}}
    svg = drawn(Figure("x", "Accuracy", chart=marked(spec, "Accuracy", ["a remark"])), "svg").decode()
    assert svg.index("Accuracy") < svg.index("Grey curve: estimated.") < svg.index("a remark")
