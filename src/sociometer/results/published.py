"""Published figures next to ours: recomputed from released data, or replicated by a run."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct, structs

from sociometer.core.card import Card, MeasureCard
from sociometer.core.hints import hint
from sociometer.core.measure import Measure, PublishedFigure, Table
from sociometer.core.paper import PrintedFigure, Replication
from sociometer.core.words import grouped, levels_of, plain_number
from sociometer.statistics.formatting import interval_text, number
from sociometer.store.stored_run import StoredRun

HOLDS, FAILS, UNCHECKED, OURS = "holds", "does not hold", "cannot be checked", "our finding"


def unexplained(figures: Iterable[PublishedFigure]) -> tuple[PublishedFigure, ...]:
    """The numbers that differ without a known reason; these make `reproduce` fail. A claim need not hold."""
    return tuple(figure for figure in figures if state_of(figure) == FAILS and not figure.claim and not figure.reason)


def reproduction_table(instrument: str, figures: Sequence[PublishedFigure], mismatches_only: bool = False) -> Table:
    """The ledger: each claim and number with its result, or only those that do not hold, and why others are open."""
    shown = [figure for figure in figures if not figure.finding]
    if mismatches_only:
        unchecked = grouped(((one.reason, one.claim), one) for one in shown if state_of(one) == UNCHECKED)
        shown = [one for one in shown if state_of(one) == FAILS] + [_joined(same) for same in unchecked.values()]
    rows = tuple(
        (where, what + (f" ({count} {kind})" if count > 1 else ""), *result)
        for where, what, kind, count, *result in _lines(shown)
    )
    columns = ("where", "what", "printed", "recomputed", "result", "reason")
    title = f"{instrument}: the paper's claims and numbers"
    return Table(f"reproduce-{instrument}", title, columns, rows, counts_sentence(figures))


def _lines(figures: Iterable[PublishedFigure]) -> list[tuple[Any, ...]]:
    """The lines of a ledger: what does not hold first, claims before numbers, findings last."""
    order = (FAILS, UNCHECKED, HOLDS, OURS)
    return [
        (one.where, one.what, kind_of(one), one.count, one.printed, one.recomputed, state_of(one),
         one.reason or "no reason is known" * len(unexplained([one])))
        for one in sorted(figures, key=lambda one: (order.index(state_of(one)), not one.claim))
    ]  # fmt: skip


def _joined(figures: Sequence[PublishedFigure]) -> PublishedFigure:
    """Figures with the same result and reason as one."""
    where = ", ".join(dict.fromkeys(one.where for one in figures))
    more = f" and {len(figures) - 1} more" if len(figures) > 1 else ""
    what, printed = figures[0].what + more, None if more else figures[0].printed
    count = sum(one.count for one in figures)
    return structs.replace(figures[0], where=where, what=what, printed=printed, count=count)


def findings_table(instrument: str, figures: Sequence[PublishedFigure]) -> Table:
    """What we found in the data that the paper does not state."""
    rows = tuple((one.where, one.what, one.recomputed, one.reason) for one in figures if one.finding)
    title = f"{instrument}: our own findings, which are no claims of the paper"
    return Table(f"findings-{instrument}", title, ("where", "what", "found", "reason"), rows)


def ledger_table(papers: Mapping[str, Sequence[PublishedFigure]]) -> Table:
    """The ledgers of several instruments and our own findings in one table, for a file.

    A line covers `count` numbers, claims or findings (`kind`). The sums of `count` by `kind` and `result` are the
    counts of `counts_sentence`.
    """
    rows = tuple((name, *line) for name, figures in papers.items() for line in _lines(figures))
    columns = ("instrument", "where", "what", "kind", "count", "printed", "recomputed", "result", "reason")
    return Table("reproduce", "The papers' claims and numbers", columns, rows)


def reproduction_sentence(instrument: str, figures: Sequence[PublishedFigure]) -> str:
    """How many numbers and claims of the paper hold, do not hold, and cannot be checked."""
    count = len(unexplained(figures))
    said = f"{instrument}: {counts_sentence(figures)}"
    return f"{said} Numbers that differ without a known reason: {count}." if count else said


def missing_files_sentence(card: Card, files: Sequence[str]) -> str:
    """Which official files are missing, and how to get them."""
    fetched = {file.name for file in card.file}
    parts = {file.part for file in card.file if file.part and any(file.name.startswith(one) for one in files)}
    said = [f"Official files not found: {', '.join(files)}. The figures that need them are left out."]
    if fetched & set(files) or parts:
        get = hint("get data", card.name, *(f"--{part}" for part in sorted(parts)))
        said.append(f"Run '{get}', or give --data DIR.")
    if not parts and set(files) - fetched:
        said.append("For files that 'get data' does not include, see the instrument's README.")
    return " ".join(said)


def counts_sentence(figures: Iterable[PublishedFigure]) -> str:
    """The counts of the ledger: numbers, claims, and findings of ours, which are no claims of the paper."""
    counts: Counter[tuple[str, str]] = Counter()
    for figure in figures:
        counts[kind_of(figure), state_of(figure)] += figure.count
    said = [
        f"{sum(counts[kind, state] for state in (HOLDS, FAILS, UNCHECKED))} {kind} of the paper:"
        f" {counts[kind, HOLDS]} {'holds' if counts[kind, HOLDS] == 1 else 'hold'}, {counts[kind, FAILS]}"
        f" {'does' if counts[kind, FAILS] == 1 else 'do'} not hold, {counts[kind, UNCHECKED]} cannot be checked."
        for kind in ("numbers", "claims")
    ]
    ours = counts["findings", OURS]
    return " ".join([*said, *([f"Our own findings about the data: {ours}."] if ours else [])])


def kind_of(figure: PublishedFigure) -> str:
    """What a line of the ledger is about: numbers or claims of the paper, or our own findings."""
    return "findings" if figure.finding else "claims" if figure.claim else "numbers"


def state_of(figure: PublishedFigure) -> str:
    """The one result of a line of the ledger."""
    if figure.finding:
        return OURS
    return UNCHECKED if figure.recomputed is None else HOLDS if figure.match else FAILS


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
        if (measure := summary.find(figure.measure, **figure.group)) is not None:
            card, within = known[figure.measure], is_within(figure, measure)
            found.append(ReplicatedFigure(printed.row, label, printed.about, figure, card, measure, run.id, within))
    return found


def replication_sentence(instrument: str, found: Sequence[ReplicatedFigure]) -> str:
    """How many printed figures lie within the intervals, and which do not."""
    judged = [one for one in found if one.within is not None]
    if not judged:
        why = "too few items" if any(one.measure.value is not None for one in found) else "nothing was scored"
        return f"{instrument}: {f'no figure can be judged: {why}' if found else 'nothing was replicated'}."
    inside = [one for one in judged if one.within]
    said = f"{instrument}: {len(inside)} of {len(judged)} printed figures lie within our 95 % intervals"
    outside = list(dict.fromkeys(one.row for one in judged if not one.within))
    return f"{said}; outside: {', '.join(outside)}." if outside else f"{said}."


def replication_table(instrument: str, found: Sequence[ReplicatedFigure]) -> Table:
    """One line for each printed figure; all numbers of a line have the decimals of the printed one."""
    columns = ("row", "where", "measure", "printed", "ours", "95 % interval", "difference", "verdict", "run")
    rows = []
    for one in found:
        unit, interval, digits = one.card.unit, one.measure.interval, _digits(one)
        gap = None if one.measure.value is None else one.measure.value - one.figure.value
        rows.append(
            (
                f"{one.row}, {one.about}" if one.about else one.row,
                one.figure.where,
                one.figure.measure + (f" ({', '.join(levels_of(one.figure.group))})" if one.figure.group else ""),
                number(one.figure.value, unit, digits),
                number(one.measure.value, unit, digits),
                interval_text(interval, unit, "too few items", digits) or None,
                None if gap is None else _signed(gap, unit, digits),
                {True: "within", False: "outside", None: "no interval"}[one.within],
                one.run,
            )
        )
    return Table(
        "replication",
        f"{instrument}: printed figures and this replication",
        columns,
        tuple(rows),
        NOTE,
        details=("where", "run"),
    )


def _signed(gap: float, unit: str, digits: int) -> str:
    shown = plain_number(gap * (100 if unit == "share" else 1), digits)
    return f"+{shown}" if gap > 0 and shown.strip("0.") else shown


def _digits(one: ReplicatedFigure) -> int:
    """The decimals of the figure as printed, in the unit that is shown."""
    step = one.figure.step * (100 if one.card.unit == "share" else 1)
    return max(0, len(f"{step:.6f}".rstrip("0").partition(".")[2]))
