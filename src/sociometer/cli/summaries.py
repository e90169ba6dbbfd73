"""A run's summary as a table and as JSON."""

from typing import Any

from sociometer.analysis.stand_ins import TINY, subject_stand_in
from sociometer.cli.output import MEASURE_COLUMNS, measure_rows
from sociometer.core.measure import Table
from sociometer.engine.engine import PlayedRun
from sociometer.store.records import RunStatus
from sociometer.store.stored_run import StoredRun


def headline_table(run: StoredRun) -> Table:
    """The overall measures of all tasks of a run; `show` has the rest."""
    rows = [
        (task, *row[:1], *row[2:])
        for task in run.tasks
        for row in measure_rows(measure for measure in run.summary(task).measures if not measure.group)
    ]
    return Table(
        name=run.id,
        title=f"{run.instrument} · {run.subject}  ({run.id})",
        columns=("task", MEASURE_COLUMNS[0], *MEASURE_COLUMNS[2:]),
        rows=tuple(rows),
        note=" ".join([*_caveats(run), f"By group, with tables and notes: sociometer show {run.id}"]),
    )


def _caveats(run: StoredRun) -> list[str]:
    caveats = []
    if run.status is not RunStatus.FINISHED:
        caveats.append(f"This run is {run.state}: the numbers cover only what was played.")
    beside = [name for name in run.stand_ins if not name.startswith("subject: ")]
    if beside:
        caveats.append(f"Stand-ins, not the real thing: {', '.join(beside)}.")
    if len(beside) < len(run.stand_ins):
        what = subject_stand_in(run.stand_ins)
        caveats.append(
            f"{run.subject} is there so that everything runs anywhere, not for its wits: expect chance."
            if what == TINY
            else f"{run.subject} is a {what}, not a model."
        )
    return caveats


def summary_table(run: StoredRun, task: str) -> Table:
    """The measures of one task of a run."""
    summary = run.summary(task)
    notes = [*_caveats(run), *summary.notes]
    return Table(
        name=f"{run.id}/{task}",
        title=f"{run.instrument} · {task} · {run.subject}  ({run.id})",
        columns=MEASURE_COLUMNS,
        rows=tuple(measure_rows(summary.measures)),
        note=" ".join(notes),
    )


def run_json(run: StoredRun) -> dict[str, Any]:
    """A run with its summaries."""
    return {
        "run": run.id,
        "instrument": run.instrument,
        "subject": run.subject,
        "status": run.status,
        "stand_ins": run.stand_ins,
        "manifest": run.record.manifest,
        "summaries": {task: run.summary(task) for task in run.tasks},
    }


def played_json(played: PlayedRun) -> dict[str, Any]:
    """A run with its summaries and how its playing went."""
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
