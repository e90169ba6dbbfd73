"""Leaderboard of one measure: subjects on their shared items, with intervals for scores and ranks."""

from collections.abc import Sequence

from msgspec import Struct

from sociometer.analysis.candidates import Candidate, differing_settings, why_not_comparable
from sociometer.analysis.formatting import bounds_text, scale_and_digits
from sociometer.analysis.intervals import clustered_mean_interval
from sociometer.analysis.item_values import item_values, shared_items
from sociometer.analysis.ranking import rank_intervals
from sociometer.analysis.stand_ins import other_stand_ins
from sociometer.core.card import MeasureCard
from sociometer.core.errors import UsageError
from sociometer.core.measure import Interval, Table


class Standing(Struct, frozen=True):
    """One line of a leaderboard; `ranks` is the interval of the rank on other items of the same kind."""

    subject: str
    rank: int
    ranks: Interval
    value: float
    interval: Interval
    items: int
    first: float | None = None


class Leaderboard(Struct, frozen=True):
    """The standings on one measure, and which runs are left out and why."""

    instrument: str
    task: str
    measure: str
    title: str
    unit: str
    standings: tuple[Standing, ...]
    left_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def leaderboard(candidates: Sequence[Candidate], measure: str = "") -> Leaderboard:
    """Rank runs of one task on the items that all of them scored; leaves out runs with stand-ins and failed tests."""
    able: list[Candidate] = []
    left_out: list[str] = []
    for candidate in candidates:
        used = other_stand_ins(candidate.view.stand_ins)
        if used:
            left_out.append(f"{candidate.label}: played with a stand-in ({', '.join(used)})")
        elif candidate.failed:
            left_out.append(f"{candidate.label}: {candidate.failed}")
        else:
            able.append(candidate)
    if not able:
        raise UsageError("no run can stand on a leaderboard: " + ("; ".join(left_out) or "none was given") + ".")
    card = ranked_measure(able[0], measure)
    kept, tables = [able[0]], [item_values(able[0].view, card.value)]
    for candidate in able[1:]:
        table = item_values(candidate.view, card.value)
        reason = why_not_comparable(kept[0], candidate, (tables[0], table))
        if reason:
            left_out.append(f"{candidate.label}: not comparable with {kept[0].label}, {reason}")
        else:
            kept.append(candidate)
            tables.append(table)
    shared = shared_items(tables)
    if not shared.items:
        raise UsageError("the runs share no scored item; give runs on the same items.")
    ranks = rank_intervals(
        shared.values, [c.label for c in kept], shared.clusters, higher_is_better=card.better != "lower"
    )
    column = {candidate.label: place for place, candidate in enumerate(kept)}
    standings = []
    for rank in ranks:
        table = tables[column[rank.subject]]
        values: list[float] = []
        clusters: list[str] = []
        items: list[str] = []
        for name, cluster in zip(shared.items, shared.clusters, strict=True):
            values += table[name].repeats
            clusters += [cluster] * len(table[name].repeats)
            items += [name] * len(table[name].repeats)
        interval = clustered_mean_interval(
            values, clusters, items=items, binary=None if card.unit == "share" else False
        )
        standings.append(
            Standing(rank.subject, rank.rank, rank.interval, rank.mean, interval, len(shared.items), rank.first)
        )
    first = kept[0]
    notes = [f"{candidate.label}: {candidate.note}" for candidate in kept if candidate.note]
    for other in kept[1:]:
        notes += [
            f"settings of {first.label} and {other.label} differ in {text}" for text in differing_settings(first, other)
        ]
    return Leaderboard(
        first.card.name,
        first.task,
        card.name,
        card.title,
        card.unit,
        tuple(standings),
        tuple(left_out),
        tuple(dict.fromkeys(notes)),
    )


def ranked_measure(candidate: Candidate, name: str = "") -> MeasureCard:
    """The measure to rank by: the named one, or the primary one, if it is a mean over items."""
    known = [card for card in candidate.card.measures_of(candidate.task) if card.value]
    for card in known:
        if card.name == name or (not name and card.primary):
            return card
    if not name and known:
        return known[0]
    names = ", ".join(card.name for card in known) or "none"
    raise UsageError(f"{candidate.card.name}/{candidate.task} has no measure {name!r} to rank by; it has: {names}.")


def leaderboard_table(board: Leaderboard) -> Table:
    """The leaderboard as a table."""
    scale, digits = scale_and_digits(board.unit)

    def span(interval: Interval, places: int, factor: float) -> str:
        def text(low: float, high: float) -> str:
            return f"{low * factor:.{places}f} to {high * factor:.{places}f}"

        return bounds_text(interval, text, too_few="too few")

    rows = tuple(
        (
            s.rank,
            span(s.ranks, 0, 1),
            s.subject,
            round(s.value * scale, digits),
            span(s.interval, digits, scale),
            s.items,
        )
        for s in board.standings
    )
    title = f"{board.title}{' (%)' if board.unit == 'share' else ''}"
    columns = ("rank", "rank, 95 %", "subject", title, "95 % interval", "items")
    said = "; ".join((*board.left_out, *board.notes))
    note = f"Ranks that other items of the same kind might give. {said}"
    return Table(
        f"leaderboard-{board.instrument}-{board.task}", f"{board.instrument}/{board.task}", columns, rows, note.strip()
    )
