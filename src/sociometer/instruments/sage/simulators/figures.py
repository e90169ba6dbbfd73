"""Figures of the simulator study: gaps between simulators, variance components, and precision by design."""

from collections.abc import Sequence
from math import sqrt

from sociometer.core.measure import Figure
from sociometer.instruments.sage.simulators import study
from sociometer.instruments.sage.simulators.study import SCENARIO, SIMULATOR, Components, Leniency, designs_of
from sociometer.statistics.charts.curve import CurvePoint, curve_chart
from sociometer.statistics.charts.intervals import Dot, interval_chart
from sociometer.statistics.charts.spec import ReferenceLine

_WIDEST = 50.0
_CURVES = (1, 2, 4, 8)
_ALONG = (10, 25, 50, 75, 100, 125, 150, 175, 200)


def study_figures(
    gaps: Sequence[Leniency], scores: dict[str, dict[str, dict[str, float]]], base: str, found: Components | None
) -> list[Figure]:
    """Every figure that the study has numbers for; differences only, since simulators share no axis."""
    figures = [figure for each in gaps if (figure := _gap_figure(each, scores, base)) is not None]
    if found is not None:
        figures.append(_component_figure(found))
        figures.append(_precision_figure(found))
    return figures


def _gap_figure(each: Leniency, scores: dict[str, dict[str, dict[str, float]]], base: str) -> Figure | None:
    """How much more lenient a simulator is to each subject, with the interval over scenarios."""
    dots = []
    for subject in sorted(each.gaps, key=lambda name: -each.gaps[name]):
        pair = study.paired_subjects(scores[base][subject], scores[each.simulator][subject])
        if pair is not None:
            dots.append(Dot(subject, pair.difference, pair.interval.low, pair.interval.high))
    if not dots:
        return None
    dots.append(Dot("all", each.difference.difference, each.difference.interval.low, each.difference.interval.high))
    chart = interval_chart(
        dots, title=f"points above {base}", unit="points",
        references=(ReferenceLine("equal", 0),),
    )  # fmt: skip
    title = f"Leniency of {each.simulator} compared with {base}, by subject"
    caption = "On the same scenarios; 95 % intervals over scenarios."
    return Figure(f"leniency-{each.simulator}", title, caption, chart=chart)


def _component_figure(found: Components) -> Figure:
    dots = []
    for one in found.components:
        low, high = (None if end is None else sqrt(end) for end in (one.interval.low, one.interval.high))
        dots.append(Dot(one.name, one.deviation, low, high))
    caption = "Standard deviations of one dialogue's final emotion; 95 % intervals of Williams and Tukey, at most 50."
    chart = interval_chart(dots, title="standard deviation, points", unit="points", domain=(0, _WIDEST))
    return Figure("components", "Sources of variation in the final emotion", caption, chart=chart)


def _precision_figure(found: Components) -> Figure:
    counts = _CURVES if found.levels[SIMULATOR] > 1 else (1,)
    points = [
        CurvePoint(each.numbers[SCENARIO], each.half_width, _many(each.numbers[SIMULATOR]))
        for each in designs_of(found, counts, _ALONG)
    ]
    chart = curve_chart(points, x_title="scenarios", y_title="95 % half-width, points", unit="points")
    for layer in chart["layer"]:
        layer["encoding"]["x"] = {**layer["encoding"]["x"], "axis": {"grid": False, "values": list(_ALONG[1:])}}
    caption = (
        "For the difference between two subjects with the same scenarios and simulators, by the estimated components; "
        "the table 'Precision of a difference by design' has the intervals."
    )
    return Figure("precision", "Precision by number of scenarios and simulators", caption, chart=chart)


def _many(count: int) -> str:
    return f"{count} simulator{'s' if count > 1 else ''}"
