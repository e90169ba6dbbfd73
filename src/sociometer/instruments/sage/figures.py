"""Summaries -> figures and tables, as the paper shows them, with intervals."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from sociometer.analysis.charts.coordinate import Place, Plane, coordinate_chart
from sociometer.analysis.charts.curve import CurvePoint, curve_chart
from sociometer.analysis.charts.heatmap import Cell as HeatCell
from sociometer.analysis.charts.heatmap import heat_map
from sociometer.analysis.charts.intervals import Dot, dot_of, interval_chart
from sociometer.analysis.charts.scatter import ScatterPoint, scatter_chart
from sociometer.analysis.charts.spec import ReferenceLine
from sociometer.analysis.charts.trajectories import Step, Zone, trajectory_chart
from sociometer.core.measure import Cell, Figure, Measure, Table
from sociometer.core.task import SummarisedRun
from sociometer.instruments.sage.analyses.coordinate import REACH
from sociometer.instruments.sage.analyses.relationship import DIMENSIONS, QUALITIES
from sociometer.instruments.sage.analyses.whatif import Branch
from sociometer.instruments.sage.dialogue import Dialogue
from sociometer.instruments.sage.intentions import CARDS
from sociometer.instruments.sage.strategies import CAPABILITIES, REPETITION_LINE, STRATEGIES

ZONES = (
    Zone("lost", 0, 10),
    Zone("C", 10, 40),
    Zone("B", 40, 70),
    Zone("A", 70, 100),
)
_STAND_IN = "Simulated by rules, a stand-in: no leaderboard may use these numbers."


def figures(runs: Sequence[SummarisedRun]) -> Sequence[Figure]:
    """Everything that can be shown of these runs, task by task."""
    found: list[Figure] = []
    for task, draw in _DRAWERS.items():
        of_task = [run for run in runs if run.task == task]
        if of_task:
            found.extend(figure for figure in draw(of_task) if figure is not None)
    return found


def beside(item: object, outcome: object) -> Figure | None:
    """The curve of the feeling; each point carries the inner thoughts of its turn."""
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


def told_apart(runs: Sequence[SummarisedRun]) -> list[SummarisedRun]:
    """The runs, each subject named with its simulator where that was not the same for all."""
    simulators = [
        ", ".join(sorted({str(entry.get("simulator", "")) for entry in run.summary.series.get("dialogues", [])} - {""}))
        for run in runs
    ]
    if len(set(simulators)) < 2:
        return list(runs)
    return [
        msgspec.structs.replace(run, subject=f"{run.subject} · {simulator}") if simulator else run
        for run, simulator in zip(runs, simulators, strict=True)
    ]


def leaderboard_table(runs: Sequence[SummarisedRun]) -> Table:
    """Score, success and failure with intervals, best first; a run with a stand-in has no rank."""
    rows: list[tuple[Cell, ...]] = []
    place = 0
    for run in sorted(runs, key=lambda each: (bool(each.stand_ins), -(_value(each, "sentient") or 0.0))):
        score = run.summary.measure("sentient")
        if score is None:
            continue
        place += not run.stand_ins
        low, high = (score.interval.low, score.interval.high) if score.interval else (None, None)
        more = [_value(run, name) for name in ("success", "failure", "tokens")]
        caveat = "stand-in: not ranked" if run.stand_ins else ""
        rank = None if run.stand_ins else place
        rows.append((rank, run.subject, score.value, low, high, *more, score.items, score.errors, caveat))
    columns = (
        "rank", "subject", "score", "from", "to", "success", "failure", "tokens a dialogue", "dialogues", "errors",
        "caveat",
    )  # fmt: skip
    return Table("leaderboard", "Sentient leaderboard", columns, tuple(rows), note=_caveat(runs))


def _dialogue(runs: Sequence[SummarisedRun]) -> list[Figure | None]:
    named = told_apart(runs)
    best_first = sorted(named, key=lambda run: -(_value(run, "sentient") or 0.0))
    table = leaderboard_table(named)
    caveat = _caveat(runs)
    start = (ReferenceLine("start", 40),)
    chart = interval_chart(
        _dots(best_first, "sentient"), title="final emotion", unit="points", domain=(0, 100), references=start
    )
    kept = "A dialogue that is over keeps its last feeling. " + caveat
    return [
        Figure("leaderboard", table.title, caveat, table=table),
        Figure("sentient", "Sentient score", caveat, chart=chart),
        Figure("intentions", "Sentient score by hidden intention", caveat, chart=_by_intention(named)),
        Figure("trajectories", "How the feeling moves", kept.strip(), chart=_trajectories(named)),
        _efficiency(named),
    ]


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
    """Lines over turns; one that ended early is drawn on at its level, or the lost would drop out of the mean."""
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
    points = []
    for run in runs:
        tokens, score = _value(run, "tokens"), run.summary.measure("sentient")
        if tokens and score and score.value is not None:
            low, high = (score.interval.low, score.interval.high) if score.interval else (None, None)
            points.append(ScatterPoint(run.subject, tokens, score.value, y_low=low, y_high=high))
    if not points:
        return None
    chart = scatter_chart(points, x_title="tokens a dialogue", y_title="sentient score", y_unit="points")
    return Figure("efficiency", "Score against tokens", _caveat(runs), chart=chart)


def _strategies(runs: Sequence[SummarisedRun]) -> list[Figure | None]:
    line = (ReferenceLine("the paper's line", REPETITION_LINE),)
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
    return [
        Figure("repetition", "Strategy sequence repetition rate", _caveat(runs), chart=repetition),
        Figure(
            "strategies", "Share of replies with each strategy", _caveat(runs), chart=heat_map(shares, unit="share")
        ),
        Figure(
            "effectiveness",
            "Change of feeling after the strategies of each capability",
            "Overall, and within the dialogues whose hidden intention calls for the capability.",
            chart=heat_map(effects, diverging=True),
        ),
    ]


def _relationship(runs: Sequence[SummarisedRun]) -> list[Figure | None]:
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
    found: list[Figure | None] = [
        Figure("relationship", "Relationship quality, 0 to 100", _caveat(runs), chart=hundred),
        Figure("talk", "Talk quality, 1 to 5", _caveat(runs), chart=five),
    ]
    for name, low in (("relationship", "Relationship quality"), ("talk", "Talk quality")):
        points = [
            ScatterPoint(run.subject, emotion, value)
            for run in runs
            if (emotion := _value(run, "emotion")) is not None and (value := _value(run, name)) is not None
        ]
        if len(points) > 2:
            chart = scatter_chart(points, x_title="sentient score", y_title=low, trend=True)
            found.append(Figure(f"{name}-emotion", f"{low} against the sentient score", _caveat(runs), chart=chart))
    return found


def _coordinate(runs: Sequence[SummarisedRun]) -> list[Figure | None]:
    places = [
        Place(run.subject, creative, -solution, _value(run, "creative-spread"), _value(run, "solution-spread"))
        for run in runs
        if (creative := _value(run, "creative")) is not None and (solution := _value(run, "solution")) is not None
    ]
    plane = Plane("structured", "creative", "solution", "empathy", reach=float(REACH))
    caption = "Whiskers: one standard deviation over dialogues. " + _caveat(runs)
    return [Figure("coordinate", "Social cognition coordinate", caption.strip(), chart=coordinate_chart(places, plane))]


def _stability(runs: Sequence[SummarisedRun]) -> list[Figure | None]:
    line = (ReferenceLine("paper", 0.902),)
    chart = interval_chart(_dots(runs, "stability"), title="judgements in the commonest direction", references=line)
    return [Figure("stability", "Stability of the simulator", _caveat(runs), chart=chart)]


def _what_if(runs: Sequence[SummarisedRun]) -> list[Figure | None]:
    dots = [
        dot
        for run in runs
        for measure in run.summary.measures
        if measure.name.startswith("effect-")
        and (dot := dot_of(_arm(measure), measure, {"effect-change": "at the fork"}.get(measure.name, "at the end")))
    ]
    zero = (ReferenceLine("no effect", 0),)
    chart = interval_chart(dots, title="points of emotion", unit="points", references=zero)
    return [Figure("what-if", "Effect of another reply", _caveat(runs), chart=chart)]


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


def _caveat(runs: Sequence[SummarisedRun]) -> str:
    return _STAND_IN if any(run.stand_ins for run in runs) else ""


_DRAWERS: dict[str, Callable[[Sequence[SummarisedRun]], list[Figure | None]]] = {
    "dialogue": _dialogue,
    "rejudge": _dialogue,
    "relationship": _relationship,
    "strategies": _strategies,
    "coordinate": _coordinate,
    "stability": _stability,
    "what-if": _what_if,
}
