"""Training progress while it runs, and the training curve as a table and a figure."""

from collections.abc import Sequence
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from sociometer.core.measure import Figure, Table
from sociometer.instruments.egosocial.games.holdem.training import Point
from sociometer.statistics.charts.curve import CurvePoint, curve_chart


class Progress:
    """A bar on the error stream with the latest measured point next to it."""

    def __init__(self, rounds: int, done: int = 0) -> None:
        self._words = ""
        self._bar = Bar(
            TextColumn("training"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.description}"),
            console=Console(stderr=True),
        )
        self._task = self._bar.add_task("", total=rounds, completed=done)

    def __enter__(self) -> "Progress":
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def step(self, done: int, point: Point | None) -> None:
        """Show that a round is done and the latest measurement, if there is one."""
        if point is not None:
            self._words = f"chips {point.chips_per_hand:+.2f} raise {point.raise_rate:.2f} fold {point.fold_rate:.2f}"
        self._bar.update(self._task, completed=done, description=self._words)


def table(curve: Sequence[Point]) -> Table:
    """Return the curve as a table."""
    rows = tuple((p.round, p.hands, p.loss, p.chips_per_hand, *(rate for _, rate in _rates(p))) for p in curve)
    columns = ("round", "hands", "loss", "chips a hand", "raise", "call", "check", "fold")
    return Table("training", "Training, measured against the random player", columns, rows)


def _rates(point: Point) -> tuple[tuple[str, float], ...]:
    return (
        ("raise", point.raise_rate),
        ("call", point.call_rate),
        ("check", point.check_rate),
        ("fold", point.fold_rate),
    )


def figure(curve: Sequence[Point], style: str) -> Figure:
    """Return the curve of habits as a figure."""
    points = [CurvePoint(point.hands, rate, name) for point in curve for name, rate in _rates(point)]
    chart = curve_chart(points, x_title="hands played", y_title="share of decisions", unit="share", domain=(0, 1))
    return Figure("training", f"Training a {style} opponent", chart=chart)
