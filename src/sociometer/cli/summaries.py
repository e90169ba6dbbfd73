"""What `run` and `resume` show of the runs that they played."""

from typing import Any

from sociometer.engine.engine import PlayedRun
from sociometer.results.summaries import finding, joint_table, reference, run_json, summary_table
from sociometer.results.summaries import first_rows as shown_rows
from sociometer.results.summaries import raw_measures as raw_table

__all__ = ["finding", "joint_table", "played_json", "raw_table", "reference", "shown_rows", "summary_table"]


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
