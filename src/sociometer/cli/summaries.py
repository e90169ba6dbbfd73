"""A run's summary as a table and as JSON."""

from typing import Any

from sociometer.cli.output import MEASURE_COLUMNS, measure_rows
from sociometer.core.measure import Table
from sociometer.engine.engine import Played
from sociometer.engine.stored import Stored


def summary_table(run: Stored, task: str) -> Table:
    """The measures of one task of a run."""
    summary = run.summary(task)
    notes = list(summary.notes)
    if run.stand_ins:
        notes.insert(0, f"Stand-ins, not the real thing: {', '.join(run.stand_ins)}.")
    if run.record.status != "finished":
        notes.insert(0, f"This run is {run.record.status}: the numbers cover only what was played.")
    return Table(
        name=f"{run.id}/{task}",
        title=f"{run.instrument} · {task} · {run.subject}  ({run.id})",
        columns=MEASURE_COLUMNS,
        rows=tuple(measure_rows(summary.measures)),
        note=" ".join(notes),
    )


def run_json(run: Stored) -> dict[str, Any]:
    """A run with its summaries."""
    return {
        "run": run.id,
        "instrument": run.instrument,
        "subject": run.subject,
        "status": run.record.status,
        "stand_ins": run.stand_ins,
        "manifest": run.record.manifest,
        "summaries": {task: run.summary(task) for task in run.tasks},
    }


def played_json(played: Played) -> dict[str, Any]:
    """A run with its summaries and how its playing went."""
    tally = played.tally
    return {
        **run_json(played.run),
        "ending": played.ending,
        "done": tally.done,
        "errors": dict(tally.failed),
        "sent": tally.sent,
        "from_journal": tally.from_journal,
        "retries": tally.retries,
        "input_tokens": tally.budget.input_tokens,
        "output_tokens": tally.budget.output_tokens,
        "cost": tally.budget.cost,
        "unpriced_replies": tally.budget.unpriced,
        "unmetered_replies": tally.budget.unmetered,
        "seconds": round(tally.elapsed_seconds, 3),
    }
