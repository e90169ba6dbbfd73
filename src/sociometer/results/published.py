"""Published figures next to ours: recomputed from released data, or replicated by a run."""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from sociometer.core.card import Card, MeasureCard
from sociometer.core.measure import Measure, PublishedFigure, Table
from sociometer.core.paper import PrintedFigure, Replication
from sociometer.core.words import plain_number
from sociometer.statistics.formatting import interval_text, number
from sociometer.store.stored_run import StoredRun

UNCHECKED = "cannot be checked"


def unexplained(figures: Iterable[PublishedFigure]) -> tuple[PublishedFigure, ...]:
    """The numbers that differ without a known reason; these make `reproduce` fail. A claim need not hold."""
    return tuple(figure for figure in figures if not figure.match and not figure.claim and not figure.reason)


def reproduction_table(instrument: str, figures: Sequence[PublishedFigure], mismatches_only: bool = False) -> Table:
    """One row for each figure, claims first: printed and recomputed value, and whether they match or why not."""
    shown = [figure for figure in figures if not (mismatches_only and figure.match)]
    shown.sort(key=lambda figure: not figure.claim)
    rows = tuple(
        (figure.where, figure.what, figure.printed, figure.recomputed, _state(figure), figure.reason)
        for figure in shown
    )
    numbers = [figure for figure in figures if not figure.claim]
    printed = [figure for figure in numbers if figure.printed is not None]
    matched = sum(figure.match for figure in printed)
    known = sum(not figure.match and bool(figure.reason) for figure in printed)
    note = f"{matched} of {len(printed)} figures match; {known} differ for a known reason"
    open_ones = len(printed) - matched - known
    note += f"; {open_ones} differ without one" if open_ones else ""
    unprinted = len(numbers) - len(printed)
    note += f"; {unprinted} more are not printed as numbers." if unprinted else "."
    said = claims_sentence(figures)
    columns = ("where", "what", "printed", "recomputed", "result", "reason")
    title = f"{instrument}: published figures recomputed"
    return Table(f"reproduce-{instrument}", title, columns, rows, f"{note} {said}".strip())


def reproduction_sentence(instrument: str, figures: Sequence[PublishedFigure]) -> str:
    """How many published figures are recomputed, how many differ, and how many claims of the text hold."""
    printed = [figure for figure in figures if figure.printed is not None and not figure.claim]
    differ = [figure for figure in printed if not figure.match]
    said = f"{instrument}: {len(printed) - len(differ)} of {len(printed)} published figures match"
    if differ:
        said += f"; {len(differ)} differ, {len(unexplained(differ)) or 'none'} of them without a known reason"
    return f"{said}. {claims_sentence(figures)}".strip()


def missing_files_sentence(card: Card, files: Sequence[str]) -> str:
    """Which official files are missing, and how to get them."""
    fetched = {file.name for file in card.file}
    parts = {file.part for file in card.file if file.part and any(file.name.startswith(one) for one in files)}
    said = [f"Official files not found: {', '.join(files)}. The figures that need them are left out."]
    if fetched & set(files) or parts:
        options = "".join(f" --{part}" for part in sorted(parts))
        said.append(f"Run 'sociometer get data {card.name}{options}', or give --data DIR.")
    if not parts and set(files) - fetched:
        said.append("For files that 'get data' does not include, see the instrument's README.")
    return " ".join(said)


def claims_sentence(figures: Iterable[PublishedFigure]) -> str:
    """How many claims of the text hold; empty if none was checked."""
    states = [_state(figure) for figure in figures if figure.claim]
    if not states:
        return ""
    hold, fail, unknown = (states.count(state) for state in ("holds", "does not hold", UNCHECKED))
    return f"Claims in the text that hold: {hold}; that do not hold: {fail}; that cannot be checked: {unknown}."


def _state(figure: PublishedFigure) -> str:
    if figure.claim:
        return UNCHECKED if figure.recomputed is None else "holds" if figure.match else "does not hold"
    if figure.printed is None:
        return "not printed"
    return "match" if figure.match else "known difference" if figure.reason else "MISMATCH"


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


def is_within(figure: PrintedFigure, measure: Measure) -> bool | None:
    """Whether some value that is printed like the figure lies within the interval; None without an interval."""
    interval = measure.interval
    if interval is None or interval.low is None or interval.high is None:
        return None
    half = figure.step / 2
    return interval.low - half <= figure.value <= interval.high + half


def replicated_figures(run: StoredRun, printed: Replication) -> list[ReplicatedFigure]:
    """The figures that a paper prints for a run, each next to that of its replication, if that has it."""
    known = {card.name: card for card in run.definition.card.measures_of(printed.task)}
    summary, label = run.summary(printed.task), run.manifest.config.subject_label
    found = []
    for figure in printed.figures:
        if (measure := summary.measure(figure.measure, **figure.group)) is not None:
            card, within = known[figure.measure], is_within(figure, measure)
            found.append(ReplicatedFigure(printed.row, label, printed.about, figure, card, measure, run.id, within))
    return found


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
