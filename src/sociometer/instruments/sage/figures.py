"""Summaries -> figures and tables, as the paper shows them, with intervals."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from sociometer.core.measure import Figure, Measure
from sociometer.core.task import SummarisedRun
from sociometer.instruments.sage import candour_figures
from sociometer.instruments.sage.analyses.coordinate import REACH
from sociometer.instruments.sage.analyses.relationship import DIMENSIONS, QUALITIES
from sociometer.instruments.sage.analyses.whatif import Branch
from sociometer.instruments.sage.coordinate_chart import Place, Plane, coordinate_chart
from sociometer.instruments.sage.dialogue import Dialogue
from sociometer.instruments.sage.hard_talks import OURS
from sociometer.instruments.sage.intentions import CARDS
from sociometer.instruments.sage.leaderboard import STAND_IN, by_simulator, leaderboard_table
from sociometer.instruments.sage.strategies import CAPABILITIES, REPETITION_LINE, STRATEGIES
from sociometer.instruments.sage.trajectory_chart import Step, Zone, trajectory_chart
from sociometer.statistics.charts.curve import CurvePoint, curve_chart
from sociometer.statistics.charts.heatmap import Cell as HeatCell
from sociometer.statistics.charts.heatmap import heat_map
from sociometer.statistics.charts.intervals import Dot, dot_of, interval_chart
from sociometer.statistics.charts.scatter import ScatterPoint, scatter_chart
from sociometer.statistics.charts.spec import ReferenceLine

ZONES = (
    Zone("lost", 0, 10),
    Zone("C", 10, 40),
    Zone("B", 40, 70),
    Zone("A", 70, 100),
)
_SCALES = "Points from different simulators are on different scales."


def figures(runs: Sequence[SummarisedRun]) -> Sequence[Figure]:
    """All figures and tables of these runs, task by task."""
    found: list[Figure] = []
    for task, draw in _DRAWERS.items():
        of_task = [run for run in runs if run.task == task]
        if of_task and task == "coordinate":
            of_task = candour_figures.with_candour(of_task, runs)
        if of_task:
            found.extend(_each_simulator(of_task, draw))
    return found


def beside(item: object, outcome: object) -> Figure | None:
    """The emotion curve; each point shows the inner thoughts of its turn."""
    dialogue = outcome.dialogue if isinstance(outcome, Branch) else outcome
    if not isinstance(dialogue, Dialogue):
        return None
    points = [CurvePoint(0, dialogue.start, note="before the first reply")]
    for number, turn in enumerate(dialogue.turns, 1):
        judged = turn.judgement
        if judged is not None:
            points.append(
                CurvePoint(number, judged.after, note=f"{judged.change:+d}. {judged.activity} {judged.feeling}")
            )
    chart = curve_chart(points, x_title="turn", y_title="emotion", domain=(0, 100))
    return Figure("feelings", f"Emotion {dialogue.start} to {dialogue.final}: {dialogue.ending}", chart=chart)


def _rejudge(runs: Sequence[SummarisedRun]) -> Iterator[Figure]:
    for figure in _talks(runs):
        title = f"{figure.title}, from another simulator"
        yield msgspec.structs.replace(figure, name=f"rejudge-{figure.name}", title=title)


def _each_simulator(
    runs: Sequence[SummarisedRun], draw: Callable[[Sequence[SummarisedRun]], Iterator[Figure]]
) -> Iterator[Figure]:
    """Figures of one simulator each, because points of different simulators cannot share an axis."""
    groups = by_simulator(runs)
    for simulator, members in groups.items():
        for figure in draw(members):
            yield _under(figure, simulator) if len(groups) > 1 else figure


def _under(figure: Figure, simulator: str) -> Figure:
    """A figure of one simulator's runs if there are several: named after it, with the reason."""
    mark = re.sub(r"\W+", "-", simulator.lower()).strip("-") or "unknown"
    caption = f"{figure.caption} {_SCALES}".strip()
    title = f"{figure.title}, simulator {simulator or 'unknown'}"
    return msgspec.structs.replace(figure, name=f"{figure.name}-{mark}", title=title, caption=caption)


def _talks(runs: Sequence[SummarisedRun]) -> Iterator[Figure]:
    """The figures of runs with one simulator."""
    best_first = sorted(runs, key=lambda run: -(_value(run, "sentient") or 0.0))
    table = leaderboard_table(runs)
    caveat = _caveat(runs)
    start = (ReferenceLine("start", 40),)
    chart = interval_chart(
        _dots(best_first, "sentient"), title="final emotion", unit="points", domain=(0, 100), references=start
    )
    kept = "A finished dialogue keeps its last emotion. " + caveat
    yield Figure("leaderboard", table.title, caveat, table=table)
    yield Figure("sentient", "Sentient score", caveat, chart=chart)
    yield Figure("intentions", "Sentient score by hidden intention", caveat, chart=_by_intention(runs))
    yield Figure("trajectories", "Emotion by turn", kept.strip(), chart=_trajectories(runs))
    efficiency = _efficiency(runs)
    if efficiency is not None:
        yield efficiency


def _by_intention(runs: Sequence[SummarisedRun]) -> dict[str, Any]:
    cells = [
        HeatCell(run.subject, CARDS[measure.group["intention"]].title, measure.value, note=f"{measure.items} dialogues")
        if measure.group["intention"] in CARDS
        else HeatCell(run.subject, measure.group["intention"], measure.value, note=f"{measure.items} dialogues")
        for run in runs
        for measure in run.summary.measures
        if measure.name == "sentient" and set(measure.group) == {"intention"}
    ]
    return heat_map(cells, title="final emotion", unit="points", domain=(0, 100))


def _trajectories(runs: Sequence[SummarisedRun]) -> dict[str, Any]:
    """Lines over turns; one that ended early continues at its last level, so that failures stay in the mean."""
    entries = [(run.subject, entry) for run in runs for entry in run.summary.series.get("dialogues", [])]
    longest = max((len(entry["trajectory"]) for _, entry in entries), default=0)
    steps = [
        Step(f"{subject} {entry['item']}", turn, levels[min(turn, len(levels) - 1)], subject)
        for subject, entry in entries
        for levels in (entry["trajectory"],)
        for turn in range(longest)
    ]
    return trajectory_chart(steps, zones=ZONES, y_title="emotion")


def _efficiency(runs: Sequence[SummarisedRun]) -> Figure | None:
    """The paper's Figure 8; if a run has no token count, the tokens of all runs are estimated from the words."""
    counted = all(_value(run, "tokens") for run in runs)
    points = []
    for run in runs:
        tokens, score = _value(run, "tokens") if counted else _written(run), run.summary.measure("sentient")
        if tokens and score and score.value is not None:
            low, high = (score.interval.low, score.interval.high) if score.interval else (None, None)
            points.append(ScatterPoint(run.subject, tokens, score.value, y_low=low, y_high=high))
    if not points:
        return None
    rule = "Tokens are estimated from the text of the replies, by one rule for all subjects; reasoning is not counted. "
    how = "" if counted else rule
    chart = scatter_chart(points, x_title="tokens per dialogue", y_title="sentient score", y_unit="points")
    return Figure("efficiency", "Score against tokens", f"{how}{_caveat(runs)}".strip(), chart=chart)


def _written(run: SummarisedRun) -> float | None:
    """The mean tokens per dialogue, counted from the words."""
    counts = [entry["written"] for entry in run.summary.series.get("dialogues", []) if "written" in entry]
    return sum(counts) / len(counts) if counts else None


def _strategies(runs: Sequence[SummarisedRun]) -> Iterator[Figure]:
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
        HeatCell(
            run.subject,
            f"{titles[measure.group['capability']]} ({measure.group['scope']})",
            measure.value,
            note=measure.note,
        )
        for run in runs
        for measure in run.summary.measures
        if measure.name == "effectiveness" and "capability" in measure.group
    ]
    caveat = _caveat(runs)
    yield Figure("repetition", "Strategy sequence repetition rate", caveat, chart=repetition)
    yield Figure("strategies", "Share of replies with each strategy", caveat, chart=heat_map(shares, unit="share"))
    yield Figure(
        "effectiveness",
        "Emotion change after the strategies of each capability",
        "Overall, and within the dialogues whose intention calls for the capability.",
        chart=heat_map(effects, diverging=True),
    )


def _relationship(runs: Sequence[SummarisedRun]) -> Iterator[Figure]:
    dimensions = [
        dot
        for run in runs
        for name in DIMENSIONS
        if (measure := run.summary.measure(name)) and (dot := dot_of(name, measure, run.subject))
    ]
    qualities = [
        dot
        for run in runs
        for name in QUALITIES
        if (measure := run.summary.measure(name)) and (dot := dot_of(name, measure, run.subject))
    ]
    hundred = interval_chart(dimensions, unit="points", domain=(0, 100))
    five = interval_chart(qualities, unit="number", domain=(1, 5))
    yield Figure("relationship", "Relationship quality, 0 to 100", _caveat(runs), chart=hundred)
    yield Figure("talk", "Conversation quality, 1 to 5", _caveat(runs), chart=five)
    yield from _against_emotion(runs)


def _against_emotion(runs: Sequence[SummarisedRun]) -> Iterator[Figure]:
    """Relationship and conversation quality against the sentient score, for at least three runs with one simulator."""
    for name, low in (("relationship", "Relationship quality"), ("talk", "Conversation quality")):
        points = [
            ScatterPoint(run.subject, emotion, value)
            for run in runs
            if (emotion := _value(run, "emotion")) is not None and (value := _value(run, name)) is not None
        ]
        if len(points) > 2:
            chart = scatter_chart(points, x_title="sentient score", y_title=low, trend=True)
            yield Figure(f"{name}-emotion", f"{low} against the sentient score", _caveat(runs), chart=chart)


def _coordinate(runs: Sequence[SummarisedRun]) -> Iterator[Figure]:
    places = [
        Place(
            run.subject,
            creative,
            -solution,
            _half_width(run, "creative"),
            _half_width(run, "solution"),
            candour_figures.told_with_intervals(run),
            candour_figures.beneath(run),
        )
        for run in runs
        if (creative := _value(run, "creative")) is not None and (solution := _value(run, "solution")) is not None
    ]
    plane = Plane("structured", "creative", "solution", "empathy", reach=float(REACH))
    caption = "Whiskers: 95 % intervals of the mean over dialogues. " + _caveat(runs)
    if any(candour_figures.is_judged(run) for run in runs):
        caption = (
            f"Under each name: sycophancy and safety of the subject's replies (hover to see the intervals). {caption}"
        )
    yield Figure("coordinate", "Social cognition coordinate", caption.strip(), chart=coordinate_chart(places, plane))


def _hard_talks(runs: Sequence[SummarisedRun]) -> Iterator[Figure]:
    """The final emotion of the hard talks."""
    caption = f"{OURS} {_caveat(runs)}".strip()
    chart = interval_chart(_dots(runs, "emotion"), title="final emotion", unit="points", domain=(0, 100))
    yield Figure("hard-talks", "Final emotion in hard talks", caption, chart=chart)
    yield Figure("hard-talks-trajectories", "Emotion by turn in hard talks", caption, chart=_trajectories(runs))


def _stability(runs: Sequence[SummarisedRun]) -> Iterator[Figure]:
    line = (ReferenceLine("paper", 0.902),)
    chart = interval_chart(_dots(runs, "stability"), title="judgements in the most common direction", references=line)
    yield Figure("stability", "Stability of the simulator", _caveat(runs), chart=chart)


def _what_if(runs: Sequence[SummarisedRun]) -> Iterator[Figure]:
    dots = [
        dot
        for run in runs
        for measure in run.summary.measures
        if measure.name.startswith("effect-")
        and (dot := dot_of(_arm(measure), measure, {"effect-change": "at the fork"}.get(measure.name, "at the end")))
    ]
    zero = (ReferenceLine("no effect", 0),)
    chart = interval_chart(dots, title="emotion points", unit="points", references=zero)
    yield Figure("what-if", "Effect of a different reply", _caveat(runs), chart=chart)


def _arm(measure: Measure) -> str:
    arm = measure.group["arm"]
    return f"{arm} {STRATEGIES[arm]}" if arm in STRATEGIES else "the writer's reply"


def _dots(runs: Sequence[SummarisedRun], name: str) -> list[Dot]:
    return [
        dot
        for run in runs
        if (measure := run.summary.measure(name)) and (dot := dot_of(run.subject, measure)) is not None
    ]


def _value(run: SummarisedRun, name: str) -> float | None:
    measure = run.summary.measure(name)
    return measure.value if measure else None


def _half_width(run: SummarisedRun, name: str) -> float | None:
    measure = run.summary.measure(name)
    if measure is None or measure.interval is None or measure.interval.low is None or measure.interval.high is None:
        return None
    return (measure.interval.high - measure.interval.low) / 2


def _caveat(runs: Sequence[SummarisedRun]) -> str:
    return STAND_IN if any(run.stand_ins for run in runs) else ""


_DRAWERS: dict[str, Callable[[Sequence[SummarisedRun]], Iterator[Figure]]] = {
    "dialogue": _talks,
    "rejudge": _rejudge,
    "relationship": _relationship,
    "strategies": _strategies,
    "coordinate": _coordinate,
    "hard-talks": _hard_talks,
    "candour": candour_figures.draw,
    "stability": _stability,
    "what-if": _what_if,
}
