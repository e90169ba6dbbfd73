"""Reliability of a task from stored runs: alpha over subjects, repeatability, and item statistics."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from msgspec import Struct, structs

from sociometer.core.card import MeasureCard
from sociometer.core.errors import NotFound, UsageError, hint
from sociometer.core.measure import Shown, Table
from sociometer.core.task import AnyRun
from sociometer.core.words import first_of, grouped, listed, plural
from sociometer.results.choice import ChosenRuns
from sociometer.results.leaderboard import comparable, ranked_measure
from sociometer.results.runs import ranked_tasks, tests_with
from sociometer.statistics import reliability
from sociometer.statistics.formatting import estimate
from sociometer.statistics.intervals import Floats
from sociometer.statistics.item_values import ItemValue
from sociometer.statistics.model_kinds import family_from_name

_HEADS = {"share_right": "share right (p)"}


class TaskReliability(Struct, frozen=True):
    """Cronbach's alpha over distinct subjects, or people; repeatability by subject; the statistics of items."""

    instrument: str
    task: str
    measure: str
    subjects: tuple[str, ...]
    alpha: reliability.Reliability
    repeats: dict[str, reliability.Repeatability]
    items: tuple[reliability.ItemStatistics, ...]
    notes: tuple[str, ...] = ()
    people: bool = False

    @property
    def where(self) -> str:
        """The task and the measure, for titles."""
        return f"{self.instrument}/{self.task}, {self.measure}"


class Reliabilities(Shown, frozen=True):
    """The reliability of each task of some runs, or of a study."""

    tasks: tuple[TaskReliability, ...]
    """Each task, in the order of the runs, with `alpha`, `repeats`, `items` and `notes`."""

    def __getitem__(self, task: str) -> TaskReliability:
        """The reliability of a task (`"questions"`, `"sesi/questions"`); NotFound if none or several have it."""
        found = [one for one in self.tasks if task in (one.task, f"{one.instrument}/{one.task}")]
        if len(found) == 1:
            return found[0]
        known = first_of([f"{one.instrument}/{one.task} of {listed(one.subjects, 2)}" for one in self.tasks], 6)
        raise NotFound(f"{'several' if found else 'none'} of .tasks are '{task}': {known}.")

    @property
    def items(self) -> Table:
        """The mean and discrimination of every item; the share right (p), where a score has a highest value."""
        return raw_items(self.tasks)

    def __str__(self) -> str:
        return "\n".join(map(reliability_sentence, self.tasks))

    def _shown(self) -> list[Table]:
        return [table for one in self.tasks for table in reliability_tables(one)]


def reliabilities(chosen: ChosenRuns, task: str = "", measure: str = "") -> Reliabilities:
    """The reliability of runs, task by task; the people of a study are subjects of their own kind.

    A task without a run that can be used has a note that says why; it is an error only if no task has one.
    """
    known = (of for runs in tests_with(chosen, task).values() for of in ranked_tasks(runs, task).values())
    kinds = (grouped((one.subject if one.people else "", one) for one in candidates) for candidates in known)
    found: list[TaskReliability] = []
    for same in (same for kind in kinds for same in kind.values()):
        try:
            found.append(task_reliability(same, measure))
        except UsageError as error:
            why = reliability.Reliability(None, None, 0, 0, str(error).removesuffix("."))
            of = same[0].card.name, same[0].task, measure or ranked_measure(same[0]).name
            found.append(TaskReliability(*of, (), why, {}, ()))
    if not any(one.subjects for one in found):
        raise UsageError("\n".join(f"{one.alpha.note}." for one in found))
    return Reliabilities(tuple(found))


def task_reliability(candidates: Sequence[AnyRun], measure: str = "") -> TaskReliability:
    """Reliability of one measure, from those runs of one task that can be compared with the first.

    Only the first run of each subject counts. A run that would halve the shared items is left out. If the first is a
    study, its people are the subjects.
    """
    found = comparable(candidates, measure, what="used for reliability", once=True)
    shared, notes = found.shared, [*found.left_out, *found.differing]
    first = found.kept[0]
    distinct = {one.name or one.subject: table for one, table in zip(found.kept, found.tables, strict=True)}
    table, families = shared.values.T, [family_from_name(one.subject) for one in found.kept]
    if first.people:
        everyone, distinct = _by_person(found.tables[0]), {}
        table = everyone[~np.isnan(everyone).any(axis=1)]
        if lost := len(everyone) - len(table):
            notes.append(f"{lost} of {len(everyone)} people did not answer every item and are left out")
    why = "the runs share fewer than two scored items"
    alpha = reliability.Reliability(None, None, len(table), len(shared.items), why)
    statistics: list[reliability.ItemStatistics] = []
    if len(shared.items) >= 2:
        alpha = reliability.cronbach_alpha(table, shared.clusters, families=None if first.people else families)
        if not first.people and alpha.interval is not None and alpha.interval.too_few:
            run = hint("run", first.card.name, "--model", "MODEL", "--name", "FAMILY-NAME")
            notes.append(f"a family is the letters at the start of a subject's name; to give another name: {run}")
        if 1 < (parts := len(set(shared.clusters))) < len(shared.items):
            told = plural(first.card.cluster_of(first.task))
            notes.append(f"the {len(shared.items)} items of {parts} {told} count as {parts} parts")
        statistics = reliability.item_statistics(table, shared.items, top=_top(found.card)) if len(table) else []
    repeats = {who: again for who, values in distinct.items() if (again := repeats_of(values)) is not None}
    return TaskReliability(
        first.card.name, first.task, found.card.name, tuple(distinct) or (first.subject,), alpha, repeats,
        tuple(statistics), tuple(notes), bool(first.people),
    )  # fmt: skip


def _by_person(items: Mapping[str, ItemValue]) -> Floats:
    """The values of people × items of a study; NaN where somebody has none."""
    columns = [dict(zip(one.of, one.repeats, strict=True)) for one in items.values()]
    people = sorted({person for column in columns for person in column})
    return np.array([[column.get(person, np.nan) for column in columns] for person in people])


def _top(card: MeasureCard) -> float | None:
    """The highest value of a measure that starts at zero; None for a distance, which has none."""
    return None if card.better == "lower" or not card.top else card.top


def repeats_of(values: Mapping[str, ItemValue]) -> reliability.Repeatability | None:
    """Repeatability over the items with the largest number of repeats."""
    if not values:
        return None
    often = max(len(entry.repeats) for entry in values.values())
    played = [entry for entry in values.values() if len(entry.repeats) == often]
    if often < 2 or len(played) < 2:
        return None
    table, names = np.array([entry.repeats for entry in played]), [entry.item for entry in played]
    return reliability.repeatability(table, names, [entry.cluster for entry in played])


def reliability_sentence(found: TaskReliability, of: str = "") -> str:
    """The alpha of a test, or of what `of` says, in a sentence."""
    alpha, of, who = found.alpha, of or found.where, "people" if found.people else "subjects"
    if alpha.value is None:
        return f"{of}: reliability cannot be computed: {alpha.note}."
    shown = estimate(alpha.value, "number", None if alpha.note else alpha.interval)
    why = f" ({alpha.note})" if alpha.note else ""
    return f"{of}: Cronbach's alpha {shown} over {alpha.subjects} {who} and {alpha.items} items{why}."


def raw_items(found: Sequence[TaskReliability]) -> Table:
    """The statistics of every item of some tests, for a file and for '--format wide'."""
    known = ("share_right",) if any(i.share_right is not None for one in found for i in one.items) else ()
    columns = ("mean", *known, "discrimination")
    rows = tuple(
        (one.instrument, one.task, one.measure, i.item, *(getattr(i, name) for name in columns), "; ".join(i.concerns))
        for one in found
        for i in one.items
    )
    note = "Discrimination: correlation of an item with the total of the others. --to FILE.csv writes this table."
    heads = ("instrument", "task", "measure", "item", *(_HEADS.get(one, one) for one in columns), "concerns")
    return Table("items", "All items", heads, rows, note)


def reliability_tables(found: TaskReliability) -> Iterator[Table]:
    """The repeatability of each subject, and the items to look at."""
    if found.repeats:
        again = tuple(
            (who, None if r.all_right is None else estimate(r.all_right, "share", r.all_right_interval),
             len(r.unstable), r.icc, r.items, r.repeats)
            for who, r in found.repeats.items()
        )  # fmt: skip
        heads = ("subject", "right in all", "unstable items", "ICC", "items", "repeats")
        same = [who for who, r in found.repeats.items() if r.icc is None]
        said = [f"No ICC, because every repeat of every item gave the same value: {', '.join(same)}."] if same else []
        said += [f"Unstable for {who}: {first_of(r.unstable, 12)}." for who, r in found.repeats.items() if r.unstable]
        yield Table("repeatability", f"Repeatability of {found.where}", heads, again, " ".join(said))
    if look_at := reliability.items_to_look_at(found.items):
        title, note = f"Items to look at in {found.where}", f"{len(look_at)} of {len(found.items)} in all."
        table = raw_items([structs.replace(found, items=tuple(look_at))])
        yield structs.replace(table.only(range(3, len(table.columns))), title=title, note=note)
