"""Scores to TensorBoard: event files in the folder TENSORBOARD_LOGDIR, or in `runs`; one curve for each model."""

import os
from pathlib import Path

from sociometer.adapters.tracking import TrackedRun
from sociometer.core.lazy import lazy

summary = lazy("tensorboard.summary")


def write(run: TrackedRun) -> None:
    """Write the scores of a run."""
    writer = summary.Writer(str(Path(os.environ.get("TENSORBOARD_LOGDIR", "runs")) / run.curve))
    for name, value in run.scores.items():
        writer.add_scalar(name, value, run.step)
    writer.close()
