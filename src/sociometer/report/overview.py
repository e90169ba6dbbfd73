"""Figures that no instrument draws: the profile over all, and plain measures where an instrument has none."""

from collections.abc import Sequence

from sociometer.analysis.charts.intervals import Dot, dot_of, interval_chart
from sociometer.analysis.charts.spec import ReferenceLine
from sociometer.analysis.profile import ProfileLine
from sociometer.core.card import Card
from sociometer.core.measure import Figure
from sociometer.core.task import SummarisedRun


def profile_figure(lines: Sequence[ProfileLine]) -> Figure:
    """All primary measures on one scale, from chance to people (to the top where people are unknown)."""
    dots = []
    for line in lines:
        if line.value is None or line.position is None:
            continue
        ends = (line.interval.low, line.interval.high) if line.interval else (None, None)
        low, high = sorted(line.placed(end) or 0.0 for end in ends) if None not in ends else (None, None)  # type: ignore[arg-type]
        label = line.instrument if line.measure_title == line.instrument else f"{line.instrument}: {line.measure_title}"
        goal = "people" if line.human is not None else "top"
        dots.append(Dot(label, line.position, low, high, line.subject, f"0 % is chance, 100 % is {goal}"))
    chart = interval_chart(
        dots,
        title="from chance to people (or the top)",
        references=[ReferenceLine("chance", 0.0), ReferenceLine("people or top", 1.0)],
        group_title="",
    )
    return Figure(
        "profile", "Profile over all instruments", "Each measure from what chance earns to what people earn.", chart
    )


def measures_figure(card: Card, task: str, runs: Sequence[SummarisedRun]) -> Figure:
    """The primary measure of a task, overall and by group, for every subject."""
    primary = next((m for m in card.measures_of(task) if m.primary), None) or card.measures_of(task)[0]
    dots = [
        dot
        for run in runs
        if run.task == task
        for measure in run.summary.measures
        if measure.name == primary.name
        and (dot := dot_of(" ".join(measure.group.values()) or "all", measure, run.subject)) is not None
    ]
    lines = [
        ReferenceLine(name, at)
        for name, at in (("chance", primary.chance), ("people", primary.human))
        if at is not None
    ]
    domain = (primary.low, primary.high) if primary.low is not None and primary.high is not None else None
    chart = interval_chart(dots, title=primary.title, unit=primary.unit, domain=domain, references=lines)
    return Figure(f"{task}-measures", primary.title, "", chart)
