"""The figures of number guessing: right predictions by round, and the numbers that subjects expected."""

from collections.abc import Iterator, Sequence

from sociometer.core.measure import Figure
from sociometer.core.task import AnyRun
from sociometer.statistics.charts import CurvePoint, curve_chart

OPPONENT = "the opponent's numbers"


def number_figures(runs: Sequence[AnyRun]) -> Iterator[Figure]:
    """Return the figures of number guessing."""
    numbers = [run for run in runs if run.task == "numbers"]
    if numbers:
        yield from _accuracies(numbers)
        yield from _beliefs(numbers)


def _accuracies(runs: Sequence[AnyRun]) -> Iterator[Figure]:
    """Accuracy by round over the drawn opponents, beside a player that repeats the last number."""
    series = [(run.subject, run.summary.series.get("by_round") or []) for run in runs]
    if not any(points for _, points in series):
        return
    right = [CurvePoint(point["round"], point["accuracy"], subject) for subject, points in series for point in points]
    bounds = next(points for _, points in series if points)
    right += [CurvePoint(point["round"], point["repeating"], "repeats the last number") for point in bounds]
    chart = curve_chart(right, x_title="round", y_title="right predictions", unit="share", domain=(0, 1))
    caption = "The player that repeats the last number sees the same rounds as the first subject."
    yield Figure("number-rounds", "Right predictions by round, drawn opponents", caption, chart=chart)


def _beliefs(runs: Sequence[AnyRun]) -> Iterator[Figure]:
    """Each opponent's numbers with what every subject expected (the paper's Figure 4); the first match of a kind."""
    traces = [(run.subject, trace) for run in runs for trace in run.summary.series.get("matches", [])]
    firsts: dict[str, str] = {}
    for _, trace in traces:
        firsts.setdefault(trace["opponent"], trace.get("match", ""))
    for opponent, match in firsts.items():
        points: list[CurvePoint] = []
        for subject, trace in traces:
            if trace["opponent"] != opponent or trace.get("match", "") != match:
                continue
            for number, (guess, actual) in enumerate(zip(trace["predictions"], trace["numbers"], strict=True), 1):
                if guess is not None:
                    points.append(CurvePoint(number, guess, subject))
                if subject == traces[0][0]:
                    points.append(CurvePoint(number, actual, OPPONENT))
        if any(point.series != OPPONENT for point in points):
            chart = curve_chart(points, x_title="round", y_title="number", domain=(0, 100))
            caption = "The numbers that each subject expected, and those that the opponent chose."
            if opponent not in ("level-1", "level-2"):
                caption += (
                    " This opponent's numbers can differ between subjects; the chart shows those of the first subject."
                )
            title = f"Expected numbers, opponent {opponent.replace('-', ' ')}"
            yield Figure(f"beliefs-{opponent}", title, caption, chart=chart)
