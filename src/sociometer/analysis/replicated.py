"""Whether a printed figure lies within the interval of a replication."""

from collections.abc import Sequence

from msgspec import Struct

from sociometer.analysis.formatting import interval_text, number, plain_number
from sociometer.core.card import MeasureCard
from sociometer.core.measure import Measure, Table
from sociometer.core.replication import PrintedFigure

NOTE = (
    "'within' means that the printed figure, as rounded, lies in our 95 % interval. The interval treats"
    " the paper's items as a sample, so it is wide: a figure within it may still differ; one outside is unlikely to"
    " differ by chance alone."
)


class ReplicatedFigure(Struct, frozen=True):
    """A printed figure next to the replication; `within` is None if the replication has no interval."""

    row: str
    model: str
    about: str
    figure: PrintedFigure
    card: MeasureCard
    measure: Measure
    run: str
    within: bool | None


def replicated(
    row: str, model: str, about: str, figure: PrintedFigure, card: MeasureCard, measure: Measure, run: str
) -> ReplicatedFigure:
    """The figure with its verdict."""
    return ReplicatedFigure(row, model, about, figure, card, measure, run, is_within(figure, measure))


def is_within(figure: PrintedFigure, measure: Measure) -> bool | None:
    """Whether some value that is printed like the figure lies within the interval; None without an interval."""
    interval = measure.interval
    if interval is None or interval.low is None or interval.high is None:
        return None
    half = figure.step / 2
    return interval.low - half <= figure.value <= interval.high + half


def replication_sentence(instrument: str, found: Sequence[ReplicatedFigure]) -> str:
    """How many printed figures lie within the intervals, and which do not."""
    judged = [one for one in found if one.within is not None]
    if not judged:
        return f"{instrument}: nothing was replicated."
    inside = [one for one in judged if one.within]
    said = f"{instrument}: {len(inside)} of {len(judged)} printed figures lie within our 95 % intervals"
    outside = list(dict.fromkeys(one.row for one in judged if not one.within))
    return f"{said}; outside: {', '.join(outside)}." if outside else f"{said}."


def replication_table(instrument: str, found: Sequence[ReplicatedFigure]) -> Table:
    """One line for each printed figure."""
    columns = ("row", "where", "measure", "printed", "ours", "95 % interval", "difference", "verdict", "run")
    rows = []
    for one in found:
        unit, interval, digits = one.card.unit, one.measure.interval, _digits(one)
        gap = None if one.measure.value is None else one.measure.value - one.figure.value
        rows.append(
            (
                f"{one.row}, {one.about}" if one.about else one.row,
                one.figure.where,
                one.figure.measure + (f" ({', '.join(one.figure.group.values())})" if one.figure.group else ""),
                number(one.figure.value, unit, digits),
                number(one.measure.value, unit, interval=interval),
                interval_text(interval, unit, too_few="too few items") or None,
                None if gap is None else _signed(gap, unit, digits),
                {True: "within", False: "outside", None: "no interval"}[one.within],
                one.run,
            )
        )
    return Table(
        "replication", f"{instrument}: printed figures and this replication", columns, tuple(rows), NOTE,
        details=("where", "run"),
    )  # fmt: skip


def _signed(gap: float, unit: str, digits: int) -> str:
    shown = plain_number(gap * (100 if unit == "share" else 1), digits)
    return f"+{shown}" if gap > 0 and shown.strip("0.") else shown


def _digits(one: ReplicatedFigure) -> int:
    """The decimals of the figure as printed, in the unit that is shown."""
    step = one.figure.step * (100 if one.card.unit == "share" else 1)
    return max(0, len(f"{step:.6f}".rstrip("0").partition(".")[2]))
