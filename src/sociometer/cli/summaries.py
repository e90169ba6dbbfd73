"""Summaries of runs as sentences, tables and JSON."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import structs

from sociometer.cli.output import SCREEN
from sociometer.core.measure import Cell, Table
from sociometer.core.settings import is_paper
from sociometer.core.words import counted, first_of, lowered
from sociometer.engine.engine import PlayedRun
from sociometer.reporting.tables import MeasureRow, measure_rows
from sociometer.results.candidates import contamination_note, run_labels
from sociometer.statistics.formatting import (
    TINY,
    estimate,
    interval_text,
    number,
    other_stand_ins,
    stand_ins_sentence,
    subject_stand_in,
)
from sociometer.statistics.item_values import item_values
from sociometer.store.records import RunStatus
from sociometer.store.stored_run import StoredRun

_MOST_SUBJECTS_ABREAST = 4
_COLUMNS = ("task", "measure", "group", "value", "95 % interval", "chance", "items", "unreadable", "errors", "note")


def reference(run: StoredRun) -> str:
    """What a user types for a run: its name, or its id if it has none."""
    return run.record.name or run.id


def subject_of(run: StoredRun) -> str:
    """The subject of a run; an analysis has none, and is called by its tasks."""
    return run.subject or ", ".join(run.tasks)


def lines_of(run: StoredRun, only: str = "") -> list[MeasureRow]:
    """Every measure of a run in the order of importance: primary ones, others, then the groups of both."""
    elsewhere = run.manifest.whose_items != "bundled"
    lines = [
        line
        for task in ((only,) if only else run.tasks)
        for line in measure_rows(run.summary(task), run.definition.card, task, elsewhere=elsewhere)
    ]
    facets = list(dict.fromkeys(map(_facet, lines)))
    return sorted(lines, key=lambda line: (bool(_facet(line)), not line.card.primary, facets.index(_facet(line))))


def _facet(line: MeasureRow) -> tuple[str, ...]:
    """The facets that a measure is grouped by."""
    return tuple(line.measure.group)


def finding(run: StoredRun) -> str:
    """The primary measures of a run in a sentence."""
    known = [line for line in lines_of(run) if line.measure.value is not None]
    overall = [line for line in known if not line.measure.group]
    primary = [line for line in overall if line.card.primary] or overall[:1]
    if not primary:
        said = f"no overall score; {_items(run, known)}" if known else "no result"
        return f"{subject_of(run)} on {run.instrument}: {said}."
    parts = [f"{lowered(line.card.title)} {line.estimate}" for line in primary[:3]]
    more = f" and {len(primary) - 3} more" if len(primary) > 3 else ""
    chance = primary[0].chance
    beside = f", chance {number(chance, primary[0].card.unit)}" if chance is not None and len(primary) == 1 else ""
    said = f"{subject_of(run)} on {run.instrument}: {', '.join(parts)}{more}{beside}; {_items(run, primary)}."
    return "\n".join([said, *_rules(run)])


def _items(run: StoredRun, lines: Sequence[MeasureRow]) -> str:
    """The number of items of these measures, or of all their tasks if it differs."""
    tasks, counts = {line.task for line in lines}, {line.measure.items for line in lines}
    if len(tasks) == len(counts) == 1:
        return counted(counts.pop(), "item")
    items = sum(len({item for item, _ in run.finished(task)}) for task in tasks)
    return counted(items, "item") + (f" of {len(tasks)} tasks" if len(tasks) > 1 else "")


def _rules(run: StoredRun) -> list[str]:
    """What ended the tasks of a run, in a sentence each."""
    rules = [str(rule) for task in run.tasks if (rule := run.stopping(task))] if run.manifest.config.until else []
    return [f"{rule[:1].upper()}{rule[1:]}." for rule in rules]


def shown_rows(run: StoredRun) -> int:
    """How many rows of the summary are shown first: the measures overall, and one way of grouping the primary one."""
    lines = lines_of(run)
    overall = sum(not line.measure.group for line in lines)
    facet = next((_facet(line) for line in lines if line.measure.group), ())
    primary = any(line.card.primary for line in lines)
    first = sum(_facet(line) == facet and line.card.primary is primary for line in lines if line.measure.group)
    return min(overall + first, SCREEN)


def summary_table(run: StoredRun, task: str = "") -> Table:
    """The measures of a run, or of one of its tasks, in the order of importance."""
    lines = lines_of(run, task)
    notes = [
        *caveats(run),
        *repeats_notes(run, task),
        *(note for name in ((task,) if task else run.tasks) for note in run.summary(name).notes),
    ]
    table = Table(
        name=f"{run.id}/{task}" if task else run.id,
        title=f"{run.instrument} · {subject_of(run)}  ({reference(run)})",
        columns=_COLUMNS,
        rows=tuple(_row(line) for line in lines),
        note=" ".join(note for note in dict.fromkeys(notes) if note not in _rules(run)),  # the finding has these
    )
    return table if len({line.task for line in lines}) > 1 else _without_first(table)


def repeats_notes(run: StoredRun, task: str = "") -> list[str]:
    """For a run with repeats: the share of items that are right in all of them, and the items whose repeats differ."""
    if (run.manifest.config.repeats or 1) < 2:
        return []
    from sociometer.results.reliability import repeats_of  # here, since it loads numpy

    found = []
    for name in (task,) if task else run.tasks:
        primary = next((card for card in run.definition.card.measures_of(name) if card.primary and card.value), None)
        again = repeats_of(item_values(run.view(name), primary.value)) if primary else None
        if again is None or primary is None:
            continue
        where = f"{lowered(primary.title)} of {name}" if len(run.tasks) > 1 else lowered(primary.title)
        if again.all_right is not None:
            share = estimate(again.all_right, "share", again.all_right_interval)
            found.append(f"Right in all {again.repeats} repeats (pass^{again.repeats}, {where}): {share}.")
        count = len(again.unstable)
        which = f": {first_of(again.unstable, 8)}" if count else ""
        found.append(f"Unstable ({where}): {count} of {again.items} items change from repeat to repeat{which}.")
    return found


def _without_first(table: Table) -> Table:
    """The table without its first column, which says the same in every row."""
    return structs.replace(table, columns=table.columns[1:], rows=tuple(row[1:] for row in table.rows))


def _row(line: MeasureRow) -> tuple[Cell, ...]:
    measure, unit = line.measure, line.card.unit
    chance = number(line.chance, unit) if line.chance is not None else None
    few = f"too few ({measure.interval.clusters})" if measure.interval else ""
    return (
        line.task, line.card.title, ", ".join(measure.group.values()).replace("_", " ") or "all", line.value,
        interval_text(measure.interval, unit, too_few=few) or None, chance, measure.items, measure.unreadable,
        line.failed, measure.note,
    )  # fmt: skip


def raw_table(runs: Sequence[StoredRun]) -> Table:
    """Every measure of every task of the runs as plain numbers, for a file."""
    rows = [
        (
            run.id, run.instrument, run.version, run.subject, line.task, line.measure.name, line.card.unit,
            "; ".join(f"{facet}={level}" for facet, level in line.measure.group.items()), line.measure.value,
            line.measure.interval.low if line.measure.interval else None,
            line.measure.interval.high if line.measure.interval else None,
            line.measure.items, line.measure.unreadable, line.failed, line.measure.note,
        )
        for run in runs
        for line in lines_of(run)
    ]  # fmt: skip
    columns = (
        "run", "instrument", "version", "subject", "task", "measure", "unit", "group", "value", "low", "high", "items",
        "unreadable", "errors", "note",
    )  # fmt: skip
    return Table("measures", "Measures", columns, tuple(rows))


def joint_table(runs: Sequence[StoredRun]) -> Table:
    """The main measures of several runs in one table: subjects next to each other, or below if they are many."""
    every = [(run, line) for run in runs for line in lines_of(run) if not line.measure.group]
    lines = [(run, line) for run, line in every if line.card.primary or line.card.joint]
    names = run_labels(runs)
    subjects = list(dict.fromkeys(names[run.id] for run in runs))
    failed = {(run.id, task): why for run in runs for task in run.tasks if (why := _why_failed(run, task))}
    cells = {(run.instrument, line.task, line.card.name, names[run.id]): (run.id, line) for run, line in lines}
    goals = {(run.instrument, line.task, line.card.name): line for run, line in lines}
    if len(subjects) <= _MOST_SUBJECTS_ABREAST:
        columns: tuple[str, ...] = ("instrument", "measure", "chance", *subjects, "items", "unreadable", "errors")
        rows = [
            (goal[0], first.card.title, _chance(first),
             *(_estimate(cells.get((*goal, who)), failed) for who in subjects),
             *_counts([cells[*goal, who][1] for who in subjects if (*goal, who) in cells]))
            for goal, first in goals.items()
        ]  # fmt: skip
    else:
        columns = ("instrument", "measure", "subject", "value", "chance", "items", "unreadable", "errors", "run")
        rows = [
            (goal[0], first.card.title, who, _estimate(found, failed), _chance(first), *_counts([found[1]]), found[0])
            for goal, first in goals.items()
            for who in subjects
            if (found := cells.get((*goal, who))) is not None
        ]
    ids = ", ".join(reference(run) for run in runs[:6]) + (" …" if len(runs) > 6 else "")
    said = dict.fromkeys(note for run in runs for note in caveats(run))
    said |= dict.fromkeys(
        f"{run.subject} on {task}: {failed[run.id, task]}."
        for run in runs
        for task in run.tasks
        if (run.id, task) in failed
    )
    if any(line.measure.interval is not None and line.measure.interval.too_few for _, line in lines):
        said["(too few): not enough items for an interval."] = None
    note = " ".join([*said, f"For the groups and notes of one run: sociometer show RUN ({ids})."])
    title = " · ".join(dict.fromkeys(run.instrument for run in runs))
    measured = list(dict.fromkeys(run.subject for run in runs))
    who = measured[0] if len(measured) == 1 else f"{len(measured)} subjects"
    table = Table("runs", f"{title}: {who}", columns, tuple(rows), note)
    return table if len({run.instrument for run in runs}) > 1 else _without_first(table)


def _why_failed(run: StoredRun, task: str) -> str:
    """Why the instrument says that a run has no valid score; empty if it has one."""
    return run.task(task).headline(run.view(task)).failed


def _estimate(found: tuple[str, MeasureRow] | None, failed: Mapping[tuple[str, str], str]) -> str | None:
    if found is None:
        return None
    run, line = found
    return "FAILED" if (run, line.task) in failed else line.estimate


def _chance(line: MeasureRow) -> str | None:
    return None if line.chance is None else number(line.chance, line.card.unit)


def _counts(lines: Sequence[MeasureRow]) -> tuple[Cell, ...]:
    items = {line.measure.items for line in lines}
    count: Cell = items.pop() if len(items) == 1 else f"{min(items)} to {max(items)}"
    return count, sum(line.measure.unreadable for line in lines), sum(line.failed or 0 for line in lines)


def caveats(run: StoredRun) -> list[str]:
    """The caveats that must appear next to the scores of a run."""
    found = []
    if run.status is not RunStatus.FINISHED:
        found.append(f"{reference(run)} is {run.state}: its scores cover only the items played so far.")
    if is_paper(run.manifest.config.settings):
        found.append("Asked in the authors' own words (--wording paper).")
    beside = other_stand_ins(run.stand_ins)
    if beside:
        found.append(stand_ins_sentence(beside))
    if len(beside) < len(run.stand_ins):
        what = subject_stand_in(run.stand_ins)
        found.append(
            f"{run.subject} is a very small demonstration model; expect scores near chance."
            if what == TINY
            else f"{run.subject} is a {what}, not a model."
        )
    if checked := contamination_note(run):
        found.append(checked)
    return found


def run_json(run: StoredRun) -> dict[str, Any]:
    """A run with its summaries."""
    return {
        "run": run.id,
        "instrument": run.instrument,
        "version": run.version,
        "subject": run.subject,
        "status": run.status,
        "stand_ins": run.stand_ins,
        "contamination": contamination_note(run),
        "manifest": run.record.manifest,
        "summaries": {task: run.summary(task) for task in run.tasks},
    }


def played_json(played: PlayedRun) -> dict[str, Any]:
    """A run with its summaries, progress counts and ending."""
    progress, spent = played.progress, played.progress.budget.spent
    return {
        **run_json(played.run),
        "ending": played.ending,
        "done": progress.done,
        "errors": dict(progress.failed),
        "sent": progress.sent,
        "from_journal": progress.from_journal,
        "retries": progress.retries,
        "input_tokens": spent.input_tokens,
        "output_tokens": spent.output_tokens,
        "cost": None if spent.unpriced and not spent.priced else spent.cost,
        "unpriced_replies": spent.unpriced,
        "unmetered_replies": spent.unmetered,
        "seconds": round(progress.elapsed_seconds, 3),
    }
