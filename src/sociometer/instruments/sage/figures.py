"""Summaries -> figures and tables, as the paper shows them, with intervals."""

import re
from collections.abc import Callable, Iterator, Sequence
from statistics import fmean
from textwrap import wrap
from typing import Any

from msgspec import structs

from sociometer.core.measure import Figure, Measure
from sociometer.core.task import AnyRun
from sociometer.core.words import grouped
from sociometer.instruments.sage.analyses.coordinate import REACH
from sociometer.instruments.sage.analyses.relationship import DIMENSIONS, QUALITIES
from sociometer.instruments.sage.dialogue import REHEARSAL, Dialogue
from sociometer.instruments.sage.judges.strategies import CAPABILITIES, REPETITION_LINE, STRATEGIES
from sociometer.instruments.sage.leaderboard import by_simulator, ends, one_each, value_of
from sociometer.instruments.sage.person.emotion import CARDS
from sociometer.statistics.chart_parts import ReferenceLine
from sociometer.statistics.charts import (
    CurvePoint,
    Dot,
    HeatCell,
    ScatterPoint,
    curve_chart,
    dot_of,
    dots_of,
    heat_map,
    interval_chart,
    scatter_chart,
)
from sociometer.statistics.correlation import few_families, pearson
from sociometer.statistics.formatting import estimate
from sociometer.statistics.model_kinds import family_from_name

_LETTERS = 96
"""The length of a line above a chart."""


def _scattered(subject: str, x: Measure, y: Measure) -> ScatterPoint | None:
    """Two measures of a subject as a point with both intervals; None without values."""
    if x.value is None or y.value is None:
        return None
    (left, right), (low, high) = ends(x.interval), ends(y.interval)
    return ScatterPoint(subject, x.value, y.value, y_low=low, y_high=high, x_low=left, x_high=right)


def figures(runs: Sequence[AnyRun]) -> Sequence[Figure]:
    """All figures and tables of these runs, task by task; a rehearsal has none."""
    runs = [run for run in runs if not ((main := run.summary.find("sentient")) and main.note == REHEARSAL)]
    of_task = grouped((run.task, run) for run in runs)
    return [each for task, draw in _DRAWERS.items() for each in _each_simulator(of_task.get(task, []), draw)]


def beside(item: object, outcome: object) -> Figure | None:
    """The emotion curve; each point shows the inner thoughts of its turn."""
    if not isinstance(outcome, Dialogue) or outcome.rehearsed:
        return None
    points = [CurvePoint(0, outcome.start, note="before the first reply")]
    for place, turn in enumerate(outcome.turns, 1):
        judged = turn.judgement
        if judged is not None:
            points.append(
                CurvePoint(place, judged.after, note=f"{judged.change:+d}. {judged.activity} {judged.feeling}")
            )
    chart = curve_chart(points, x_title="turn", y_title="emotion", domain=(0, 100))
    return Figure("feelings", f"Emotion {outcome.start} to {outcome.final}: {outcome.ending}", chart=chart)


def _rejudge(runs: Sequence[AnyRun]) -> Iterator[Figure]:
    for figure in _talks(runs):
        title = f"{figure.title}, from another simulator"
        yield structs.replace(figure, name=f"rejudge-{figure.name}", title=title)


def _each_simulator(runs: Sequence[AnyRun], draw: Callable[[Sequence[AnyRun]], Iterator[Figure]]) -> Iterator[Figure]:
    """Figures of one simulator each, because points of different simulators cannot share an axis."""
    groups = by_simulator(runs)
    for simulator, members in groups.items():
        if len(groups) == 1:
            yield from draw(members)
            continue
        mark = re.sub(r"\W+", "-", simulator.lower()).strip("-") or "unknown"
        for figure in draw(members):
            title = f"{figure.title}, simulator {simulator or 'unknown'}"
            caption = f"{figure.caption} Points from different simulators are on different scales.".strip()
            yield structs.replace(figure, name=f"{figure.name}-{mark}", title=title, caption=caption)


def _talks(runs: Sequence[AnyRun]) -> Iterator[Figure]:
    """The figures of runs with one simulator."""
    best_first = sorted(runs, key=lambda run: -(value_of(run, "sentient") or 0.0))
    start = (ReferenceLine("start", 40),)
    chart = interval_chart(
        _dots(best_first, "sentient"), title="final emotion", unit="points", domain=(0, 100), references=start
    )
    kept = "A finished dialogue keeps its last emotion."
    yield Figure("sentient", "Sentient score", chart=chart)
    yield Figure("intentions", "Sentient score by hidden intention", chart=_by_intention(runs))
    yield Figure("trajectories", "Emotion by turn", kept, chart=_trajectories(runs))
    efficiency = _efficiency(runs)
    if efficiency is not None:
        yield efficiency


def _by_intention(runs: Sequence[AnyRun]) -> dict[str, Any]:
    titles: dict[str, str] = {card.key: card.title for card in CARDS.values()}
    cells = [
        HeatCell(run.subject, titles.get(named, named), measure.value, note=f"{measure.items} dialogues")
        for run in runs
        for measure in run.summary.measures
        if measure.name == "sentient" and set(measure.group) == {"intention"} and (named := measure.group["intention"])
    ]
    return heat_map(cells, title="final emotion", unit="points", domain=(0, 100))


def _trajectories(runs: Sequence[AnyRun]) -> dict[str, Any]:
    """Mean emotion by turn; a dialogue that ended early continues at its last level, so that failures stay in it."""
    points = []
    for run in runs:
        levels = [entry["trajectory"] for entry in run.summary.series.get("dialogues", [])]
        for turn in range(max(map(len, levels), default=0)):
            mean = fmean(each[min(turn, len(each) - 1)] for each in levels)
            points.append(CurvePoint(turn, mean, run.subject))
    return curve_chart(points, x_title="turn", y_title="emotion", domain=(0, 100))


def _efficiency(runs: Sequence[AnyRun]) -> Figure | None:
    """The paper's Figure 8; if a run has no token count, the tokens of all runs are estimated from the words."""
    counted = all(value_of(run, "tokens") for run in runs)
    points = []
    for run in runs:
        written = [entry["written"] for entry in run.summary.series.get("dialogues", []) if "written" in entry]
        tokens = value_of(run, "tokens") if counted else fmean(written or [0])
        score = run.summary.find("sentient")
        if tokens and score and score.value is not None:
            low, high = ends(score.interval)
            points.append(ScatterPoint(run.subject, tokens, score.value, y_low=low, y_high=high))
    if not points:
        return None
    rule = "Tokens are estimated from the text of the replies, by one rule for all subjects; reasoning is not counted."
    chart = scatter_chart(points, x_title="tokens per dialogue", y_title="sentient score", y_unit="points")
    return Figure("efficiency", "Score against tokens", "" if counted else rule, chart=chart)


def _strategies(runs: Sequence[AnyRun]) -> Iterator[Figure]:
    line = (ReferenceLine("the paper's threshold", REPETITION_LINE),)
    repetition = interval_chart(_dots(runs, "repetition"), title="repetition rate", unit="number", references=line)
    shares = [
        HeatCell(f"{measure.group['strategy']} {STRATEGIES[measure.group['strategy']]}", run.subject, measure.value)
        for run in runs
        for measure in run.summary.measures
        if measure.name == "share"
    ]
    titles = {capability.key: capability.title for capability in CAPABILITIES}
    effects = [
        (dot, measure.items)
        for run in runs
        for measure in run.summary.measures
        if measure.name == "effectiveness"
        and "capability" in measure.group
        and (dot := dot_of(f"{titles[measure.group['capability']]} ({measure.group['scope']})", measure, run.subject))
    ]
    counts = sorted(items for _, items in effects)
    dialogues = (
        f" Each from {counts[0]} to {counts[-1]} dialogues; the data of the chart have the counts." if counts else ""
    )
    yield Figure("repetition", "Strategy sequence repetition rate", chart=repetition)
    yield Figure("strategies", "Share of replies with each strategy", chart=heat_map(shares, unit="share"))
    yield Figure(
        "effectiveness",
        "Emotion change after the strategies of each capability",
        "Overall, and within the dialogues whose intention calls for the capability (task). Whiskers: 95 % intervals"
        f" over scenarios.{dialogues}",
        chart=interval_chart(
            [dot for dot, _ in effects], title="emotion points", unit="points", references=(ReferenceLine("none", 0),)
        ),
    )


def _relationship(runs: Sequence[AnyRun]) -> Iterator[Figure]:
    dimensions, qualities = (
        dots_of((name, run.summary.find(name), run.subject) for run in runs for name in names)
        for names in (DIMENSIONS, QUALITIES)
    )
    hundred = interval_chart(dimensions, unit="points", domain=(0, 100))
    five = interval_chart(qualities, unit="number", domain=(1, 5))
    yield Figure("relationship", "Relationship quality, 0 to 100", chart=hundred)
    yield Figure("talk", "Conversation quality, 1 to 5", chart=five)
    yield from _against_emotion(runs)


def _against_emotion(runs: Sequence[AnyRun]) -> Iterator[Figure]:
    """The paper's Figures 3 and 4: a judged quality against the sentient score, for at least three models."""
    for name, title in (("relationship", "Relationship quality"), ("talk", "Conversation quality")):
        measured = [(run.subject, run.summary.find("emotion"), run.summary.find(name)) for run in one_each(runs)]
        found = [_scattered(subject, one, two) for subject, one, two in measured if one and two]
        points = [point for point in found if point]
        if len(points) < 3:
            continue
        try:
            names = [each.label for each in points]
            families = [family_from_name(name) for name in names]
            r = pearson([each.x for each in points], [each.y for each in points], names, families)
            shown, why = estimate(r.r, "number", r.interval), few_families(r.interval)
            said = f"Pearson's r = {shown} over {r.n} models{why and f' ({why})'}."
        except ValueError:
            said = f"{len(points)} models that do not differ: no correlation."
        chart = scatter_chart(points, x_title="sentient score", y_title=title.lower(), trend="r =" in said)
        yield Figure(f"{name}-emotion", f"{title} against the sentient score", said, chart=chart)


def _coordinate(runs: Sequence[AnyRun]) -> Iterator[Figure]:
    """The paper's plane: its vertical axis runs from solutions to empathy, against the sign of the measure."""
    points = []
    for run in runs:
        creative, solution = run.summary.find("creative"), run.summary.find("solution")
        if creative and solution and solution.value is not None:
            up = solution.interval.scaled(-1) if solution.interval else None
            empathy = structs.replace(solution, value=-solution.value, interval=up)
            points.append(_scattered(run.subject, creative, empathy))
    chart = scatter_chart(
        [point for point in points if point],
        x_title=f"structured (−{REACH}) to creative ({REACH})",
        y_title=f"solution (−{REACH}) to empathy ({REACH})",
    )
    caption = "Whiskers: 95 % intervals of the mean over dialogues."
    yield Figure("coordinate", "Social cognition coordinate", caption, chart=chart)


def _stability(runs: Sequence[AnyRun]) -> Iterator[Figure]:
    line = (ReferenceLine("paper", 0.902),)
    chart = interval_chart(_dots(runs, "stability"), title="judgements in the most common direction", references=line)
    yield Figure("stability", "Stability of the simulator", chart=chart)


def _dots(runs: Sequence[AnyRun], name: str) -> list[Dot]:
    return dots_of((run.subject, run.summary.find(name), "") for run in runs)


def captioned(figure: Figure, caveats: Sequence[str]) -> Figure:
    """A figure for a file of its own: its title, its caption and the caveats are part of the chart."""
    if figure.chart is None:
        return figure
    said = " ".join((figure.caption, *caveats))
    lines = {"text": wrap(figure.title, _LETTERS), "subtitle": wrap(said, _LETTERS), "anchor": "start"}
    return structs.replace(figure, chart={**figure.chart, "title": lines})


_DRAWERS: dict[str, Callable[[Sequence[AnyRun]], Iterator[Figure]]] = {
    "dialogue": _talks, "rejudge": _rejudge, "relationship": _relationship, "strategies": _strategies,
    "coordinate": _coordinate, "stability": _stability,
}  # fmt: skip
