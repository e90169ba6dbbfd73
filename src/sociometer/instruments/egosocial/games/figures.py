"""The games' figures: beliefs about the opponent round by round, learning curves, styles named beside the ceiling."""

from collections.abc import Iterator, Sequence

from sociometer.analysis.charts.curve import CurvePoint, curve_chart
from sociometer.analysis.charts.intervals import Dot, dot_of, interval_chart
from sociometer.analysis.charts.spec import ReferenceLine
from sociometer.core.measure import Figure
from sociometer.core.task import SummarisedRun


def figures(runs: Sequence[SummarisedRun]) -> Iterator[Figure]:
    """Return the figures of every game that was played."""
    numbers = [run for run in runs if run.task == "numbers"]
    if numbers:
        yield from _beliefs(numbers)
        yield _learning(numbers)
    holdem = [run for run in runs if run.task == "holdem"]
    if holdem:
        yield _styles(holdem)
        yield from _by_hands(holdem)
    blackjack = [run for run in runs if run.task == "blackjack"]
    if blackjack:
        yield _blackjack(blackjack)


def _beliefs(runs: Sequence[SummarisedRun]) -> Iterator[Figure]:
    """Each opponent's numbers with what every subject expected (the paper's Figure 4, for every level)."""
    traces = [(run.subject, trace) for run in runs for trace in run.summary.series.get("matches", [])]
    for opponent in dict.fromkeys(trace["opponent"] for _, trace in traces):
        points, truth = [], []
        for subject, trace in traces:
            if trace["opponent"] != opponent:
                continue
            for number, (guess, actual) in enumerate(zip(trace["predictions"], trace["numbers"], strict=True), 1):
                if guess is not None:
                    points.append(CurvePoint(number, guess, subject))
                if subject == traces[0][0]:
                    truth.append(CurvePoint(number, actual))
        if points:
            chart = curve_chart(points, x_title="round", y_title="number", domain=(0, 100), truth=truth)
            caption = "Lines: what each subject expected. Dashed: what the opponent chose."
            if opponent not in ("level-1", "level-2"):
                caption += " This opponent's numbers may differ between subjects; the first subject's are drawn."
            yield Figure(f"beliefs-{opponent}", f"Expected numbers against {opponent}", caption, chart=chart)


def _learning(runs: Sequence[SummarisedRun]) -> Figure:
    points = [
        CurvePoint(point["round"], point["error"], f"{run.subject}, {point['opponent']}")
        for run in runs
        for point in run.summary.series.get("curves", [])
        if point["error"] is not None
    ]
    chart = curve_chart(points, x_title="round", y_title="mean absolute error")
    return Figure("number-learning", "How far predictions miss, round by round", chart=chart)


def _styles(runs: Sequence[SummarisedRun]) -> Figure:
    dots: list[Dot] = []
    for run in runs:
        for name, label in (("accuracy", "named"), ("ceiling", "ideal observer")):
            measure = run.summary.measure(name)
            dot = dot_of(run.subject, measure, label) if measure else None
            dots += [dot] if dot else []
    chart = interval_chart(
        dots, title="accuracy", domain=(0, 1), references=(ReferenceLine("chance", 0.5),), group_title="who"
    )
    caption = "The ideal observer knows both policies and saw the same hands: what the evidence allowed."
    return Figure("holdem-styles", "Hold'em: the opponent's style, named", caption, chart=chart)


def _by_hands(runs: Sequence[SummarisedRun]) -> Iterator[Figure]:
    points = []
    for run in runs:
        series = run.summary.series.get("by_hands", [])
        if len(series) > 1:
            points += [CurvePoint(point["hands"], point["accuracy"], run.subject) for point in series]
            points += [CurvePoint(point["hands"], point["ceiling"], f"ideal, {run.subject}") for point in series]
    if points:
        chart = curve_chart(points, x_title="hands seen", y_title="accuracy", unit="share", domain=(0, 1))
        yield Figure("holdem-by-hands", "Hold'em: accuracy by hands seen", chart=chart)


def _blackjack(runs: Sequence[SummarisedRun]) -> Figure:
    names = (("self_belief", "self-belief"), ("external_belief", "external belief"), ("best_action", "best action"))
    dots: list[Dot] = []
    for run in runs:
        for name, label in names:
            measure = run.summary.measure(name)
            dot = dot_of(run.subject, measure, label) if measure else None
            dots += [dot] if dot else []
    chart = interval_chart(dots, title="share right", domain=(0, 1), group_title="what")
    return Figure("blackjack", "Blackjack: beliefs and actions", chart=chart)
