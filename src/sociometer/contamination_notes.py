"""The verdict of the check for contamination, shown next to the scores of the same subject on the same items."""

from sociometer.contamination.names import SERIES, TASK
from sociometer.store.stored_run import StoredRun


def contamination_note(run: StoredRun, task: str = "") -> str:
    """What the newest check of this subject on these items found; empty if there was none.

    `task` is the task whose numbers are shown (default: any of the run's).
    """
    defaults = run.definition.card.default_tasks(official=run.manifest.config.official)
    if TASK not in run.definition.tasks or not set((task,) if task else run.tasks) & set(defaults):
        return ""
    checks = [other for other in run.of_same_subject(TASK) if _same_items(run, other)]
    for check in checks:
        if found := check.summary(TASK).series.get(SERIES):
            return f"{found['note']} Checked in run {check.id}."
    return ""


def _same_items(run: StoredRun, check: StoredRun) -> bool:
    """Whether the public items of a check are those of a run."""
    here, there = run.manifest.config, check.manifest.config
    return here.official == there.official and here.settings.get("language") == there.settings.get("language")
