"""Leaderboard of one measure: subjects on their shared items, with intervals for scores and ranks."""

from collections.abc import Container, Mapping, Sequence

import numpy as np
from msgspec import Struct

from sociometer.core.card import MeasureCard
from sociometer.core.errors import UsageError
from sociometer.core.measure import Cell, Interval, Table
from sociometer.core.task import AnyRun
from sociometer.core.words import counted, first_of, grouped, listed, lowered, plural
from sociometer.results.candidates import (
    NO_SCORED_ITEM,
    common_items,
    differing_settings,
    norm_scores,
    on_items,
    short_run_note,
    why_not_comparable,
)
from sociometer.results.wording import place_sentence
from sociometer.statistics import formatting, item_values
from sociometer.statistics.intervals import MINIMUM_CLUSTERS, clustered_mean_interval
from sociometer.statistics.people import PlaceAmongPeople, interval_beside, mean_over_people, place_among
from sociometer.statistics.ranking import FailedItems, Rank, rank_intervals
from sociometer.statistics.sequential import earliest, nominal_level, widening

_MOST_APART = 4
"""With more subjects, only the first is told apart from the others in words; the table has all ranges of ranks."""
_MOST_NAMED = 4
"""The most runs left out for one reason that the note names; JSON has all."""
_MOST_TYPED = 8


class Standing(Struct, frozen=True):
    """One line of a leaderboard; `ranks` is the interval of the rank, and `beats` are the subjects surely below it."""

    subject: str  # The label of the run.
    rank: int  # Its rank by the value; equal values share one.
    ranks: Interval  # The interval of the rank.
    value: float  # The score on the shared items.
    interval: Interval  # The interval of the score.
    items: int  # The number of shared items.
    beats: tuple[str, ...] = ()  # The subjects that it is surely better than.
    place: PlaceAmongPeople | None = None  # Beside the people of a study: where it is among them; else None.


class Leaderboard(Struct, frozen=True):
    """The standings on one measure, and which runs are left out and why."""

    instrument: str  # The name of the instrument.
    task: str  # The name of the task.
    measure: str  # The name of the measure.
    title: str  # Its title in tables.
    unit: str  # Its unit: `share`, `share-points`, `points` or `number`.
    standings: tuple[Standing, ...]  # The subjects, best first.
    left_out: tuple[str, ...] = ()  # The runs that are left out, and why.
    notes: tuple[str, ...] = ()  # What to know about the runs.
    better: str = "higher"  # The better end of its scale: `higher`, `lower` or `neither`.
    chance: float | None = None  # The score of random answers; None if it is unknown.
    cluster: str = "independent item"  # What the independent parts of the task are: stories, trees, pairs.
    doubt: str = ""
    """What failed items could change about who is first; empty if nothing."""
    limit: str = ""
    """Which subjects limit the shared items, and which runs to give for more; empty if all have the same items."""

    @property
    def where(self) -> str:
        """The instrument and the task, for titles."""
        return f"{self.instrument}/{self.task}"

    @property
    def too_few(self) -> bool:
        """Whether there are too few independent items to rank anybody."""
        return any(one.ranks.too_few for one in self.standings)

    @property
    def first(self) -> str:
        """The subject that is surely better than every other and than chance; empty if none is."""
        best, *others = self.standings
        return best.subject * ({one.subject for one in others} <= {*best.beats} and not self.near_chance(best))

    def near_chance(self, one: Standing) -> bool:
        """Whether a score is not surely better than chance; not if chance is unknown."""
        sign, end = (-1, one.interval.high) if self.better == "lower" else (1, one.interval.low)
        return self.chance is not None and sign * (one.value if end is None else end) <= sign * self.chance


class Comparable(Struct, frozen=True):
    """The runs of one task that can be compared with the first of them on one measure, and why others are left out."""

    card: MeasureCard
    kept: list[AnyRun]
    tables: list[dict[str, item_values.ItemValue]]
    items: list[item_values.RunItems]
    shared: item_values.SharedItems
    left_out: list[str]
    differing: list[str]
    """In which settings the runs differ from the first."""


def comparable(
    candidates: Sequence[AnyRun], measure: str, *, what: str, real: bool = False, once: bool = False
) -> Comparable:
    """The runs that can be compared; `real` leaves out those with stand-ins, `once` further runs of a subject.

    A run that would halve the shared items is left out too.
    """
    left_out: list[str] = []
    card: MeasureCard | None = None
    kept: list[tuple[AnyRun, dict[str, item_values.ItemValue], item_values.RunItems]] = []
    for candidate in candidates:
        used = formatting.other_stand_ins(candidate.stand_ins) if real else ()
        reason = f"played with a stand-in ({', '.join(used)})" if used else candidate.failed
        if not reason:
            card = card or ranked_measure(candidate, measure)
            read = item_values.read_items(candidate, (card.value,))
            table = read.tables[card.value]
            who = candidate.name or candidate.subject
            if not table:
                reason = NO_SCORED_ITEM
            elif once and who in [one.name or one.subject for one, _, _ in kept]:
                reason = f"another run of {who}; only one run per subject counts"
            elif kept and (why := why_not_comparable(candidate, kept[0][0], (table, kept[0][1]))):
                reason = f"not comparable with {kept[0][0].subject}, {why}"
            else:
                kept.append((candidate, table, read))
        if reason:
            left_out.append(f"{candidate.subject}: {reason}")
    if card is None or not kept:
        raise UsageError(f"no run can be {what}: {'; '.join(left_out) or 'none was given'}.")
    common = common_items([table for _, table, _ in kept])
    left_out += [short_run_note(kept[place][0].subject, has, common.items) for place, has in common.short.items()]
    chosen = [kept[place] for place in common.kept]
    runs, tables = [run for run, _, _ in chosen], [table for _, table, _ in chosen]
    differing = [
        f"settings of {runs[0].subject} and {other.subject} differ in {text}"
        for other in runs[1:]
        for text in differing_settings(runs[0], other)
    ]
    return Comparable(
        card, runs, tables, [read for _, _, read in chosen], item_values.shared_items(tables), left_out, differing
    )


def leaderboard(candidates: Sequence[AnyRun], measure: str = "") -> Leaderboard:
    """Rank runs of one task on the items that all of them scored.

    Runs with stand-ins, failed tests, and runs that would halve the shared items are left out.
    """
    found = comparable(candidates, measure, what="ranked", real=True)
    card, kept, tables, shared = found.card, found.kept, found.tables, found.shared
    if not shared.items:
        raise UsageError("the runs share no scored item; give runs on the same items.")
    people = {
        place: mean_over_people(tables[place], shared.items) for place, candidate in enumerate(kept) if candidate.people
    }
    times, intervals = earliest(candidate.times for candidate in kept), shared_intervals(found)
    level = nominal_level(times)
    marks = [item_values.right_or_wrong(card, table) for table in tables]

    def rank(failed: FailedItems | None = None) -> list[Rank]:
        names, higher = [candidate.subject for candidate in kept], card.better != "lower"
        return rank_intervals(
            shared.values, names, shared.clusters, higher_is_better=higher, binary=marks, people=people, level=level,
            failed=failed,
        )  # fmt: skip

    failed, count = _failed(found)
    ranks, places = rank(failed), _among_people(kept, tables, card)
    column = {candidate.subject: place for place, candidate in enumerate(kept)}
    standings = []
    for one in ranks:
        place = column[one.subject]
        ranges = one.subject, one.rank, one.interval, one.mean
        standings.append(Standing(*ranges, intervals[place], len(shared.items), one.beats, places.get(one.subject)))
    first = kept[0]
    notes = on_items(kept, "Ranked on")
    notes += [f"{candidate.subject}: {candidate.note}" for candidate in kept if candidate.note]
    notes += [
        f"{counted(read.failed, 'episode')} of {run.subject} failed"
        for run, read in zip(kept, found.items, strict=True)
        if read.failed
    ]
    notes += [limit] if (limit := _limit(found)) else []
    if any(card.name in candidate.corrected for candidate in kept):
        notes.append("people's labels correct a comparison of two runs, not this ranking")
    for title, told in norm_scores(kept).items():
        notes.append(f"{title}: {', '.join(f'{run.subject} {one}' for run, one in zip(kept, told, strict=True))}")
    notes += [*(place_sentence(who, card, place) for who, place in places.items()), *found.differing]
    chance = formatting.common_chance(card, kept)
    doubt = _doubt(ranks, rank(), count, card) if failed else ""
    return Leaderboard(
        first.card.name, first.task, card.name, card.title, card.unit, tuple(standings), tuple(found.left_out),
        tuple(dict.fromkeys(notes)), card.better, chance, first.card.cluster_of(first.task), doubt, limit,
    )  # fmt: skip


def shared_intervals(found: Comparable) -> list[Interval]:
    """The interval of each run's mean over the shared items: that of its summary, if it has no other items."""
    card, items, intervals = found.card, found.shared.items, []
    widen = widening(earliest(run.times for run in found.kept))
    for run, table, values in zip(found.kept, found.tables, found.shared.values.T, strict=True):
        own = run.summary.find(card.name)
        if own is not None and own.interval is not None and own.items == len(items) and widen == 1:
            intervals.append(own.interval)  # one number has one interval, wherever it is shown
        else:
            interval = mean_interval({name: table[name] for name in items}, card, run)
            intervals.append(interval.widened(float(values.mean()), widen, *(card.scale or ())))
    return intervals


def _limit(found: Comparable) -> str:
    """How many items a subject lacks that others have, who has fewest, and the other runs if they share more."""
    every, shared, fewest = len(set().union(*found.tables)), len(found.shared.items), min(map(len, found.tables))
    if every == shared:
        return ""
    short = [run.subject for run, table in zip(found.kept, found.tables, strict=True) if len(table) == fewest]
    others = [(run.run, {*table}) for run, table in zip(found.kept, found.tables, strict=True) if len(table) > fewest]
    more = len(set.intersection(*(items for _, items in others))) if len(others) > 1 else 0
    said = f"{counted(every - shared, 'item')} without a score of every subject left out: {first_of(short, 3)}"
    said += f" {'has' if len(short) == 1 else 'have'} {fewest} of {every}"
    which = " ".join(run for run, _ in others) if len(others) <= _MOST_TYPED else f"other than {first_of(short, 3)}"
    return said + (f"; for {more} items, give only the runs {which}" if more > shared else "")


def _among_people(
    kept: Sequence[AnyRun], tables: Sequence[Mapping[str, item_values.ItemValue]], card: MeasureCard
) -> dict[str, PlaceAmongPeople]:
    """The place of every other subject among the people of a study."""
    crowds = [place for place, one in enumerate(kept) if one.people]
    if not crowds or card.better == "neither":
        return {}
    return {
        one.subject: place_among(tables[crowds[0]], table, -1.0 if card.better == "lower" else 1.0)
        for one, table in zip(kept, tables, strict=True)
        if not one.people
    }


def _failed(found: Comparable) -> tuple[FailedItems | None, int]:
    """The items that failed for one of the subjects at both ends of the scale; None without any. And their number."""
    shared, tables = found.shared, found.tables
    missing = item_values.lost_items(tables, [one.lost for one in found.items])
    count = len(missing) + item_values.partly_failed(tables, shared.items)
    names, clusters = [*shared.items, *missing], [*shared.clusters, *missing.values()]
    if not count or found.card.scale is None:
        return FailedItems(None, None) if count else None, count
    low, high = (
        np.array([item_values.with_failed(table, names, end) for table in tables]).T for end in found.card.scale
    )
    return FailedItems((low, high), clusters), count


def _doubt(ranks: Sequence[Rank], without: Sequence[Rank], failed: int, card: MeasureCard) -> str:
    """Who else could be first because of the failed items, which the ranks count at their worst."""
    what = "1 failed item" if failed == 1 else f"{failed} failed items"
    if card.scale is None:
        return f"the {what} leave the ranks open, because {lowered(card.title)} has no lowest or no highest value"
    alone = {one.subject for one in without if one.interval.low == 1}
    others = [one.subject for one in ranks if one.interval.low == 1 and one.subject not in alone]
    return (
        f"with the {what} at their worst for {ranks[0].subject}, {first_of(others, 3)} could be first" if others else ""
    )


def mean_interval(table: Mapping[str, item_values.ItemValue], card: MeasureCard, run: AnyRun) -> Interval:
    """The interval of a run's mean over some of its items; if the subject is people, over people too."""
    if (usual := run.usual.get(card.value)) is not None:
        return interval_beside(table, usual, people=bool(run.people))
    if run.people:
        return mean_over_people(table, share=card.unit == "share").interval
    rows = [(value, one.cluster, name) for name, one in table.items() for value in one.repeats]
    values, clusters, names = map(list, zip(*rows, strict=True)) if rows else ([], [], [])
    binary = None if card.unit == "share" else False
    return clustered_mean_interval(values, clusters, items=names, binary=binary, scale=card.scale)


def ranked_measure(candidate: AnyRun, name: str = "") -> MeasureCard:
    """The measure to rank by: the named one, or the primary one, if it is a mean over items."""
    known = [card for card in candidate.card.measures_of(candidate.task) if card.value and not card.of_items]
    for card in known:
        if card.name == name or (not name and card.primary):
            return card
    if not name and known:
        return known[0]
    names = ", ".join(card.name for card in known) or "none"
    raise UsageError(f"{candidate.card.name}/{candidate.task} has no measure {name!r} to rank by; it has: {names}.")


def leaderboard_table(board: Leaderboard) -> Table:
    """The leaderboard as a table."""
    shown = board.standings
    digits = formatting.common_decimals(board.unit, (one.interval for one in shown))
    sign = 1.0 if board.better == "lower" else -1.0
    rows = [_row(one, board.unit, digits) for one in sorted(shown, key=lambda one: sign * one.value)]
    said = [f"Left out: {left_out_text(board)}."] if board.left_out else []
    said += [f"{'; '.join(note.removesuffix('.') for note in board.notes)}."] if board.notes else []
    ranges = "All ranges of ranks hold together with 95 %; they follow from item-by-item comparisons of all pairs."
    few = f"Too few {plural(board.cluster)} to rank: at least {MINIMUM_CLUSTERS} are needed."
    note = " ".join([few if board.too_few else ranges, *said])
    return Table(
        f"leaderboard-{board.instrument}-{board.task}",
        board.where + ("" if board.chance is None else f" (chance {formatting.number(board.chance, board.unit)})"),
        ("rank", "rank, 95 %", "subject", board.title, "95 % interval", "items"),
        tuple(rows),
        note,
    )


def _row(one: Standing, unit: str, digits: int | None) -> tuple[Cell, ...]:
    ranks = formatting.bounds_text(one.ranks, lambda low, high: f"{low:.0f} to {high:.0f}", too_few="too few")
    rank, value = None if one.ranks.too_few else one.rank, formatting.number(one.value, unit, digits)
    return rank, ranks, one.subject, value, formatting.interval_text(one.interval, unit, "too few", digits), one.items


def left_out_text(board: Leaderboard) -> str:
    """The runs that are left out, those with the same reason together; the first few of each reason by name."""
    holders = grouped((reason, name) for name, _, reason in (line.partition(": ") for line in board.left_out))
    more = {reason: " (--json names all)" * (len(names) > _MOST_NAMED) for reason, names in holders.items()}
    return "; ".join(
        f"{first_of(names, _MOST_NAMED)}{more[reason]}: {reason}" if reason else "; ".join(names)
        for reason, names in holders.items()
    )


def overview_table(boards: Sequence[Leaderboard]) -> Table:
    """The first and the second of several leaderboards in one table."""
    rows: list[tuple[Cell, ...]] = []
    for board in boards:
        best = [(one.subject, formatting.estimate(one.value, board.unit, one.interval)) for one in board.standings[:2]]
        (first, value), (second, its) = (*best, (None, None))[:2] if not board.too_few else (("too few", None),) * 2
        rows.append((board.where, first, value, second, its, len(board.standings), board.standings[0].items))
    columns = ("task", "first", "value", "second", "its value", "subjects", "items")
    left = [f"{board.instrument}/{board.task}: {left_out_text(board)}." for board in boards if board.left_out]
    note = f"Left out: {' '.join(left)}" if left else ""
    return Table("overview", "First and second of each task", columns, tuple(rows), note)


def raw_ranks(boards: Sequence[Leaderboard]) -> Table:
    """Every number of the leaderboards, for a file."""
    columns = (
        "instrument", "task", "measure", "unit", "rank", "rank low", "rank high", "subject", "value", "low",
        "high", "items", "beats",
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = []
    for board in boards:
        what = (board.instrument, board.task, board.measure, board.unit)
        rows += [
            (*what, None if board.too_few else one.rank, one.ranks.low, one.ranks.high, one.subject, one.value,
             one.interval.low, one.interval.high, one.items, "; ".join(one.beats))
            for one in board.standings
        ]  # fmt: skip
    return Table("leaderboard", "Leaderboard", columns, tuple(rows))


def leaderboard_sentence(board: Leaderboard) -> str:
    """Who is first, and who might be."""
    first = board.standings[0]
    where = f"{board.instrument}/{board.task}, {lowered(board.title)}"
    if len(board.standings) < 2:
        return f"{where}: only {first.subject} can be ranked."
    if board.too_few:
        few = f"{counted(first.ranks.clusters, board.cluster)} cannot rank the {len(board.standings)} subjects"
        return f"{where}: {few}; at least {MINIMUM_CLUSTERS} are needed."
    leaders = [one for one in board.standings if one.rank == first.rank]
    tied, who, it, better = [one.subject for one in leaders], f"{first.subject} is", "it", "it is"
    if len(tied) > 1:
        who, it, better = f"{listed(tied, 3)} are tied", "them", "they are"
    lead = f"{where}: {who} first of {len(board.standings)} on {first.items} shared items"
    doubt = f"; {board.doubt}" if board.doubt else ""
    others = [one for one in board.standings if one.rank != first.rank]
    rivals = [one.subject for one in others if any(one.subject not in leader.beats for leader in leaders)]
    behind = _not_separated(board, {*tied, *rivals})
    if rivals:
        return f"{lead}; the items cannot separate {it} from {listed(rivals, 3)}{behind and f', nor {behind}'}{doubt}."
    also = behind and f"; the items cannot separate {behind}"
    return f"{lead}; {better} better than every other{also}{doubt}." if others else f"{lead}{doubt}."


def _not_separated(board: Leaderboard, told: Container[str]) -> str:
    """Who cannot be separated from whom, besides those `told` with the first; empty if there are many subjects."""
    found = []
    for nth, one in enumerate(board.standings[:-1] if len(board.standings) <= _MOST_APART else ()):
        later = [other for other in board.standings[nth + 1 :] if one.rank > 1 or other.subject not in told]
        names = [other.subject for other in later if other.subject not in one.beats and one.subject not in other.beats]
        found += [f"{one.subject} from {listed(names)}"] if names else []
    return ", nor ".join(found)
