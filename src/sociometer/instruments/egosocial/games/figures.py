"""The figures of the games: beliefs about the opponent by round, learning curves, style accuracy with its ceiling."""

from collections.abc import Iterator, Sequence

from sociometer.core.measure import Figure
from sociometer.core.task import AnyRun
from sociometer.statistics.charts.curve import CurvePoint, curve_chart
from sociometer.statistics.charts.intervals import Dot, dot_of, interval_chart
from sociometer.statistics.charts.spec import ReferenceLine

OPPONENT = "the opponent's numbers"


def figures(runs: Sequence[AnyRun]) -> Iterator[Figure]:
    """Return the figures of every game that was played."""
    numbers = [run for run in runs if run.task == "numbers"]
    if numbers:
        yield from _by_round(numbers)
        yield from _beliefs(numbers)
    holdem = [run for run in runs if run.task == "holdem"]
    if holdem:
        yield _styles(holdem)
    blackjack = [run for run in runs if run.task == "blackjack"]
    if blackjack:
        yield _blackjack(blackjack)


def _by_round(runs: Sequence[AnyRun]) -> Iterator[Figure]:
    """Accuracy by round over the drawn opponents, beside the learner and a player that repeats the last number."""
    series = [(run.subject, run.summary.series.get("by_round") or []) for run in runs]
    if not any(points for _, points in series):
        return
    right = [CurvePoint(point["round"], point["accuracy"], subject) for subject, points in series for point in points]
    bounds = next(points for _, points in series if points)
    right += [CurvePoint(point["round"], point["ceiling"], "Bayesian learner") for point in bounds]
    right += [CurvePoint(point["round"], point["repeating"], "repeats the last number") for point in bounds]
    chart = curve_chart(right, x_title="round", y_title="right predictions", unit="share", domain=(0, 1))
    caption = "The learner knows the family of opponents and sees the same rounds as the first subject."
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


def _dots(runs: Sequence[AnyRun], measures: Sequence[tuple[str, str]]) -> list[Dot]:
    """Return each measure of each run that has it, in the order of the measures; they are given with their labels."""
    return [
        dot
        for name, label in measures
        for run in runs
        if (measure := run.summary.measure(name)) and (dot := dot_of(label, measure, run.subject))
    ]


def _styles(runs: Sequence[AnyRun]) -> Figure:
    names = (("accuracy", "the subject"), ("naive_observer", "a naive observer"), ("ceiling", "an ideal observer"))
    chance = (ReferenceLine("chance", 0.5),)
    chart = interval_chart(_dots(runs, names), title="accuracy", domain=(0, 1), references=chance)
    caption = (
        "The ideal observer knows all policies and sees the same hands; no subject can expect to do better. The naive "
        "observer knows none: it calls an opponent aggressive if at least half of its decisions are raises."
    )
    return Figure("holdem-styles", "Hold'em: accuracy in naming the opponent's style", caption, chart=chart)


def _blackjack(runs: Sequence[AnyRun]) -> Figure:
    names = (
        ("self_belief", "self-belief"),
        ("external_belief", "external belief"),
        ("exact_fields", "exact fields"),
        ("best_action", "best action"),
    )
    chart = interval_chart(_dots(runs, names), title="share right", domain=(0, 1))
    return Figure("blackjack", "Blackjack: beliefs and actions", chart=chart)
