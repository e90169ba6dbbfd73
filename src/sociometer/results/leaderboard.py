"""Leaderboard of one measure: subjects on their shared items, with intervals for scores and ranks."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct, structs

from sociometer.core.card import MeasureCard
from sociometer.core.errors import UsageError
from sociometer.core.measure import Cell, Interval, Table
from sociometer.core.words import first_of
from sociometer.results.candidates import (
    NO_SCORED_ITEM,
    Candidate,
    common_items,
    differing_settings,
    short_run_note,
    why_not_comparable,
)
from sociometer.results.comparison import place_sentence
from sociometer.statistics.formatting import (
    bounds_text,
    decimals,
    estimate,
    in_sentence,
    interval_text,
    number,
    other_stand_ins,
)
from sociometer.statistics.intervals import clustered_mean_interval
from sociometer.statistics.item_values import ItemValue, item_values, shared_items
from sociometer.statistics.people import mean_over_people
from sociometer.statistics.prediction_powered import corrected_difference, differently_asked
from sociometer.statistics.ranking import rank_intervals

SOURCE = "source"
_MOST_NAMED = 4
"""The most runs left out for one reason that the note names; JSON has all."""
OTHERS_NOTE = "Rows of another source are not recomputed here and have no rank."


class Standing(Struct, frozen=True):
    """One line of a leaderboard; `ranks` is the interval of the rank on other items of the same kind."""

    subject: str
    rank: int
    ranks: Interval
    value: float
    interval: Interval
    items: int
    first: float | None = None


class OthersRow(Struct, frozen=True):
    """A number from somebody's table: shown next to the standings, neither recomputed nor ranked."""

    source: str
    subject: str
    value: float
    interval: Interval
    items: int


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
    better: str = "higher"
    others: tuple[OthersRow, ...] = ()
    """Others' numbers, not recomputed here."""

    @property
    def where(self) -> str:
        """The instrument and the task, for titles."""
        return f"{self.instrument}/{self.task}"


def leaderboard(candidates: Sequence[Candidate], measure: str = "", include_short: bool = False) -> Leaderboard:
    """Rank runs of one task on the items that all of them scored; leaves out runs with stand-ins and failed tests.

    A run that would halve the shared items is left out too, unless `include_short`.
    """
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
        raise UsageError("no run can be ranked: " + ("; ".join(left_out) or "none was given") + ".")
    card = ranked_measure(able[0], measure)
    kept: list[Candidate] = []
    tables: list[dict[str, ItemValue]] = []
    for candidate in able:
        table = item_values(candidate.view, card.value)
        if not table:
            left_out.append(f"{candidate.label}: {NO_SCORED_ITEM}")
            continue
        reason = why_not_comparable(kept[0], candidate, (tables[0], table)) if kept else ""
        if reason:
            left_out.append(f"{candidate.label}: not comparable with {kept[0].label}, {reason}")
        else:
            kept.append(candidate)
            tables.append(table)
    if not kept:
        raise UsageError("no run can be ranked: " + "; ".join(left_out) + ".")
    common = common_items(tables, include_short)
    left_out += [short_run_note(kept[place].label, has, common.items) for place, has in common.short.items()]
    kept, tables = [kept[place] for place in common.kept], [tables[place] for place in common.kept]
    shared = shared_items(tables)
    if not shared.items:
        raise UsageError("the runs share no scored item; give runs on the same items.")
    ranks = rank_intervals(
        shared.values, [c.label for c in kept], shared.clusters, higher_is_better=card.better != "lower"
    )
    column = {candidate.label: place for place, candidate in enumerate(kept)}
    standings = []
    for rank in ranks:
        place = column[rank.subject]
        interval = mean_interval(tables[place], shared.items, card, people=bool(kept[place].people))
        standings.append(
            Standing(rank.subject, rank.rank, rank.interval, rank.mean, interval, len(shared.items), rank.first)
        )
    first = kept[0]
    notes = [f"{candidate.label}: {candidate.note}" for candidate in kept if candidate.note]
    whole = all(len(table) == len(shared.items) for table in tables)
    standings, said = by_people(standings, kept, card, whole=whole)
    notes += [*said, *_among_people(kept, tables, card)]
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
        card.better,
    )


def _among_people(kept: Sequence[Candidate], tables: Sequence[Mapping[str, ItemValue]], card: MeasureCard) -> list[str]:
    """The place of every other subject among the people of a study."""
    crowds = [place for place, one in enumerate(kept) if one.people]
    if not crowds or card.better == "neither":
        return []
    others = [place for place, one in enumerate(kept) if not one.people]
    return [
        "the ranks of people are those of the same people on other items",
        *(place_sentence(kept[one].label, card, tables[crowds[0]], tables[one]) for one in others),
    ]


def mean_interval(
    table: Mapping[str, ItemValue], items: Iterable[str], card: MeasureCard, *, people: bool = False
) -> Interval:
    """The interval of a run's mean over some of its items; if the subject is people, over people too."""
    if people:
        return mean_over_people(table, items, share=card.unit == "share").interval
    values: list[float] = []
    clusters: list[str] = []
    names: list[str] = []
    for name in items:
        one = table[name]
        values += one.repeats
        clusters += [one.cluster] * len(one.repeats)
        names += [name] * len(one.repeats)
    return clustered_mean_interval(values, clusters, items=names, binary=None if card.unit == "share" else False)


def by_people(
    standings: list[Standing], kept: Sequence[Candidate], card: MeasureCard, *, whole: bool
) -> tuple[list[Standing], list[str]]:
    """The standings on values that people's labels correct, where all subjects have them; and a note about it.

    The range of a rank follows from the pairs whose difference has a 95 % interval without zero.
    """
    known = {one.label: found for one in kept if (found := one.corrected.get(card.name)) is not None}
    if not known:
        return standings, []
    if len(known) < len(kept) or not whole:
        why = (
            "not all runs have the same items" if len(known) == len(kept) else f"{len(known)} of {len(kept)} have them"
        )
        return standings, [f"people's labels are not used: {why}"]
    if why := differently_asked(known.values()):
        return standings, [f"people's labels are not used: {why}"]
    sign = -1.0 if card.better == "lower" else 1.0
    made = []
    for standing in standings:
        mine, others = known[standing.subject], [one for name, one in known.items() if name != standing.subject]
        ahead = [corrected_difference(one, mine) for one in others]
        worse = sum(sign * found.value < 0 and found.p_value < 0.05 for found in ahead)
        better = sum(sign * found.value > 0 and found.p_value < 0.05 for found in ahead)
        rank = 1 + sum(sign * found.value < 0 for found in ahead)
        ranks = Interval(1.0 + worse, float(len(known) - better), 0.95, mine.interval.method, len(mine.shares))
        made.append(
            structs.replace(standing, rank=rank, ranks=ranks, value=mine.value, interval=mine.interval, first=None)
        )
    labels = ", ".join(f"{name} {one.labels} of {one.episodes}" for name, one in known.items())
    said = f"values are corrected by people's labels of a random part of the episodes ({labels})"
    return sorted(made, key=lambda standing: standing.rank), [said]


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
    shown: list[Standing | OthersRow] = [*board.standings, *board.others]
    digits = min((found for s in shown if (found := decimals(board.unit, s.interval)) is not None), default=None)
    sign = 1.0 if board.better == "lower" else -1.0
    rows = [_row(one, board.unit, digits) for one in sorted(shown, key=lambda one: sign * one.value)]
    columns = ("rank", "rank, 95 %", "subject", board.title, "95 % interval", "items", SOURCE)
    shown_columns = len(columns) if board.others else len(columns) - 1
    said = [f"Left out: {left_out_text(board)}."] if board.left_out else []
    said += [f"{'; '.join(board.notes)}."] if board.notes else []
    said = [OTHERS_NOTE, *said] if board.others else said
    note = " ".join(
        ["The interval of a rank is the range of ranks that other items of the same kind might give.", *said]
    )
    return Table(
        f"leaderboard-{board.instrument}-{board.task}", board.where,
        columns[:shown_columns], tuple(row[:shown_columns] for row in rows), note,
    )  # fmt: skip


def _row(one: Standing | OthersRow, unit: str, digits: int | None) -> tuple[Cell, ...]:
    place: tuple[Cell, Cell] = (None, None)
    if isinstance(one, Standing):
        ranks = bounds_text(one.ranks, lambda low, high: f"{low:.0f} to {high:.0f}", too_few="too few")
        place = (one.rank, ranks)
    source = one.source if isinstance(one, OthersRow) else "here"
    interval = interval_text(one.interval, unit, "too few", digits)
    return (*place, one.subject, number(one.value, unit, digits), interval, one.items, source)


def left_out_text(board: Leaderboard) -> str:
    """The runs that are left out, those with the same reason together; the first few of each reason by name."""
    holders: dict[str, list[str]] = {}
    for line in board.left_out:
        name, _, reason = line.partition(": ")
        holders.setdefault(reason, []).append(name)
    return "; ".join(f"{_first_names(names)}: {reason}" for reason, names in holders.items())


def _first_names(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more (--json names all)" if more > 0 else "")


def overview_table(boards: Sequence[Leaderboard]) -> Table:
    """The first and the second of several leaderboards in one table."""
    rows: list[tuple[Cell, ...]] = []
    for board in boards:
        first, *others = board.standings
        second = others[0] if others else None
        rows.append(
            (
                board.where,
                first.subject,
                estimate(first.value, board.unit, first.interval),
                second.subject if second else None,
                estimate(second.value, board.unit, second.interval) if second else None,
                len(board.standings),
                first.items,
            )
        )
    columns = ("task", "first", "value", "second", "its value", "subjects", "items")
    left = [f"{board.instrument}/{board.task}: {left_out_text(board)}." for board in boards if board.left_out]
    note = f"Left out: {' '.join(left)}" if left else ""
    return Table("overview", "First and second of each task", columns, tuple(rows), note)


def leaderboard_sentence(board: Leaderboard) -> str:
    """Who is first, and who might be."""
    first = board.standings[0]
    where = f"{board.instrument}/{board.task}, {in_sentence(board.title)}"
    if len(board.standings) < 2:
        return f"{where}: only {first.subject} can be ranked."
    rivals = [one.subject for one in board.standings[1:] if one.ranks.low is not None and one.ranks.low <= 1]
    lead = f"{where}: {first.subject} is first of {len(board.standings)} on {first.items} shared items"
    if first.ranks.too_few:
        return f"{lead}; too few items to distinguish the ranks."
    if not rivals:
        return f"{lead}; no other subject could be first on other items of the same kind."
    named = first_of(rivals, 3)
    return f"{lead}; {named} might be first on other items."
