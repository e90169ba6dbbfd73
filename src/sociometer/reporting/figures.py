"""Figures of the report itself: the profile over all instruments, and measures of an instrument that draws none."""

from collections.abc import Sequence
from textwrap import wrap

from sociometer.core.card import Card
from sociometer.core.measure import Figure
from sociometer.core.task import SummarisedRun
from sociometer.results.profile import ProfileLine
from sociometer.statistics.charts.intervals import Dot, dot_of, interval_chart
from sociometer.statistics.charts.spec import ReferenceLine
from sociometer.statistics.formatting import group_text

LETTERS = 100
"""The maximum length of a line above a chart, in letters."""


def profile_figure(lines: Sequence[ProfileLine]) -> Figure:
    """All primary measures on one scale, from chance to people, or to the top if the value of people is unknown."""
    placed = [line for line in lines if line.value is not None and line.position is not None]
    dots, goals = [], set()
    for line in placed:
        ends = (line.interval.low, line.interval.high) if line.interval else (None, None)
        low, high = sorted(line.placed(end) or 0.0 for end in ends) if None not in ends else (None, None)  # type: ignore[arg-type]
        goal = "people" if line.human is not None else "the top"
        goals.add(goal)
        dots.append(
            Dot(f"to {goal} · {_name(line)}", line.position or 0.0, low, high, line.subject, f"100 % is {goal}")
        )
    chart = interval_chart(
        dots,
        title=f"from chance to {' or '.join(sorted(goals))}",
        references=[ReferenceLine("chance", 0.0), ReferenceLine(" or ".join(sorted(goals)) or "people", 1.0)],
        group_title="",
    )
    caption = (
        "Each measure on a scale from chance (0 %) to people, or to the best possible score where that is unknown."
    )
    left = dict.fromkeys(_name(line) for line in lines if line.value is not None and line.position is None)
    if left:
        without = f"Not shown, because the chance score is unknown: {', '.join(left)}."
        caption += f" {without}"
        chart["title"] = {"text": wrap(without, LETTERS), "fontSize": 11, "fontWeight": "normal", "anchor": "start"}
    return Figure("profile", "Profile over all instruments", caption, chart)


def _name(line: ProfileLine) -> str:
    return line.instrument if line.measure_title == line.instrument else f"{line.instrument}: {line.measure_title}"


def measures_figure(card: Card, task: str, runs: Sequence[SummarisedRun]) -> Figure:
    """The primary measure of a task, overall and by group, for every subject."""
    primary = next((m for m in card.measures_of(task) if m.primary), None) or card.measures_of(task)[0]
    dots = [
        dot
        for run in runs
        if run.task == task
        for measure in run.summary.measures
        if measure.name == primary.name
        and (dot := dot_of(group_text(measure.group) or "all", measure, run.subject)) is not None
    ]
    lines = [
        ReferenceLine(name, at)
        for name, at in (("chance", primary.chance), ("people", primary.human))
        if at is not None
    ]
    domain = (primary.low, primary.high) if primary.low is not None and primary.high is not None else None
    chart = interval_chart(dots, title=primary.title, unit=primary.unit, domain=domain, references=lines)
    return Figure(f"{task}-measures", primary.title, "", chart)
