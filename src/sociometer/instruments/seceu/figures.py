"""Summary -> figures and tables, as the paper shows them."""

from collections.abc import Sequence
from pathlib import Path
from textwrap import wrap
from typing import Any

from sociometer.core.measure import Cell, Figure, Measure, Table
from sociometer.core.task import AnyRun
from sociometer.core.words import grouped
from sociometer.instruments._tables import Figures
from sociometer.instruments.seceu.items import Scenario
from sociometer.instruments.seceu.method_result import COMPARED
from sociometer.instruments.seceu.norm import (
    EQ_WINDOW,
    PUBLISHED_NORM,
    SIMILARITY_WINDOW,
    Norm,
    eq_density,
    published_rows,
    similarity_density,
)
from sociometer.instruments.seceu.play import Allocated
from sociometer.statistics.chart_parts import ReferenceLine
from sociometer.statistics.chart_theme import Spec
from sociometer.statistics.charts import Dot, Mark, density_chart, dots_of, interval_chart

FIGURES = Figures(Path(__file__).with_name("figures.toml"))
LINE = "for comparison"
DENSITY_LABEL = "Grey curve: estimated from percentiles, not counted from people."
"""Shown in the chart itself, so that an exported image has its explanation."""
COUNTED_LABEL = "Grey curve: the distribution of the {people} people of the norm, smoothed."
COUNTED_NOTE = "The grey curve is the distribution of the {people} people of the norm, smoothed over ±{window}."
GREY = "Grey squares are the models of the paper and, for comparison, answers given without reading."
LINES = "Grey squares are answers given without reading, for comparison."
WIDEST_LINE = 95
DENSITY_NOTE = (
    "The grey curve is not a histogram of people: it is the slope of the percentile curve, smoothed over "
    "±{window}, because people's individual scores were not released."
)


def figures(runs: Sequence[AnyRun]) -> Sequence[Figure]:
    """Return the results, and the subject among people (Figs. 2 and 3)."""
    if not runs:
        return ()
    made = [_distances(runs)]
    normed = [run for run in runs if "norm" in run.summary.series]
    for name in dict.fromkeys(run.summary.series["norm"]["name"] for run in normed):
        members = [run for run in normed if run.summary.series["norm"]["name"] == name]
        made += [_among_people(members, name), _patterns(members, name)]
    made += [figure for name in ("results", "readings") for figure in _joined(runs, name)]
    return made


def beside(item: object, outcome: object) -> Figure | None:
    """Return the feelings with the points as written and as repaired, and the standard."""
    if not isinstance(item, Scenario) or not isinstance(outcome, Allocated):
        return None
    written: tuple[Cell, ...] = outcome.written or ("",) * len(item.options)
    rows = tuple(
        zip(item.options, written, (round(points, 2) for points in outcome.points), item.standard, strict=True)
    )
    note = f"read by rule '{outcome.rule}', repair '{outcome.repair}'" if outcome.written else "no points could be read"
    table = Table("feelings", "Points for each feeling", ("feeling", "written", "points", "key"), rows, note)
    return Figure("feelings", table.title, note, table=table)


def _joined(runs: Sequence[AnyRun], name: str) -> list[Figure]:
    """The tables of one name with the same columns, as one table with the subject first in each row."""
    tables = ((run.subject, table) for run in runs for table in run.summary.tables if table.name == name)
    kinds = grouped((table.columns, (subject, table)) for subject, table in tables)
    figures: list[Figure] = []
    for columns, members in kinds.items():
        # lines for comparison have no subject and appear once
        named = (((LINE if row[0] in COMPARED else who), *row) for who, table in members for row in table.rows)
        # runs of earlier versions have stored fewer decimals and no units
        found = {tuple(round(cell, 2) if isinstance(cell, float) else cell for cell in row): row for row in named}
        rows = tuple(sorted(found.values(), key=lambda row: row[0] == LINE))
        first = max((table for _, table in members), key=lambda table: len(table.units))
        table = Table(name, first.title, ("subject", *columns), rows, first.note, first.units)
        figures.append(Figure(f"{name}-{len(figures) + 1}", first.title, first.note, table=table))
    return figures


def _distances(runs: Sequence[AnyRun]) -> Figure:
    """Mean distance of every subject, by prompting method if there are several."""
    several = any("prompting" in measure.group for run in runs for measure in run.summary.measures)
    dots = [dot for run in runs for dot in _dots(run, several)]
    hedgers = {round(run.summary.series["hedger"]["distance"], 3) for run in runs if "hedger" in run.summary.series}
    references = [ReferenceLine("even allocation" + f", {at:.2f}" * (len(hedgers) > 1), at) for at in sorted(hedgers)]
    whose = "people's standard scores" if any("norm" in run.summary.series for run in runs) else "the bundled key"
    chart = interval_chart(dots, title="distance", unit="number", references=references)
    return FIGURES("distances", chart=chart, whose=whose)


def _dots(run: AnyRun, several: bool) -> list[Dot]:
    """The distances of a run: one row per subject, or per prompting method if there are several."""
    measures = [measure for measure in run.summary.measures if measure.name == "distance"]
    by_method = [measure for measure in measures if "prompting" in measure.group]
    chosen = by_method or [measure for measure in measures if not measure.group]
    return dots_of(
        (measure.group.get("prompting", "all"), measure, run.subject) if several else (run.subject, measure, "")
        for measure in chosen
    )


def _among_people(runs: Sequence[AnyRun], name: str) -> Figure:
    """Fig. 2: the EQs of subjects and of the published models in the distribution of people's."""
    norm = runs[0].summary.series["norm"]
    marks = _marks(runs, name, "eq", "percent")
    chart = _headed(density_chart(eq_density(norm), marks, title="EQ"), runs, "eq")
    density = _density_note(norm, f"{EQ_WINDOW:g} EQ points")
    return FIGURES("eq-among-people", chart=chart, norm=name, density=density, grey=_grey(norm))


def _patterns(runs: Sequence[AnyRun], name: str) -> Figure:
    """Fig. 3: pattern similarities in the distribution of people's."""
    norm = runs[0].summary.series["norm"]
    marks = _marks(runs, name, "similarity", "similarity_percent")
    title = "similarity to people's pattern (r)"
    chart = density_chart(similarity_density(norm), marks, title=title, unit="number")
    beyond = "" if norm.get("counted") else " Beyond the printed pairs it extends to four standard deviations."
    chart, density = _headed(chart, runs, "similarity"), _density_note(norm, f"{SIMILARITY_WINDOW:g}")
    return FIGURES("similarity-among-people", chart=chart, norm=name, density=density, beyond=beyond, grey=_grey(norm))


def _density_note(norm: dict[str, Any], window: str) -> str:
    """What the grey curve is: counted from the people of a norm, or estimated from published percentiles."""
    if norm.get("counted"):
        return COUNTED_NOTE.format(people=norm["people"], window=window)
    return DENSITY_NOTE.format(window=window)


def _grey(norm: dict[str, Any]) -> str:
    return LINES if norm.get("counted") else GREY


def _marks(runs: Sequence[AnyRun], norm: str, value: str, percent: str) -> list[Mark]:
    """The subjects, the even allocation and, on the published norm, the published models."""
    marks = [mark for run in runs if (mark := _mark(run, run.summary.find(value))) is not None]
    for name, said in (("hedger", "even allocation"), ("by_place", "4, 3, 2, 1 unread")):
        found = runs[0].summary.series.get(name, {}).get(value)
        if found is not None:
            marks.append(Mark(said, found, note="without reading"))
    if norm == PUBLISHED_NORM:
        marks += [
            Mark(row["model"], float(row[value]), note=f"above {row[percent]} % of people")
            for row in published_rows("table_1")
            if row[value]
        ]
    return marks


def _headed(chart: Spec, runs: Sequence[AnyRun], measure: str) -> Spec:
    """The chart with a heading for exported images: what the curve is, who was picked, and who is not shown."""
    norm = runs[0].summary.series["norm"]
    said = [COUNTED_LABEL.format(people=norm["people"]) if norm.get("counted") else DENSITY_LABEL]
    for run in runs:
        found = run.summary.find(measure)
        if found is not None and found.value is None:
            said.append(f"{_who(run)} is not shown ({found.note}).")
        elif _picked(run):
            said.append(
                f"{run.subject} is shown with the best of {_ways(run)} prompting methods, which overstates its score."
            )
    text = [part for line in said for part in wrap(line, WIDEST_LINE)]
    return {"title": {"text": text, "fontSize": 12, "fontWeight": "normal"}, **chart}


def _ways(run: AnyRun) -> int:
    """The number of prompting methods in the run."""
    return len(run.summary.series.get("patterns", {}))


def _picked(run: AnyRun) -> bool:
    return _ways(run) > 1 and run.settings.get("prompting") == "best"


def _who(run: AnyRun) -> str:
    """The subject, with its prompting method if the run has several."""
    if _ways(run) < 2:
        return run.subject
    return f"{run.subject} ({run.summary.series['prompting']}{', picked as best' if _picked(run) else ''})"


def _mark(run: AnyRun, measure: Measure | None) -> Mark | None:
    if measure is None or measure.value is None:
        return None
    low, high = (measure.interval.low, measure.interval.high) if measure.interval else (None, None)
    return Mark(_who(run), measure.value, run.subject, low, high, measure.note)


def spread_figure(norm: Norm) -> Figure:
    """Fig. S1: people's distances on each item, mean and standard deviation."""
    dots = [
        Dot(scenario, mean, max(0.0, mean - norm.deviations[scenario]), mean + norm.deviations[scenario])
        for scenario, mean in norm.template.items()
        if scenario in norm.deviations
    ]
    chart = interval_chart(dots, title="distance to the key (M ± SD)", unit="number")
    return FIGURES("item-spreads", chart=chart, norm=norm.name, people=norm.people)
